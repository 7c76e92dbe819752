package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// stage is a state that every event is tried on.
type stage struct {
	name string
	more []Payload
}

func stages(t testing.TB) []stage {
	t.Helper()
	start := begun(t, ScheduleWaves)
	during := func(p ...Payload) []Payload { return slices.Concat(start, p) }
	started := StepStarted{Step: "a", Attempt: 1, Wave: 1}
	asked := sample(t, EventStepApprovalRequested, "a", "")
	failed := RunFailed{Error: Fault{Code: CodeInternal, Message: "m"}}
	again := PlanProposed{Version{Number: 2, Plan: twoSteps(), Hash: "sha256:2", Author: "planner"}}
	return []stage{
		{"nothing", nil},
		{"created", start[:1]},
		{"asked", start[:2]},
		{"proposed", start[:3]},
		{"approved", start[:4]},
		{"taken over", append(slices.Clone(start[:3]), StepSucceeded{Step: "a", From: "r0", Result: Result{Text: "x"}})},
		{"running", start},
		{"a wave is open", during(WaveStarted{Wave: 1, Steps: []string{"a"}})},
		{"a runs", during(started)},
		{"a waits", during(started, asked)},
		{"a waits and b runs", during(started, asked, StepStarted{Step: "b", Attempt: 1, Wave: 1})},
		{"only a waits", during(started, asked, RunWaiting{})},
		{"a waits after a restart", during(started, asked, RunWaiting{}, RunResumed{})},
		{"a is allowed", during(started, asked, RunWaiting{}, sample(t, EventStepApprovalDecided, "a", ""))},
		{"a succeeded", during(started, sample(t, EventStepSucceeded, "a", ""))},
		{"a failed", during(started, sample(t, EventStepFailed, "a", ""))},
		{"a broke its contract", during(started, sample(t, EventStepInvalid, "a", ""))},
		{"a skipped", during(StepSkipped{Step: "a", Cause: "b"})},
		{"a cancelled", during(StepCancelled{Step: "a"})},
		{"replanning", during(sample(t, EventReplanRequested, "", ""))},
		{"planned again", during(sample(t, EventReplanRequested, "", ""), again)},
		{"the replan failed", during(sample(t, EventReplanRequested, "", ""), failed)},
		{"answering", during(AnswerStarted{Attempt: 1})},
		{"succeeded", during(AnswerStarted{Attempt: 1}, RunSucceeded{})},
		{"partial", during(AnswerStarted{Attempt: 1}, RunPartial{})},
		{"failed", during(failed)},
		{"failed while planning", append(slices.Clone(start[:2]), failed)},
		{"cancelled", during(RunCancelled{})},
		{"cancelled and continued", during(RunCancelled{}, sample(t, EventRunContinued, "", ""))},
		{"the answer once more", during(AnswerStarted{Attempt: 1}, RunPartial{}, RunContinued{Status: RunStatusSynthesizing})},
	}
}

// fits says whether the sample of an event about step a may come in a state,
// worked out from the drawings and from what stands behind them in docs/states.md.
func fits(r *Run, p Payload) bool {
	if !slices.Contains(statusFrom(p.Type()), r.Status) {
		return false
	}
	if id, from := stepFrom(p); from != nil && (r.Step(id) == nil || !slices.Contains(from, r.Step(id).Status)) {
		return false
	}
	switch p.(type) {
	case PlanProposed:
		return len(r.Versions) == 0
	case PlanEdited, PlanApproved: // of version 2, and of version 1
		return len(r.Versions) == 1
	case RunStarted:
		return r.Approved == 1
	case RunContinued: // to running
		return r.Approved == 1
	case ReplanRequested:
		return r.Replans == 0 && !r.StartedAt.IsZero()
	case AnswerStarted:
		return !r.StartedAt.IsZero()
	case UsageSettled:
		return false // nothing is reserved in any of the stages
	case WaveFinished:
		return r.WaveOpen
	case WaveStarted:
		return !r.WaveOpen
	case RunWaiting:
		return r.Step("a").Status == StepStatusAwaitingApproval && r.Step("b").Status != StepStatusRunning
	default:
		return fitsStep(r, p)
	}
}

// fitsStep is fits for the events of step a, which is not known to be there.
func fitsStep(r *Run, p Payload) bool {
	a := r.Step("a")
	switch p.(type) {
	case StepStarted:
		return a.Attempts == 0
	case StepSucceeded: // of an attempt
		return r.Status == RunStatusRunning
	case StepApprovalRequested:
		return len(r.Approvals) == 0
	case StepApprovalDecided:
		return len(r.Approvals) == 1 && r.Approvals[0].Decision == ""
	case StepReset:
		return a != nil
	}
	return true
}

func TestEveryEventInEveryState(t *testing.T) { // BEHAVIOUR 5.10, 12.1
	taken := map[EventType]bool{}
	for _, s := range stages(t) {
		for _, event := range EventTypes() {
			t.Run(s.name+"/"+string(event), func(t *testing.T) {
				r := &Run{ID: "r1"}
				happen(t, r, s.more...)
				before, p := deep(t, r), sample(t, event, "a", "c1")
				want := fits(r, p)
				err := r.Apply(Event{Seq: r.Seq + 1, At: noon().Add(time.Hour), Data: p})
				if (err == nil) != want {
					t.Fatalf("err = %v, fits = %v", err, want)
				}
				if err == nil {
					taken[event] = true
					return
				}
				if !errors.Is(err, ErrTransition) || !strings.Contains(err.Error(), string(event)) || !strings.Contains(err.Error(), "r1") {
					t.Errorf("err = %v", err)
				}
				if after := deep(t, r); after != before {
					t.Errorf("a refused event changed the state\n%s\n%s", before, after)
				}
			})
		}
	}
	for _, event := range EventTypes() {
		if !taken[event] && event != EventUsageSettled { // which TestAWholeRun takes
			t.Errorf("%s is taken in none of the states", event)
		}
	}
}
