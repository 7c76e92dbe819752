package handlers

import (
	"slices"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// diff is what the newest version of a started run changes in the one before;
// nil for a version that nothing ran before.
func (v view) diff() (from int, steps []plan.StepChange) {
	n := len(v.run.Versions)
	if n < 2 || v.run.StartedAt.IsZero() {
		return 0, nil
	}
	was, now := v.run.Versions[n-2], v.run.Versions[n-1]
	if now.At.Before(v.run.StartedAt) {
		return 0, nil
	}
	steps = plan.Diff(was.Plan, now.Plan)
	for i, s := range steps {
		if s.Change == plan.ChangeKept && !slices.Contains(now.Kept, s.Step) {
			steps[i].Change = unchanged
		}
	}
	return was.Number, steps
}

// unchanged is a step that is planned as it was and has no result to keep.
const unchanged plan.Change = "unchanged"

// changesOf lists what the newest version changes.
func (v view) changesOf() *templates.ChangesProps {
	from, steps := v.diff()
	if len(steps) == 0 {
		return nil
	}
	now, _ := v.run.Version()
	p := &templates.ChangesProps{From: from, URL: versionURL(v.url(), now.Number, from)}
	if !v.mayTrace() {
		p.URL = "" // a version has the tools' arguments
	}
	for _, s := range steps {
		c := templates.ChangeProps{Step: templates.StepLink{ID: s.Step}, Change: string(s.Change)}
		if s.Change != plan.ChangeRemoved {
			c.Step = v.link(s.Step)
		}
		p.Steps = append(p.Steps, c)
	}
	return p
}

// changeMarks are the added and changed steps of a version that waits for
// approval, by their ids.
func (v view) changeMarks() map[string]string {
	if !v.run.Approvable() {
		return nil
	}
	marks := map[string]string{}
	_, steps := v.diff()
	for _, s := range steps {
		if s.Change == plan.ChangeAdded || s.Change == plan.ChangeChanged {
			marks[s.Step] = string(s.Change)
		}
	}
	return marks
}

// changed says in a sentence what the newest version does.
func (v view) changed() string {
	_, steps := v.diff()
	return sentence(steps)
}

// sentence says what a version does to the one before.
func sentence(steps []plan.StepChange) string {
	by := map[plan.Change][]string{}
	for _, s := range steps {
		by[s.Change] = append(by[s.Change], s.Step)
	}
	text := ""
	for _, c := range []struct {
		change plan.Change
		verb   string
	}{{plan.ChangeAdded, "adds"}, {plan.ChangeChanged, "changes"}, {plan.ChangeRemoved, "removes"}, {plan.ChangeKept, "keeps"}, {unchanged, "leaves unchanged"}} {
		if ids := by[c.change]; len(ids) > 0 {
			if text != "" {
				text += ", "
			}
			text += c.verb + " " + named(ids)
		}
	}
	return text
}

// mostNamed is how many steps a sentence names.
const mostNamed = 6

// named writes steps as a sentence does, or counts them where there are many.
func named(ids []string) string {
	if len(ids) > mostNamed {
		return templates.Counted(len(ids), "step", "steps")
	}
	return templates.List(ids)
}
