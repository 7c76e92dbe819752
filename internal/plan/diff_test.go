package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// told is a difference as one line.
func told(changes []StepChange) string {
	said := make([]string, len(changes))
	for i, c := range changes {
		said[i] = fmt.Sprint(c.Step, " ", c.Change)
	}
	return strings.Join(said, ", ")
}

func TestTheDifferenceOfTwoPlans(t *testing.T) { // BEHAVIOUR 3.2, 7.3
	a, b, c := Step{ID: "a", Instruction: "x"}, Step{ID: "b", Instruction: "y", DependsOn: []string{"a"}}, Step{ID: "c", Instruction: "z"}
	with := func(s Step, change func(*Step)) Step {
		s = s.Clone()
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name     string
		old, now []Step
		want     string
	}{
		{"nothing at all", nil, nil, ""},
		{"the first plan", nil, []Step{a, b}, "a added, b added"},
		{"nothing left", []Step{a, b}, nil, "a removed, b removed"},
		{"the same", []Step{a, b}, []Step{a, b}, "a kept, b kept"},
		{"one more", []Step{a}, []Step{b, a}, "b added, a kept"},
		{"one less", []Step{a, b, c}, []Step{a, c}, "a kept, c kept, b removed"},
		{"another order", []Step{a, b}, []Step{b, a}, "b kept, a kept"},
		{"all at once", []Step{a, b}, []Step{c, with(b, func(s *Step) { s.Tool = "search" })}, "c added, b changed, a removed"},
		{"the removed ones in their order", []Step{c, b, a}, []Step{}, "c removed, b removed, a removed"},
		{"another name for the same", []Step{a}, []Step{with(a, func(s *Step) { s.ID = "A" })}, "A added, a removed"},
		{"other words", []Step{a}, []Step{with(a, func(s *Step) { s.Instruction = "x!" })}, "a changed"},
		{"other needs", []Step{a, b}, []Step{a, with(b, func(s *Step) { s.DependsOn = nil })}, "a kept, b changed"},
		{"a contract", []Step{a}, []Step{with(a, func(s *Step) { s.Contract = &Contract{Checks: []string{"n > 0"}} })}, "a changed"},
		{"a contract that asks for nothing", []Step{a}, []Step{with(a, func(s *Step) { s.Contract = &Contract{} })}, "a kept"},
		{"a strategy", []Step{a}, []Step{with(a, func(s *Step) { s.Strategy = StrategyReact })}, "a changed"},
		{"no needs, written otherwise", []Step{a}, []Step{with(a, func(s *Step) { s.DependsOn = []string{} })}, "a kept"},
		{"an input", []Step{a}, []Step{with(a, func(s *Step) { s.Input = json.RawMessage(`{"n":1}`) })}, "a changed"},
		{
			"an input, written otherwise",
			[]Step{with(a, func(s *Step) { s.Input = json.RawMessage(`{"n":1,"m":2}`) })},
			[]Step{with(a, func(s *Step) { s.Input = json.RawMessage(` {"m":2, "n":1}`) })},
			"a kept",
		},
		{
			"another number",
			[]Step{with(a, func(s *Step) { s.Input = json.RawMessage(`{"n":1}`) })},
			[]Step{with(a, func(s *Step) { s.Input = json.RawMessage(`{"n":1.0}`) })},
			"a changed",
		},
	} {
		if got := told(Diff(Plan{Steps: tt.old}, Plan{Steps: tt.now})); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if b, err := json.Marshal(Diff(Plan{}, Plan{})); err != nil || string(b) != "[]" {
		t.Errorf("no difference is written as %s, %v", b, err)
	}
	if b, err := json.Marshal(Diff(Plan{}, Plan{Steps: []Step{a}})); err != nil || string(b) != `[{"step":"a","change":"added"}]` {
		t.Errorf("a difference is written as %s, %v", b, err)
	}
}

// twice says whether two steps of a plan have one id.
func twice(p Plan) bool {
	for i, id := range p.IDs() {
		if slices.Index(p.IDs(), id) < i {
			return true
		}
	}
	return false
}

func TestTheDifferenceFieldByField(t *testing.T) { // BEHAVIOUR 7.3
	seen := map[Change]int{}
	rapid.Check(t, func(rt *rapid.T) {
		old := layered(rt)
		now := other(rt, old)
		if twice(now) {
			return
		}
		var want []StepChange
		for _, s := range now.Steps {
			c := StepChange{Step: s.ID, Change: ChangeChanged}
			if was, there := old.Step(s.ID); !there {
				c.Change = ChangeAdded
			} else if sameWork(was, s) {
				c.Change = ChangeKept
			}
			want = append(want, c)
		}
		for _, s := range old.Steps {
			if _, there := now.Step(s.ID); !there {
				want = append(want, StepChange{Step: s.ID, Change: ChangeRemoved})
			}
		}
		got := Diff(old, now)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s, want %s", told(got), told(want))
		}
		for _, c := range got {
			seen[c.Change]++
		}
		back := map[Change]Change{ChangeAdded: ChangeRemoved, ChangeRemoved: ChangeAdded, ChangeChanged: ChangeChanged, ChangeKept: ChangeKept}
		again := Diff(now, old) // the other way round says the opposite
		for _, c := range got {
			if !slices.Contains(again, StepChange{Step: c.Step, Change: back[c.Change]}) {
				rt.Fatalf("%s one way and %s the other", told(got), told(again))
			}
		}
		if len(again) != len(got) {
			rt.Fatalf("%s one way and %s the other", told(got), told(again))
		}
	})
	for _, c := range []Change{ChangeAdded, ChangeRemoved, ChangeChanged, ChangeKept} {
		if seen[c] == 0 {
			t.Errorf("nothing is ever %s", c)
		}
	}
}

