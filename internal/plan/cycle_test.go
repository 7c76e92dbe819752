package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

// told is what the message of a cycle says: who waits on each other, the
// concrete cycle, and the dependency that it names as the one to remove.
type told struct {
	waiting  []string
	round    []string // the first again at the end
	from, to string
}

func read(t interface{ Fatalf(string, ...any) }, message string) told {
	who, rest, ok1 := strings.Cut(message, " wait on each other and none of them can start: ")
	way, rest, ok2 := strings.Cut(rest, " (each needs the next). Remove one dependency of the cycle, as ")
	to, from, ok3 := strings.Cut(strings.TrimSuffix(rest, "."), " from the depends_on of ")
	if !ok1 || !ok2 || !ok3 {
		t.Fatalf("a cycle is told as %s", message)
	}
	return told{waiting: strings.Split(who, ", "), round: strings.Split(way, " → "), from: from, to: to}
}

// distance is the length of the shortest way from one step to another by what
// they need, by trying longer and longer ways; 0 when there is none.
func distance(p plan.Plan, from, to string) int {
	at := map[string]bool{from: true}
	for n := 1; n <= len(p.Steps); n++ {
		next := map[string]bool{}
		for _, s := range p.Steps {
			for _, d := range s.DependsOn {
				if at[s.ID] && d != s.ID {
					next[d] = true
				}
			}
		}
		if next[to] {
			return n
		}
		at = next
	}
	return 0
}

func cyclesOf(p plan.Plan) []plan.Violation {
	return slices.DeleteFunc(plan.Check(p, plan.Rules{MaxSteps: 100}), func(v plan.Violation) bool { return v.Code != plan.CodeCycle })
}

func TestTheCycleThatIsToldIsOne(t *testing.T) { // BEHAVIOUR 1.3
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		for _, v := range cyclesOf(p) {
			c := read(rt, v.Message)
			if !slices.Equal(c.waiting, v.Steps) {
				rt.Fatalf("%v are blamed, and told of are %v", v.Steps, c.waiting)
			}
			if c.round[0] != v.Steps[0] || c.round[len(c.round)-1] != c.round[0] || len(c.round) < 3 {
				rt.Fatalf("the cycle %v does not begin and end with %s", c.round, v.Steps[0])
			}
			cut := false
			for i, id := range c.round[:len(c.round)-1] {
				s, _ := p.Step(id)
				if !slices.Contains(s.DependsOn, c.round[i+1]) {
					rt.Fatalf("%v: %s does not need %s", c.round, id, c.round[i+1])
				}
				if !slices.Contains(v.Steps, id) || slices.Contains(c.round[:i], id) {
					rt.Fatalf("%v goes through %s", c.round, id)
				}
				cut = cut || c.from == id && c.to == c.round[i+1]
			}
			if !cut {
				rt.Fatalf("%s from %s is not on %v", c.to, c.from, c.round)
			}
			if shortest := distance(p, c.round[0], c.round[0]); len(c.round)-1 != shortest {
				rt.Fatalf("%v has %d steps, and %d come back to %s", c.round, len(c.round)-1, shortest, c.round[0])
			}
		}
	})
}

func TestTheCutOfACycleIsTheMend(t *testing.T) { // BEHAVIOUR 1.2: the exact edit, where code can work it out
	mended := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		before := plan.Terminals(p)
		for _, v := range cyclesOf(p) {
			if v.Mend == nil {
				continue
			}
			mended++
			c := read(rt, v.Message)
			s, _ := p.Step(c.from)
			want := slices.DeleteFunc(slices.Clone(s.DependsOn), func(d string) bool { return d == c.to })
			if v.Mend.Step != c.from || !slices.Equal(*v.Mend.DependsOn, want) {
				rt.Fatalf("%s\nis mended by %+v %v", v.Message, v.Mend, *v.Mend.DependsOn)
			}
			if slices.Index(p.IDs(), c.from) > slices.Index(p.IDs(), c.to) {
				rt.Fatalf("%s needs %s, which stands before it as is usual, and that is cut", c.from, c.to)
			}
			after := v.Mend.Apply(p)
			for _, left := range cyclesOf(after) {
				if slices.ContainsFunc(left.Steps, func(id string) bool { return slices.Contains(v.Steps, id) }) {
					rt.Fatalf("after %s: %s", v.Mend.Label, left.Message)
				}
			}
			if ends := plan.Terminals(after); len(ends) > max(len(before), 1) {
				rt.Fatalf("after %s there are the ends %v, and there were %v", v.Mend.Label, ends, before)
			}
		}
	})
	if mended == 0 {
		t.Error("no cycle is ever mended")
	}
}

func TestCyclesOfEveryLength(t *testing.T) { // BEHAVIOUR 1.3
	for n := 2; n <= 60; n++ {
		var ring plan.Plan
		for i := range n {
			ring.Steps = append(ring.Steps, plan.Step{ID: fmt.Sprint("s", i), Instruction: "x", DependsOn: []string{fmt.Sprint("s", (i+n-1)%n)}})
		}
		for behind, mended := range map[string]bool{
			fmt.Sprint("s", n-1): true,  // the last of the ring is used by another: the ring can be cut before it
			"s0":                 false, // else the cut would leave it to nobody
		} {
			p := ring.Clone()
			p.Steps = append(p.Steps, plan.Step{ID: "end", Instruction: "x", DependsOn: []string{behind}})
			found := plan.Check(p, plan.Rules{MaxSteps: 100})
			if len(found) != 1 || found[0].Code != plan.CodeCycle || len(found[0].Steps) != n || (found[0].Mend != nil) != mended {
				t.Fatalf("%d steps in a ring, %s behind it: %+v", n, behind, found)
			}
			if mended && (found[0].Mend.Step != "s0" || len(plan.Check(found[0].Mend.Apply(p), plan.Rules{MaxSteps: 100})) > 0) {
				t.Errorf("%d steps in a ring are mended by %+v", n, found[0].Mend)
			}
		}
	}
}

func TestKnotsThatTouch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  [][]string
	}{
		{"one step in two cycles", []string{"a: b c", "b: a", "c: a"}, [][]string{{"a", "b", "c"}}},
		{"one knot needs another", []string{"a: b", "b: a c", "c: d", "d: c"}, [][]string{{"a", "b"}, {"c", "d"}}},
		{"a step between two knots", []string{"a: b", "b: a m", "m: c", "c: d", "d: c"}, [][]string{{"a", "b"}, {"c", "d"}}},
		{"a cycle in a cycle", []string{"a: d", "b: a c", "c: b", "d: c"}, [][]string{{"a", "b", "c", "d"}}},
		{"itself beside a cycle", []string{"a: a b", "b: a"}, [][]string{{"a", "b"}}},
		{"only itself", []string{"a: a", "b: a"}, nil},
		{"before and behind", []string{"x", "a: x b", "b: a", "y: b"}, [][]string{{"a", "b"}}},
		{"plan order, whatever is needed first", []string{"z: y", "y: x", "x: z"}, [][]string{{"z", "y", "x"}}},
		{"strangers on the way", []string{"a: zz b", "b: zz a"}, [][]string{{"a", "b"}}},
	} {
		var got [][]string
		for _, v := range cyclesOf(steps(tt.lines...)) {
			got = append(got, v.Steps)
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
