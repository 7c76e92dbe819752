package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// near is how much longer than its reference as ready may take.
const near = 1.02

// makespan runs w in virtual time and returns how long that took: the real
// scheduler, its goroutines and timers, with a clock that moves on when all of
// them wait.
func makespan(t *testing.T, w workload, limit int, opts ...option) (took time.Duration) {
	t.Helper()
	takes := map[string]time.Duration{}
	for i, s := range w.plan.Steps {
		takes[s.ID] = w.takes[i]
	}
	synctest.Test(t, func(t *testing.T) {
		e := approvedRun(t, w.plan, append(opts, parallel(limit))...)
		e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
			<-time.After(takes[task.Step.ID])
			return succeeded(task.Step.ID)
		}
		began := time.Now()
		if err := e.start(t.Context()); err != nil {
			t.Fatalf("run %s: %v", w.name, err)
		}
		took = time.Since(began)
	})
	return took
}

// unlimited lets every step of w run at once.
func (w workload) unlimited() int { return len(w.plan.Steps) }

// checkReady holds as ready to want, from above and below.
func checkReady(t rapid.TB, w workload, limit int, got, want time.Duration) {
	t.Helper()
	if float64(got) > near*float64(want) {
		t.Errorf("%s as ready, %d at once: %v, want at most 2%% over %v", w.name, limit, got, want)
	}
	if least := w.leastPossible(limit); got < least {
		t.Errorf("%s as ready, %d at once: %v, though nothing can take less than %v", w.name, limit, got, least)
	}
}

// BEHAVIOUR 5.2, 5.4: without a parallel limit in the way, a plan takes as
// long as its critical path.
func TestMakespanAsReadyIsTheCriticalPath(t *testing.T) {
	for _, w := range asyncHow(t) {
		w := w.nudged()
		checkReady(t, w, w.unlimited(), makespan(t, w, w.unlimited(), ready), w.criticalPath())
	}
}

// BEHAVIOUR 5.2, 5.4: with a parallel limit, a plan takes as long as when
// workers take the ready step with the longest remaining path in steps.
func TestMakespanAsReadyIsTheListSchedule(t *testing.T) {
	for _, w := range asyncHow(t) {
		w := w.nudged()
		for _, limit := range []int{2, 5} {
			checkReady(t, w, limit, makespan(t, w, limit, ready), w.listSchedule(limit))
		}
	}
}

// BEHAVIOUR 5.1: a wave takes as long as its longest step, or as its steps
// need when only some run at once, and the next one starts at that instant.
func TestMakespanOfWavesIsTheWaveBound(t *testing.T) {
	for _, w := range asyncHow(t) {
		w := w.nudged()
		if got, want := makespan(t, w, w.unlimited()), w.sumOfLongest(); got != want {
			t.Errorf("%s in waves: %v, want %v", w.name, got, want)
		}
		for _, limit := range []int{2, 5} {
			if got, want := makespan(t, w, limit), w.waveBound(limit); got != want {
				t.Errorf("%s in waves, %d at once: %v, want %v", w.name, limit, got, want)
			}
		}
	}
}

// The references agree with what the source of the plans says of them.
func TestMakespanReferencesAgreeWithTheSource(t *testing.T) {
	all := asyncHow(t)
	if len(all) != 57 {
		t.Fatalf("%d plans in the sample, want 57", len(all))
	}
	for _, w := range all {
		n := w.unlimited()
		if got := w.criticalPath(); got != w.optimal {
			t.Errorf("%s: critical path %v, the source says %v", w.name, got, w.optimal)
		}
		if got := w.listSchedule(n); got != w.optimal {
			t.Errorf("%s: list schedule %v without a limit, the source says %v", w.name, got, w.optimal)
		}
		if a, b := w.sumOfLongest(), w.waveBound(n); a != w.waves || b != w.waves {
			t.Errorf("%s: wave bounds %v and %v, the source says %v", w.name, a, b, w.waves)
		}
	}
}

// drawWorkload is a random plan of up to 40 steps, in any order.
func drawWorkload(t *rapid.T) workload {
	type timed struct {
		step  plan.Step
		takes time.Duration
	}
	var all []timed
	for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
		s := timed{step: plan.Step{ID: fmt.Sprintf("s%d", i), Instruction: "do"}}
		for j := range i {
			if rapid.IntRange(0, 9).Draw(t, "edge") == 0 {
				s.step.DependsOn = append(s.step.DependsOn, fmt.Sprintf("s%d", j))
			}
		}
		s.takes = time.Duration(rapid.IntRange(0, 1000).Draw(t, "seconds")) * time.Second
		all = append(all, s)
	}
	w := workload{name: "random plan"}
	for _, s := range rapid.Permutation(all).Draw(t, "order") {
		w.plan.Steps = append(w.plan.Steps, s.step)
		w.takes = append(w.takes, s.takes)
	}
	return w.nudged()
}

// BEHAVIOUR 5.1, 5.2, 5.4: the same of random plans.
func TestMakespanOfRandomPlans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, limit := drawWorkload(rt), rapid.IntRange(1, 6).Draw(rt, "limit")
		n := w.unlimited()
		checkReady(rt, w, n, makespan(t, w, n, ready), w.criticalPath())
		checkReady(rt, w, limit, makespan(t, w, limit, ready), w.listSchedule(limit))
		if got, want := makespan(t, w, limit), w.waveBound(limit); got != want {
			rt.Errorf("in waves, %d at once: %v, want %v", limit, got, want)
		}
		if got, want := makespan(t, w, n), w.sumOfLongest(); got != want {
			rt.Errorf("in waves: %v, want %v", got, want)
		}
	})
}
