package plan

import "slices"

// Merge puts what mine changes in base on top of theirs, step by step, and names
// the steps that both changed in different ways: in those, mine stands. A step
// that one side removes and the other changes stays as it was changed.
func Merge(base, mine, theirs Plan) (merged Plan, both []string) {
	merged = theirs
	merged.Steps = nil
	for _, t := range theirs.Steps {
		b, inBase := base.Step(t.ID)
		m, inMine := mine.Step(t.ID)
		changedThere := !inBase || !sameStep(b, t)
		switch {
		case !inMine && !inBase: // added there
			merged.Steps = append(merged.Steps, t.Clone())
		case !inMine && changedThere: // removed here and changed there
			merged.Steps, both = append(merged.Steps, t.Clone()), append(both, t.ID)
		case !inMine: // removed here
		case inBase && sameStep(b, m):
			merged.Steps = append(merged.Steps, t.Clone())
		default:
			if merged.Steps = append(merged.Steps, m.Clone()); changedThere && !sameStep(m, t) {
				both = append(both, t.ID)
			}
		}
	}
	for i, m := range mine.Steps {
		if _, there := theirs.Step(m.ID); there {
			continue
		}
		b, inBase := base.Step(m.ID)
		if inBase && sameStep(b, m) {
			continue // removed there
		}
		if inBase { // removed there and changed here
			both = append(both, m.ID)
		}
		merged.Steps = slices.Insert(merged.Steps, min(i, len(merged.Steps)), m.Clone())
	}
	if mine.Deliverable != base.Deliverable {
		merged.Deliverable = mine.Deliverable
	}
	return merged, both
}
