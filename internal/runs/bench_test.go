package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
)

// stopwatch is a tool that does nothing but note when each step was at it.
type stopwatch struct {
	mu         sync.Mutex
	began, end map[string]time.Time
}

func (*stopwatch) Info() tools.Info {
	return tools.Info{
		Name: "noop", Description: "does nothing", ReadOnly: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"step":{"type":"string"}},"required":["step"]}`),
	}
}

func (w *stopwatch) Call(_ context.Context, args json.RawMessage) (tools.Result, error) {
	began := time.Now()
	var in struct{ Step string }
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Result{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began[in.Step], w.end[in.Step] = began, time.Now()
	return tools.Result{Text: "ok"}, nil
}

// layers is a plan of n layers of width tool steps, each needing all of the
// layer before, and one last step.
func layers(n, width int) plan.Plan {
	var p plan.Plan
	var before []string
	add := func(id string) {
		p.Steps = append(p.Steps, plan.Step{
			ID: id, Instruction: "nothing", Tool: "noop", DependsOn: slices.Clone(before),
			Input: json.RawMessage(fmt.Sprintf(`{"step":%q}`, id)),
		})
	}
	for l := range n {
		var now []string
		for w := range width {
			id := fmt.Sprintf("s%d-%d", l, w)
			add(id)
			now = append(now, id)
		}
		before = now
	}
	add("end")
	return p
}

// BenchmarkOverhead400 is what the engine itself costs: 400 steps that do
// nothing, every event committed to SQLite, and the time from "last dependency
// done" to "step running". One op is one run.
func BenchmarkOverhead400(b *testing.B) {
	for _, schedule := range []plan.Schedule{plan.ScheduleWaves, plan.ScheduleReady} {
		b.Run(string(schedule), func(b *testing.B) {
			watch := &stopwatch{began: map[string]time.Time{}, end: map[string]time.Time{}}
			p := layers(20, 20)
			h := benchHarness(b, watch)
			var waits []time.Duration
			for b.Loop() {
				o := plan.DefaultOptions()
				o.Schedule, o.Approval, o.MaxSteps, o.MaxParallel = schedule, plan.ApprovalAuto, len(p.Steps), 20
				r, err := h.Ask(b.Context(), runs.Ask{Question: "q", Options: o, Plan: &p})
				if err != nil {
					b.Fatal(err)
				}
				if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded {
					b.Fatalf("ended %s, %+v", r.Status, r.Error)
				}
				waits = append(waits, watch.waits(p)...)
			}
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// waits lists, for each step with dependencies, the time from the end of the
// last of them to its own beginning.
func (w *stopwatch) waits(p plan.Plan) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []time.Duration
	for _, s := range p.Steps {
		var last time.Time
		for _, d := range s.DependsOn {
			if w.end[d].After(last) {
				last = w.end[d]
			}
		}
		if !last.IsZero() {
			out = append(out, w.began[s.ID].Sub(last))
		}
	}
	return out
}

func benchHarness(b *testing.B, tool tools.Tool) *harness {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	store, err := db.Open(b.Context(), path, db.Options{Logger: quiet(), Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	set, err := tools.New(tool)
	if err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	m := &script{}
	h := &harness{t: b, store: store, path: path, model: m, Service: runs.New(runs.Config{
		Store: store, Models: scripted{m}, Tools: set, Clock: time.Now, Logger: quiet(),
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("%06d", n)
		},
	})}
	b.Cleanup(h.close)
	return h
}
