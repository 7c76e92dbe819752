package handlers

import (
	"slices"
	"strings"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// foldAbove is the number of siblings from which on they are drawn as one
// stack: more than this many steps that need the same and are needed by the
// same.
const foldAbove = 12

// folds are the wide fans of a plan: the ids of each in plan order, by the
// first of them.
func folds(p plan.Plan) map[string][]string {
	if len(p.Steps) <= foldAbove {
		return nil
	}
	after := make(map[string][]string, len(p.Steps))
	for _, st := range p.Steps {
		for _, d := range st.DependsOn {
			after[d] = append(after[d], st.ID)
		}
	}
	alike := map[string][]string{}
	for _, st := range p.Steps {
		before := slices.Clone(st.DependsOn)
		slices.Sort(before)
		slices.Sort(after[st.ID])
		key := strings.Join(before, ",") + ">" + strings.Join(after[st.ID], ",")
		alike[key] = append(alike[key], st.ID)
	}
	found := map[string][]string{}
	for _, ids := range alike {
		if len(ids) > foldAbove && !slices.Contains(ids, p.Deliverable) {
			found[ids[0]] = ids
		}
	}
	return found
}

// closed leaves out the fans that are open.
func closed(fans map[string][]string, open []string) map[string][]string {
	left := map[string][]string{}
	for first, ids := range fans {
		if !slices.Contains(open, first) && !slices.Contains(open, "*") {
			left[first] = ids
		}
	}
	return left
}

// folded is a plan with one step in place of each fan: the first of its steps.
// Since steps of a fan need the same and are needed by the same, the waves stay
// as they are.
func folded(p plan.Plan, fans map[string][]string) plan.Plan {
	if len(fans) == 0 {
		return p
	}
	gone := map[string]bool{}
	for _, ids := range fans {
		for _, id := range ids[1:] {
			gone[id] = true
		}
	}
	steps := make([]plan.Step, 0, len(p.Steps)-len(gone))
	for _, st := range p.Steps {
		if gone[st.ID] {
			continue
		}
		st.DependsOn = slices.DeleteFunc(slices.Clone(st.DependsOn), func(id string) bool { return gone[id] })
		steps = append(steps, st)
	}
	p.Steps = steps
	return p
}

// within leads from each step of a fan to the first of it, which stands for it
// in the picture.
func within(fans map[string][]string) map[string]string {
	in := map[string]string{}
	for first, ids := range fans {
		for _, id := range ids {
			in[id] = first
		}
	}
	return in
}

// stack fills in what the steps of a fan are at, all together.
func (v view) stack(n templates.NodeProps) templates.NodeProps {
	counts := map[plan.StepStatus]int{}
	for _, id := range n.Stack.IDs {
		counts[v.run.Step(id).Status]++
		n.Selected = n.Selected || id == v.step
	}
	for _, s := range countOrder() {
		if counts[s] > 0 {
			n.Stack.Counts = append(n.Stack.Counts, templates.StatusCount{Status: s, Count: counts[s]})
		}
	}
	n.Status = stackStatus(counts)
	n.URL = v.look.with(n.ID).address(v.url(), v.step)
	return n
}

// stackStatus is the one status that a fan is shown in: the one that most asks
// for a look.
func stackStatus(counts map[plan.StepStatus]int) plan.StepStatus {
	for _, s := range []plan.StepStatus{
		plan.StepStatusAwaitingApproval, plan.StepStatusRunning, plan.StepStatusFailed, plan.StepStatusInvalid,
		plan.StepStatusPending, plan.StepStatusCancelled, plan.StepStatusSkipped,
	} {
		if counts[s] > 0 {
			return s
		}
	}
	return plan.StepStatusSucceeded
}

// countOrder is the order in which a stack tells its counts.
func countOrder() []plan.StepStatus {
	return []plan.StepStatus{
		plan.StepStatusSucceeded, plan.StepStatusRunning, plan.StepStatusAwaitingApproval, plan.StepStatusFailed,
		plan.StepStatusInvalid, plan.StepStatusSkipped, plan.StepStatusCancelled, plan.StepStatusPending,
	}
}

// flows says whether the result of a step is used by another.
func flows(from, to *plan.StepState) bool {
	return from.Status == plan.StepStatusSucceeded && (to.Status == plan.StepStatusSucceeded || !to.StartedAt.IsZero())
}

// edge lights up when the result it carries is used. The edge of a stack does so
// with the first of its steps.
func (v view) edge(e templates.EdgeProps, fans map[string][]string) templates.EdgeProps {
	for _, from := range members(fans, e.From) {
		a := v.run.Step(from)
		e.Broken = e.Broken || a.Status.Ended() && a.Status != plan.StepStatusSucceeded
		for _, to := range members(fans, e.To) {
			b := v.run.Step(to)
			e.Lit = e.Lit || flows(a, b)
			e.Used = e.Used || flows(a, b) && b.Status == plan.StepStatusRunning
		}
	}
	return e
}

// members are the steps that a node of the picture stands for.
func members(fans map[string][]string, id string) []string {
	if ids, ok := fans[id]; ok {
		return ids
	}
	return []string{id}
}
