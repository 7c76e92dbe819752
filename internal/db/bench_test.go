package db

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"planwave/internal/plan"
)

// benchRun appends to one run.
type benchRun struct {
	d *DB
	r *plan.Run
	n int
}

func (r *benchRun) append(b *testing.B, batch Batch, payloads ...plan.Payload) {
	b.Helper()
	batch.Run = r.r
	for _, p := range payloads {
		e := plan.Event{Seq: r.r.Seq + 1, At: time.UnixMilli(1_700_000_000_000 + r.r.Seq).UTC(), Data: p}
		if err := r.r.Apply(e); err != nil {
			b.Fatal(err)
		}
		batch.Events = append(batch.Events, e)
	}
	if err := r.d.Append(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}

// next appends what a run in the middle of a wave appends: a step starts, or
// it succeeds.
func (r *benchRun) next(b *testing.B) {
	b.Helper()
	id := fmt.Sprintf("s%d", r.n/2+1)
	if r.n%2 == 0 {
		r.append(b, Batch{}, plan.StepStarted{Step: id, Attempt: 1, Wave: 1})
	} else {
		r.append(b, Batch{}, plan.StepSucceeded{Step: id, Attempt: 1, Result: plan.Result{Text: "The population of Quillhaven is 156,000."}})
	}
	if r.n++; r.n == 2*benchSteps {
		*r = *startBench(b, r.d, r.r.ID+"+")
	}
}

// start appends the start of the next n steps as one batch.
func (r *benchRun) start(b *testing.B, n int) {
	b.Helper()
	if r.n+n > benchSteps {
		*r = *startBench(b, r.d, r.r.ID+"+")
	}
	var events []plan.Payload
	for i := range n {
		events = append(events, plan.StepStarted{Step: fmt.Sprintf("s%d", r.n+i+1), Attempt: 1, Wave: 1})
	}
	r.append(b, Batch{}, events...)
}

// succeed appends what n steps that were started and called a tool have come to,
// as one batch.
func (r *benchRun) succeed(b *testing.B, n int) {
	b.Helper()
	var events []plan.Payload
	var batch Batch
	at := time.UnixMilli(1_700_000_000_000)
	for range n {
		r.n++
		id := fmt.Sprintf("s%d", r.n)
		c := plan.ToolCall{ID: fmt.Sprintf("%036d", r.r.Seq+int64(r.n)), Step: id, Attempt: 1, Tool: "noop", Arguments: []byte(`{"step":"s0-0"}`), Result: "ok", StartedAt: at, FinishedAt: at}
		batch.ToolCalls = append(batch.ToolCalls, c)
		events = append(events, plan.StepToolCalled{Step: id, Attempt: 1, ID: c.ID, Tool: c.Tool, Arguments: c.Arguments},
			plan.StepSucceeded{Step: id, Attempt: 1, Result: plan.Result{Text: "The population of Quillhaven is 156,000."}})
	}
	r.append(b, batch, events...)
}

const benchSteps = 400

func startBench(b *testing.B, d *DB, id string) *benchRun {
	b.Helper()
	p := plan.Plan{}
	for i := range benchSteps {
		p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprintf("s%d", i+1), Instruction: "look it up"})
	}
	r := &benchRun{d: d, r: &plan.Run{ID: id}}
	v := plan.Version{Number: 1, Plan: p, Hash: "sha256:0", Author: "me"}
	r.append(b, Batch{}, plan.RunCreated{Question: "Which of the cities is the densest?", Options: plan.DefaultOptions()}, plan.PlanProposed{Version: v},
		plan.PlanApproved{Version: 1, Hash: v.Hash}, plan.RunStarted{})
	return r
}

func BenchmarkAppend(b *testing.B) {
	open := func(b *testing.B) *DB {
		d, err := Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = d.Close() })
		return d
	}
	b.Run("one run", func(b *testing.B) {
		r := startBench(b, open(b), "r")
		var worst time.Duration
		for b.Loop() {
			t := time.Now()
			r.next(b)
			worst = max(worst, time.Since(t))
		}
		b.ReportMetric(float64(worst.Microseconds()), "µs-worst")
	})
	b.Run("a wave of 20 steps", func(b *testing.B) {
		r := startBench(b, open(b), "r")
		var outcomes, starts time.Duration
		for b.Loop() {
			t := time.Now()
			r.start(b, 20)
			starts += time.Since(t)
			t = time.Now()
			r.succeed(b, 20)
			outcomes += time.Since(t)
		}
		b.ReportMetric(float64(starts.Microseconds())/float64(b.N), "µs-starts")
		b.ReportMetric(float64(outcomes.Microseconds())/float64(b.N), "µs-outcomes")
	})
	for _, n := range []int{8, 64} {
		b.Run(fmt.Sprintf("%d runs at once", n), func(b *testing.B) {
			d := open(b)
			var id atomic.Int64
			b.SetParallelism(n / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				r := startBench(b, d, fmt.Sprintf("r%d", id.Add(1)))
				for pb.Next() {
					r.next(b)
				}
			})
		})
	}
}

// BenchmarkList pages through and searches a history of 10,000 runs.
func BenchmarkList(b *testing.B) {
	const runs = 10_000
	d := openNew(b)
	together(16, func(part int) {
		for i := part; i < runs; i += 16 {
			s := newStory(d, fmt.Sprintf("r%05d", i))
			s.at = epoch.Add(time.Duration(i) * time.Minute)
			payloads := append(begin(fmt.Sprintf("Which of the cities numbered %d is the densest?", i), 1),
				step("s1", "Quillhaven has 156,000 people on 130.0 km².")...)
			if i%10 > 0 {
				payloads = append(payloads, answer(plan.Answer{Result: "It is **Quillhaven**, with 1,200.0 people per km²."})...)
			}
			if err := s.append(context.Background(), payloads...); err != nil {
				b.Error(err)
				return
			}
		}
	})
	middle, err := d.List(b.Context(), Filter{To: epoch.Add(runs / 2 * time.Minute), Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]Filter{
		"first page":           {},
		"page in the middle":   {Cursor: middle.Next},
		"one in ten":           {Statuses: []plan.RunStatus{plan.RunStatusRunning}},
		"no match at all":      {Model: "none"},
		"a word that all have": {Query: "quillhaven"},
		"a word that one has":  {Query: "9999"},
		"one letter":           {Query: "q"},
		"three words":          {Query: "cities densest quill"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.List(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
