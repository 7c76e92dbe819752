package scheduler_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// retry asks for a step to be tried again, and waits for the word on it.
func (e *engine) retry(step string) error {
	r := scheduler.Retry{Step: step, By: "me", Done: make(chan error, 1)}
	e.retries <- r
	return <-r.Done
}

func TestRetryResetsExactlyWhatItTookDown(t *testing.T) { // BEHAVIOUR 5.8
	e := approvedRun(t, steps("a:", "b:", "slow:", "c: a b", "d: a", "end: c d slow"))
	e.retries = make(chan scheduler.Retry)
	var tried sync.Once
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		switch {
		case task.Step.ID == "b" && task.Attempt == 1:
			return failed("b broke")
		case task.Step.ID == "slow":
			tried.Do(func() {
				for e.snapshot().Step("b").Status != plan.StepStatusFailed {
					// the failure is committed while this step runs: ask until it is
					if err := e.retry("a"); !errors.Is(err, scheduler.ErrNotRetryable) {
						t.Errorf("a step that did not fail: %v", err)
					}
				}
				if err := e.retry("b"); err != nil {
					t.Error(err)
				}
			})
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range e.run.Steps {
		if s.Status != plan.StepStatusSucceeded {
			t.Errorf("%s is %s", s.ID, s.Status)
		}
	}
	i := slices.IndexFunc(e.events, func(ev plan.Event) bool { return ev.Type() == plan.EventStepReset })
	if reset, _ := e.events[i].Data.(plan.StepReset); !slices.Equal(reset.Steps, []string{"b", "c", "end"}) || reset.By != "me" {
		t.Errorf("reset = %+v", reset)
	}
	for step, want := range map[string]int{"a": 1, "b": 2, "d": 1} {
		if got := e.run.Step(step).Attempts; got != want {
			t.Errorf("%s was tried %d times, want %d", step, got, want)
		}
	}
}

func TestAStepBehindTwoFailuresWaitsForBoth(t *testing.T) { // BEHAVIOUR 5.5, 5.8
	e := approvedRun(t, steps("a:", "b:", "slow: ", "end: a b slow"))
	e.retries = make(chan scheduler.Retry)
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		switch {
		case task.Step.ID == "slow":
			for e.retry("a") != nil { // until a has failed
			}
		case task.Step.ID == "b", task.Attempt == 1:
			return failed(task.Step.ID + " broke")
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := e.run.Step("end"); end.Status != plan.StepStatusSkipped || end.Cause != "b" || e.run.Step("a").Status != plan.StepStatusSucceeded {
		t.Errorf("end is %s because of %q, a is %s", end.Status, end.Cause, e.run.Step("a").Status)
	}
}

func TestRandomRetriesWhileRunning(t *testing.T) { // BEHAVIOUR 5.8, 5.10
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		sc.parallel = max(sc.parallel, 2)
		e := sc.engine(t)
		e.retries = make(chan scheduler.Retry)
		inner := e.execute
		var mu sync.Mutex
		mended := map[string]bool{}
		e.execute = func(ctx context.Context, task scheduler.Task) scheduler.Outcome {
			mu.Lock()
			for _, id := range e.snapshot().Failed() {
				if !mended[id] && e.retry(id) == nil {
					mended[id] = true
				}
			}
			good := mended[task.Step.ID]
			mu.Unlock()
			if good {
				return succeeded(task.Step.ID)
			}
			return inner(ctx, task)
		}
		if err := e.start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		for id := range mended {
			sc.fate[id] = plan.StepStatusSucceeded
		}
		if got, want := statuses(e.run), sc.expected(); !reflect.DeepEqual(got, want) {
			rt.Fatalf("mended %v: statuses = %v, want %v", mended, got, want)
		}
		for _, s := range e.run.Steps {
			if s.Attempts > 1 && !mended[s.ID] {
				rt.Fatalf("%s was tried %d times and nobody asked", s.ID, s.Attempts)
			}
		}
	})
}

func everyRound(most int) option {
	return func(o *plan.Options) { o.Replan.When, o.Replan.Max = plan.ReplanEveryRound, most }
}

func TestARoundEndsBetweenWaves(t *testing.T) { // BEHAVIOUR 7.1
	e := approvedRun(t, steps("a:", "b: a", "c: b"), everyRound(1))
	if err := e.start(t.Context()); !errors.Is(err, scheduler.ErrRoundOver) {
		t.Fatal(err)
	}
	if e.run.Status != plan.RunStatusPlanning || e.run.Replans != 1 || e.run.WaveOpen || len(e.run.Waves) != 1 {
		t.Errorf("the run is %s after %d replans and waves %v", e.run.Status, e.run.Replans, e.run.Waves)
	}
	if n := len(e.run.WithStatus(plan.StepStatusPending)); n != 2 {
		t.Errorf("%d steps are left", n)
	}
	// At the limit of replans the rest runs in one go.
	if err := e.apply(plan.RunContinued{Status: plan.RunStatusRunning, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := e.start(t.Context()); err != nil || len(e.run.Waves) != 3 {
		t.Errorf("%v, waves %v", err, e.run.Waves)
	}
}

func TestTheLastWaveEndsNoRound(t *testing.T) { // BEHAVIOUR 7.1: nothing remains to be planned
	e := approvedRun(t, steps("a:", "b:"), everyRound(3))
	if err := e.start(t.Context()); err != nil || e.run.Replans != 0 {
		t.Errorf("%v after %d replans", err, e.run.Replans)
	}
}
