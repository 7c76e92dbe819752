package scheduler_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// barrier lets callers pass when n of them are there.
type barrier struct {
	arrive sync.WaitGroup
}

func newBarrier(n int) *barrier {
	b := &barrier{}
	b.arrive.Add(n)
	return b
}

func (b *barrier) pass() { b.arrive.Done(); b.arrive.Wait() }

func TestIndependentStepsOverlap(t *testing.T) { // BEHAVIOUR 5.1
	for _, schedule := range []option{ready, func(*plan.Options) {}} {
		e := approvedRun(t, steps("a", "b", "c", "d: a b c"), schedule)
		b := newBarrier(3)
		e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
			if task.Step.ID != "d" {
				b.pass() // hangs unless all three are in flight together
			}
			return succeeded(task.Step.ID)
		}
		if err := e.start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := e.run.Waves; !reflect.DeepEqual(got, [][]string{{"a", "b", "c"}, {"d"}}) {
			t.Errorf("waves = %v", got)
		}
	}
}

func TestNextWaveWaitsForTheWholeWave(t *testing.T) { // BEHAVIOUR 5.1
	e := approvedRun(t, steps("slow", "quick", "after: quick", "end: slow after"))
	release := make(chan struct{})
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		switch task.Step.ID {
		case "slow":
			<-release
		case "after":
			if st := e.snapshot().Step("slow").Status; st != plan.StepStatusSucceeded {
				t.Errorf("after started while slow was %s", st)
			}
		case "quick":
			defer close(release)
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"slow", "quick"}, {"after"}, {"end"}}
	if !reflect.DeepEqual(e.run.Waves, want) {
		t.Errorf("waves = %v, want %v", e.run.Waves, want)
	}
}

