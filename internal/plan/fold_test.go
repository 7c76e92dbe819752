package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// noon is when the runs of these tests begin.
func noon() time.Time { return time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC) }

func cents(n int64) *USD {
	c := USD(n) * Dollar / 100
	return &c
}

// twoSteps is the plan of a and of b, which needs a.
func twoSteps() Plan {
	return Plan{Steps: []Step{
		{ID: "a", Instruction: "look up", DependsOn: []string{}},
		{ID: "b", Instruction: "sum up", DependsOn: []string{"a"}},
	}}
}

// sample is an event of the type, about the step and the call.
func sample(t testing.TB, event EventType, step, call string) Payload {
	t.Helper()
	v := Version{
		Number: 1, Plan: twoSteps(), Hash: "sha256:1", Author: "planner", Reason: "first plan", Mends: []string{"one"},
		Warnings: []Violation{{Code: CodeDuplicateDependency, Steps: []string{"b"}, Message: "m", Warning: true}},
	}
	edited := v
	edited.Number = 2
	result := Result{Text: "84,000 <people> & more", Data: json.RawMessage(`{"result":"84,000","population":84000}`)}
	fault := Fault{Code: CodeToolFailed, Message: "The tool failed."}
	value := 1200.5
	for _, p := range []Payload{
		RunCreated{Question: "Which?", Options: DefaultOptions(), By: "ann", ForkedFrom: "r0"},
		PlanRequested{Comment: "shorter", By: "ann"},
		PlanRejected{Text: "[]", Plan: &Plan{Steps: []Step{}}, Violations: []Violation{{Code: CodeEmptyPlan, Steps: []string{}, Message: "m"}}, NoJSON: true},
		PlanProposed{v},
		PlanEdited{edited},
		PlanApproved{Version: 1, Hash: "sha256:1", By: "ann"},
		RunStarted{},
		WaveStarted{Wave: 1, Steps: []string{step}},
		WaveFinished{Wave: 1},
		StepStarted{Step: step, Attempt: 1, Wave: 1},
		StepToolCalled{Step: step, Attempt: 1, ID: "t1", Tool: "get_city", Arguments: json.RawMessage(`{"name":"X"}`), Error: "gone", Millis: 7},
		StepApprovalRequested{ID: "p1", Step: step, Attempt: 1, Tool: "send_mail", Arguments: json.RawMessage(`{"to":"x"}`)},
		StepApprovalDecided{ID: "p1", Step: step, Decision: DecisionAllow, Scope: ScopeOnce, By: "ann"},
		StepSucceeded{Step: step, Attempt: 1, Result: result},
		StepFailed{Step: step, Attempt: 1, Error: fault},
		StepInvalid{Step: step, Attempt: 1, Error: fault, Result: result},
		StepSkipped{Step: step, Cause: "a"},
		StepCancelled{Step: step, Attempt: 1, Reason: "the budget is used up"},
		StepReset{Steps: []string{step}, Reason: "retry", By: "ann"},
		ReplanRequested{Number: 1, Reason: "step a failed", Error: &fault},
		AnswerStarted{Attempt: 1, Reason: "the limit is reached"},
		AnswerWritten{Answer{Result: "**x**", Subject: "Quillhaven", Value: &value, RestsOn: []string{"a", "b"}}},
		RunResumed{},
		RunContinued{Status: RunStatusRunning, Reason: "retry", Budget: &Budget{}, By: "ann"},
		RunWaiting{},
		RunSucceeded{Error: &fault},
		RunPartial{Error: &fault},
		RunFailed{Error: fault},
		RunCancelled{By: "ann"},
		UsageReserved{Call: call, Agent: RoleExecutor, Step: step, Attempt: 1, Model: "demo:demo", Amount: Amount{Requests: 1, Tokens: 900, CostUSD: *cents(3)}},
		UsageSettled{Call: call, Agent: RoleExecutor, Step: step, Usage: Usage{Requests: 1, InputTokens: 5, OutputTokens: 2, TotalTokens: 7, CostUSD: cents(2)}, Error: &fault},
	} {
		if p.Type() == event {
			return p
		}
	}
	t.Fatalf("no sample of %s", event)
	return nil
}

