package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// hand is a run kept by hand: what is known of it without any of the fold's
// own words. It drives a run the way a scheduler does.
type hand struct {
	plan     Plan
	status   map[string]StepStatus
	attempts map[string]int
	ended    map[string]int // attempts that ended, and are in the history
	cause    map[string]string
	waves    [][]string
	open     bool
	over     bool
}

func newHand(p Plan) *hand {
	h := &hand{plan: p, status: map[string]StepStatus{}, attempts: map[string]int{}, ended: map[string]int{}, cause: map[string]string{}}
	for _, s := range p.Steps {
		h.status[s.ID] = StepStatusPending
	}
	return h
}

// with lists the steps in a status, in plan order.
func (h *hand) with(status StepStatus) []string {
	return slices.DeleteFunc(h.plan.IDs(), func(id string) bool { return h.status[id] != status })
}

// ready lists the pending steps whose dependencies have succeeded.
func (h *hand) ready() []string {
	return slices.DeleteFunc(h.with(StepStatusPending), func(id string) bool {
		s, _ := h.plan.Step(id)
		return slices.ContainsFunc(s.DependsOn, func(d string) bool { return h.status[d] != StepStatusSucceeded })
	})
}

// turn decides what happens next and writes it down. It returns nothing when
// nothing can happen any more.
func (h *hand) turn(rt *rapid.T) []Payload {
	running, ready := h.with(StepStatusRunning), h.ready()
	switch kind := rapid.IntRange(0, 19).Draw(rt, "turn"); {
	case kind == 0:
		return h.resume()
	case kind == 1 && len(running)+len(ready) > 0:
		return h.cancel()
	case !h.open && len(ready) > 0:
		return h.openWave(ready)
	case len(running) > 0 && (kind > 8 || len(h.startable()) == 0):
		return h.finish(rapid.SampledFrom(running).Draw(rt, "who"), rapid.IntRange(0, 4).Draw(rt, "how"))
	case len(h.startable()) > 0:
		id := h.startable()[0]
		h.status[id] = StepStatusRunning
		h.attempts[id]++
		return []Payload{StepStarted{Step: id, Attempt: h.attempts[id], Wave: len(h.waves)}}
	case h.open:
		h.open = false
		return []Payload{WaveFinished{Wave: len(h.waves)}}
	}
	return nil
}

// startable lists the steps of the open wave that have not started.
func (h *hand) startable() []string {
	if !h.open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.waves[len(h.waves)-1]), func(id string) bool { return h.status[id] != StepStatusPending })
}

func (h *hand) openWave(ready []string) []Payload {
	h.open = true
	h.waves = append(h.waves, ready)
	return []Payload{WaveStarted{Wave: len(h.waves), Steps: ready}}
}

func (h *hand) resume() []Payload {
	for _, id := range h.with(StepStatusRunning) {
		h.status[id] = StepStatusPending
	}
	return []Payload{RunResumed{}}
}

func (h *hand) cancel() []Payload {
	var out []Payload
	for _, s := range h.plan.Steps {
		if h.status[s.ID].Ended() {
			continue
		}
		if h.status[s.ID] == StepStatusRunning {
			h.ended[s.ID]++
		}
		h.status[s.ID] = StepStatusCancelled
		out = append(out, StepCancelled{Step: s.ID, Attempt: h.attempts[s.ID]})
	}
	h.over = true
	return append(out, RunCancelled{By: "ann"})
}

func (h *hand) finish(id string, how int) []Payload {
	n := h.attempts[id]
	h.ended[id]++
	switch how {
	case 0:
		h.status[id] = StepStatusFailed
		return append([]Payload{StepFailed{Step: id, Attempt: n, Error: Fault{Code: CodeToolFailed, Message: "m"}}}, h.skipBehind(id)...)
	case 1:
		h.status[id] = StepStatusInvalid
		return append([]Payload{StepInvalid{Step: id, Attempt: n, Error: Fault{Code: CodeContractBroken, Message: "m"}}}, h.skipBehind(id)...)
	}
	h.status[id] = StepStatusSucceeded
	return []Payload{StepSucceeded{Step: id, Attempt: n, Result: Result{Text: fmt.Sprint(id, " ", n)}}}
}

// skipBehind skips, again and again, every pending step that needs one that
// did not succeed.
func (h *hand) skipBehind(cause string) []Payload {
	var out []Payload
	for again := true; again; {
		again = false
		for _, s := range h.plan.Steps {
			lost := slices.ContainsFunc(s.DependsOn, func(d string) bool { return h.status[d] == StepStatusSkipped || h.status[d].Broken() })
			if h.status[s.ID] == StepStatusPending && lost {
				h.status[s.ID], h.cause[s.ID], again = StepStatusSkipped, cause, true
				out = append(out, StepSkipped{Step: s.ID, Cause: cause})
			}
		}
	}
	return out
}