func TestAsReadyStartsTheMomentItCan(t *testing.T) { // BEHAVIOUR 5.2
	e := approvedRun(t, steps("slow", "quick", "after: quick", "end: slow after"), ready)
	release := make(chan struct{})
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		switch task.Step.ID {
		case "slow":
			<-release // ends only after "after" has run
		case "after":
			close(release)
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.run.WithStatus(plan.StepStatusSucceeded); len(got) != 4 {
		t.Errorf("succeeded = %v", got)
	}
}

func TestAtMostMaxParallel(t *testing.T) { // BEHAVIOUR 5.4
	e := approvedRun(t, steps("a", "b", "c", "d", "e", "f", "end: a b c d e f"), parallel(2))
	var now, most atomic.Int32
	pair := make(chan struct{})
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if task.Step.ID != "end" { // in pairs, so that two really are in flight
			select {
			case pair <- struct{}{}:
			case <-pair:
			}
		}
		now.Add(-1)
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 2 {
		t.Errorf("%d steps at once, want exactly 2", most.Load())
	}
}

func TestFailureTakesDownOnlyWhatNeededIt(t *testing.T) { // BEHAVIOUR 5.3, 5.5; exec: failure cascade
	e := approvedRun(t, steps("a", "b: a", "c", "final: b c", "after: final", "other: c", "end: after other"))
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		if task.Step.ID == "a" {
			return failed("no such thing")
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.run.Failed(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("failed = %v", got)
	}
	if got := e.run.Skipped(); !slices.Equal(got, []string{"b", "final", "after", "end"}) {
		t.Errorf("skipped = %v", got)
	}
	for _, id := range e.run.Skipped() {
		if c := e.run.Step(id).Cause; c != "a" {
			t.Errorf("cause of %s = %q, want the step that failed first", id, c)
		}
		if slices.ContainsFunc(e.asked, func(s string) bool { return strings.HasPrefix(s, id+"#") }) {
			t.Errorf("skipped step %s reached the executor", id)
		}
	}
	if got := e.run.WithStatus(plan.StepStatusSucceeded); !slices.Equal(got, []string{"c", "other"}) {
		t.Errorf("succeeded = %v: a sibling's work must not be lost", got)
	}
}

func TestInvalidIsNotSuccess(t *testing.T) { // BEHAVIOUR 5.3, 6.3
	e := approvedRun(t, steps("a", "b: a"))
	e.execute = func(context.Context, scheduler.Task) scheduler.Outcome {
		return scheduler.Outcome{
			Status: plan.StepStatusInvalid, Result: plan.Result{Text: "junk"},
			Fault: plan.Fault{Code: plan.CodeContractBroken, Message: "1. tests is missing"},
		}
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]plan.StepStatus{"a": plan.StepStatusInvalid, "b": plan.StepStatusSkipped}
	if got := statuses(e.run); !reflect.DeepEqual(got, want) {
		t.Errorf("statuses = %v", got)
	}
}

func TestStepSeesExactlyWhatItNames(t *testing.T) { // BEHAVIOUR 4.1
	e := approvedRun(t, steps("a", "b", "c: a", "d: c b"))
	seen := map[string][]scheduler.Input{}
	var mu sync.Mutex
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		mu.Lock()
		defer mu.Unlock()
		seen[task.Step.ID] = task.Inputs
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := func(id string) scheduler.Input {
		return scheduler.Input{Step: id, Result: plan.Result{Text: "result of " + id}}
	}
	want := map[string][]scheduler.Input{"a": {}, "b": {}, "c": {in("a")}, "d": {in("c"), in("b")}}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("inputs = %v", seen)
	}
}

func TestCancelIsNeverAFailedStep(t *testing.T) { // BEHAVIOUR 5.7
	e := approvedRun(t, steps("done", "flying: done", "waiting: flying"))
	ctx, cancel := context.WithCancelCause(t.Context())
	e.execute = func(ctx context.Context, task scheduler.Task) scheduler.Outcome {
		if task.Step.ID == "done" {
			return succeeded("done")
		}
		cancel(scheduler.ErrCancelled)
		<-ctx.Done()
		return scheduler.Failed(ctx.Err())
	}
	if err := e.start(ctx); !errors.Is(err, scheduler.ErrCancelled) {
		t.Fatalf("err = %v", err)
	}
	want := map[string]plan.StepStatus{
		"done": plan.StepStatusSucceeded, "flying": plan.StepStatusRunning, "waiting": plan.StepStatusPending,
	} // whoever cancelled ends them with the run
	if got := statuses(e.run); !reflect.DeepEqual(got, want) {
		t.Errorf("statuses = %v", got)
	}
}

func TestSuccessThatArrivesWithTheCancelStays(t *testing.T) { // BEHAVIOUR 5.7
	e := approvedRun(t, steps("a", "b: a"))
	ctx, cancel := context.WithCancelCause(t.Context())
	e.execute = func(context.Context, scheduler.Task) scheduler.Outcome {
		cancel(scheduler.ErrCancelled)
		return succeeded("a")
	}
	if err := e.start(ctx); !errors.Is(err, scheduler.ErrCancelled) {
		t.Fatalf("err = %v", err)
	}
	if got := e.run.Step("a").Status; got != plan.StepStatusSucceeded {
		t.Errorf("a is %s: paid-for work was thrown away", got)
	}
}

func TestShutdownRecordsNothingOfWhatWasInFlight(t *testing.T) { // BEHAVIOUR 12.1
	e := approvedRun(t, steps("a", "b: a"))
	ctx, cancel := context.WithCancelCause(t.Context())
	e.execute = func(ctx context.Context, _ scheduler.Task) scheduler.Outcome {
		cancel(scheduler.ErrShutdown)
		<-ctx.Done()
		return scheduler.Failed(ctx.Err())
	}
	if err := e.start(ctx); !errors.Is(err, scheduler.ErrShutdown) {
		t.Fatalf("err = %v", err)
	}
	want := map[string]plan.StepStatus{"a": plan.StepStatusRunning, "b": plan.StepStatusPending}
	if got := statuses(e.run); !reflect.DeepEqual(got, want) {
		t.Errorf("statuses = %v", got)
	}
}

func TestStopLeavesTheRestPendingAndKeepsWhatSucceeded(t *testing.T) { // BEHAVIOUR 8.3
	stop := plan.NewError(plan.CodeBudgetExhausted, "used up", nil)
	e := approvedRun(t, steps("a", "b", "c: a b"))
	both := newBarrier(2)
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		both.pass()
		if task.Step.ID == "a" {
			return scheduler.Outcome{Stop: stop}
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); !errors.Is(err, stop) {
		t.Fatalf("err = %v", err)
	}
	want := map[string]plan.StepStatus{
		"a": plan.StepStatusPending, "b": plan.StepStatusSucceeded, "c": plan.StepStatusPending,
	}
	if got := statuses(e.run); !reflect.DeepEqual(got, want) {
		t.Errorf("statuses = %v", got)
	}
}

func TestAdmitStopsBeforeAStep(t *testing.T) { // BEHAVIOUR 8.2: steps counts attempts started
	stop := errors.New("no more steps")
	e := approvedRun(t, steps("a", "b: a"), parallel(1))
	left := 1
	e.admit = func() error {
		if left == 0 {
			return stop
		}
		left--
		return nil
	}
	if err := e.start(t.Context()); !errors.Is(err, stop) {
		t.Fatalf("err = %v", err)
	}
	if !slices.Equal(e.asked, []string{"a#1"}) {
		t.Errorf("asked = %v", e.asked)
	}
}

func TestOnlyTheApprovedPlanRuns(t *testing.T) { // BEHAVIOUR 3.5
	tests := map[string]func(*plan.Run){
		"nothing approved": func(r *plan.Run) { r.Approved = 0 },
		"another version":  func(r *plan.Run) { r.Approved = 7 },
		"changed after":    func(r *plan.Run) { r.Versions[0].Plan.Steps[0].Instruction = "something else" },
		"step slipped in": func(r *plan.Run) {
			r.Versions[0].Plan.Steps = append(r.Versions[0].Plan.Steps, plan.Step{ID: "x", Instruction: "x"})
		},
		"dependency gone":   func(r *plan.Run) { r.Versions[0].Plan.Steps[1].DependsOn = nil },
		"no version at all": func(r *plan.Run) { r.Versions = nil },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			e := approvedRun(t, steps("a", "b: a"))
			run := e.snapshot()
			run.Versions[0].Plan = run.Versions[0].Plan.Clone()
			change(run)
			if err := scheduler.Run(t.Context(), run, e); !errors.Is(err, scheduler.ErrNotApproved) {
				t.Errorf("err = %v, want ErrNotApproved", err)
			}
			if len(e.asked) > 0 {
				t.Errorf("asked = %v", e.asked)
			}
		})
	}
}

