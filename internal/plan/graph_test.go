package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func TestGraphOfASmallPlan(t *testing.T) { // BEHAVIOUR 1.5
	p := steps("d: b c", "a", "c: a", "b: a", "e: d", "x")
	order, err := plan.Order(p)
	if err != nil || !slices.Equal(order, []string{"a", "c", "b", "d", "e", "x"}) {
		t.Errorf("order = %v, %v", order, err)
	}
	waves, err := plan.Waves(p)
	if want := [][]string{{"a", "x"}, {"c", "b"}, {"d"}, {"e"}}; err != nil || !reflect.DeepEqual(waves, want) {
		t.Errorf("waves = %v, %v", waves, err)
	}
	path, err := plan.CriticalPath(p, nil)
	if err != nil || !slices.Equal(path, []string{"a", "b", "d", "e"}) {
		t.Errorf("critical path = %v, %v", path, err)
	}
	heavy, err := plan.CriticalPath(p, func(id string) float64 { return map[string]float64{"c": 9, "x": 5}[id] })
	if err != nil || !slices.Equal(heavy, []string{"a", "c", "d", "e"}) && !slices.Equal(heavy, []string{"a", "c"}) {
		t.Errorf("weighted critical path = %v, %v", heavy, err)
	}
	if ends := plan.Terminals(p); !slices.Equal(ends, []string{"e", "x"}) {
		t.Errorf("terminals = %v", ends)
	}
	hit, err := plan.Affected(p, []string{"b", "x"})
	if err != nil || !slices.Equal(hit, []string{"d", "b", "e", "x"}) {
		t.Errorf("affected = %v, %v", hit, err)
	}
	if _, err := plan.Affected(p, []string{"zz"}); err == nil {
		t.Error("an unknown id is affected")
	}
}

func TestDeadlockIsNeverAPartialOrder(t *testing.T) { // BEHAVIOUR 1.4
	for name, p := range map[string]plan.Plan{
		"cycle": steps("a", "b: c", "c: b"), "itself": steps("a: a"), "unknown": steps("a: zz"),
		"behind a cycle": steps("a: b", "b: a", "c: b"),
	} {
		if order, err := plan.Order(p); !errors.Is(err, plan.ErrDeadlock) || order != nil {
			t.Errorf("%s: order = %v, %v", name, order, err)
		}
		if waves, err := plan.Waves(p); !errors.Is(err, plan.ErrDeadlock) || waves != nil {
			t.Errorf("%s: waves = %v, %v", name, waves, err)
		}
		if path, err := plan.CriticalPath(p, nil); !errors.Is(err, plan.ErrDeadlock) || path != nil {
			t.Errorf("%s: path = %v, %v", name, path, err)
		}
	}
	if order, err := plan.Order(plan.Plan{}); err != nil || len(order) != 0 {
		t.Errorf("nothing is in the order %v, %v", order, err)
	}
}

func TestDeepAndWidePlans(t *testing.T) { // graph: deep, wide
	deep, wide := plan.Plan{}, steps("end")
	for i := range 5_000 {
		s := plan.Step{ID: fmt.Sprint("s", i), Instruction: "x"}
		wide.Steps = append(wide.Steps, s)
		wide.Steps[0].DependsOn = append(wide.Steps[0].DependsOn, s.ID)
		if i > 0 {
			s.DependsOn = []string{fmt.Sprint("s", i-1)}
		}
		deep.Steps = append(deep.Steps, s)
	}
	for name, p := range map[string]plan.Plan{"deep": deep, "wide": wide} {
		if found := plan.Check(p, plan.Rules{MaxSteps: 10_000}); len(found) > 0 {
			t.Errorf("%s: %v", name, codes(found))
		}
	}
	deep.Steps[0].DependsOn = []string{"s4999"}
	found := plan.Check(deep, plan.Rules{MaxSteps: 10_000})
	if got := codes(found); !slices.Equal(got, []plan.Code{plan.CodeCycle}) {
		t.Errorf("a cycle of 5,000: %v", got)
	}
}

// drawPlan draws a plan whose edges may go anywhere, so that it may be broken
// in every way an edge can be; acyclic draws edges backwards only.
func drawPlan(t *rapid.T, acyclic bool) plan.Plan {
	n := rapid.IntRange(0, 12).Draw(t, "steps")
	var p plan.Plan
	for i := range n {
		s := plan.Step{ID: fmt.Sprint("s", i), Instruction: "x"}
		most := n
		if acyclic {
			most = i - 1
		}
		for range rapid.IntRange(0, 3).Draw(t, "edges") {
			if most < 0 {
				break
			}
			s.DependsOn = append(s.DependsOn, fmt.Sprint("s", rapid.IntRange(0, most).Draw(t, "to")))
		}
		p.Steps = append(p.Steps, s)
	}
	p.Steps = rapid.Permutation(p.Steps).Draw(t, "order")
	return p
}

