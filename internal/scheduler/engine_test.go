package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a scheduler.Engine over the real fold: an event that does not fit
// the state of the run is an error, as it is in the real service.
type engine struct {
	mu     sync.Mutex
	run    *plan.Run
	events []plan.Event

	retries chan scheduler.Retry
	admit   func() error
	execute func(ctx context.Context, t scheduler.Task) scheduler.Outcome
	asked   []string // "step#attempt" in the order of the calls
	refused error
}

func (e *engine) Record(payloads ...plan.Payload) {
	if err := e.apply(payloads...); err != nil {
		e.refused = err
	}
}

// Commit returns why an event that was recorded did not fit.
func (e *engine) Commit(context.Context) error { return e.refused }

func (e *engine) apply(payloads ...plan.Payload) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range payloads {
		ev := plan.Event{Seq: e.run.Seq + 1, At: time.UnixMilli(e.run.Seq), Data: p}
		if err := e.run.Apply(ev); err != nil {
			return err
		}
		e.events = append(e.events, ev)
	}
	return nil
}

func (e *engine) Retries() <-chan scheduler.Retry { return e.retries }

func (e *engine) Admit() error {
	if e.admit == nil {
		return nil
	}
	return e.admit()
}

func (e *engine) Execute(ctx context.Context, t scheduler.Task) scheduler.Outcome {
	e.mu.Lock()
	e.asked = append(e.asked, fmt.Sprintf("%s#%d", t.Step.ID, t.Attempt))
	e.mu.Unlock()
	if e.execute == nil {
		return succeeded(t.Step.ID)
	}
	return e.execute(ctx, t)
}

func (e *engine) snapshot() *plan.Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run.Clone()
}

// start runs the scheduler on the engine's run.
func (e *engine) start(ctx context.Context) error { return scheduler.Run(ctx, e.snapshot(), e) }

func succeeded(id string) scheduler.Outcome {
	return scheduler.Outcome{Status: plan.StepStatusSucceeded, Result: plan.Result{Text: "result of " + id}}
}

func failed(msg string) scheduler.Outcome {
	return scheduler.Failed(plan.NewError(plan.CodeToolFailed, msg, nil))
}

// steps makes a plan of lines such as "c: a b", c needing a and b.
func steps(lines ...string) plan.Plan {
	var p plan.Plan
	for _, line := range lines {
		var s plan.Step
		for i, f := range fields(line) {
			if i == 0 {
				s.ID, s.Instruction = f, "do "+f
				continue
			}
			s.DependsOn = append(s.DependsOn, f)
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func fields(line string) []string {
	return slices.DeleteFunc(splitAny(line, ": "), func(s string) bool { return s == "" })
}

func splitAny(s, seps string) []string {
	var out []string
	start := 0
	for i, r := range s {
		for _, sep := range seps {
			if r == sep {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

type option func(*plan.Options)

func parallel(n int) option { return func(o *plan.Options) { o.MaxParallel = n } }
func ready(o *plan.Options) { o.Schedule = plan.ScheduleReady }

// approvedRun is an engine whose run has p approved and started.
func approvedRun(t testing.TB, p plan.Plan, opts ...option) *engine {
	t.Helper()
	o := plan.DefaultOptions()
	for _, f := range opts {
		f(&o)
	}
	hash, err := plan.Hash(p)
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{run: &plan.Run{ID: "r"}}
	err = e.apply(
		plan.RunCreated{Question: "q", Options: o}, plan.PlanRequested{},
		plan.PlanProposed{Version: plan.Version{Number: 1, Plan: p, Hash: hash, Author: "planner"}},
		plan.PlanApproved{Version: 1, Hash: hash, By: "me"}, plan.RunStarted{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func statuses(r *plan.Run) map[string]plan.StepStatus {
	m := map[string]plan.StepStatus{}
	for _, s := range r.Steps {
		m[s.ID] = s.Status
	}
	return m
}
