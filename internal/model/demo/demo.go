// Package demo is the offline demo model. It is no language model, and never
// says that it is one: it is code that reads questions about the sample cities,
// writes real plans, makes the mistake that language models make in their first
// plan of a comparison, and lets real tools find and work out every figure. It
// knows the cities' names and nothing else of them.
package demo

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"strings"
	"time"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// Pace is how long a call takes: between Min and Max, the same for the same
// request. The zero pace answers at once.
type Pace struct{ Min, Max time.Duration }

// Watchable is a pace that a person can follow.
func Watchable() Pace { return Pace{Min: 500 * time.Millisecond, Max: 1100 * time.Millisecond} }

// Model is the demo model. It keeps nothing between calls: everything it needs
// is in the request.
type Model struct{ pace Pace }

// New returns a demo model with a pace.
func New(p Pace) *Model { return &Model{pace: p} }

// names are the sample cities.
func names() []string { return []string{"Brindlemoor", "Quillhaven", "Tarnby", "Ashwick"} }

// Questions are questions that the demo model can answer, the best to start
// with first.
func Questions() []string {
	return []string{
		"Which of Brindlemoor, Quillhaven and Tarnby is the most densely populated?",
		"By how many percent is Ashwick larger than Brindlemoor?",
		"What is the combined population of Quillhaven and Atlantis?",
		"Which of the four sample cities is the oldest?",
		"How many times denser is Quillhaven than Tarnby?",
		"When was Tarnby founded?",
	}
}

// Generate answers as the role that is asked. Who listens hears the answer
// being written over the time that the call takes.
func (m *Model) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	resp, err := answer(req)
	if waitErr := m.write(ctx, req, resp.Text); waitErr != nil {
		return model.Response{}, waitErr
	}
	if err != nil {
		return model.Response{}, err
	}
	resp.Model = model.Demo
	resp.Usage = model.EstimateUsage(req, resp)
	return resp, nil
}

func answer(req model.Request) (model.Response, error) {
	if len(req.Messages) == 0 {
		return model.Response{}, beyond()
	}
	switch req.Role {
	case plan.RolePlanner:
		return writePlan(req)
	case plan.RoleExecutor:
		return carryOut(req)
	case plan.RoleSynthesizer:
		return synthesize(req), nil
	case plan.RoleJudge, plan.RoleProposer:
	}
	return model.Response{}, beyond()
}

// pieces is in how many pieces an answer is written.
const pieces = 12

// write takes the time of a call, and tells text in pieces meanwhile.
func (m *Model) write(ctx context.Context, req model.Request, text string) error {
	d, told := m.takes(req), model.NewTeller(req)
	runes := []rune(text)
	for i := range pieces {
		if err := wait(ctx, d/pieces); err != nil {
			return err
		}
		told.Add(string(runes[len(runes)*i/pieces : len(runes)*(i+1)/pieces]))
	}
	return nil
}

// takes is how long a call takes.
func (m *Model) takes(req model.Request) time.Duration {
	spread := m.pace.Max - m.pace.Min
	if spread <= 0 {
		return m.pace.Min
	}
	h := fnv.New32a()
	for _, msg := range req.Messages {
		_, _ = h.Write([]byte(msg.Text)) // a hash takes every write
	}
	return m.pace.Min + time.Duration(h.Sum32())%spread
}

func wait(ctx context.Context, d time.Duration) error {
	if ctx.Err() == nil && d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	if ctx.Err() != nil {
		return model.FromContext(ctx)
	}
	return nil
}

// beyond is the plain word on everything that the demo model does not know.
func beyond() error {
	return &model.Error{
		Kind: model.BeyondDemo,
		Message: "The demo model only knows questions about the sample cities " + list(names()) +
			": which of them is the densest, largest, most populous or oldest, and the difference, percentage, sum or ratio of two. " +
			"To ask anything, set GEMINI_API_KEY or OPENAI_API_KEY and start Planwave again.",
	}
}

// block returns what stands between <tag …> and </tag>, each on a line of its
// own.
func block(text, tag string) string {
	text = "\n" + text
	for {
		_, rest, ok := strings.Cut(text, "\n<"+tag)
		if !ok {
			return ""
		}
		head, inside, ok := strings.Cut(rest, "\n")
		if !ok {
			return ""
		}
		if head == ">" || strings.HasPrefix(head, " ") && strings.HasSuffix(head, ">") {
			inside, _, _ = strings.Cut("\n"+inside, "\n</"+tag+">")
			return strings.TrimSpace(inside)
		}
		text = "\n" + inside // another tag that begins alike
	}
}

// written is a value as JSON.
func written(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "{}" // only plain values are written, which always encode
	}
	return strings.TrimSpace(b.String())
}
