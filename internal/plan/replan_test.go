package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestReplansAreCounted(t *testing.T) { // BEHAVIOUR 7.1, 7.3: one that fails counts, too
	r := runningRun(t)
	fault := Fault{Code: CodePlanInvalid, Message: "m"}
	refuse(t, r, ReplanRequested{Number: 0}, "replan 0 after 0")
	refuse(t, r, ReplanRequested{Number: 2}, "replan 2 after 0")
	happen(t, r, ReplanRequested{Number: 1, Reason: "step a failed"})
	if r.Status != RunStatusPlanning || r.Replans != 1 || r.ReplanReason != "step a failed" {
		t.Errorf("%s, %d replans for %q", r.Status, r.Replans, r.ReplanReason)
	}
	refuse(t, r, ReplanRequested{Number: 1}, "replan 1 after 1")
	happen(t, r, ReplanRequested{Number: 2, Reason: "step a failed", Error: &fault})
	happen(t, r, RunContinued{Status: RunStatusRunning, Reason: "replanning came to nothing"})
	if r.Status != RunStatusRunning || r.Replans != 2 || r.Approved != 1 || len(r.Versions) != 1 {
		t.Errorf("%s after %d replans with version %d approved", r.Status, r.Replans, r.Approved)
	}
	happen(t, r, ReplanRequested{Number: 3}, RunFailed{Error: fault}, RunContinued{Status: RunStatusPlanning})
	refuse(t, r, ReplanRequested{Number: 1}, "replan 1 after 3")
	happen(t, r, ReplanRequested{Number: 4, Reason: "asked for"})
	if r.Replans != 4 || r.ReplanReason != "asked for" {
		t.Errorf("%d replans for %q", r.Replans, r.ReplanReason)
	}
}

func TestWhenARunIsPlannedAgain(t *testing.T) { // BEHAVIOUR 3.1, 7.2
	start := begun(t, ScheduleWaves)
	for _, tt := range []struct {
		name   string
		events []Payload
		says   string // "" is taken
	}{
		{"while it runs", start, ""},
		{"with a step in flight", append(slices.Clone(start), begins("a", 1)), ""},
		{"while it is planned again", append(slices.Clone(start), ReplanRequested{Number: 1}), ""},
		{"before there is a plan", start[:2], "replan 2 after 0"},
		{"before approval", start[:3], `"awaiting_approval"`},
		{"a first plan that was sent back", append(slices.Clone(start[:3]), PlanRequested{}), "replan 2 after 0"},
		{"while it waits for a person", append(slices.Clone(start), begins("a", 1), asks("p1", "a", 1, "x"), RunWaiting{}), `"awaiting_tool_approval"`},
		{"while it is answered", append(slices.Clone(start), AnswerStarted{Attempt: 1}), `"synthesizing"`},
		{"after its end", append(slices.Clone(start), RunCancelled{}), `"cancelled"`},
	} {
		r := &Run{ID: "r1"}
		happen(t, r, tt.events...)
		if tt.says == "" {
			happen(t, r, ReplanRequested{Number: r.Replans + 1})
			continue
		}
		refuse(t, r, ReplanRequested{Number: r.Replans + 2}, tt.says)
		refuse(t, r, ReplanRequested{Number: r.Replans + 1}, "replan.requested")
	}
}

func TestAReplanHasItsOwnConversation(t *testing.T) { // BEHAVIOUR 2.3, 7.3
	r := &Run{ID: "r1"}
	start := begun(t, ScheduleWaves)
	happen(t, r, start[0], start[1], PlanRejected{Text: "1"})
	happen(t, r, start[2:]...)
	happen(t, r, ReplanRequested{Number: 1}, PlanRejected{Text: "2"}, PlanRejected{Text: "3"})
	if now := r.Rejections[r.RejectionsBefore:]; len(now) != 2 || now[0].Text != "2" || r.Corrections() != 3 {
		t.Errorf("of this conversation: %+v, corrections %d", now, r.Corrections())
	}
}

