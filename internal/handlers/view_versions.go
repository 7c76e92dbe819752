package handlers

import (
	"fmt"
	"slices"
	"strings"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// page is the page of two versions, without the picture.
func (d compared) page() templates.VersionsPageProps {
	p := templates.VersionsPageProps{
		Question: d.run.Question, RunURL: d.at, URL: versionURL(d.at, d.now.Number, 0),
		Number: d.now.Number, Against: d.was.Number,
	}
	if p.Against > 0 {
		p.SwapURL = versionURL(d.at, d.was.Number, d.now.Number)
	}
	for _, v := range slices.Backward(d.run.Versions) {
		p.Versions = append(p.Versions, templates.VersionRow{
			Number: v.Number, URL: versionURL(d.at, v.Number, 0), Author: authorOf(v), Reason: v.Reason, At: v.At,
			Approved: v.Number == d.run.Approved,
		})
	}
	changes := plan.Diff(d.was.Plan, d.now.Plan)
	p.Counts, p.Lines = counts(changes), d.lines()
	for _, c := range changes {
		if c.Change == plan.ChangeKept {
			p.Kept = append(p.Kept, c.Step)
			continue
		}
		p.Steps = append(p.Steps, templates.StepDifference{ID: c.Step, Change: string(c.Change), Lines: d.stepLines(c)})
	}
	return p
}

func authorOf(v plan.Version) string {
	switch v.Author {
	case "local":
		return "you"
	case "planner":
		return "the planner"
	}
	return v.Author
}

func counts(changes []plan.StepChange) []templates.ChangeCount {
	n := map[plan.Change]int{}
	for _, c := range changes {
		n[c.Change]++
	}
	var out []templates.ChangeCount
	for _, c := range []plan.Change{plan.ChangeAdded, plan.ChangeChanged, plan.ChangeRemoved, plan.ChangeKept} {
		if n[c] > 0 {
			out = append(out, templates.ChangeCount{Change: string(c), N: n[c]})
		}
	}
	return out
}

// lines say what concerns the plan as a whole.
func (d compared) lines() []templates.DifferenceLine {
	var out []templates.DifferenceLine
	say := func(text string) { out = append(out, templates.DifferenceLine{Text: text}) }
	if d.was.Number == 0 {
		say("This is the first plan: there is nothing before it.")
		return out
	}
	if was, now := d.was.Plan.Deliverable, d.now.Plan.Deliverable; was != now {
		say(fmt.Sprintf("The answer rests on %s now, not on %s.", orFinal(now), orFinal(was)))
	}
	if order := reordered(d.was.Plan, d.now.Plan); order != nil {
		say("The steps come in another order: " + strings.Join(order, ", ") + ".")
	}
	return out
}

func orFinal(deliverable string) string {
	if deliverable == "" {
		return "the final step"
	}
	return deliverable
}

// reordered is the new order of the steps that are in both plans, where it is
// another.
func reordered(old, now plan.Plan) []string {
	common := func(p, other plan.Plan) []string {
		return slices.DeleteFunc(p.IDs(), func(id string) bool { _, there := other.Step(id); return !there })
	}
	was, is := common(old, now), common(now, old)
	if slices.Equal(was, is) {
		return nil
	}
	return is
}

// stepLines say what became of a step.
func (d compared) stepLines(c plan.StepChange) []templates.DifferenceLine {
	was, _ := d.was.Plan.Step(c.Step)
	now, _ := d.now.Plan.Step(c.Step)
	switch c.Change {
	case plan.ChangeAdded:
		return wholeStep(now, "needs", "is carried out by")
	case plan.ChangeRemoved:
		return wholeStep(was, "needed", "was carried out by")
	default:
		return stepChanges(was, now)
	}
}

// wholeStep tells a step that is in one version only.
func wholeStep(s plan.Step, needs, by string) []templates.DifferenceLine {
	on := "nothing"
	if len(s.DependsOn) > 0 {
		on = templates.List(s.DependsOn)
	}
	out := []templates.DifferenceLine{
		{Marks: []plan.Span{{Text: s.Instruction, Change: plan.ChangeKept}}},
		{Text: fmt.Sprintf("It %s %s, and %s %s.", needs, on, by, worker(s.Tool))},
	}
	if len(s.Input) > 0 {
		out = append(out, templates.DifferenceLine{Text: "Input:", Marks: []plan.Span{{Text: inputText(s.Input), Change: plan.ChangeKept}}, Code: true})
	}
	return out
}

func worker(tool string) string {
	if tool == "" {
		return "an agent"
	}
	return "the tool " + tool
}

// stepChanges say what is different about a step that is in both versions.
func stepChanges(was, now plan.Step) []templates.DifferenceLine {
	var out []templates.DifferenceLine
	say := func(format string, args ...any) {
		out = append(out, templates.DifferenceLine{Text: fmt.Sprintf(format, args...)})
	}
	mark := func(what, old, text string, code bool) {
		if old != text {
			out = append(out, templates.DifferenceLine{Text: what, Marks: plan.Words(old, text), Code: code})
		}
	}
	if ids := without(now.DependsOn, was.DependsOn); len(ids) > 0 {
		say("%s now needs %s.", now.ID, templates.List(ids))
	}
	if ids := without(was.DependsOn, now.DependsOn); len(ids) > 0 {
		say("%s no longer needs %s.", now.ID, templates.List(ids))
	}
	mark("Instruction:", was.Instruction, now.Instruction, false)
	if was.Tool != now.Tool {
		say("%s is carried out by %s now, not by %s.", now.ID, worker(now.Tool), worker(was.Tool))
	}
	mark("Input:", inputText(was.Input), inputText(now.Input), true)
	mark("Contract:", contractOf(was), contractOf(now), true)
	mark("Strategy:", string(was.Strategy), string(now.Strategy), true)
	if len(out) == 0 {
		say("It needs the same steps, in another order.")
	}
	return out
}

func contractOf(s plan.Step) string {
	if s.Contract == nil {
		return ""
	}
	return contractText(*s.Contract)
}

// without are the ids of a list that are not in another.
func without(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) })
}

// drawn is what the picture of two versions shows.
func (d compared) drawn() plan.Plan { return plan.Union(d.was.Plan, d.now.Plan) }

// mark marks what is different in a picture of both versions.
func (d compared) mark(g templates.GraphProps) templates.GraphProps {
	g.Key = fmt.Sprintf("versions-%s-%d-%d", d.run.ID, d.now.Number, d.was.Number)
	g.StylesheetURL = strings.Replace(versionURL(d.at, d.now.Number, d.was.Number), "?", "/layout.css?", 1)
	if d.was.Number == 0 {
		g.StylesheetURL += "/layout.css"
	}
	change := map[string]plan.Change{}
	for _, c := range plan.Diff(d.was.Plan, d.now.Plan) {
		change[c.Step] = c.Change
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Diff, n.Change, n.URL, n.Final = true, string(change[n.ID]), "#step-"+n.ID, false
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		e.Change = edgeChange(needs(d.was.Plan, e.To, e.From), needs(d.now.Plan, e.To, e.From))
	}
	return g
}

// needs says whether a step needs another in a plan.
func needs(p plan.Plan, step, other string) bool {
	s, _ := p.Step(step)
	return slices.Contains(s.DependsOn, other)
}

func edgeChange(was, is bool) string {
	switch {
	case !was:
		return string(plan.ChangeAdded)
	case !is:
		return string(plan.ChangeRemoved)
	}
	return ""
}
