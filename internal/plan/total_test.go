package plan

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anything draws an event of any type, with any numbers and names in it.
func anything(rt *rapid.T, t testing.TB) Payload {
	t.Helper()
	id := rapid.SampledFrom([]string{"a", "b", "c", "zz", ""})
	ids, number := rapid.SliceOfN(id, 0, 3), rapid.IntRange(-1, 4)
	version := func() Version {
		v := Version{Number: number.Draw(rt, "version"), Hash: id.Draw(rt, "hash"), Kept: ids.Draw(rt, "kept")}
		for _, step := range ids.Draw(rt, "steps") { // twice the same, in cycles, of strangers
			v.Plan.Steps = append(v.Plan.Steps, Step{ID: step, Instruction: id.Draw(rt, "work"), DependsOn: ids.Draw(rt, "needs")})
		}
		v.Plan.Deliverable = id.Draw(rt, "deliverable")
		return v
	}
	step, attempt := id.Draw(rt, "step"), number.Draw(rt, "attempt")
	switch p := sample(t, rapid.SampledFrom(EventTypes()).Draw(rt, "event"), step, id.Draw(rt, "call")).(type) {
	case PlanProposed:
		return PlanProposed{version()}
	case PlanEdited:
		return PlanEdited{version()}
	case PlanApproved:
		return PlanApproved{Version: number.Draw(rt, "version"), Hash: id.Draw(rt, "hash")}
	case WaveStarted:
		return WaveStarted{Wave: attempt, Steps: ids.Draw(rt, "steps")}
	case WaveFinished:
		return WaveFinished{Wave: attempt}
	case StepStarted:
		return StepStarted{Step: step, Attempt: attempt, Wave: number.Draw(rt, "wave")}
	case StepToolCalled:
		p.Attempt, p.Approval = attempt, id.Draw(rt, "approval")
		return p
	case StepApprovalRequested:
		return StepApprovalRequested{ID: id.Draw(rt, "approval"), Step: step, Attempt: attempt, Tool: "send_mail", Arguments: mailTo(id.Draw(rt, "to"))}
	case StepApprovalDecided:
		p.ID, p.Scope = id.Draw(rt, "approval"), Scope(rapid.SampledFrom([]string{"once", "run", ""}).Draw(rt, "scope"))
		return p
	case StepSucceeded:
		p.Attempt, p.From = attempt, rapid.SampledFrom([]string{"", "", "r0"}).Draw(rt, "from")
		return p
	case StepFailed:
		p.Attempt = attempt
		return p
	case StepReset:
		return StepReset{Steps: ids.Draw(rt, "steps")}
	case ReplanRequested:
		return ReplanRequested{Number: attempt}
	case RunContinued:
		return RunContinued{Status: rapid.SampledFrom(append(RunStatuses(), "")).Draw(rt, "status")}
	default:
		return p
	}
}

// likely are the events that lead on from a status, to where there is most to try.
func likely(status RunStatus) []EventType {
	switch status {
	case RunStatusPlanning:
		return []EventType{EventPlanProposed, EventPlanProposed, EventPlanRejected, EventRunContinued}
	case RunStatusAwaitingApproval:
		return []EventType{EventPlanEdited, EventPlanApproved, EventPlanApproved, EventRunStarted, EventRunStarted}
	case RunStatusRunning, RunStatusAwaitingToolApproval:
		return []EventType{
			EventStepStarted, EventStepStarted, EventStepStarted, EventStepToolCalled, EventStepApprovalRequested, EventStepApprovalRequested,
			EventRunWaiting, EventStepApprovalDecided, EventStepSucceeded, EventStepFailed, EventStepInvalid, EventStepSkipped, EventStepReset,
			EventWaveStarted, EventWaveFinished, EventUsageReserved, EventUsageSettled, EventRunResumed, EventReplanRequested,
		}
	case RunStatusSynthesizing:
		return []EventType{EventAnswerWritten, EventRunSucceeded, EventRunPartial}
	case RunStatusSucceeded, RunStatusPartial, RunStatusFailed, RunStatusCancelled:
		return []EventType{EventRunContinued}
	default:
		return []EventType{EventRunCreated}
	}
}

// next draws what comes next: what is likely, or anything.
func next(rt *rapid.T, t testing.TB, r *Run) Payload {
	t.Helper()
	if rapid.IntRange(0, 3).Draw(rt, "anything") == 0 {
		return anything(rt, t)
	}
	event := rapid.SampledFrom(likely(r.Status)).Draw(rt, "next")
	return current(t, r, event, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "of"), "c1")
}

func TestNothingThatComesBreaksARun(t *testing.T) { // BEHAVIOUR 11, 12.1: whatever a log holds is taken or refused
	took := map[EventType]int{}
	rapid.Check(t, func(rt *rapid.T) {
		r := &Run{ID: "r1"}
		start := begun(t, rapid.SampledFrom([]Schedule{ScheduleWaves, ScheduleReady}).Draw(rt, "schedule"))
		happen(t, r, start[:rapid.IntRange(0, len(start)).Draw(rt, "begun")]...)
		for range 200 {
			before, p := r.Clone(), next(rt, t, r)
			err := r.Apply(Event{Seq: r.Seq + 1, At: noon(), Data: p})
			if err != nil && (!errors.Is(err, ErrTransition) || !reflect.DeepEqual(r, before)) {
				rt.Fatalf("%s is refused and changes the run: %v", p.Type(), err)
			}
			if err == nil {
				took[p.Type()]++
			}
			asked(rt, r)
		}
	})
	for _, event := range EventTypes() {
		if took[event] == 0 {
			t.Errorf("%s is never taken: %v", event, slices.Sorted(maps.Keys(took)))
		}
	}
}

// asked asks a run everything there is to ask, and holds what is always so.
func asked(rt *rapid.T, r *Run) {
	r.Delivered()
	r.Used()
	for _, id := range r.Carried(r.Plan()) {
		if s := r.Step(id); s == nil || !s.Status.Ended() {
			rt.Fatalf("carried is %s: %+v", id, s)
		}
	}
	for _, a := range r.PendingApprovals() {
		if got, ok := r.ApprovalFor(a.Step, a.Tool, a.Arguments); a.Decision != "" || !ok || got.Tool != a.Tool {
			rt.Fatalf("%+v waits, and its call stands under %+v, %v", a, got, ok)
		}
	}
	if r.Status == RunStatusAwaitingToolApproval && len(r.WithStatus(StepStatusRunning)) > 0 {
		rt.Fatalf("a run that waits for a person has %v in flight", r.WithStatus(StepStatusRunning))
	}
	if r.Status.Ended() == r.FinishedAt.IsZero() || (r.FailedIn != "") != (r.Status == RunStatusFailed) {
		rt.Fatalf("a run that is %s finished %v and failed in %q", r.Status, r.FinishedAt, r.FailedIn)
	}
	for i, s := range r.Steps {
		if r.index[s.ID] == i && s.Interrupted > s.Attempts {
			rt.Fatalf("step %s was cut off at attempt %d of %d", s.ID, s.Interrupted, s.Attempts)
		}
	}
}