func TestANewVersionIsApprovedAgain(t *testing.T) { // BEHAVIOUR 3.5, 7.3
	r := runningRun(t)
	happen(t, r, does("a", 1)...)
	happen(t, r, fails("b", 1)...)
	happen(t, r, ReplanRequested{Number: 1, Reason: "step b failed"})
	p := twoSteps()
	p.Steps[1] = Step{ID: "c", Instruction: "sum up otherwise", DependsOn: []string{"a"}}
	happen(t, r, PlanProposed{Version{Number: 2, Plan: p, Hash: "sha256:2", Author: "planner", Kept: []string{"a"}}})
	v, _ := r.Version()
	if r.Status != RunStatusAwaitingApproval || r.Approved != 0 || r.ApprovedBy != "" || v.Number != 2 || !v.At.Equal(r.UpdatedAt) || r.Versions[0].At.Equal(v.At) {
		t.Errorf("%s, %d approved, version %+v", r.Status, r.Approved, v)
	}
	refuse(t, r, RunStarted{}, "no version is approved")
	refuse(t, r, PlanApproved{Version: 1, Hash: "sha256:1"}, "not the newest")
	happen(t, r, PlanApproved{Version: 2, Hash: "sha256:2", By: "ann"}, RunStarted{})
	a, c := r.Step("a"), r.Step("c")
	if !a.Kept || a.Status != StepStatusSucceeded || a.Result.Text != "a 1" || a.Attempts != 1 || c.Status != StepStatusPending || c.Kept || r.Step("b") != nil {
		t.Errorf("a is %+v\nc is %+v", a, c)
	}
	refuse(t, r, begins("a", 2), `"succeeded"`)
	happen(t, r, does("c", 1)...)
	if !r.Delivered() || r.Deliverable() != "c" || r.StepAttempts != 3 {
		t.Errorf("delivered %v: %q after %d attempts", r.Delivered(), r.Deliverable(), r.StepAttempts)
	}
}

func TestAVersionKeepsOnlyWhatItCan(t *testing.T) { // BEHAVIOUR 3.5, 7.2
	changed := func(change func(*Plan)) Plan {
		p := twoSteps()
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name string
		done []Payload
		plan Plan
		kept []string
		says string // "" is taken
	}{
		{"nothing", does("a", 1), twoSteps(), nil, ""},
		{"what succeeded", does("a", 1), twoSteps(), []string{"a"}, ""},
		{"all of it", append(does("a", 1), does("b", 1)...), twoSteps(), []string{"a", "b"}, ""},
		{"what needs what begins anew", append(does("a", 1), does("b", 1)...), twoSteps(), []string{"b"}, ""},
		{"what failed", fails("a", 1), twoSteps(), []string{"a"}, `cannot keep step "a"`},
		{"what never ran", nil, twoSteps(), []string{"a"}, `cannot keep step "a"`},
		{"what still runs", []Payload{begins("a", 1)}, twoSteps(), []string{"a"}, `cannot keep step "a"`},
		{"what is not there", does("a", 1), twoSteps(), []string{"a", "zz"}, `cannot keep step "zz"`},
		{"what is another step now", does("a", 1), changed(func(p *Plan) { p.Steps[0].Instruction = "x" }), []string{"a"}, `cannot keep step "a"`},
		{"what needs another step now", append(does("a", 1), does("b", 1)...), changed(func(p *Plan) { p.Steps[0].Instruction = "x" }), []string{"b"}, `cannot keep step "b"`},
		{"what is written otherwise", does("a", 1), changed(func(p *Plan) { p.Steps[0].DependsOn = nil }), []string{"a"}, ""},
		{"what stands elsewhere", does("a", 1), changed(func(p *Plan) { slices.Reverse(p.Steps) }), []string{"a"}, ""},
		{"anything of a cycle", append(does("a", 1), does("b", 1)...), changed(func(p *Plan) { p.Steps[0].DependsOn = []string{"b"} }), []string{"b"}, `cannot keep step "b"`},
	} {
		r := runningRun(t)
		happen(t, r, tt.done...)
		happen(t, r, ReplanRequested{Number: 1})
		p := PlanProposed{Version{Number: 2, Plan: tt.plan, Kept: tt.kept}}
		if tt.says != "" {
			refuse(t, r, p, tt.says)
			continue
		}
		happen(t, r, p)
		for _, s := range r.Steps {
			if s.Kept != slices.Contains(tt.kept, s.ID) || s.Kept != (s.Status == StepStatusSucceeded) || s.ChangedSeq != r.Seq {
				t.Errorf("%s: %+v", tt.name, s)
			}
		}
	}
}

