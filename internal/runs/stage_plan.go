package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"planwave/internal/agent"
	"planwave/internal/budget"
	"planwave/internal/contract"
	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/planner"
	"planwave/internal/tools"
)

// outputTokens is the most that one call of any agent may write.
const outputTokens = 8_192

// plan asks the planner for a plan, or in the middle of a run for the rest of
// it, and puts what it wrote before the person, or starts it where the run
// approves by itself.
func (s *Service) plan(ctx context.Context, l *live) error {
	run := l.snapshot()
	m, name, err := s.meterFor(l, run, plan.RolePlanner, "", len(run.Versions)+1)
	if err != nil {
		return err
	}
	if m.journal, err = s.plannerJournal(ctx, run); err != nil {
		return err
	}
	req, err := s.request(run)
	if err != nil {
		return err
	}
	p := planner.Planner{Model: m.retried(), ModelName: name, MaxOutputTokens: outputTokens, Prompts: s.Prompts}
	written, err := p.Plan(ctx, req, func(r plan.PlanRejected) error {
		return l.record(context.WithoutCancel(ctx), db.Batch{}, r)
	})
	if err != nil && (stops(ctx, err) || !replanning(run) && !modelFailed(run, err)) {
		return err
	}
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		switch {
		case context.Cause(ctx) != nil:
			return nil, context.Cause(ctx)
		case err != nil && r.Comment != "":
			return unchanged(r, err)
		case err != nil:
			fault := plan.FaultOf(shown(err))
			return afterPlanning(r, &fault)
		case written.Finalize:
			return finalized(r)
		}
		v, err := version(r, written.Plan, "planner", reasonFor(r), written.Mends, written.Warnings)
		if err != nil {
			return nil, err
		}
		return started(r, []plan.Payload{plan.PlanProposed{Version: v}}, v), nil
	})
}

// plannerJournal is the planner's last answer of this conversation, which a
// stopped process may have got and not told of. Those before it are in the log.
func (s *Service) plannerJournal(ctx context.Context, run *plan.Run) (*journal, error) {
	if run.Resumed == 0 || run.AgentUsage[plan.RolePlanner].Requests == 0 {
		return nil, nil
	}
	calls, err := s.Store.Trace(ctx, run.ID)
	if err != nil {
		return nil, fmt.Errorf("read what was recorded of the planner: %w", err)
	}
	calls = slices.DeleteFunc(calls, func(c plan.Call) bool {
		return c.Agent != plan.RolePlanner || c.StartedAt.Before(run.PlannerAskedAt)
	})
	return newJournal(calls[max(len(calls)-1, 0):], nil, 0), nil
}

// replanning says whether a run is planned in the middle.
func replanning(r *plan.Run) bool { return !r.StartedAt.IsZero() }

// modelFailed says whether a plan that a person sent back met a model that
// failed. The plan is there, so the run does not fail with it.
func modelFailed(run *plan.Run, err error) bool {
	_, failed := errors.AsType[*model.Error](err)
	return failed && run.Comment != ""
}

// unchanged puts the plan that was sent back before the person again, and says
// why it is as it was.
func unchanged(r *plan.Run, err error) ([]plan.Payload, error) {
	now, _ := r.Version()
	v, versionErr := version(r, now.Plan, "planner", "not changed, since the planner could not be asked: "+shown(err).Message, nil, now.Warnings)
	if versionErr != nil {
		return nil, versionErr
	}
	return []plan.Payload{plan.PlanProposed{Version: v}}, nil
}

// stops says whether a planner's failure ends the asking: the run is cancelled,
// the process ends, or the budget is used up.
func stops(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, budget.ErrExhausted) || errors.Is(err, errNotKept)
}

// request is what the planner is asked.
func (s *Service) request(run *plan.Run) (planner.Request, error) {
	set := s.Tools.Present(run.Options.Tools)
	req := planner.Request{
		Question: run.Question, Instructions: run.Options.Instructions,
		Tools: plannerTools(set), Rejections: openRejections(run),
	}
	var kept []string
	v, ok := run.Version()
	if ok {
		req.Previous, req.Comment = &v.Plan, run.Comment
	}
	if replanning(run) {
		req.Replan, req.Reason, req.Left = true, run.ReplanReason, replansLeft(run)
		kept = run.Carried(v.Plan)
		for _, id := range kept {
			step, _ := v.Plan.Step(id)
			req.Kept = append(req.Kept, step)
		}
		var err error
		if req.Progress, err = agent.Told(reports(run)); err != nil {
			return planner.Request{}, err
		}
	}
	req.Rules = rules(run, kept, set)
	return req, nil
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
	switch {
	case r.Comment != "":
		return "asked for changes: " + r.Comment
	case replanning(r):
		return fmt.Sprintf("replan %d: %s", r.Replans, r.ReplanReason)
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
		Mends: mends, Warnings: warnings, Kept: r.Carried(p),
	}, nil
}

// started adds approval and start to a new version where the run needs no
// person for it.
func started(r *plan.Run, events []plan.Payload, v plan.Version) []plan.Payload {
	auto := r.Options.Approval == plan.ApprovalAuto || replanning(r) && r.Options.Replan.Approval == plan.ReplanAuto
	if !auto {
		return events
	}
	return append(events, plan.PlanApproved{Version: v.Number, Hash: v.Hash, By: "auto"}, plan.RunStarted{})
}

// rules are what the run's options ask of a plan of it that keeps these steps.
func rules(run *plan.Run, kept []string, set *tools.Registry) plan.Rules {
	o := run.Options
	r := plan.Rules{MaxSteps: o.MaxSteps, CheckContract: contract.CheckContract, Kept: map[string]bool{}}
	if o.Strategy == plan.StrategyRounds {
		r.Round, r.MaxSteps = true, o.MaxParallel
	}
	for _, id := range kept {
		r.Kept[id] = run.Step(id).Status == plan.StepStatusSucceeded
	}
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

// checked holds a person's plan for a run to the rules and returns it as it
// would run.
func (s *Service) checked(run *plan.Run, p plan.Plan) (plan.Plan, []string, []plan.Violation, error) {
	return s.checkedKeeping(run, p, run.Carried(p))
}

// checkedKeeping is checked of a plan that keeps these steps.
func (s *Service) checkedKeeping(run *plan.Run, p plan.Plan, kept []string) (plan.Plan, []string, []plan.Violation, error) {
	r := s.personsRules(run, kept)
	violations := plan.Check(p, r)
	if !plan.Valid(violations) {
		e := plan.NewError(plan.CodePlanInvalid, "The plan breaks the rules below. Nothing was saved; mend them and save again.", nil)
		e.Violations = violations
		return p, nil, violations, e
	}
	p, mends := plan.Mended(p)
	return p, mends, plan.Check(p, r), nil
}

// personsRules are those of a plan that a person edits or gives.
func (s *Service) personsRules(run *plan.Run, kept []string) plan.Rules {
	r := rules(run, kept, s.Tools.Present(run.Options.Tools))
	r.OtherEnds = true
	return r
}

// CheckPlan holds a plan to the rules of a run, which need only have options,
// and reports everything that is wrong with it.
func (s *Service) CheckPlan(run *plan.Run, p plan.Plan) []plan.Violation {
	return plan.Check(p, s.personsRules(run, run.Carried(p)))
}
