package handlers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// retryable says whether a step can be tried again now.
func (v view) retryable(st *plan.StepState) bool {
	if !st.Status.Broken() && st.Status != plan.StepStatusCancelled {
		return false
	}
	switch v.run.Status {
	case plan.RunStatusRunning, plan.RunStatusAwaitingToolApproval:
		return true
	case plan.RunStatusSucceeded, plan.RunStatusPartial, plan.RunStatusFailed, plan.RunStatusCancelled:
		version, ok := v.run.Version()
		return ok && v.run.Approved == version.Number
	case plan.RunStatusPlanning, plan.RunStatusAwaitingApproval, plan.RunStatusSynthesizing:
	}
	return false
}

// retryOf is the offer to try a step again, nil where that cannot be.
func (v view) retryOf(st *plan.StepState) *templates.RetryProps {
	if !v.retryable(st) {
		return nil
	}
	return &templates.RetryProps{URL: v.url() + "/retry", Step: st.ID, Attempt: st.Attempts}
}

// mostRetries is how many steps the head of the page offers to try again.
const mostRetries = 12

// retries are the steps to try again, without those that run again with
// another of them.
func (v view) retries() []templates.RetryProps {
	deps := map[string][]string{}
	for _, s := range v.run.Plan().Steps {
		deps[s.ID] = s.DependsOn
	}
	var out []templates.RetryProps
	covered := map[string]bool{}
	order, err := plan.Order(v.run.Plan())
	if err != nil {
		return nil
	}
	for _, id := range order {
		covered[id] = slices.ContainsFunc(deps[id], func(d string) bool { return covered[d] })
		if r := v.retryOf(v.run.Step(id)); r != nil && !covered[id] {
			covered[id] = true
			out = append(out, *r)
		}
	}
	return out[:min(len(out), mostRetries)]
}

// forkOf is the offer to run again from a step, nil before anything has run.
func (v view) forkOf(id, nonce string) *templates.ForkProps {
	if v.run.StartedAt.IsZero() && !v.run.Status.Ended() {
		return nil
	}
	return &templates.ForkProps{URL: v.url() + "/fork", Step: id, Nonce: nonce}
}

// runsAgain says which steps run again with one: those that need it, and in a
// run that has ended those that have no result to keep.
func (v view) runsAgain(id string) string {
	ids, err := plan.Affected(v.run.Plan(), []string{id})
	if err != nil {
		return ""
	}
	var others []string
	for _, st := range v.run.Steps {
		bare := v.run.Status.Ended() && st.Status != plan.StepStatusSucceeded
		if st.ID != id && (bare || slices.Contains(ids, st.ID)) {
			others = append(others, st.ID)
		}
	}
	if len(others) == 0 {
		return "Only this step runs again; every other result is kept."
	}
	verb := "run"
	if len(others) == 1 {
		verb = "runs"
	}
	return "With it " + named(others) + " " + verb + " again; every other result is kept."
}

// answerURL takes the wish to have the answer written, "" where that cannot be.
func (v view) answerURL() string {
	if !v.run.Answerable() {
		return ""
	}
	return v.url() + "/answer"
}

// answerNonce is the same for everyone who wishes for an answer to what the run
// is now: it is written once.
func (v view) answerNonce() string { return "answer-" + strconv.FormatInt(v.run.Seq, 10) }

// outOfBudget says whether the run failed because its budget was used up.
func (v view) outOfBudget() bool { return v.run.Continuable() && v.run.Status == plan.RunStatusFailed }

// approvalsOf are the tool calls that wait for a person.
func (s *server) approvalsOf(v view) templates.ApprovalsProps {
	p := templates.ApprovalsProps{OOB: v.oob}
	if v.past || v.watches {
		return p
	}
	for _, a := range v.run.PendingApprovals() {
		out := templates.ApprovalProps{
			ID: a.ID, Step: v.link(a.Step), Tool: a.Tool, Arguments: exactly(a.Arguments), Again: a.Again, URL: v.url() + "/decide",
		}
		if info, ok := s.Tools.Get(a.Tool); ok {
			out.Description = plan.Short(info.Description, 300)
		}
		p.Approvals = append(p.Approvals, out)
	}
	return p
}

// exactly is JSON as a person can hold it to be exactly what it is: indented,
// with letters written as themselves and what cannot be seen as an escape.
func exactly(raw json.RawMessage) string {
	var out strings.Builder
	text := indented(raw)
	for at := 0; at < len(text); {
		if plain, ok := map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}[text[at:min(at+6, len(text))]]; ok {
			out.WriteString(plain)
			at += 6
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == '\\' && at+1 < len(text): // another escape stays whole
			size = 2
			out.WriteString(text[at : at+2])
		case r != '\n' && !unicode.IsGraphic(r) && r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		case r != '\n' && !unicode.IsGraphic(r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			out.WriteString(text[at : at+size])
		}
		at += size
	}
	return out.String()
}