// tally keeps by hand how often each id was ever started, through all versions.
type tally struct {
	attempts map[string]int
	total    int
}

// TestAttemptsStayCountedThroughVersions lets versions drop steps and bring
// them back, and tries them in between.
func TestAttemptsStayCountedThroughVersions(t *testing.T) { // BEHAVIOUR 5.8, 8.2
	back := 0
	rapid.Check(t, func(rt *rapid.T) {
		r, book := runningRun(t), tally{attempts: map[string]int{}}
		for range rapid.IntRange(1, 6).Draw(rt, "versions") {
			for _, s := range slices.Clone(r.Steps) {
				if s.Status == StepStatusPending && rapid.Bool().Draw(rt, "tried") {
					book.attempts[s.ID]++
					book.total++
					happen(t, r, [][]Payload{does(s.ID, book.attempts[s.ID]), fails(s.ID, book.attempts[s.ID])}[rapid.IntRange(0, 1).Draw(rt, "how")]...)
				}
			}
			var p Plan
			for _, id := range []string{"a", "b", "c", "d"} {
				if rapid.Bool().Draw(rt, "there") {
					p.Steps = append(p.Steps, Step{ID: id, Instruction: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "work")})
				}
			}
			clone, same := r.Clone(), deep(t, r)
			happen(t, r, ReplanRequested{Number: r.Replans + 1})
			happen(t, r, PlanProposed{Version{Number: len(r.Versions) + 1, Plan: p, Hash: "h", Kept: r.Carried(p)}}, PlanApproved{Version: len(r.Versions) + 1, Hash: "h"}, RunStarted{})
			if deep(t, clone) != same {
				rt.Fatal("a new version changed a clone")
			}
			for _, s := range r.Steps {
				if s.Attempts != book.attempts[s.ID] {
					rt.Fatalf("step %s is at attempt %d, and was started %d times", s.ID, s.Attempts, book.attempts[s.ID])
				}
				if clone.Step(s.ID) == nil && s.Attempts > 0 {
					back++
				}
				if s.Status == StepStatusPending {
					if err := r.Clone().Apply(Event{Seq: r.Seq + 1, Data: begins(s.ID, 1)}); (err == nil) != (s.Attempts == 0) {
						rt.Fatalf("the first attempt at %s after %d: %v", s.ID, s.Attempts, err)
					}
				}
			}
			if r.StepAttempts != book.total || r.Used().Steps != book.total {
				rt.Fatalf("%d attempts in all, not %d", r.StepAttempts, book.total)
			}
		}
	})
	if back == 0 {
		t.Error("no step that was tried ever comes back")
	}
}

func TestAPlanThatChangesUnderAnAttempt(t *testing.T) { // BEHAVIOUR 5.7, 7.2: what was in flight says nothing any more
	r := runningRun(t)
	happen(t, r, begins("a", 1), ReplanRequested{Number: 1}, PlanProposed{Version{Number: 2, Plan: twoSteps(), Hash: "h"}})
	refuse(t, r, StepSucceeded{Step: "a", Attempt: 1}, `"pending"`)
	happen(t, r, PlanApproved{Version: 2, Hash: "h"}, RunStarted{})
	refuse(t, r, StepSucceeded{Step: "a", Attempt: 1}, `"pending"`)
	happen(t, r, begins("a", 2))
	refuse(t, r, StepSucceeded{Step: "a", Attempt: 1}, "attempt 1")
}

// roundsRun is a run in rounds whose first round is a, b and c.
func roundsRun(t testing.TB, more ...Payload) *Run {
	t.Helper()
	start := begun(t, ScheduleWaves)
	created, _ := start[0].(RunCreated)
	created.Options.Strategy = StrategyRounds
	p := Plan{Steps: []Step{{ID: "a", Instruction: "x"}, {ID: "b", Instruction: "x"}, {ID: "c", Instruction: "x"}}}
	r := &Run{ID: "r1"}
	happen(t, r, created, start[1], PlanProposed{Version{Number: 1, Plan: p, Hash: "h1"}}, PlanApproved{Version: 1, Hash: "h1"}, RunStarted{})
	happen(t, r, more...)
	return r
}

