package runs

import (
	"context"
	"fmt"

	"planwave/internal/plan"
)

// Decide is a person's word on a tool call that waits: it is made, or its
// executor is told that it is not. With [plan.ScopeRun] the word holds for every
// call of the same tool for the rest of the run, those that wait included.
func (s *Service) Decide(ctx context.Context, id, approval string, d plan.Decision, scope plan.Scope, by string) (*plan.Run, error) {
	err := refused(func(bad reject) {
		if d != plan.DecisionAllow && d != plan.DecisionDeny {
			bad("decision", "The decision %q is not there; it is allow or deny.", d)
		}
		if scope != plan.ScopeOnce && scope != plan.ScopeRun {
			bad("scope", "The scope %q is not there; it is once or run.", scope)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		a, ok := r.Approval(approval)
		switch {
		case !ok:
			return nil, plan.NewError(plan.CodeNotFound, fmt.Sprintf("There is no tool call %q to decide on in this run.", plan.Short(approval, mostNamed)), nil)
		case a.Decision != "":
			return nil, plan.NewError(plan.CodeUnexpected, fmt.Sprintf("This call of %s is decided already: %s.", a.Tool, a.Decision), nil)
		}
		var events []plan.Payload
		for _, p := range r.PendingApprovals() {
			if p.ID == a.ID || scope == plan.ScopeRun && p.Tool == a.Tool {
				events = append(events, plan.StepApprovalDecided{ID: p.ID, Step: p.Step, Decision: d, Scope: scope, By: by})
			}
		}
		if len(events) == 0 {
			return nil, unexpected(r, "decide on the call", "its step does not wait any more")
		}
		return events, nil
	})
}