func TestPanicFailsTheStepOnly(t *testing.T) { // BEHAVIOUR 4.3
	e := approvedRun(t, steps("a", "b", "c: a b"))
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		if task.Step.ID == "a" {
			panic("boom with a secret")
		}
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := e.run.Step("a")
	if a.Status != plan.StepStatusFailed || a.Error.Code != plan.CodeInternal || strings.Contains(a.Error.Message, "secret") {
		t.Errorf("a = %s, %+v", a.Status, a.Error)
	}
	if got := e.run.Step("b").Status; got != plan.StepStatusSucceeded {
		t.Errorf("b is %s", got)
	}
}

// full is an engine whose disk is full from the nth record on.
type full struct {
	*engine
	left int
	stop context.CancelCauseFunc
	lost bool
}

var errDisk = errors.New("disk full")

func (f *full) Record(p ...plan.Payload) {
	if f.left == 0 {
		f.lost = true
		f.stop(errDisk)
		return
	}
	f.left--
	f.engine.Record(p...)
}

func (f *full) Commit(ctx context.Context) error {
	if f.lost {
		return errDisk
	}
	return f.engine.Commit(ctx)
}

func TestNothingMoreStartsOnceACommitFailed(t *testing.T) { // BEHAVIOUR 12.1
	for n := range 3 {
		ctx, stop := context.WithCancelCause(t.Context())
		e := approvedRun(t, steps("a", "b: a", "c: b"))
		e.execute = func(ctx context.Context, task scheduler.Task) scheduler.Outcome {
			if ctx.Err() != nil { // as whoever commits before it acts
				return scheduler.Failed(ctx.Err())
			}
			return succeeded(task.Step.ID)
		}
		f := &full{engine: e, left: n, stop: stop}
		if err := scheduler.Run(ctx, e.snapshot(), f); !errors.Is(err, errDisk) {
			t.Fatalf("err = %v", err)
		}
		if len(e.asked) != n+1 || len(e.run.WithStatus(plan.StepStatusSucceeded)) > n {
			t.Errorf("after %d commits %d steps had started: %v", n, len(e.asked), e.asked)
		}
	}
}

func TestAsReadyTakesTheLongestWayFirst(t *testing.T) { // BEHAVIOUR 5.2, with a limit
	e := approvedRun(t, steps("short", "long", "mid: long", "last: mid", "end: short last"), ready, parallel(1))
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"long#1", "mid#1", "short#1", "last#1", "end#1"}
	if e.asked[0] != "long#1" || len(e.asked) != len(want) {
		t.Errorf("asked = %v, want the longest remaining path first", e.asked)
	}
}

func TestAWideFanStaysUnderTheCap(t *testing.T) { // graph: wide
	lines := []string{"root"}
	for i := range 500 {
		lines = append(lines, "leaf"+strconv.Itoa(i)+": root")
	}
	e := approvedRun(t, steps(lines...), parallel(7))
	var now, most atomic.Int32
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return succeeded(task.Step.ID)
	}
	if err := e.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 7 || len(e.run.WithStatus(plan.StepStatusSucceeded)) != 501 {
		t.Errorf("%d at once, %d succeeded", most.Load(), len(e.run.WithStatus(plan.StepStatusSucceeded)))
	}
}