func TestAPlanDoesNotDifferFromItself(t *testing.T) { // BEHAVIOUR 3.5, 7.3
	rapid.Check(t, func(rt *rapid.T) {
		p := other(rt, layered(rt))
		if twice(p) {
			return
		}
		got := Diff(p, p.Clone())
		for i, c := range got {
			if c.Change != ChangeKept || c.Step != p.Steps[i].ID {
				rt.Fatalf("%+v differs from itself: %s", p, told(got))
			}
		}
		if len(got) != len(p.Steps) {
			rt.Fatalf("%d steps, and %s", len(p.Steps), told(got))
		}
	})
}

func TestJoining(t *testing.T) { // BEHAVIOUR 7.2
	kept := []Step{{ID: "a", Instruction: "x", DependsOn: []string{}}, {ID: "b", Instruction: "y", DependsOn: []string{"a"}}}
	c := Step{ID: "c", Instruction: "z", DependsOn: []string{"b"}}
	otherA := Step{ID: "a", Instruction: "x, but better"}
	for _, tt := range []struct {
		name string
		rest []Step
		ids  string
		said string
	}{
		{"nothing", nil, "a b", ""},
		{"the rest", []Step{c}, "a b c", ""},
		{"all of it again", []Step{kept[0], kept[1], c}, "a b c", ""},
		{"in another order", []Step{c, kept[1], kept[0]}, "a b c", ""},
		{"written otherwise", []Step{{ID: "a", Instruction: "x"}, c}, "a b c", ""},
		{"another step of that name", []Step{otherA, c}, "a b c", "Step a has ended and is kept as it was, not as it was written again."},
		{"one step twice", []Step{c, c}, "a b c c", ""}, // which the check refuses
	} {
		got, said := Join(kept, Plan{Steps: tt.rest, Deliverable: "c"})
		if strings.Join(got.IDs(), " ") != tt.ids || strings.Join(said, "\n") != tt.said || got.Deliverable != "c" {
			t.Errorf("%s: %v for %q, said %q", tt.name, got.IDs(), got.Deliverable, said)
		}
		if !reflect.DeepEqual(got.Steps[:2], kept) {
			t.Errorf("%s: kept are %+v", tt.name, got.Steps[:2])
		}
	}
	if got, said := Join(nil, Plan{Steps: []Step{c}}); len(got.Steps) != 1 || len(said) != 0 {
		t.Errorf("nothing is kept, and joined %+v, said %q", got, said)
	}
	long := Step{ID: strings.Repeat("é\n", 5000), Instruction: "x"}
	if _, said := Join([]Step{long}, Plan{Steps: []Step{{ID: long.ID, Instruction: "y"}}}); len(said) != 1 || len(said[0]) > 1000 || strings.Contains(said[0], "\n") {
		t.Errorf("said %.200q", said)
	}
}

func TestJoiningKeepsExactlyWhatIsKept(t *testing.T) { // BEHAVIOUR 3.5, 7.2
	rapid.Check(t, func(rt *rapid.T) {
		r := halfway(rt, t)
		old := r.Plan()
		var kept []Step
		for _, id := range r.Carried(old) {
			s, _ := old.Step(id)
			kept = append(kept, s)
		}
		rest := other(rt, old)
		joined, said := Join(kept, rest)
		for i, s := range kept {
			if !reflect.DeepEqual(joined.Steps[i], s) {
				rt.Fatalf("kept %+v, and joined %+v", s, joined.Steps[i])
			}
		}
		var want []Step
		differently := 0
		for _, s := range rest.Steps {
			switch at := slices.IndexFunc(kept, func(k Step) bool { return k.ID == s.ID }); {
			case at < 0:
				want = append(want, s)
			case !sameWork(kept[at], s):
				differently++
			}
		}
		if got := joined.Steps[len(kept):]; len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) || len(said) != differently {
			rt.Fatalf("joined %+v, want %+v, said %q", got, want, said)
		}
		if _, err := Order(joined); err == nil { // then a run can keep them all
			if can := r.Carried(joined); len(can) < len(kept) || !slices.Equal(can[:len(kept)], Plan{Steps: kept}.IDs()) {
				rt.Fatalf("joined keeps %v of %v", can, Plan{Steps: kept}.IDs())
			}
		}
		clone := joined.Clone()
		for i := range joined.Steps {
			if d := joined.Steps[i].DependsOn; len(d) > 0 {
				d[0] = "changed"
			}
		}
		if again, _ := Join(kept, rest); !reflect.DeepEqual(again.Clone(), clone) {
			rt.Fatal("a change of what was joined reaches what it was joined from")
		}
	})
}