// round asks for the next round and is given the tasks beside what there is.
func round(t testing.TB, r *Run, tasks ...Step) {
	t.Helper()
	p, n := r.Plan().Clone(), len(r.Versions)+1
	p.Steps = append(p.Steps, tasks...)
	happen(t, r, ReplanRequested{Number: r.Replans + 1}, PlanProposed{Version{Number: n, Plan: p, Hash: fmt.Sprint("h", n), Kept: r.Carried(p)}},
		PlanApproved{Version: n, Hash: fmt.Sprint("h", n)}, RunStarted{})
}

func TestRoundsKeepWhatEnded(t *testing.T) { // BEHAVIOUR 7.4: failures of earlier rounds stay as they are
	r := roundsRun(t, slices.Concat(does("a", 1), fails("b", 1), []Payload{StepCancelled{Step: "c"}})...)
	if r.Deliverable() != "" || r.Delivered() {
		t.Errorf("a run in rounds is for %q, and delivered: %v", r.Deliverable(), r.Delivered())
	}
	round(t, r, Step{ID: "d", Instruction: "x", DependsOn: []string{"a"}}, Step{ID: "e", Instruction: "x"})
	for id, want := range map[string]StepStatus{
		"a": StepStatusSucceeded, "b": StepStatusFailed, "c": StepStatusCancelled, "d": StepStatusPending, "e": StepStatusPending,
	} {
		if s := r.Step(id); s.Status != want || s.Kept != want.Ended() {
			t.Errorf("%s is %+v, want %s", id, s, want)
		}
	}
	if b := r.Step("b"); b.Error == nil || len(b.History) != 1 {
		t.Errorf("b is %+v", b)
	}
	happen(t, r, does("d", 1)...)
	if r.Delivered() {
		t.Error("delivered with a task of the last round to come")
	}
	happen(t, r, does("e", 1)...)
	if !r.Delivered() { // although b failed before
		t.Error("every task of the last round succeeded, and that is not it")
	}
}

func TestWhatARoundComesTo(t *testing.T) { // BEHAVIOUR 7.4, 9.3
	for _, tt := range []struct {
		name string
		more []Payload
		want bool
	}{
		{"nothing ran", nil, false},
		{"all succeeded", slices.Concat(does("a", 1), does("b", 1), does("c", 1)), true},
		{"one is left", slices.Concat(does("a", 1), does("b", 1)), false},
		{"one runs", slices.Concat(does("a", 1), does("b", 1), []Payload{begins("c", 1)}), false},
		{"one failed", slices.Concat(does("a", 1), does("b", 1), fails("c", 1)), false},
		{"one was cancelled", slices.Concat(does("a", 1), does("b", 1), []Payload{StepCancelled{Step: "c"}}), false},
		{"none succeeded", slices.Concat(fails("a", 1), fails("b", 1), fails("c", 1)), false},
	} {
		if r := roundsRun(t, tt.more...); r.Delivered() != tt.want {
			t.Errorf("%s: delivered %v", tt.name, r.Delivered())
		}
	}
	if (&Run{Options: Options{Strategy: StrategyRounds}}).Delivered() || (&Run{}).Delivered() {
		t.Error("delivered before there is a plan")
	}
	r := runningRun(t)
	happen(t, r, does("a", 1)...)
	if r.Delivered() {
		t.Error("delivered without the deliverable")
	}
	happen(t, r, does("b", 1)...)
	if !r.Delivered() {
		t.Error("the deliverable succeeded, and that is not it")
	}
}

func TestARoundsTaskThatIsTriedAgain(t *testing.T) { // BEHAVIOUR 5.8, 7.4
	r := roundsRun(t, slices.Concat(does("a", 1), fails("b", 1), does("c", 1))...)
	round(t, r, Step{ID: "d", Instruction: "x"})
	happen(t, r, StepReset{Steps: []string{"b"}, Reason: "tried again"})
	if b := r.Step("b"); b.Kept || b.Status != StepStatusPending || b.Attempts != 1 {
		t.Errorf("b is %+v", b)
	}
	happen(t, r, does("b", 2)...)
	if r.Step("b").Kept {
		t.Error("a result of this version counts as kept")
	}
}
