package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// current is the sample with the numbers and ids that the run is at.
func current(t testing.TB, r *Run, event EventType, step, call string) Payload {
	t.Helper()
	at := 0
	if s := r.Step(step); s != nil {
		at = s.Attempts
	}
	switch p := sample(t, event, step, call).(type) {
	case StepStarted:
		p.Attempt = at + 1
		return p
	case StepToolCalled:
		p.Attempt = at
		for _, a := range r.Approvals {
			if a.Step == step && a.Decision != "" && !a.Used {
				p.Tool, p.Arguments, p.Approval = a.Tool, a.Arguments, a.ID
			}
		}
		return p
	case StepApprovalRequested:
		p.ID, p.Attempt = cmp.Or(asking(r, step), fmt.Sprint("p", len(r.Approvals)+1)), at
		return p
	case StepApprovalDecided:
		p.ID = asking(r, step)
		return p
	case StepSucceeded:
		p.Attempt = at
		return p
	case StepFailed:
		p.Attempt = at
		return p
	case StepInvalid:
		p.Attempt = at
		return p
	case WaveStarted:
		p.Wave = len(r.Waves) + 1
		return p
	case WaveFinished:
		p.Wave = len(r.Waves)
		return p
	default:
		return currentPlan(r, p)
	}
}

// currentPlan is current for the events of the run as a whole. Plans take turns
// with and without b.
func currentPlan(r *Run, p Payload) Payload {
	v := Version{Number: len(r.Versions) + 1, Plan: twoSteps(), Hash: fmt.Sprint("sha256:", len(r.Versions)+1), Author: "planner"}
	if len(r.Versions)%2 == 1 {
		v.Plan.Steps = v.Plan.Steps[:1]
	}
	v.Kept = r.Carried(v.Plan)
	switch p := p.(type) {
	case PlanProposed:
		p.Version = v
		return p
	case PlanEdited:
		p.Version = v
		return p
	case PlanApproved:
		p.Version, p.Hash = len(r.Versions), fmt.Sprint("sha256:", len(r.Versions))
		return p
	case ReplanRequested:
		p.Number = r.Replans + 1
		return p
	default:
		return p
	}
}

// asking is the id of the newest call of a step that nobody has decided, or "".
func asking(r *Run, step string) string {
	for _, a := range slices.Backward(r.Approvals) {
		if a.Step == step && a.Decision == "" {
			return a.ID
		}
	}
	return ""
}

// lives draws events and lets those happen to the run that fit.
func lives(rt *rapid.T, t testing.TB, r *Run, n int) []Event {
	t.Helper()
	var events []Event
	for range n {
		event := rapid.SampledFrom(EventTypes()).Draw(rt, "event")
		p := current(t, r, event, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "step"), rapid.SampledFrom([]string{"c1", "c2"}).Draw(rt, "call"))
		e := Event{Seq: r.Seq + 1, At: noon().Add(time.Duration(r.Seq) * time.Second), Data: p}
		if r.Apply(e) == nil {
			events = append(events, e)
		}
	}
	return events
}

func TestAClonesLifeIsItsOwn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := runningRun(t)
		lives(rt, t, r, rapid.IntRange(0, 12).Draw(rt, "before"))
		c := r.Clone()
		same := deep(t, c)
		if same != deep(t, r) {
			t.Fatal("a clone is not the same")
		}
		lives(rt, t, r, 12)
		if deep(t, c) != same {
			rt.Fatal("the run changed its clone")
		}
		there := deep(t, r)
		lives(rt, t, c, 12)
		if deep(t, r) != there {
			rt.Fatal("the clone changed the run")
		}
	})
}

func TestLogsReadBackGiveTheSameState(t *testing.T) { // BEHAVIOUR 12.1
	rapid.Check(t, func(rt *rapid.T) {
		r := &Run{ID: "r1"}
		happen(t, r, begun(t, rapid.SampledFrom([]Schedule{ScheduleWaves, ScheduleReady}).Draw(rt, "schedule"))...)
		start := r.Clone()
		for _, e := range lives(rt, t, r, 20) {
			b, err := Encode(e.Data)
			if err != nil {
				rt.Fatal(err)
			}
			p, err := Decode(e.Type(), b)
			if err != nil {
				rt.Fatal(err)
			}
			if err := start.Apply(Event{Seq: e.Seq, At: e.At, Data: p}); err != nil {
				rt.Fatal(err)
			}
		}
		if deep(t, start) != deep(t, r) {
			rt.Fatalf("the log gives\n%s\nnot\n%s", deep(t, start), deep(t, r))
		}
	})
}

func TestEveryEventIsReadAsItWasWritten(t *testing.T) {
	seen := map[EventType]bool{}
	for _, event := range EventTypes() {
		p := sample(t, event, "a", "c1")
		b, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(event, b)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %+v, %v, want %+v", event, got, err, p)
		}
		if seen[event] || (Event{Data: p}).Type() != event {
			t.Errorf("%s stands twice or is of another type", event)
		}
		seen[event] = true
		if _, err := Decode(event, []byte(`[`)); err == nil || !strings.Contains(err.Error(), string(event)) {
			t.Errorf("%s of half a list: %v", event, err)
		}
	}
	if _, err := Decode("run.exploded", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "run.exploded") {
		t.Errorf("an unknown event: %v", err)
	}
	if _, err := Encode(StepToolCalled{Arguments: json.RawMessage(`{`)}); err == nil || !strings.Contains(err.Error(), "step.tool_called") {
		t.Errorf("half an object is written: %v", err)
	}
}