// agrees says what the fold has otherwise.
func (h *hand) agrees(r *Run) error {
	for _, s := range r.Steps {
		switch {
		case s.Status != h.status[s.ID]:
			return fmt.Errorf("step %s is %s, not %s", s.ID, s.Status, h.status[s.ID])
		case s.Attempts != h.attempts[s.ID] || len(s.History) != h.ended[s.ID]:
			return fmt.Errorf("step %s has %d attempts and %d in its history, not %d and %d", s.ID, s.Attempts, len(s.History), h.attempts[s.ID], h.ended[s.ID])
		case s.Cause != h.cause[s.ID]:
			return fmt.Errorf("step %s is skipped for %q, not %q", s.ID, s.Cause, h.cause[s.ID])
		case s.Status == StepStatusSucceeded && s.Result.Text != fmt.Sprint(s.ID, " ", s.Attempts):
			return fmt.Errorf("step %s has the result %q", s.ID, s.Result.Text)
		case (s.Error != nil) != s.Status.Broken():
			return fmt.Errorf("step %s is %s and has the error %v", s.ID, s.Status, s.Error)
		}
	}
	broken := slices.DeleteFunc(h.plan.IDs(), func(id string) bool { return !h.status[id].Broken() })
	switch {
	case !slices.Equal(r.Failed(), broken) || !slices.Equal(r.Skipped(), h.with(StepStatusSkipped)):
		return fmt.Errorf("failed %v and skipped %v, not %v and %v", r.Failed(), r.Skipped(), broken, h.with(StepStatusSkipped))
	case fmt.Sprint(r.Waves) != fmt.Sprint(h.waves) || !h.over && r.WaveOpen != h.open:
		return fmt.Errorf("waves %v, open %v, not %v, %v", r.Waves, r.WaveOpen, h.waves, h.open)
	case r.Status.Ended() != h.over:
		return fmt.Errorf("the run is %s, and over: %v", r.Status, h.over)
	}
	total := 0
	for _, n := range h.attempts {
		total += n
	}
	if r.StepAttempts != total {
		return fmt.Errorf("%d attempts in all, not %d", r.StepAttempts, total)
	}
	return nil
}

// layered draws a plan whose steps need only steps before them.
func layered(t *rapid.T) Plan {
	var p Plan
	for i := range rapid.IntRange(1, 7).Draw(t, "steps") {
		s := Step{ID: fmt.Sprint("s", i), Instruction: "x"}
		for _, before := range p.Steps {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				s.DependsOn = append(s.DependsOn, before.ID)
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestLivesOfRuns(t *testing.T) { // BEHAVIOUR 5.1, 5.3, 5.5, 5.7, 12.1
	seen := map[StepStatus]int{}
	rapid.Check(t, func(rt *rapid.T) {
		p := layered(rt)
		r, h := &Run{ID: "r1"}, newHand(p)
		start := append(begun(t, ScheduleWaves)[:2], PlanProposed{Version{Number: 1, Plan: p, Hash: "h"}}, PlanApproved{Version: 1, Hash: "h"}, RunStarted{})
		happen(t, r, start...)
		for range 80 {
			events := h.turn(rt)
			if events == nil || h.over && r.Status.Ended() {
				break
			}
			for _, e := range events {
				if err := r.Apply(Event{Seq: r.Seq + 1, At: noon(), Data: e}); err != nil {
					rt.Fatal(err)
				}
			}
			if err := h.agrees(r); err != nil {
				rt.Fatalf("after %s: %v", events[0].Type(), err)
			}
		}
		for _, s := range r.Steps {
			seen[s.Status]++
		}
		if r.Status.Ended() {
			refusesAll(rt, t, r)
		}
	})
	for _, status := range []StepStatus{StepStatusSucceeded, StepStatusFailed, StepStatusInvalid, StepStatusSkipped, StepStatusCancelled} {
		if seen[status] == 0 {
			t.Errorf("no step is ever %s: %v", status, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// refusesAll holds that nothing happens to a run that has ended, unless it is
// continued. BEHAVIOUR 5.7, 5.8
func refusesAll(rt *rapid.T, t testing.TB, r *Run) {
	t.Helper()
	before := deep(t, r)
	for _, event := range EventTypes() {
		p := current(t, r, event, "s0", "c1")
		if event == EventRunContinued {
			continued := r.Clone()
			if err := continued.Apply(Event{Seq: r.Seq + 1, Data: p}); err != nil || continued.Status.Ended() || !continued.FinishedAt.IsZero() {
				rt.Fatalf("a run that was %s goes on as %s: %v", r.Status, continued.Status, err)
			}
			continue
		}
		if err := r.Apply(Event{Seq: r.Seq + 1, Data: p}); !errors.Is(err, ErrTransition) {
			rt.Fatalf("%s comes after the end: %v", event, err)
		}
	}
	if deep(t, r) != before {
		rt.Fatal("a refused event changed the run")
	}
}

func BenchmarkFold(b *testing.B) {
	var p Plan
	var payloads []Payload
	for i := range 400 {
		id := fmt.Sprint("s", i)
		p.Steps = append(p.Steps, Step{ID: id, Instruction: "x"})
		call := fmt.Sprint("c", i)
		payloads = append(payloads, StepStarted{Step: id, Attempt: 1, Wave: 1},
			UsageReserved{Call: call, Agent: RoleExecutor, Step: id, Amount: Amount{Requests: 1, Tokens: 900}},
			UsageSettled{Call: call, Agent: RoleExecutor, Step: id, Usage: Usage{Requests: 1, TotalTokens: 800, CostUSD: cents(1)}},
			StepSucceeded{Step: id, Attempt: 1, Result: Result{Text: "done"}})
	}
	payloads = slices.Concat(begun(b, ScheduleWaves)[:2], []Payload{
		PlanProposed{Version{Number: 1, Plan: p, Hash: "h"}}, PlanApproved{Version: 1, Hash: "h"}, RunStarted{}, WaveStarted{Wave: 1, Steps: p.IDs()},
	}, payloads)
	events := make([]Event, len(payloads))
	for i, data := range payloads {
		events[i] = Event{Seq: int64(i + 1), At: noon(), Data: data}
	}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := Fold("r1", events); err != nil || len(r.WithStatus(StepStatusSucceeded)) != 400 {
			b.Fatal(err)
		}
	}
}
