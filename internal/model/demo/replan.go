package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// inRounds says whether a planner is asked for one round at a time.
func inRounds(req model.Request) bool { return strings.Contains(req.System, "one round at a time") }

// finalizing is how a planner says that nothing more is worth doing.
func finalizing() model.Response { return model.Response{Text: `{"finalize": true}`} }

// progressOf is what a planner in the middle of a run was told: the plan that
// ran, and which of its steps succeeded and which failed.
func progressOf(req model.Request) (ran plan.Plan, succeeded, failed []string, told bool) {
	for i, m := range req.Messages {
		lines := block(m.Text, "steps")
		if m.Speaker != model.User || i == 0 || lines == "" {
			continue
		}
		ran, told = readPlan(req.Messages[i-1].Text)
		succeeded, failed = nil, nil
		for line := range strings.Lines(lines) {
			var s struct{ Step, Status string }
			if json.Unmarshal([]byte(line), &s) != nil {
				continue
			}
			switch {
			case s.Status == "" && s.Step != "":
				succeeded = append(succeeded, s.Step)
			case s.Status == "FAILED":
				failed = append(failed, s.Step)
			}
		}
	}
	return ran, succeeded, failed, told
}

// goOn plans the rest of a run. The demo model knows no other way than its
// first, so what failed is left: it finalizes.
func goOn(req model.Request, q inquiry) (resp model.Response, asked bool) {
	ran, succeeded, failed, told := progressOf(req)
	if !told {
		return model.Response{}, false
	}
	if inRounds(req) {
		return nextRound(ran, succeeded, q), true
	}
	rest := plan.Plan{}
	for _, s := range ran.Steps {
		if !slices.Contains(succeeded, s.ID) {
			rest.Steps = append(rest.Steps, s)
		}
	}
	if len(failed) > 0 || len(rest.Steps) == 0 {
		return finalizing(), true
	}
	return model.Response{Text: written(rest)}, true
}

// nextRound is the step that brings the look-ups of the first round together,
// and nothing after it.
func nextRound(ran plan.Plan, succeeded []string, q inquiry) model.Response {
	joined := slices.ContainsFunc(ran.Steps, func(s plan.Step) bool { return len(s.DependsOn) > 0 })
	if joined || len(succeeded) == 0 || len(ran.Steps) == 1 {
		return finalizing()
	}
	return model.Response{Text: written(plan.Plan{Steps: []plan.Step{{
		ID: fmt.Sprintf("s%d", len(ran.Steps)+1), Instruction: lastInstruction(q), DependsOn: succeeded,
	}}})}
}

// firstRound is the look-ups alone.
func firstRound(p plan.Plan) plan.Plan {
	if len(p.Steps) > 1 {
		p.Steps = p.Steps[:len(p.Steps)-1]
	}
	return p
}