// happen appends payloads to a run, a second apart.
func happen(t testing.TB, r *Run, payloads ...Payload) {
	t.Helper()
	for _, p := range payloads {
		at := noon().Add(time.Duration(r.Seq) * time.Second)
		if err := r.Apply(Event{Seq: r.Seq + 1, At: at, Data: p}); err != nil {
			t.Fatal(err)
		}
	}
}

// begun are the events that bring a run to where its steps may start.
func begun(t testing.TB, schedule Schedule) []Payload {
	t.Helper()
	created, _ := sample(t, EventRunCreated, "", "").(RunCreated)
	created.Options.Schedule = schedule
	return []Payload{
		created, PlanRequested{}, sample(t, EventPlanProposed, "", ""), sample(t, EventPlanApproved, "", ""), RunStarted{},
	}
}

func runningRun(t testing.TB) *Run {
	t.Helper()
	r := &Run{ID: "r1"}
	happen(t, r, begun(t, ScheduleWaves)...)
	return r
}

// deep is everything in a run, for comparison: what is seen and what is not.
func deep(t testing.TB, r *Run) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var saved []time.Time
	for _, v := range r.Versions {
		saved = append(saved, v.At)
	}
	return string(b) + fmt.Sprint(r.index, r.gone, saved)
}

func TestAWholeRun(t *testing.T) { // BEHAVIOUR 5.1, 9.3
	r := runningRun(t)
	happen(t, r,
		WaveStarted{Wave: 1, Steps: []string{"a"}},
		StepStarted{Step: "a", Attempt: 1, Wave: 1},
		sample(t, EventUsageReserved, "a", "c1"), sample(t, EventUsageSettled, "a", "c1"),
		sample(t, EventStepToolCalled, "a", ""),
		sample(t, EventStepSucceeded, "a", ""),
		WaveFinished{Wave: 1},
		WaveStarted{Wave: 2, Steps: []string{"b"}},
		StepStarted{Step: "b", Attempt: 1, Wave: 2},
		sample(t, EventStepSucceeded, "b", ""),
		WaveFinished{Wave: 2},
		AnswerStarted{Attempt: 1}, sample(t, EventAnswerWritten, "", ""), RunSucceeded{},
	)
	a := r.Step("a")
	switch {
	case r.Status != RunStatusSucceeded || r.FinishedAt != r.UpdatedAt || r.Seq != 19:
		t.Errorf("the run is %s, ended %v, at %d", r.Status, r.FinishedAt, r.Seq)
	case !r.CreatedAt.Equal(noon()) || !r.StartedAt.Equal(noon().Add(4*time.Second)):
		t.Errorf("created %v, started %v", r.CreatedAt, r.StartedAt)
	case a.Status != StepStatusSucceeded || a.Attempts != 1 || a.Wave != 1 || a.ToolCalls != 1 || a.Usage.TotalTokens != 7 || len(a.History) != 1:
		t.Errorf("step a: %+v", a)
	case !reflect.DeepEqual(r.Waves, [][]string{{"a"}, {"b"}}) || r.WaveOpen:
		t.Errorf("waves %v, open %v", r.Waves, r.WaveOpen)
	case r.Answer == nil || r.Answer.Result != "**x**" || r.AnswerAttempts != 1:
		t.Errorf("answer %+v", r.Answer)
	case r.Usage.CostUSD == nil || *r.Usage.CostUSD != *cents(2) || len(r.Open) != 0 || r.StepAttempts != 2:
		t.Errorf("usage %+v, open %v, attempts %d", r.Usage, r.Open, r.StepAttempts)
	case r.AgentUsage[RoleExecutor].TotalTokens != 7 || r.Used() != (Amount{Requests: 1, Tokens: 7, CostUSD: *cents(2), Steps: 2}):
		t.Errorf("by agent %+v, used %+v", r.AgentUsage, r.Used())
	case r.Deliverable() != "b" || r.Cancelable() || r.Editable() || r.Approvable():
		t.Errorf("deliverable %q, cancelable %v", r.Deliverable(), r.Cancelable())
	}
}

