package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

// renamed is a plan with other names for the same steps.
func renamed(p plan.Plan, name func(string) string) plan.Plan {
	p = p.Clone()
	for i := range p.Steps {
		p.Steps[i].ID = name(p.Steps[i].ID)
		for k, d := range p.Steps[i].DependsOn {
			p.Steps[i].DependsOn[k] = name(d)
		}
	}
	if p.Deliverable != "" {
		p.Deliverable = name(p.Deliverable)
	}
	return p
}

func TestNamesDoNotMatter(t *testing.T) { // BEHAVIOUR 1.2, 1.5: what follows from a plan follows from its form
	name := func(id string) string { return "step-" + id + "_x" }
	all := func(ids []string) []string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = name(id)
		}
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, rapid.Bool().Draw(rt, "acyclic"))
		q := renamed(p, name)
		before, after := plan.Check(p, plan.Rules{MaxSteps: 20}), plan.Check(q, plan.Rules{MaxSteps: 20})
		if len(before) != len(after) {
			rt.Fatalf("%v became %v", codes(before), codes(after))
		}
		for i, v := range before {
			if after[i].Code != v.Code || !slices.Equal(after[i].Steps, all(v.Steps)) || (after[i].Mend == nil) != (v.Mend == nil) {
				rt.Fatalf("%+v became %+v", v, after[i])
			}
			if v.Mend != nil && !slices.Equal(*after[i].Mend.DependsOn, all(*v.Mend.DependsOn)) {
				rt.Fatalf("the mend %v became %v", *v.Mend.DependsOn, *after[i].Mend.DependsOn)
			}
		}
		order, err1 := plan.Order(p)
		other, err2 := plan.Order(q)
		if (err1 == nil) != (err2 == nil) || !slices.Equal(other, all(order)) {
			rt.Fatalf("the order %v, %v became %v, %v", order, err1, other, err2)
		}
		if got := plan.Terminals(q); !slices.Equal(got, all(plan.Terminals(p))) {
			rt.Fatalf("the ends became %v", got)
		}
		a, err1 := plan.Hash(p)
		b, err2 := plan.Hash(q)
		if err1 != nil || err2 != nil || a == b && len(p.Steps) > 0 {
			rt.Fatalf("both have the hash %s, %v, %v", a, err1, err2)
		}
	})
}

func TestWhereStepsStandDoesNotMatter(t *testing.T) { // BEHAVIOUR 1.2
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, rapid.Bool().Draw(rt, "acyclic"))
		q := p.Clone()
		q.Steps = rapid.Permutation(q.Steps).Draw(rt, "permuted")
		said := func(p plan.Plan) []string {
			var out []string
			for _, v := range plan.Check(p, plan.Rules{MaxSteps: 20}) {
				slices.Sort(v.Steps)
				out = append(out, fmt.Sprint(v.Code, " ", strings.Join(v.Steps, " ")))
			}
			slices.Sort(out)
			return out
		}
		if a, b := said(p), said(q); !slices.Equal(a, b) {
			rt.Fatalf("%v became %v", a, b)
		}
		waves, err1 := plan.Waves(p)
		others, err2 := plan.Waves(q)
		if (err1 == nil) != (err2 == nil) || len(waves) != len(others) {
			rt.Fatalf("%v, %v became %v, %v", waves, err1, others, err2)
		}
		for i := range waves {
			slices.Sort(waves[i])
			slices.Sort(others[i])
			if !slices.Equal(waves[i], others[i]) {
				rt.Fatalf("wave %d was %v and is %v", i+1, waves[i], others[i])
			}
		}
	})
}
