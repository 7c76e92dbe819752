package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// field is a value as it reads, without how it is written.
func field(raw json.RawMessage) any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// sameWork compares two steps field by field, as a person would read them.
func sameWork(a, b Step) bool {
	contract := func(s Step) string {
		if s.Contract == nil {
			return "[] []"
		}
		return fmt.Sprint(s.Contract.Required, " ", s.Contract.Checks)
	}
	return a.ID == b.ID && a.Instruction == b.Instruction && slices.Equal(a.DependsOn, b.DependsOn) && a.Tool == b.Tool &&
		reflect.DeepEqual(field(a.Input), field(b.Input)) && contract(a) == contract(b) && a.Strategy == b.Strategy
}

// above is everything that a step needs, directly or through others, and false
// for what comes back to itself or leaves the plan.
func above(p Plan, id string, way []string) (map[string]bool, bool) {
	s, there := p.Step(id)
	if !there || slices.Contains(way, id) {
		return nil, false
	}
	all := map[string]bool{}
	for _, d := range s.DependsOn {
		more, ok := above(p, d, append(slices.Clone(way), id))
		if !ok {
			return nil, false
		}
		all[d] = true
		maps.Copy(all, more)
	}
	return all, true
}

// carriedByHand is what may be kept, from the words of the rule alone.
func carriedByHand(r *Run, p Plan) []string {
	before := r.Plan()
	stays := func(id string) bool {
		was, there := before.Step(id)
		now, _ := p.Step(id)
		if !there || !sameWork(was, now) {
			return false
		}
		status := r.Step(id).Status
		return status == StepStatusSucceeded || r.Options.Strategy == StrategyRounds && slices.Contains(
			[]StepStatus{StepStatusFailed, StepStatusInvalid, StepStatusSkipped, StepStatusCancelled}, status)
	}
	var kept []string
	for i, s := range p.Steps {
		needs, ok := above(p, s.ID, nil)
		if !ok || slices.Contains(p.IDs()[:i], s.ID) {
			return nil // a plan that cannot run keeps nothing
		}
		if stays(s.ID) && !slices.ContainsFunc(slices.Collect(maps.Keys(needs)), func(id string) bool { return !stays(id) }) {
			kept = append(kept, s.ID)
		}
	}
	return kept
}

// halfway draws a run some of whose steps have ended.
func halfway(rt *rapid.T, t testing.TB) *Run {
	t.Helper()
	p := layered(rt)
	for i := range p.Steps {
		p.Steps[i].Input = json.RawMessage(rapid.SampledFrom([]string{"", `{"n":1.50,"q":"é"}`}).Draw(rt, "input"))
	}
	start := begun(t, ScheduleWaves)
	created, _ := start[0].(RunCreated)
	created.Options.Strategy = rapid.SampledFrom([]Strategy{StrategyPlan, StrategyPlan, StrategyRounds}).Draw(rt, "strategy")
	r := &Run{ID: "r1"}
	happen(t, r, created, start[1], PlanProposed{Version{Number: 1, Plan: p, Hash: "h"}}, PlanApproved{Version: 1, Hash: "h"}, RunStarted{})
	for _, s := range p.Steps {
		switch rapid.IntRange(0, 7).Draw(rt, "came of it") {
		case 0:
			happen(t, r, fails(s.ID, 1)...)
		case 1:
			happen(t, r, StepSkipped{Step: s.ID, Cause: "s0"})
		case 2:
			happen(t, r, StepCancelled{Step: s.ID})
		case 3:
		default:
			happen(t, r, does(s.ID, 1)...)
		}
	}
	happen(t, r, ReplanRequested{Number: 1, Reason: "something failed"})
	return r
}

