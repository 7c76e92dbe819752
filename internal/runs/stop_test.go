package runs_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// hang waits for the end of ctx, as a call to a slow provider does, after
// saying that it is there.
func hang(ctx context.Context, there chan<- struct{}) error {
	there <- struct{}{}
	<-ctx.Done()
	return &model.Error{Kind: model.Cancelled, Message: "given up", Cause: ctx.Err()}
}

func TestCancelInEveryStatus(t *testing.T) { // BEHAVIOUR 5.7
	there := make(chan struct{}, 8)
	slowPlanner := &script{planner: func(ctx context.Context, _ model.Request) (string, error) { return "", hang(ctx, there) }}
	slowSteps := &script{planner: writes(diamond()), executor: func(ctx context.Context, step string, _ model.Request) (model.Response, error) {
		if step == "s1" {
			return says("done")
		}
		return model.Response{}, hang(ctx, there)
	}}
	slowAnswer := &script{planner: writes(diamond()), synthesizer: func(ctx context.Context, _ model.Request) (string, error) { return "", hang(ctx, there) }}
	tests := map[string]struct {
		script *script
		wait   func(h *harness, id string)
		steps  []string // the steps that stay succeeded
	}{
		"planning": {slowPlanner, func(*harness, string) { <-there }, nil},
		"awaiting approval": {&script{planner: writes(diamond())}, func(h *harness, id string) {
			h.until(id, is(plan.RunStatusAwaitingApproval))
		}, nil},
		"running": {slowSteps, func(h *harness, id string) {
			<-there
			h.until(id, func(r *plan.Run) bool { s := r.Step("s1"); return s != nil && s.Status == plan.StepStatusSucceeded })
		}, []string{"s1"}},
		"synthesizing": {slowAnswer, func(*harness, string) { <-there }, []string{"s1", "s2", "s3"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, tt.script)
			r := h.ask(func(a *runs.Ask) {
				if name == "running" || name == "synthesizing" {
					a.Options.Approval = plan.ApprovalAuto
				}
			})
			tt.wait(h, r.ID)
			r, err := h.Cancel(t.Context(), r.ID, "me")
			if err != nil || r.Status != plan.RunStatusCancelled {
				t.Fatalf("%s, %v", r.Status, err)
			}
			if len(r.Failed()) > 0 || r.Error != nil {
				t.Errorf("failed %v, error %+v: a cancel is never a failure", r.Failed(), r.Error)
			}
			if got := r.WithStatus(plan.StepStatusSucceeded); !slices.Equal(got, tt.steps) && len(got)+len(tt.steps) > 0 {
				t.Errorf("succeeded = %v, want %v", got, tt.steps)
			}
			for _, s := range r.Steps {
				if !s.Status.Ended() {
					t.Errorf("%s is left %s", s.ID, s.Status)
				}
			}
			if _, err := h.Cancel(t.Context(), r.ID, "me"); plan.CodeOf(err) != plan.CodeUnexpected {
				t.Errorf("cancelling again: %v", err)
			}
		})
	}
}

func TestBudgetIsNeverOverrun(t *testing.T) { // BEHAVIOUR 8.2, 8.3; exec: budget race
	wide := plan.Plan{Steps: []plan.Step{
		{ID: "a", Instruction: "a"},
		{ID: "b", Instruction: "b"},
		{ID: "c", Instruction: "c"},
		{ID: "d", Instruction: "d"},
		{ID: "end", Instruction: "end", DependsOn: []string{"a", "b", "c", "d"}},
	}}
	for limit := 1; limit <= 6; limit++ {
		h := newHarness(t, &script{})
		r := h.end(h.ask(given(wide), auto, func(a *runs.Ask) { a.Options.Budget.Requests = &limit }).ID)
		if n := len(h.model.asked); n != limit {
			t.Errorf("limit %d: %d calls were made", limit, n)
		}
		if limit == 6 {
			if r.Status != plan.RunStatusSucceeded {
				t.Errorf("exactly reaching the limit is allowed: %s, %+v", r.Status, r.Error)
			}
			continue
		}
		if r.Status != plan.RunStatusFailed || r.Error.Code != plan.CodeBudgetExhausted {
			t.Errorf("limit %d: ended %s, %+v", limit, r.Status, r.Error)
		}
		if len(r.Failed()) > 0 {
			t.Errorf("limit %d: %v failed; running out is never a step's failure", limit, r.Failed())
		}
		if got := len(r.WithStatus(plan.StepStatusSucceeded)); got != limit && limit < 6 {
			t.Errorf("limit %d: %d steps kept", limit, got)
		}
	}
}

func TestBudgetOfSteps(t *testing.T) { // BEHAVIOUR 8.2
	h := newHarness(t, &script{})
	two := 2
	r := h.end(h.ask(given(diamond()), auto, func(a *runs.Ask) { a.Options.Budget.Steps = &two }).ID)
	if r.Error == nil || r.Error.Code != plan.CodeBudgetExhausted || r.StepAttempts != 2 {
		t.Errorf("%d attempts, %+v", r.StepAttempts, r.Error)
	}
}

