// Package demo is the offline demo model. It is no language model: it is code
// that reads questions about the sample cities, writes real plans, makes the
// mistake that real models make in its first plan of a comparison, and lets
// real tools find every figure.
package demo

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// Pace is how long a call takes: between Min and Max, the same for the same
// request. The zero pace answers at once.
type Pace struct{ Min, Max time.Duration }

// Watchable is a pace that a person can follow.
func Watchable() Pace { return Pace{Min: 500 * time.Millisecond, Max: 1100 * time.Millisecond} }

// Model is the demo model. It keeps nothing between calls.
type Model struct{ pace Pace }

// New returns a demo model with a pace.
func New(p Pace) *Model { return &Model{pace: p} }

// Questions are questions that the demo model knows.
func Questions() []string {
	return []string{
		"Which of Brindlemoor, Quillhaven and Tarnby is the most densely populated?",
		"By how many percent is Ashwick larger than Brindlemoor?",
		"What is the combined population of Quillhaven and Atlantis?",
		"Which of Ashwick, Tarnby and Quillhaven is the oldest?",
	}
}

// Generate answers as the role that is asked.
func (m *Model) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if err := m.wait(ctx, req); err != nil {
		return model.Response{}, err
	}
	var resp model.Response
	var err error
	switch req.Role {
	case plan.RolePlanner:
		resp, err = planFor(req)
	case plan.RoleExecutor:
		resp, err = carryOut(req)
	case plan.RoleSynthesizer:
		resp, err = answer(req)
	case plan.RoleJudge, plan.RoleProposer:
		err = beyond()
	}
	if err != nil {
		return model.Response{}, err
	}
	resp.Model = model.Demo
	resp.Usage = usageOf(req, resp)
	return resp, nil
}

// wait takes the time of a call.
func (m *Model) wait(ctx context.Context, req model.Request) error {
	d := m.pace.Min
	if spread := m.pace.Max - m.pace.Min; spread > 0 {
		h := fnv.New32a()
		for _, msg := range req.Messages {
			_, _ = h.Write([]byte(msg.Text)) // a hash takes every write
		}
		d += time.Duration(h.Sum32()) % spread
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &model.Error{Kind: model.Cancelled, Message: "The call was given up.", Cause: ctx.Err()}
	}
}

// beyond is the plain word on everything that the demo model does not know.
func beyond() error {
	return &model.Error{
		Kind: model.BeyondDemo,
		Message: "The demo model only knows questions about the sample cities " + strings.Join(names(), ", ") +
			": which is the densest, largest, most populous or oldest, and the difference, percentage, sum or ratio of two. " +
			"Set GEMINI_API_KEY or OPENAI_API_KEY and start Planwave again to ask anything.",
	}
}

func names() []string { return []string{"Brindlemoor", "Quillhaven", "Tarnby", "Ashwick"} }

// usageOf counts four characters as a token. Nothing is charged for it.
func usageOf(req model.Request, resp model.Response) plan.Usage {
	in := utf8.RuneCountInString(req.System)
	for _, m := range req.Messages {
		in += utf8.RuneCountInString(m.Text)
		for _, r := range m.Results {
			in += utf8.RuneCountInString(r.Text)
		}
	}
	out := utf8.RuneCountInString(resp.Text)
	for _, c := range resp.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	u := plan.Usage{Requests: 1, InputTokens: (in + 3) / 4, OutputTokens: (out + 3) / 4}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// tagged returns what stands between the first <tag …> and its end.
func tagged(text, tag string) string {
	m := regexp.MustCompile(`(?s)<` + tag + `(?: [^>]*)?>\n(.*?)\n</` + tag + `>`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

func asJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "{}" // maps of plain values always encode
	}
	return strings.TrimSpace(b.String())
}
