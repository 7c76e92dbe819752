package plan

import (
	"slices"
	"testing"
)

// forked is a run that waits for approval and was forked from r0.
func forked(t testing.TB, more ...Payload) *Run {
	t.Helper()
	r := &Run{ID: "r1"}
	happen(t, r, begun(t, ScheduleWaves)[:3]...)
	happen(t, r, more...)
	return r
}

func TestAForkTakesResultsOver(t *testing.T) { // BEHAVIOUR 5.9
	taken := StepSucceeded{Step: "a", From: "r0", Result: Result{Text: "84,000"}}
	r := forked(t, taken)
	a := r.Step("a")
	if r.ForkedFrom != "r0" || a.Status != StepStatusSucceeded || !a.Kept || a.Result.Text != "84,000" || a.Attempts != 0 || len(a.History) != 0 || a.ChangedSeq != r.Seq {
		t.Errorf("forked from %q, a is %+v", r.ForkedFrom, a)
	}
	if (r.Used() != Amount{}) || r.Status != RunStatusAwaitingApproval || !r.StartedAt.IsZero() {
		t.Errorf("taking over cost %+v, and the run is %s", r.Used(), r.Status)
	}
	happen(t, r, PlanApproved{Version: 1, Hash: "sha256:1"}, RunStarted{})
	happen(t, r, does("b", 1)...)
	if b := r.Step("b"); b.Kept || !r.Delivered() || r.StepAttempts != 1 || !r.Step("a").Kept {
		t.Errorf("b is %+v, delivered %v", b, r.Delivered())
	}
}

func TestResultsAreTakenOverBeforeARunStarts(t *testing.T) { // BEHAVIOUR 5.9: history is never rewritten
	taken := StepSucceeded{Step: "a", From: "r0"}
	approved := []Payload{PlanApproved{Version: 1, Hash: "sha256:1"}, RunStarted{}}
	again := []Payload{ReplanRequested{Number: 1}, PlanProposed{Version{Number: 2, Plan: twoSteps()}}}
	for _, tt := range []struct {
		name  string
		more  []Payload
		event StepSucceeded
		says  string
	}{
		{"an attempt's result before the start", nil, StepSucceeded{Step: "a"}, `"pending"`},
		{"taken over while it runs", approved, taken, `"r0"`},
		{"taken over while the step runs", append(slices.Clone(approved), begins("a", 1)), StepSucceeded{Step: "a", Attempt: 1, From: "r0"}, `"running"`},
		{"taken over between two plans", slices.Concat(approved, again), taken, "before the run starts"},
		{"twice", []Payload{taken}, taken, `"succeeded"`},
		{"of an attempt that is not there", nil, StepSucceeded{Step: "a", Attempt: 1, From: "r0"}, "attempt 1"},
		{"of a step that is not there", nil, StepSucceeded{Step: "zz", From: "r0"}, `no step "zz"`},
	} {
		t.Run(tt.name, func(t *testing.T) { refuse(t, forked(t, tt.more...), tt.event, tt.says) })
	}
}

func TestAForkWhosePlanIsEdited(t *testing.T) { // BEHAVIOUR 3.2, 5.9
	r := forked(t, StepSucceeded{Step: "a", From: "r0", Result: Result{Text: "x"}}, StepSucceeded{Step: "b", From: "r0", Result: Result{Text: "y"}})
	p := twoSteps()
	p.Steps[1].Instruction = "sum up in one sentence"
	if kept := r.Carried(p); !slices.Equal(kept, []string{"a"}) {
		t.Fatalf("carried %v", kept)
	}
	happen(t, r, PlanEdited{Version{Number: 2, Plan: p, Hash: "sha256:2", Author: "ann", Kept: []string{"a"}}})
	if a, b := r.Step("a"), r.Step("b"); !a.Kept || a.Result.Text != "x" || b.Kept || b.Status != StepStatusPending || b.Result.Text != "" {
		t.Errorf("a is %+v\nb is %+v", a, b)
	}
	happen(t, r, PlanEdited{Version{Number: 3, Plan: p, Hash: "sha256:3", Author: "ann"}})
	if a := r.Step("a"); a.Kept || a.Status != StepStatusPending || a.Result.Text != "" {
		t.Errorf("a version that keeps nothing keeps %+v", a)
	}
	happen(t, r, StepSucceeded{Step: "a", From: "r0", Result: Result{Text: "x"}})
	if !r.Step("a").Kept {
		t.Error("what was put back cannot be taken over again")
	}
}
