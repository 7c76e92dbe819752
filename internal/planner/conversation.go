package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/prompt"
)

// conversation builds the messages so far.
func (p *Planner) conversation(req Request) (model.Request, error) {
	system, err := systemPrompt(p.Prompts, req)
	if err != nil {
		return model.Request{}, err
	}
	schema, err := planSchema(req)
	if err != nil {
		return model.Request{}, err
	}
	out := model.Request{
		Model: p.ModelName, Role: plan.RolePlanner, System: system, Schema: schema, MaxOutputTokens: p.MaxOutputTokens,
		Messages: []model.Message{{Speaker: model.User, Text: block("question", req.Question)}},
	}
	if req.Previous != nil {
		previous, err := json.Marshal(req.Previous)
		if err != nil {
			return model.Request{}, fmt.Errorf("write the previous plan: %w", err)
		}
		out.Messages = append(out.Messages,
			model.Message{Speaker: model.Assistant, Text: string(previous)},
			model.Message{Speaker: model.User, Text: askedAgain(req)})
	}
	for _, r := range req.Rejections {
		out.Messages = append(out.Messages, sentBack(r)...)
	}
	return out, nil
}

// block writes a text between tags. What is inside is data, so it cannot close
// its own tag: the slash of one that tries is set apart.
func block(tag, text string) string {
	end := "</" + tag + ">"
	return "<" + tag + ">\n" + strings.ReplaceAll(text, end, "< /"+tag+">") + "\n" + end
}

// askedAgain is why a planner that has written a plan is asked once more.
func askedAgain(req Request) string {
	var parts []string
	if req.Replan {
		parts = append(parts, progress(req))
	}
	if req.Comment != "" {
		parts = append(parts, "The person read your plan and asks for changes:\n"+block("comment", req.Comment)+
			"\nWrite the whole plan again with these changes.")
	}
	if len(parts) == 0 {
		return "Write the whole plan again, better."
	}
	return strings.Join(parts, "\n\n")
}

// progress tells a planner in the middle of a run how far it has come.
func progress(req Request) string {
	const left = "You will be asked again at most %d more times."
	what := "Write the plan for what remains: only the steps that are still to run, which may depend on the steps that succeeded. Or finalize."
	if req.Rules.Round {
		what = "Write the next round of tasks, which may depend on tasks that succeeded. Or finalize, when the question can be answered."
	}
	return "The run has come this far (" + req.Reason + "):\n" + block("steps", req.Progress) + "\n" + what + " " + fmt.Sprintf(left, req.Left)
}

// mostTold is how many violations a planner is told at once.
const mostTold = 50

// sentBack is a rejected answer and what to change about it. It depends on
// nothing but what is kept of the rejection, so that a conversation that is
// taken up again is the same.
func sentBack(r plan.PlanRejected) []model.Message {
	var b strings.Builder
	if r.NoJSON {
		b.WriteString("Your answer has no JSON in it. Answer with the plan as one JSON object and nothing else.")
	} else {
		b.WriteString("The plan breaks these rules:\n")
		for i, v := range r.Violations {
			if i == mostTold {
				fmt.Fprintf(&b, "- and %d more\n", len(r.Violations)-mostTold)
				break
			}
			b.WriteString("- " + v.Message + "\n")
		}
		if edits := editsFor(r); len(edits) > 0 {
			b.WriteString("These edits would put it right, as far as code can tell:\n- " + strings.Join(edits, "\n- ") + "\n")
		}
		b.WriteString("Write the whole plan again with these things changed, and nothing else.")
	}
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(an empty answer)"
	}
	return []model.Message{{Speaker: model.Assistant, Text: text}, {Speaker: model.User, Text: b.String()}}
}

// editsFor puts the mends of a rejection together: one exact edit for each
// step, since each mend was worked out without the others.
func editsFor(r plan.PlanRejected) []string {
	if r.Plan == nil {
		return nil
	}
	mends := map[string][]plan.Mend{}
	for _, v := range r.Violations {
		if v.Mend != nil && v.Mend.Step != "" {
			mends[v.Mend.Step] = append(mends[v.Mend.Step], *v.Mend)
		}
	}
	var edits []string
	for _, s := range r.Plan.Steps {
		if deps, changed := mendedDependencies(s, mends[s.ID]); changed {
			edits = append(edits, fmt.Sprintf(`in step %q: "depends_on": %s`, s.ID, quoted(deps)))
		}
		if tool := mendedTool(mends[s.ID]); tool != nil && *tool == "" {
			edits = append(edits, fmt.Sprintf(`in step %q: leave out "tool" and "input"`, s.ID))
		} else if tool != nil {
			edits = append(edits, fmt.Sprintf(`in step %q: "tool": %q`, s.ID, *tool))
		}
	}
	for _, v := range r.Violations {
		switch {
		case v.Mend == nil || v.Mend.Deliverable == nil:
		case *v.Mend.Deliverable == "":
			edits = append(edits, `leave out "deliverable"`)
		default:
			edits = append(edits, fmt.Sprintf(`"deliverable": %q`, *v.Mend.Deliverable))
		}
	}
	return edits[:min(len(edits), mostTold)]
}

// mendedDependencies is what a step depends on with all mends of it made: what
// any of them removes is gone, and what any of them adds is there.
func mendedDependencies(s plan.Step, mends []plan.Mend) (deps []string, changed bool) {
	removed := map[string]bool{}
	var added []string
	for _, m := range mends {
		if m.DependsOn == nil {
			continue
		}
		changed = true
		for _, d := range s.DependsOn {
			removed[d] = removed[d] || !slices.Contains(*m.DependsOn, d)
		}
		for _, d := range *m.DependsOn {
			if !slices.Contains(s.DependsOn, d) {
				added = append(added, d)
			}
		}
	}
	for _, d := range slices.Concat(s.DependsOn, added) {
		if !removed[d] && !slices.Contains(deps, d) {
			deps = append(deps, d)
		}
	}
	return deps, changed
}

func mendedTool(mends []plan.Mend) *string {
	for _, m := range mends {
		if m.Tool != nil {
			return m.Tool
		}
	}
	return nil
}

// quoted is a list of ids as JSON.
func quoted(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fmt.Sprintf("%q", plan.Short(id, mostQuoted))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func systemPrompt(set *prompt.Set, req Request) (string, error) {
	return set.Fill(prompt.Planner, struct {
		Request
		MaxSteps, Rounds int
	}{req, maxSteps(req.Rules), plan.MaxRounds})
}

// CheckPrompt says whether a set's prompt of the planner can be filled in.
func CheckPrompt(set *prompt.Set) error {
	for _, req := range []Request{{}, {Replan: true, Rules: plan.Rules{Round: true}, Tools: []Tool{{}}, Instructions: "x"}} {
		if _, err := systemPrompt(set, req); err != nil {
			return err
		}
	}
	return nil
}

func maxSteps(r plan.Rules) int {
	if r.MaxSteps <= 0 {
		return plan.DefaultMaxSteps
	}
	return r.MaxSteps
}