func TestFoldIsApplyOneByOne(t *testing.T) {
	var events []Event
	for i, p := range begun(t, ScheduleWaves) {
		events = append(events, Event{Seq: int64(i) + 1, At: noon().Add(time.Duration(i) * time.Second), Data: p})
	}
	r, err := Fold("r1", events)
	if err != nil || deep(t, r) != deep(t, runningRun(t)) {
		t.Errorf("fold: %v, %s", err, deep(t, r))
	}
	if r, err := Fold("r1", events[1:]); !errors.Is(err, ErrTransition) || r != nil {
		t.Errorf("a log without its first event: %v, %v", r, err)
	}
	if r, err := Fold("r1", nil); err != nil || r.Status != "" || r.Seq != 0 {
		t.Errorf("no events: %+v, %v", r, err)
	}
}

func TestEventsThatNameWhatIsNotThere(t *testing.T) {
	for name, p := range map[string]Payload{
		"unknown step":           StepStarted{Step: "zz", Attempt: 1, Wave: 1},
		"wave nought":            StepStarted{Step: "a", Attempt: 1, Wave: 0},
		"a wave before":          StepStarted{Step: "a", Attempt: 1, Wave: -1},
		"attempt nought":         StepStarted{Step: "a", Attempt: 0, Wave: 1},
		"an attempt left out":    StepStarted{Step: "a", Attempt: 2, Wave: 1},
		"a wave of an unknown":   WaveStarted{Wave: 1, Steps: []string{"a", "zz"}},
		"a wave left out":        WaveStarted{Wave: 2, Steps: []string{"a"}},
		"end of no wave":         WaveFinished{Wave: 0},
		"end of a wave to come":  WaveFinished{Wave: 1},
		"reset of an unknown":    StepReset{Steps: []string{"a", "zz"}},
		"cancel of an unknown":   StepCancelled{Step: "zz"},
		"settling what is not":   UsageSettled{Call: "c9", Agent: RolePlanner},
		"a version out of order": PlanEdited{Version{Number: 3}},
	} {
		for _, schedule := range []Schedule{ScheduleWaves, ScheduleReady} {
			r := &Run{ID: "r1"}
			happen(t, r, begun(t, schedule)...)
			before := deep(t, r)
			if err := r.Apply(Event{Seq: r.Seq + 1, Data: p}); !errors.Is(err, ErrTransition) {
				t.Errorf("%s: %v", name, err)
			}
			if deep(t, r) != before {
				t.Errorf("%s: the state is changed", name)
			}
		}
	}
}

func TestAnAttemptThatIsOverSaysNothing(t *testing.T) { // BEHAVIOUR 12.1
	r := runningRun(t)
	happen(t, r, WaveStarted{Wave: 1, Steps: []string{"a"}}, StepStarted{Step: "a", Attempt: 1, Wave: 1}, RunResumed{}, StepStarted{Step: "a", Attempt: 2, Wave: 1})
	before := deep(t, r)
	for _, p := range []Payload{
		sample(t, EventStepToolCalled, "a", ""), sample(t, EventStepSucceeded, "a", ""), sample(t, EventStepFailed, "a", ""), sample(t, EventStepInvalid, "a", ""),
		WaveStarted{Wave: 2, Steps: []string{"b"}},
		WaveStarted{Wave: 1, Steps: []string{"a"}},
		WaveFinished{Wave: 2},
	} {
		if err := r.Apply(Event{Seq: r.Seq + 1, Data: p}); !errors.Is(err, ErrTransition) || deep(t, r) != before {
			t.Errorf("%s: %v", p.Type(), err)
		}
	}
	happen(t, r, StepSucceeded{Step: "a", Attempt: 2, Result: Result{Text: "x"}}, WaveFinished{Wave: 1})
	if a := r.Step("a"); a.Result.Text != "x" || a.History[0].Number != 2 || r.WaveOpen {
		t.Errorf("a is %+v", a)
	}
}

