package handlers

import (
	"fmt"
	"slices"

	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// estimateOf is what the plan will take, against what is left of the budget.
// There is none but while the plan waits for approval.
func (v view) estimateOf() *templates.EstimateProps {
	if v.estimate == nil {
		return nil
	}
	e, b, used := v.estimate, v.run.Options.Budget, v.run.Used()
	p := &templates.EstimateProps{
		CriticalPath: v.links(v.critical()), Waves: longest(v.run, plan.StepStatusPending),
		Rows: []templates.EstimateRow{
			countRow("Calls", e.Requests, b.Requests, used.Requests),
			countRow("Tokens", e.Tokens, b.Tokens, used.Tokens),
			costRow(e.CostUSD, b.CostUSD, used.CostUSD),
		},
	}
	if b.Steps != nil {
		p.Rows = append(p.Rows, countRow("Attempts", len(e.Steps), b.Steps, used.Steps))
	}
	return p
}

func countRow(label string, about int, limit *int, used int) templates.EstimateRow {
	r := templates.EstimateRow{Label: label, About: templates.Count(about), Left: "no limit"}
	if limit != nil {
		left := max(0, *limit-used)
		r.Left, r.Over = templates.Count(left), about > left
	}
	return r
}

// costRow is the row of an amount that may be unknown, which is never shown as
// nothing.
func costRow(about, limit *plan.USD, used plan.USD) templates.EstimateRow {
	r := templates.EstimateRow{Label: "Cost", About: "unknown", Left: "no limit"}
	if about != nil {
		r.About = templates.Money(about)
	}
	if limit != nil {
		left := max(0, *limit-used)
		r.Left, r.Over = templates.Money(&left), about != nil && *about > left
	}
	return r
}

// critical are the steps of the critical path that are still to run.
func (v view) critical() []string {
	if v.estimate == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.estimate.CriticalPath), func(id string) bool {
		_, left := v.estimate.Steps[id]
		return !left
	})
}

// take says what a step will take, in full or in short; "" where that is not asked.
func (v view) take(id string) (full, short string) {
	if v.estimate == nil {
		return "", ""
	}
	t, left := v.estimate.Steps[id]
	switch {
	case !left:
		return "", ""
	case t == runs.Take{CostUSD: t.CostUSD}:
		return "no model call", "no call"
	}
	full = fmt.Sprintf("about %s, %s tokens", templates.Counted(t.Requests, "call", "calls"), templates.Count(t.Tokens))
	if t.CostUSD != nil && *t.CostUSD > 0 {
		full += ", " + templates.Money(t.CostUSD)
	}
	return full, "about " + templates.Count(t.Tokens) + " tok"
}

// longest is the number of steps in the longest chain of steps in one of the
// statuses.
func longest(r *plan.Run, want ...plan.StepStatus) int {
	p := r.Plan()
	order, err := plan.Order(p)
	if err != nil {
		return 0
	}
	deps := make(map[string][]string, len(p.Steps))
	for _, s := range p.Steps {
		deps[s.ID] = s.DependsOn
	}
	depth, most := make(map[string]int, len(order)), 0
	for _, id := range order {
		for _, d := range deps[id] {
			depth[id] = max(depth[id], depth[d])
		}
		if slices.Contains(want, r.Step(id).Status) {
			depth[id]++
		}
		most = max(most, depth[id])
	}
	return most
}
