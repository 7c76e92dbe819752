package runs

import (
	"context"
	"fmt"

	"planwave/internal/plan"
)

// Fork is how a run is run again.
type Fork struct {
	// From are the steps to run again, with all that need them.
	From []string
	// Plan is the plan to run, the parent's where it is nil.
	Plan *plan.Plan
	By   string
}

// Fork makes a new run that takes over the parent's results outside of what is
// run again, at no cost. The parent stays as it is.
func (s *Service) Fork(ctx context.Context, id string, f Fork) (*plan.Run, error) {
	parent, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	v, ok := parent.Version()
	switch {
	case !ok:
		return nil, unexpected(parent, "run it again", "it has no plan yet")
	case len(f.From) == 0 && f.Plan == nil:
		return nil, refused(func(bad reject) { bad("from", "Name the steps to run again in from, or give a changed plan.") })
	}
	o := parent.Options
	if err := refused(func(bad reject) { s.bind(&o, bad) }); err != nil {
		return nil, err // what it was asked with is not configured any more
	}
	p, mends, warnings := v.Plan, []string(nil), v.Warnings
	if f.Plan != nil {
		p = *f.Plan
	}
	kept, keptErr := keptBeside(parent, p, f.From)
	if f.Plan != nil { // what is wrong with the plan is said first
		if p, mends, warnings, err = s.checkedKeeping(parent, p, kept); err != nil {
			return nil, err
		}
	}
	if keptErr != nil {
		return nil, keptErr
	}
	return s.beginFork(ctx, parent, p, kept, plan.Version{Author: f.By, Reason: "run again from " + parent.ID, Mends: mends, Warnings: warnings})
}

// keptBeside lists the steps of p whose results the parent has and that are not
// run again.
func keptBeside(parent *plan.Run, p plan.Plan, from []string) ([]string, error) {
	again := map[string]bool{}
	for _, id := range from {
		if _, there := p.Step(id); !there {
			return nil, refused(func(bad reject) {
				bad("from", "There is no step %q in the plan; from names steps of it.", plan.Short(id, mostNamed))
			})
		}
	}
	affected, err := plan.Affected(p, from)
	if err != nil {
		return nil, err
	}
	for _, id := range affected {
		again[id] = true
	}
	var kept []string
	for _, id := range parent.Carried(p) {
		if !again[id] && parent.Step(id).Status == plan.StepStatusSucceeded {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// mostNamed is how much of a name, in characters, a message repeats.
const mostNamed = 80

func (s *Service) beginFork(ctx context.Context, parent *plan.Run, p plan.Plan, kept []string, v plan.Version) (*plan.Run, error) {
	hash, err := plan.Hash(p)
	if err != nil {
		return nil, fmt.Errorf("hash the plan to run again: %w", err)
	}
	v.Number, v.Plan, v.Hash = 1, p, hash
	r := &plan.Run{Options: parent.Options}
	events := []plan.Payload{
		plan.RunCreated{Question: parent.Question, Options: parent.Options, By: v.Author, ForkedFrom: parent.ID},
		plan.PlanProposed{Version: v},
	}
	for _, id := range kept {
		events = append(events, plan.StepSucceeded{Step: id, From: parent.ID, Result: parent.Step(id).Result})
	}
	return s.begin(ctx, s.NewID(), started(r, events, v))
}