// other draws a plan that is another in places, and the same work elsewhere.
func other(rt *rapid.T, p Plan) Plan {
	p = p.Clone()
	for i := range p.Steps {
		s := &p.Steps[i]
		switch rapid.IntRange(0, 15).Draw(rt, "change") {
		case 0:
			s.Instruction += "!"
		case 1:
			s.Tool = "search"
		case 2:
			s.Strategy = StrategyReact
		case 3:
			s.Contract = &Contract{Required: rapid.SampledFrom([][]string{nil, {"n"}}).Draw(rt, "contract")}
		case 4:
			s.Input = json.RawMessage(rapid.SampledFrom([]string{"null", ` {"q":"\u00e9", "n":1.50}`, `{"n":1.5,"q":"é"}`}).Draw(rt, "written"))
		case 5:
			slices.Reverse(s.DependsOn)
		case 6:
			s.DependsOn = append(s.DependsOn, rapid.SampledFrom([]string{"s0", "s1", "s2", "s6", "zz"}).Draw(rt, "more"))
		case 7:
			if len(s.DependsOn) > 0 {
				s.DependsOn = s.DependsOn[1:]
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(rt, "moved") == 0 {
		p.Steps = rapid.Permutation(p.Steps).Draw(rt, "order")
	}
	for range rapid.IntRange(0, 2).Draw(rt, "new") {
		p.Steps = append(p.Steps, Step{ID: rapid.SampledFrom([]string{"n0", "n1", "n2", "n3", "s0"}).Draw(rt, "id"), Instruction: "new", DependsOn: []string{p.Steps[0].ID}})
	}
	if n := len(p.Steps); rapid.IntRange(0, 3).Draw(rt, "dropped") == 0 {
		p.Steps = p.Steps[:n-1]
	}
	return p
}

func TestWhatANewPlanCanKeep(t *testing.T) { // BEHAVIOUR 5.9, 7.2
	some, none := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r := halfway(rt, t)
		p := other(rt, r.Plan())
		before := deep(t, r)
		got, want := r.Carried(p), carriedByHand(r, p)
		if !slices.Equal(got, want) {
			rt.Fatalf("carried %v, want %v, from\n%+v\nto\n%+v\nin %+v", got, want, r.Plan(), p, r.Steps)
		}
		if deep(t, r) != before {
			rt.Fatal("asking what can be kept changes the run")
		}
		if len(got) > 0 && len(got) < len(p.Steps) {
			some++
		} else if len(got) == 0 {
			none++
		}
	})
	if some == 0 || none == 0 {
		t.Errorf("some steps are kept %d times and none %d times", some, none)
	}
}

func TestWhatIsKeptStaysAndTheRestBeginsAnew(t *testing.T) { // BEHAVIOUR 7.2, 7.3
	rapid.Check(t, func(rt *rapid.T) {
		r := halfway(rt, t)
		p := other(rt, r.Plan())
		can := r.Carried(p)
		var keep []string
		for _, id := range append(p.IDs(), "zz") {
			if odds := rapid.IntRange(0, 9).Draw(rt, "keep"); slices.Contains(can, id) && odds > 1 || odds == 0 {
				keep = append(keep, id)
			}
		}
		before := r.Clone()
		err := r.Apply(Event{Seq: r.Seq + 1, At: noon(), Data: PlanProposed{Version{Number: 2, Plan: p, Kept: keep}}})
		if bad := slices.ContainsFunc(keep, func(id string) bool { return !slices.Contains(can, id) }); (err != nil) != bad {
			rt.Fatalf("keeps %v of %v: %v", keep, can, err)
		}
		if err != nil {
			return
		}
		for i, s := range r.Steps {
			if s.ID != p.Steps[i].ID {
				rt.Fatalf("step %d is %s, not %s", i, s.ID, p.Steps[i].ID)
			}
			was := before.Step(s.ID)
			if was == nil {
				was = &StepState{ID: s.ID}
			}
			want := *was
			if want.ChangedSeq, want.Kept = r.Seq, true; !slices.Contains(keep, s.ID) {
				want = StepState{
					ID: s.ID, Status: StepStatusPending, Attempts: was.Attempts, History: was.History, Wave: was.Wave,
					ToolCalls: was.ToolCalls, Usage: was.Usage, ChangedSeq: r.Seq,
				}
			}
			if !reflect.DeepEqual(s, want) && slices.Index(p.IDs(), s.ID) == i {
				rt.Fatalf("kept %v: step\n%+v, want\n%+v", keep, s, want)
			}
		}
	})
}
