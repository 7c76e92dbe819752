package plan

import "slices"

// Change says what became of a step between two plans.
type Change string

// The changes.
const (
	ChangeAdded   Change = "added"
	ChangeRemoved Change = "removed"
	ChangeChanged Change = "changed"
	ChangeKept    Change = "kept"
)

// StepChange is one step of a difference.
type StepChange struct {
	Step   string `json:"step"`
	Change Change `json:"change"`
}

// Diff says of every step of either plan what became of it: those of the new
// plan in its order, then the removed ones in the order of the old.
func Diff(old, now Plan) []StepChange {
	before := make(map[string]Step, len(old.Steps))
	for _, s := range old.Steps {
		before[s.ID] = s
	}
	changes := make([]StepChange, 0, len(now.Steps))
	for _, s := range now.Steps {
		was, there := before[s.ID]
		delete(before, s.ID)
		change := ChangeAdded
		switch {
		case there && sameStep(was, s):
			change = ChangeKept
		case there:
			change = ChangeChanged
		}
		changes = append(changes, StepChange{Step: s.ID, Change: change})
	}
	for _, s := range old.Steps {
		if _, gone := before[s.ID]; gone {
			changes = append(changes, StepChange{Step: s.ID, Change: ChangeRemoved})
		}
	}
	return changes
}

// Union returns both plans in one: the steps of the new plan, then the removed
// ones, each with what it needs in either plan. Where steps would wait on each
// other that way, what a step of the new plan needed before is left out.
func Union(old, now Plan) Plan {
	u := now.Clone()
	for _, s := range old.Steps {
		if _, there := now.Step(s.ID); !there {
			u.Steps = append(u.Steps, s.Clone())
		}
	}
	kept := u.Clone()
	for i := range u.Steps {
		s := &u.Steps[i]
		was, _ := old.Step(s.ID)
		for _, d := range was.DependsOn {
			if _, there := u.Step(d); there && !slices.Contains(s.DependsOn, d) {
				s.DependsOn = append(s.DependsOn, d)
			}
		}
	}
	if _, err := Order(u); err != nil {
		return kept
	}
	return u
}

// Join puts what is kept of a run before what a planner wrote for the rest. A
// step that the rest writes again stays as it was, and a sentence says so where
// it was written differently.
func Join(kept []Step, rest Plan) (Plan, []string) {
	joined := Plan{Deliverable: rest.Deliverable}
	have := make(map[string]Step, len(kept))
	for _, s := range kept {
		joined.Steps = append(joined.Steps, s.Clone())
		have[s.ID] = s
	}
	var mends []string
	for _, s := range rest.Steps {
		was, there := have[s.ID]
		switch {
		case !there:
			joined.Steps = append(joined.Steps, s.Clone())
		case !sameStep(was, s):
			mends = append(mends, "Step "+shown(s.ID)+" has ended and is kept as it was, not as it was written again.")
		}
	}
	return joined, mends
}
