package runs

import (
	"context"
	"encoding/json"

	"planwave/internal/contract"
	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/planner"
	"planwave/internal/tools"
)

// outputTokens is the most that one call of any agent may write.
const outputTokens = 8_192

// plan asks the planner for a plan and puts what it wrote before the person,
// or starts it where the run approves by itself.
func (s *Service) plan(ctx context.Context, l *live) error {
	run := l.snapshot()
	m, name, err := s.meterFor(l, plan.RolePlanner, "", len(run.Versions)+1)
	if err != nil {
		return err
	}
	set, err := s.Tools.Subset(run.Options.Tools)
	if err != nil {
		return err
	}
	req := planner.Request{
		Question: run.Question, Instructions: run.Options.Instructions,
		Rules: rules(run.Options, set), Tools: plannerTools(set), Rejections: openRejections(run),
	}
	if v, ok := run.Version(); ok {
		req.Previous, req.Comment = &v.Plan, run.Comment
	}
	p := planner.Planner{Model: m, ModelName: name, MaxOutputTokens: outputTokens}
	written, err := p.Plan(ctx, req, func(r plan.PlanRejected) error {
		return l.record(context.WithoutCancel(ctx), db.Batch{}, r)
	})
	if err != nil {
		return err
	}
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		v, err := version(r, written.Plan, "planner", reasonFor(r), written.Mends, written.Warnings)
		if err != nil {
			return nil, err
		}
		return started(r.Options, []plan.Payload{plan.PlanProposed{Version: v}}, v), nil
	})
}

// openRejections are the rejections since the planner was last asked: the
// conversation that a resumed planner goes on with.
func openRejections(r *plan.Run) []plan.PlanRejected {
	out := make([]plan.PlanRejected, 0, len(r.Rejections))
	for _, rej := range r.Rejections[r.RejectionsBefore:] {
		out = append(out, rej.PlanRejected)
	}
	return out
}

func reasonFor(r *plan.Run) string {
	if r.Comment != "" {
		return "asked for changes: " + r.Comment
	}
	return "first plan"
}

// version makes the next version of the run's plan.
func version(r *plan.Run, p plan.Plan, author, reason string, mends []string, warnings []plan.Violation) (plan.Version, error) {
	hash, err := plan.Hash(p)
	if err != nil {
		return plan.Version{}, err
	}
	return plan.Version{
		Number: len(r.Versions) + 1, Plan: p, Hash: hash, Author: author, Reason: reason,
		Mends: mends, Warnings: warnings,
	}, nil
}

// started adds approval and start to a new version where the run needs no
// person for it.
func started(o plan.Options, events []plan.Payload, v plan.Version) []plan.Payload {
	if o.Approval != plan.ApprovalAuto {
		return events
	}
	return append(events, plan.PlanApproved{Version: v.Number, Hash: v.Hash, By: "auto"}, plan.RunStarted{})
}

// rules are what the run's options ask of every plan of it.
func rules(o plan.Options, set *tools.Registry) plan.Rules {
	r := plan.Rules{MaxSteps: o.MaxSteps, CheckContract: contract.CheckContract}
	for _, t := range set.List() {
		r.Tools = append(r.Tools, plan.ToolRule{
			Name:       t.Name,
			CheckInput: func(in json.RawMessage) []string { return set.CheckInput(t.Name, in) },
		})
	}
	return r
}

func plannerTools(set *tools.Registry) []planner.Tool {
	var out []planner.Tool
	for _, t := range set.List() {
		out = append(out, planner.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out
}

// checked holds a person's plan to the rules and returns it as it would run.
func (s *Service) checked(o plan.Options, p plan.Plan) (plan.Plan, []string, []plan.Violation, error) {
	set, err := s.Tools.Subset(o.Tools)
	if err != nil {
		return p, nil, nil, err
	}
	r := rules(o, set)
	r.OtherEnds = true
	violations := plan.Check(p, r)
	if !plan.Valid(violations) {
		e := plan.NewError(plan.CodePlanInvalid, "The plan breaks the rules below. Nothing was saved; mend them and save again.", nil)
		e.Violations = violations
		return p, nil, violations, e
	}
	p, mends := plan.Mended(p)
	return p, mends, plan.Check(p, r), nil
}

// CheckPlan holds a plan to the rules of a run with these options, and reports
// everything that is wrong with it.
func (s *Service) CheckPlan(o plan.Options, p plan.Plan) []plan.Violation {
	_, _, violations, err := s.checked(o, p)
	if err != nil && violations == nil {
		violations = []plan.Violation{{Code: plan.CodeOf(err), Steps: []string{}, Message: plan.AsError(err).Message}}
	}
	return violations
}