func TestStopAndStartGoesOn(t *testing.T) { // BEHAVIOUR 12.1
	path := filepath.Join(t.TempDir(), "runs.db")
	there := make(chan struct{}, 8)
	m := &script{executor: func(ctx context.Context, step string, _ model.Request) (model.Response, error) {
		if step == "s1" {
			return says("kept")
		}
		return model.Response{}, hang(ctx, there)
	}}
	h := openHarness(t, path, m)
	id := h.ask(given(diamond()), auto).ID
	waiting := h.ask(given(diamond())).ID
	<-there
	h.until(id, func(r *plan.Run) bool { return r.Step("s1").Status == plan.StepStatusSucceeded })
	h.Stop()
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}

	again := openHarness(t, path, &script{})
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := again.end(id)
	if r.Status != plan.RunStatusSucceeded || r.Step("s1").Result.Text != "kept" {
		t.Errorf("ended %s, s1 = %+v", r.Status, r.Step("s1").Result)
	}
	if again.model.count("executor:s1") != 0 || again.model.count("executor:s2") != 1 {
		t.Errorf("asked again: %v", again.model.asked)
	}
	if got := r.Step("s2"); got.Attempts != 2 {
		t.Errorf("s2 had %d attempts", got.Attempts)
	}
	if !slices.Contains(types(again.events(id)), "run.resumed") {
		t.Error("run.resumed is not in the log")
	}
	if r, err := again.Get(t.Context(), waiting); err != nil || r.Status != plan.RunStatusAwaitingApproval {
		t.Errorf("the waiting run is %v, %v", r, err)
	}
	if _, err := again.Approve(t.Context(), waiting, 1, "me"); err != nil {
		t.Error(err)
	}
	again.end(waiting)
}

// TestResumeAtEveryEvent takes the log of a whole run, cuts it after every
// event as a crash would, and lets a new process go on from there.
func TestResumeAtEveryEvent(t *testing.T) { // BEHAVIOUR 12.1, 12.2
	first := newHarness(t, &script{planner: writes(loose(), diamond())})
	whole := first.end(first.ask(auto).ID)
	log := first.events(whole.ID)
	for cut := 1; cut < len(log); cut++ {
		path := filepath.Join(t.TempDir(), "runs.db")
		before := plant(t, path, log[:cut])
		h := openHarness(t, path, &script{planner: writes(diamond())})
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if before.Status == plan.RunStatusAwaitingApproval { // in the middle of a commit
			if _, err := h.Approve(t.Context(), plantedID, 1, "me"); err != nil {
				t.Fatal(err)
			}
		}
		r := h.end(plantedID)
		if r.Status != plan.RunStatusSucceeded {
			t.Fatalf("cut after %d %s: ended %s, %+v", cut, log[cut-1].Type(), r.Status, r.Error)
		}
		for _, id := range before.WithStatus(plan.StepStatusSucceeded) {
			if h.model.count("executor:"+id) > 0 {
				t.Errorf("cut after %d: %s had succeeded and was asked for again", cut, id)
			}
		}
		if len(r.Waves) != 2 {
			t.Errorf("cut after %d: waves = %v", cut, r.Waves)
		}
		if len(r.Open) > 0 {
			t.Errorf("cut after %d: reservations left open: %v", cut, r.Open)
		}
	}
}

// plant writes a log into a new database, as a process that was killed left it.
func plant(t *testing.T, path string, log []plan.Event) *plan.Run {
	t.Helper()
	store, err := db.Open(t.Context(), path, db.Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	r := &plan.Run{ID: plantedID}
	for _, e := range log {
		if err := r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Append(t.Context(), db.Batch{Run: r, Events: log}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

const plantedID = "planted"

func TestACrashChargesItsReservation(t *testing.T) { // BEHAVIOUR 8.2
	there := make(chan struct{}, 8)
	path := filepath.Join(t.TempDir(), "runs.db")
	h := openHarness(t, path, &script{executor: func(ctx context.Context, _ string, _ model.Request) (model.Response, error) {
		return model.Response{}, hang(ctx, there)
	}})
	id := h.ask(given(plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "one"}}}), auto).ID
	<-there
	r, err := h.Get(t.Context(), id)
	if err != nil || len(r.Open) != 1 {
		t.Fatalf("open = %v, %v", r.Open, err)
	}
	log := h.events(id)
	h.Stop()
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	plant(t, crashed, log)
	again := openHarness(t, crashed, &script{})
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = again.end(plantedID)
	if r.Lost.Requests != 1 || r.Lost.Tokens == 0 {
		t.Errorf("lost = %+v", r.Lost)
	}
	if used := r.Used(); used.Requests != r.Usage.Requests+1 {
		t.Errorf("used = %+v, settled = %+v", used, r.Usage)
	}
	if r.Status != plan.RunStatusSucceeded {
		t.Errorf("ended %s", r.Status)
	}
}

func TestALostReservationCountsAgainstTheBudgetAfterACrash(t *testing.T) { // BEHAVIOUR 8.2
	there := make(chan struct{}, 8)
	h := newHarness(t, &script{executor: func(ctx context.Context, _ string, _ model.Request) (model.Response, error) {
		return model.Response{}, hang(ctx, there)
	}})
	one := 1
	id := h.ask(given(plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "one"}}}), auto,
		func(a *runs.Ask) { a.Options.Budget.Requests = &one }).ID
	<-there
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	plant(t, crashed, h.events(id))
	again := openHarness(t, crashed, &script{})
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := again.end(plantedID); r.Error == nil || r.Error.Code != plan.CodeBudgetExhausted || len(again.model.asked) > 0 {
		t.Errorf("ended %s, %+v, after %d more calls", r.Status, r.Error, len(again.model.asked))
	}
}