func TestEventsOutOfOrderAreRefused(t *testing.T) {
	r := runningRun(t)
	before := deep(t, r)
	for _, seq := range []int64{0, -1, r.Seq, r.Seq + 2} {
		if err := r.Apply(Event{Seq: seq, Data: RunCancelled{}}); !errors.Is(err, ErrTransition) {
			t.Errorf("event %d at %d: %v", seq, r.Seq, err)
		}
	}
	if deep(t, r) != before {
		t.Error("a refused event changed the state")
	}
}

func TestApprovalBindsTheNewestVersionByItsHash(t *testing.T) { // BEHAVIOUR 3.3, 3.5
	r := &Run{ID: "r1"}
	happen(t, r, begun(t, ScheduleWaves)[:3]...)
	happen(t, r, PlanEdited{Version{Number: 2, Plan: twoSteps(), Hash: "sha256:2", Author: "ann"}})
	for name, p := range map[string]PlanApproved{
		"an older version": {Version: 1, Hash: "sha256:1"}, "a version to come": {Version: 3, Hash: "sha256:2"},
		"another plan": {Version: 2, Hash: "sha256:1"}, "no hash": {Version: 2},
	} {
		if err := r.Apply(Event{Seq: r.Seq + 1, Data: p}); !errors.Is(err, ErrTransition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	happen(t, r, PlanApproved{Version: 2, Hash: "sha256:2", By: "ann"})
	if r.Approved != 2 || r.ApprovedBy != "ann" || r.Status != RunStatusAwaitingApproval {
		t.Errorf("approved %d by %q, %s", r.Approved, r.ApprovedBy, r.Status)
	}
	happen(t, r, PlanEdited{Version{Number: 3, Plan: twoSteps(), Hash: "sha256:3", Author: "ann"}})
	if r.Approved != 0 || r.ApprovedBy != "" {
		t.Errorf("the approval of version 2 stands for version 3: %d by %q", r.Approved, r.ApprovedBy)
	}
	if err := r.Apply(Event{Seq: r.Seq + 1, Data: RunStarted{}}); !errors.Is(err, ErrTransition) {
		t.Errorf("a run starts without approval: %v", err)
	}
}

func TestANewVersionBeginsItsStepsAnew(t *testing.T) { // BEHAVIOUR 2.5, 3.2
	r := &Run{ID: "r1"}
	happen(t, r, begun(t, ScheduleWaves)[:3]...)
	happen(t, r, PlanRequested{Comment: "only one step"})
	if r.Status != RunStatusPlanning || r.Comment != "only one step" {
		t.Errorf("sent back: %s, %q", r.Status, r.Comment)
	}
	one := Plan{Steps: []Step{{ID: "c", Instruction: "x"}}, Deliverable: "c"}
	happen(t, r, PlanProposed{Version{Number: 2, Plan: one, Hash: "sha256:2", Author: "planner"}})
	if r.Comment != "" || len(r.Steps) != 1 || r.Step("a") != nil || r.Step("c").Status != StepStatusPending || r.Step("c").ChangedSeq != r.Seq {
		t.Errorf("comment %q, steps %+v", r.Comment, r.Steps)
	}
	if v, ok := r.Version(); !ok || v.Number != 2 || len(r.Versions) != 2 || r.Deliverable() != "c" || !r.Approvable() || !r.Editable() {
		t.Errorf("newest is %d of %d", v.Number, len(r.Versions))
	}
}

func TestRejectionsOfTheConversation(t *testing.T) { // BEHAVIOUR 2.3
	r := &Run{ID: "r1"}
	start := begun(t, ScheduleWaves)
	happen(t, r, start[0], start[1], PlanRejected{Text: "1"}, PlanRejected{Text: "2"}, start[2])
	if r.Corrections() != 2 || r.RejectionsBefore != 0 || !r.Rejections[1].At.Equal(noon().Add(3*time.Second)) {
		t.Errorf("corrections %d, before %d", r.Corrections(), r.RejectionsBefore)
	}
	happen(t, r, PlanRequested{Comment: "x"}, PlanRejected{Text: "3"})
	if now := r.Rejections[r.RejectionsBefore:]; len(now) != 1 || now[0].Text != "3" {
		t.Errorf("of this conversation: %+v", now)
	}
}

func TestBeforeThereIsAPlan(t *testing.T) {
	r := &Run{ID: "r1"}
	happen(t, r, sample(t, EventRunCreated, "", ""))
	if v, ok := r.Version(); ok || v.Number != 0 || len(r.Plan().Steps) != 0 || r.Deliverable() != "" || r.Step("a") != nil {
		t.Errorf("version %+v, deliverable %q", v, r.Deliverable())
	}
	if got := r.WithStatus(StepStatuses()...); got == nil || len(got) != 0 {
		t.Errorf("steps %v", got)
	}
}

func TestFailuresAndWhatTheyTakeDown(t *testing.T) { // BEHAVIOUR 5.5
	r := runningRun(t)
	fault := Fault{Code: CodeToolFailed, Message: "The tool failed."}
	happen(t, r, StepStarted{Step: "a", Attempt: 1, Wave: 1}, StepFailed{Step: "a", Attempt: 1, Error: fault}, StepSkipped{Step: "b", Cause: "a"})
	a, b := r.Step("a"), r.Step("b")
	if a.Error == nil || *a.Error != fault || a.FinishedAt.IsZero() || a.History[0].Status != StepStatusFailed || *a.History[0].Error != fault {
		t.Errorf("a is %+v", a)
	}
	if b.Cause != "a" || b.Attempts != 0 || len(b.History) != 0 || b.FinishedAt.IsZero() {
		t.Errorf("b is %+v", b)
	}
	if !slices.Equal(r.Failed(), []string{"a"}) || !slices.Equal(r.Skipped(), []string{"b"}) {
		t.Errorf("failed %v, skipped %v", r.Failed(), r.Skipped())
	}
	happen(t, r, StepReset{Steps: []string{"a", "b"}, Reason: "retry"})
	if a, b := r.Step("a"), r.Step("b"); a.Status != StepStatusPending || a.Error != nil || a.Attempts != 1 || len(a.History) != 1 || b.Cause != "" || b.Status != StepStatusPending {
		t.Errorf("after the reset %+v, %+v", a, b) // BEHAVIOUR 5.8
	}
	happen(t, r, StepStarted{Step: "a", Attempt: 2, Wave: 1})
	happen(t, r, current(t, r, EventStepInvalid, "a", ""))
	if a := r.Step("a"); a.Attempts != 2 || len(a.History) != 2 || a.History[1].Number != 2 || a.Result.Text == "" || a.Status != StepStatusInvalid {
		t.Errorf("the second attempt %+v", a) // BEHAVIOUR 6.3
	}
}

func TestCancelledIsNeverFailed(t *testing.T) { // BEHAVIOUR 5.7
	r := runningRun(t)
	happen(t, r, StepStarted{Step: "a", Attempt: 1, Wave: 1}, StepCancelled{Step: "a", Attempt: 1}, StepCancelled{Step: "b"}, RunCancelled{By: "ann"})
	if len(r.Failed()) != 0 || r.Error != nil || r.Status != RunStatusCancelled {
		t.Errorf("failed %v, %s", r.Failed(), r.Status)
	}
	if a, b := r.Step("a"), r.Step("b"); len(a.History) != 1 || a.History[0].Status != StepStatusCancelled || len(b.History) != 0 || b.FinishedAt.IsZero() {
		t.Errorf("a %+v, b %+v", a, b)
	}
}

func TestResumingLosesWhatWasInFlight(t *testing.T) { // BEHAVIOUR 8.2, 12.1
	r := runningRun(t)
	happen(t, r,
		StepStarted{Step: "a", Attempt: 1, Wave: 1}, sample(t, EventStepSucceeded, "a", ""),
		StepStarted{Step: "b", Attempt: 1, Wave: 2},
		sample(t, EventUsageReserved, "b", "c1"), sample(t, EventUsageReserved, "b", "c2"), sample(t, EventUsageSettled, "b", "c1"),
		RunResumed{})
	b := r.Step("b")
	if b.Status != StepStatusPending || b.Attempts != 1 || b.ChangedSeq != r.Seq || !b.StartedAt.IsZero() || b.Usage.TotalTokens != 7 {
		t.Errorf("b is %+v", b)
	}
	if a := r.Step("a"); a.Status != StepStatusSucceeded || a.Result.Text == "" || a.ChangedSeq == r.Seq {
		t.Errorf("a is %+v", a)
	}
	if want := (Amount{Requests: 1, Tokens: 900, CostUSD: *cents(3)}); r.Lost != want || len(r.Open) != 0 || r.Resumed != 1 {
		t.Errorf("lost %+v, open %v", r.Lost, r.Open)
	}
	if want := (Amount{Requests: 2, Tokens: 907, CostUSD: *cents(5), Steps: 2}); r.Used() != want {
		t.Errorf("used %+v, want %+v", r.Used(), want)
	}
	if err := r.Apply(Event{Seq: r.Seq + 1, Data: sample(t, EventUsageSettled, "b", "c2")}); !errors.Is(err, ErrTransition) {
		t.Errorf("a call of the process before is settled: %v", err)
	}
	happen(t, r, RunResumed{})
	if r.Lost.Tokens != 900 || r.Resumed != 2 {
		t.Errorf("resuming twice charges twice: %+v", r.Lost)
	}
}

func TestUnknownCostStaysUnknown(t *testing.T) { // BEHAVIOUR 8.4
	r := runningRun(t)
	if r.Usage.CostUSD == nil || *r.Usage.CostUSD != 0 {
		t.Fatalf("before any call the cost is %v", r.Usage.CostUSD)
	}
	settle := func(call string, u Usage) {
		reserved, _ := sample(t, EventUsageReserved, "a", call).(UsageReserved)
		happen(t, r, reserved, UsageSettled{Call: call, Agent: RoleExecutor, Step: "a", Usage: u})
	}
	settle("c1", Usage{Requests: 1, TotalTokens: 3, CostUSD: cents(1)})
	settle("c2", Usage{Requests: 1, TotalTokens: 4})
	settle("c3", Usage{Requests: 1, TotalTokens: 5, CostUSD: cents(2)})
	if r.Usage.CostUSD != nil || r.AgentUsage[RoleExecutor].CostUSD != nil || r.Step("a").Usage.CostUSD != nil {
		t.Errorf("a cost is known: %+v", r.Usage)
	}
	if r.Usage.TotalTokens != 12 || r.Usage.Requests != 3 {
		t.Errorf("usage %+v", r.Usage)
	}
}

func TestWavesOfReadySteps(t *testing.T) { // BEHAVIOUR 5.1, 5.2
	r := &Run{ID: "r1"}
	happen(t, r, begun(t, ScheduleReady)...)
	happen(t, r, StepStarted{Step: "b", Attempt: 1, Wave: 2})
	if !reflect.DeepEqual(r.Waves, [][]string{nil, {"b"}}) {
		t.Errorf("waves %q", r.Waves)
	}
	held := r.Clone()
	happen(t, r, StepStarted{Step: "a", Attempt: 1, Wave: 1}, RunResumed{}, StepStarted{Step: "a", Attempt: 2, Wave: 1})
	if !reflect.DeepEqual(r.Waves, [][]string{{"a"}, {"b"}}) {
		t.Errorf("waves %q", r.Waves)
	}
	if !reflect.DeepEqual(held.Waves, [][]string{nil, {"b"}}) {
		t.Errorf("the clone's waves are %q", held.Waves)
	}
	before := deep(t, r)
	if err := r.Apply(Event{Seq: r.Seq + 1, Data: StepStarted{Step: "b", Attempt: 2, Wave: 3}}); !errors.Is(err, ErrTransition) || deep(t, r) != before {
		t.Errorf("a third wave of two steps: %v", err)
	}
	waves := runningRun(t)
	happen(t, waves, StepStarted{Step: "a", Attempt: 1, Wave: 1})
	if len(waves.Waves) != 0 {
		t.Errorf("a start joins the waves %q that their own events announce", waves.Waves)
	}
}
