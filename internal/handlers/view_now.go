package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"planwave/internal/runs"
	"planwave/web/templates"
)

// writingLimit is how much of what is being written, in characters, a page
// shows: the end of it.
const writingLimit = 1_500

// nowOf is what the calls that are being made wait for, and what is written
// outside the steps.
func (v view) nowOf(calls []runs.Now) templates.NowProps {
	p := templates.NowProps{OOB: v.oob}
	for _, n := range calls {
		if n.Step == "" && n.Text != "" {
			p.Writing = append(p.Writing, writing(n))
		}
	}
	for len(calls) > 0 {
		same := func(n runs.Now) bool { return n.Waiting == calls[0].Waiting }
		if w := calls[0].Waiting; !w.Until.IsZero() || w.Reason != "" {
			p.Waits = append(p.Waits, v.waitOf(slices.DeleteFunc(slices.Clone(calls), func(n runs.Now) bool { return !same(n) })))
		}
		calls = slices.DeleteFunc(slices.Clone(calls), same)
	}
	return p
}

// waitOf puts calls that wait for the same thing into words.
func (v view) waitOf(calls []runs.Now) templates.WaitProps {
	var who []string
	for _, n := range calls {
		name := n.Step
		if name == "" {
			name = "The " + string(n.Agent)
		}
		if !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	w := calls[0].Waiting
	return templates.WaitProps{
		Title:  templates.List(who) + map[bool]string{true: " waits", false: " wait"}[len(who) == 1] + " for " + calls[0].Model,
		Reason: w.Reason, Try: w.Try, Of: w.Of, Until: w.Until, Now: v.now,
	}
}

// writing is what a call has written so far, or how far a tool has got.
func writing(n runs.Now) templates.WritingProps {
	if t := n.Progress; t.Tool != "" {
		return templates.WritingProps{
			ID: "writing-" + n.Step, Title: t.Tool + " is at work", Text: t.Message, Done: t.Done, Total: t.Total,
		}
	}
	p := templates.WritingProps{ID: "writing", Title: fmt.Sprintf("The %s is writing", n.Agent), Text: readable(n.Text)}
	if n.Step != "" {
		p.ID, p.Title = "writing-"+n.Step, "The model is writing"
	}
	if r := []rune(p.Text); len(r) > writingLimit {
		p.Text, p.Cut = string(r[len(r)-writingLimit:]), true
	}
	return p
}

// writingOf is what is being written for a step, empty where nothing is.
func writingOf(step string, calls []runs.Now) templates.WritingProps {
	for _, n := range slices.Backward(calls) {
		if n.Step == step {
			return writing(n)
		}
	}
	return templates.WritingProps{ID: "writing-" + step}
}

var resultKey = regexp.MustCompile(`"result"\s*:\s*"`)

// readable is the result in what was written of a JSON object so far, and any
// other text as it is.
func readable(text string) string {
	at := resultKey.FindStringIndex(text)
	if at == nil || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	rest := text[at[1]:]
	end := len(rest)
	for i := 0; i < len(rest); i++ {
		if rest[i] == '"' {
			end = i
			break
		}
		if rest[i] == '\\' {
			i++
		}
	}
	var s string
	for cut := end; cut >= max(0, end-len(`\ud83d\ude00`)); cut-- { // an escape may not be whole yet
		if json.Unmarshal([]byte(`"`+rest[:cut]+`"`), &s) == nil {
			return strings.TrimSuffix(s, "\uFFFD") // half a pair of surrogates
		}
	}
	return text
}

// writer sends one viewer's page what is written and waited for, whenever it
// has changed.
type writer struct {
	*server
	st   *stream
	id   string
	last map[string]string // what was sent, by event
}

// tell sends the fragments that have changed.
func (w *writer) tell(ctx context.Context, calls []runs.Now) error {
	r, err := w.Runs.Get(ctx, w.id)
	if err != nil {
		return err
	}
	v := view{run: r, now: w.Clock(), oob: true}
	parts := map[string]templ.Component{"now": templates.Now(v.nowOf(calls))}
	for event := range w.last {
		if id, ok := strings.CutPrefix(event, "text-"); ok {
			p := writingOf(id, nil)
			p.OOB = true
			parts[event] = templates.Writing(p)
		}
	}
	for _, n := range calls {
		if n.Step != "" && (n.Text != "" || n.Progress.Tool != "") {
			p := writing(n)
			p.OOB = true
			parts["text-"+n.Step] = templates.Writing(p)
		}
	}
	return w.send(ctx, parts)
}

func (w *writer) send(ctx context.Context, parts map[string]templ.Component) error {
	sent := map[string]string{}
	for event, c := range parts {
		html, err := rendered(ctx, []templ.Component{c})
		if err != nil {
			return err
		}
		if html != w.last[event] {
			w.st.send(event, "", html)
		}
		sent[event] = html
	}
	w.last = sent
	return nil
}
