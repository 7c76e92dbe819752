package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// scenario is a random plan and what becomes of each of its steps.
type scenario struct {
	plan     plan.Plan
	fate     map[string]plan.StepStatus // what an attempt at the step returns
	schedule option
	parallel int
}

func drawScenario(t *rapid.T) scenario {
	n := rapid.IntRange(1, 14).Draw(t, "steps")
	sc := scenario{fate: map[string]plan.StepStatus{}, parallel: rapid.IntRange(1, 6).Draw(t, "parallel")}
	for i := range n {
		s := plan.Step{ID: fmt.Sprintf("s%d", i), Instruction: "do"}
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				s.DependsOn = append(s.DependsOn, fmt.Sprintf("s%d", j))
			}
		}
		sc.plan.Steps = append(sc.plan.Steps, s)
		sc.fate[s.ID] = rapid.SampledFrom([]plan.StepStatus{
			plan.StepStatusSucceeded, plan.StepStatusSucceeded, plan.StepStatusSucceeded,
			plan.StepStatusFailed, plan.StepStatusInvalid,
		}).Draw(t, "fate")
	}
	// Plan order need not be an order to run in.
	sc.plan.Steps = rapid.Permutation(sc.plan.Steps).Draw(t, "order")
	sc.schedule = func(*plan.Options) {}
	if rapid.Bool().Draw(t, "ready") {
		sc.schedule = ready
	}
	return sc
}

// expected is the reference: what each step must come to, by definition and
// without any scheduling.
func (sc scenario) expected() map[string]plan.StepStatus {
	want := map[string]plan.StepStatus{}
	var of func(id string) plan.StepStatus
	of = func(id string) plan.StepStatus {
		if st, ok := want[id]; ok {
			return st
		}
		s, _ := sc.plan.Step(id)
		st := sc.fate[id]
		for _, d := range s.DependsOn {
			if of(d) != plan.StepStatusSucceeded {
				st = plan.StepStatusSkipped
			}
		}
		want[id] = st
		return st
	}
	for _, s := range sc.plan.Steps {
		of(s.ID)
	}
	return want
}

// engine returns an engine that carries the fates out and holds that no step
// runs before its dependencies succeeded, and none twice after success.
func (sc scenario) engine(t testing.TB) *engine {
	e := approvedRun(t, sc.plan, sc.schedule, parallel(sc.parallel))
	var mu sync.Mutex
	flying := 0
	e.execute = func(_ context.Context, task scheduler.Task) scheduler.Outcome {
		mu.Lock()
		flying++
		if flying > sc.parallel {
			t.Errorf("%d steps at once, %d allowed", flying, sc.parallel)
		}
		mu.Unlock()
		now := e.snapshot()
		for _, d := range task.Step.DependsOn {
			if st := now.Step(d).Status; st != plan.StepStatusSucceeded {
				t.Errorf("%s runs though %s is %s", task.Step.ID, d, st)
			}
		}
		mu.Lock()
		flying--
		mu.Unlock()
		switch sc.fate[task.Step.ID] {
		case plan.StepStatusFailed:
			return failed("fate")
		case plan.StepStatusInvalid:
			return scheduler.Outcome{Status: plan.StepStatusInvalid, Fault: plan.Fault{Code: plan.CodeContractBroken}}
		default:
			return succeeded(task.Step.ID)
		}
	}
	return e
}

// checkEnd holds everything that must be true of a finished execution.
func (sc scenario) checkEnd(t *rapid.T, r *plan.Run) {
	if got, want := statuses(r), sc.expected(); !reflect.DeepEqual(got, want) {
		t.Fatalf("statuses = %v, want %v", got, want)
	}
	for _, s := range r.Steps {
		if s.Status != plan.StepStatusSkipped {
			continue
		}
		if cause := r.Step(s.Cause); cause == nil || !cause.Status.Broken() {
			t.Fatalf("%s was skipped because of %q, which did not fail", s.ID, s.Cause)
		}
		behind, err := plan.Affected(sc.plan, []string{s.Cause})
		if err != nil || !slices.Contains(behind, s.ID) {
			t.Fatalf("%s does not need its cause %s", s.ID, s.Cause)
		}
	}
	sc.checkWaves(t, r)
}