// reach is the reference: reach[a][b] says that a needs b, directly or through
// others, by closing the relation over (Warshall).
func reach(p plan.Plan) map[string]map[string]bool {
	r := map[string]map[string]bool{}
	known := map[string]bool{}
	for _, s := range p.Steps {
		known[s.ID] = true
		r[s.ID] = map[string]bool{}
	}
	for _, s := range p.Steps {
		for _, d := range s.DependsOn {
			if known[d] {
				r[s.ID][d] = true
			}
		}
	}
	for k := range r {
		for a := range r {
			for b := range r {
				if r[a][k] && r[k][b] {
					r[a][b] = true
				}
			}
		}
	}
	return r
}

func TestCyclesBlameExactlyWhoIsOnOne(t *testing.T) { // BEHAVIOUR 1.3
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		needs := reach(p)
		want := map[string]bool{}
		for _, s := range p.Steps {
			for _, other := range p.Steps {
				if other.ID != s.ID && needs[s.ID][other.ID] && needs[other.ID][s.ID] {
					want[s.ID] = true
				}
			}
		}
		got := map[string]bool{}
		for _, v := range plan.Check(p, plan.Rules{MaxSteps: 20}) {
			if v.Code != plan.CodeCycle {
				continue
			}
			for _, id := range v.Steps {
				if got[id] {
					rt.Fatalf("%s is blamed twice", id)
				}
				got[id] = true
			}
		}
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("blamed %v, on a cycle are %v", got, want)
		}
		_, err := plan.Order(p)
		odd := slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
			return slices.ContainsFunc(s.DependsOn, func(d string) bool { _, known := p.Step(d); return d == s.ID || !known })
		})
		if (err != nil) != (len(want) > 0 || odd) {
			rt.Fatalf("order: %v, with cycles %v", err, want)
		}
	})
}

func TestOrderWavesAndPathAgainstDefinitions(t *testing.T) { // BEHAVIOUR 1.5
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, true)
		needs := reach(p)
		order, err := plan.Order(p)
		if err != nil || len(order) != len(p.Steps) {
			rt.Fatalf("order = %v, %v", order, err)
		}
		at := map[string]int{}
		for i, id := range order {
			at[id] = i
		}
		depth := map[string]int{}
		for _, id := range order {
			for dep := range needs[id] {
				if at[dep] > at[id] {
					rt.Fatalf("%s comes before %s, which it needs", id, dep)
				}
				depth[id] = max(depth[id], depth[dep]+1)
			}
		}
		waves, err := plan.Waves(p)
		if err != nil {
			rt.Fatal(err)
		}
		count := 0
		for w, ids := range waves {
			count += len(ids)
			for _, id := range ids {
				if depth[id] != w {
					rt.Fatalf("%s is in wave %d and %d deep", id, w, depth[id])
				}
			}
		}
		if count != len(p.Steps) {
			rt.Fatalf("waves hold %d of %d steps", count, len(p.Steps))
		}
		path, err := plan.CriticalPath(p, nil)
		if err != nil || len(path) != len(waves) {
			rt.Fatalf("the longest chain %v is not as long as there are waves, %d", path, len(waves))
		}
		for i := 1; i < len(path); i++ {
			s, _ := p.Step(path[i])
			if !slices.Contains(s.DependsOn, path[i-1]) {
				rt.Fatalf("%v is no chain", path)
			}
		}
	})
}

func TestAffectedIsWhoNeedsThem(t *testing.T) { // BEHAVIOUR 1.5
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		if len(p.Steps) == 0 {
			return
		}
		of := rapid.SampledFrom(p.IDs()).Draw(rt, "of")
		needs := reach(p)
		var want []string
		for _, s := range p.Steps {
			if s.ID == of || needs[s.ID][of] {
				want = append(want, s.ID)
			}
		}
		if got, err := plan.Affected(p, []string{of}); err != nil || !slices.Equal(got, want) {
			rt.Fatalf("affected = %v, %v, want %v", got, err, want)
		}
	})
}

func TestMendsComeToAValidPlan(t *testing.T) { // BEHAVIOUR 1.2: the message names the exact edit
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		if len(p.Steps) == 0 {
			return
		}
		for range 200 {
			found := plan.Check(p, plan.Rules{MaxSteps: 20})
			at := slices.IndexFunc(found, func(v plan.Violation) bool { return !v.Warning })
			if at < 0 {
				return
			}
			if found[at].Code == plan.CodeCycle { // which edge is wrong, only a person knows
				p = plan.Mend{Step: found[at].Steps[0], DependsOn: &[]string{}}.Apply(p)
				continue
			}
			if found[at].Mend == nil {
				rt.Fatalf("%s cannot be mended: %s", found[at].Code, found[at].Message)
			}
			p = found[at].Mend.Apply(p)
		}
		rt.Fatalf("mending goes on for ever: %v", codes(plan.Check(p, plan.Rules{MaxSteps: 20})))
	})
}