// checkWaves holds that waves are the started steps by their longest distance
// from a root, which is what running wave by wave comes to.
func (sc scenario) checkWaves(t *rapid.T, r *plan.Run) {
	depth := map[string]int{}
	var of func(id string) int
	of = func(id string) int {
		s, _ := sc.plan.Step(id)
		d := 1
		for _, dep := range s.DependsOn {
			d = max(d, of(dep)+1)
		}
		depth[id] = d
		return d
	}
	var want [][]string
	for _, s := range r.Steps {
		of(s.ID)
	}
	for w := 1; ; w++ {
		var ids []string
		for _, s := range r.Steps {
			if depth[s.ID] == w && s.Status != plan.StepStatusSkipped {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) == 0 {
			break
		}
		want = append(want, ids)
	}
	got := make([][]string, len(r.Waves))
	for i, w := range r.Waves {
		got[i] = slices.Clone(w)
		slices.SortFunc(got[i], func(a, b string) int {
			return slices.Index(sc.plan.IDs(), a) - slices.Index(sc.plan.IDs(), b)
		})
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("waves = %v, want %v", got, want)
	}
}

func TestRandomPlansEndAsTheReferenceSays(t *testing.T) { // BEHAVIOUR 5.1–5.5, 5.10
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		e := sc.engine(t)
		if err := e.start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		sc.checkEnd(rt, e.run)
	})
}

func TestResumeAtEveryEventEndsTheSame(t *testing.T) { // BEHAVIOUR 12.1
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		first := sc.engine(t)
		if err := first.start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		cut := rapid.IntRange(5, len(first.events)).Draw(rt, "cut")
		again := sc.engine(t)
		run, err := plan.Fold("r", first.events[:cut])
		if err != nil {
			rt.Fatal(err)
		}
		again.run, again.events = run, slices.Clone(first.events[:cut])
		had := run.WithStatus(plan.StepStatusSucceeded)
		if err := again.apply(plan.RunResumed{}); err != nil {
			rt.Fatal(err)
		}
		if err := again.start(t.Context()); err != nil {
			rt.Fatal(err)
		}
		sc.checkEnd(rt, again.run)
		for _, id := range had {
			if slices.ContainsFunc(again.asked, func(s string) bool { return strings.HasPrefix(s, id+"#") }) {
				rt.Fatalf("%s had succeeded and was asked for again", id)
			}
		}
	})
}

func TestCancelAnywhereBreaksNoStep(t *testing.T) { // BEHAVIOUR 5.7, 5.10
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		at := rapid.IntRange(1, len(sc.plan.Steps)).Draw(rt, "cancel at call")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		e := sc.engine(t)
		inner, calls := e.execute, 0
		var mu sync.Mutex
		e.execute = func(ctx context.Context, task scheduler.Task) scheduler.Outcome {
			mu.Lock()
			calls++
			now := calls == at
			mu.Unlock()
			if now {
				cancel(scheduler.ErrCancelled)
			}
			if ctx.Err() != nil {
				return scheduler.Failed(ctx.Err())
			}
			return inner(ctx, task)
		}
		err := e.start(ctx)
		if err != nil && !errors.Is(err, scheduler.ErrCancelled) {
			rt.Fatal(err)
		}
		for _, s := range e.run.Steps {
			if err == nil && !s.Status.Ended() {
				rt.Fatalf("%s is left %s", s.ID, s.Status)
			}
			if s.Status.Broken() && sc.fate[s.ID] != s.Status {
				rt.Fatalf("%s is %s because of the cancel", s.ID, s.Status)
			}
		}
	})
}

func BenchmarkRun400(b *testing.B) {
	var lines []string
	for i := range 400 {
		line := fmt.Sprintf("s%d:", i)
		if i >= 20 {
			line += fmt.Sprintf(" s%d", i-20)
		}
		lines = append(lines, line)
	}
	p := steps(lines...)
	for b.Loop() {
		e := approvedRun(b, p, parallel(20))
		if err := e.start(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
