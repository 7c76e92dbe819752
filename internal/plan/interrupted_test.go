package plan

import (
	"testing"

	"pgregory.net/rapid"
)

func TestAttemptsThatWereCutOff(t *testing.T) { // BEHAVIOUR 8.3, 12.1: what is recorded of them holds
	fault := Fault{Code: CodeToolFailed, Message: "m"}
	ask := asks("p1", "a", 1, "x")
	for _, tt := range []struct {
		name        string
		more        []Payload
		status      StepStatus
		interrupted int
		attempts    int
		history     int
	}{
		{"running", []Payload{begins("a", 1)}, StepStatusRunning, 0, 1, 0},
		{"killed", []Payload{begins("a", 1), RunResumed{}}, StepStatusPending, 1, 1, 0},
		{"killed while it waits", []Payload{begins("a", 1), ask, RunResumed{}}, StepStatusPending, 1, 1, 0},
		{"stopped by the budget", []Payload{begins("a", 1), StepReset{Steps: []string{"a"}}}, StepStatusPending, 1, 1, 0},
		{"stopped by the budget while it waits", []Payload{begins("a", 1), ask, StepReset{Steps: []string{"a"}}}, StepStatusPending, 1, 1, 0},
		{"taken up", []Payload{begins("a", 1), RunResumed{}, begins("a", 2)}, StepStatusRunning, 1, 2, 0},
		{"killed twice", []Payload{begins("a", 1), RunResumed{}, begins("a", 2), RunResumed{}}, StepStatusPending, 1, 2, 0},
		{"killed before it was taken up", []Payload{begins("a", 1), RunResumed{}, RunResumed{}}, StepStatusPending, 1, 1, 0},
		{"stopped and killed", []Payload{begins("a", 1), StepReset{Steps: []string{"a"}}, begins("a", 2), RunResumed{}}, StepStatusPending, 1, 2, 0},
		{"put back by a person", []Payload{begins("a", 1), RunResumed{}, StepReset{Steps: []string{"a"}}}, StepStatusPending, 0, 1, 0},
		{"done in the end", []Payload{begins("a", 1), RunResumed{}, begins("a", 2), StepSucceeded{Step: "a", Attempt: 2}}, StepStatusSucceeded, 0, 2, 1},
		{"failed in the end", []Payload{begins("a", 1), RunResumed{}, begins("a", 2), StepFailed{Step: "a", Attempt: 2, Error: fault}}, StepStatusFailed, 0, 2, 1},
		{"cancelled in the end", []Payload{begins("a", 1), RunResumed{}, begins("a", 2), StepCancelled{Step: "a", Attempt: 2}}, StepStatusCancelled, 0, 2, 1},
		{"after a failure", append(fails("a", 1), StepReset{Steps: []string{"a"}}, begins("a", 2), RunResumed{}), StepStatusPending, 2, 2, 1},
		{"it had ended", append(does("a", 1), RunResumed{}), StepStatusSucceeded, 0, 1, 1},
		{"retried", append(fails("a", 1), StepReset{Steps: []string{"a"}}), StepStatusPending, 0, 1, 1},
		{"never started", []Payload{RunResumed{}}, StepStatusPending, 0, 0, 0},
	} {
		r := runningRun(t)
		happen(t, r, tt.more...)
		if a := r.Step("a"); a.Status != tt.status || a.Interrupted != tt.interrupted || a.Attempts != tt.attempts || len(a.History) != tt.history {
			t.Errorf("%s: %s, interrupted from %d, %d attempts, %d ended, want %s, %d, %d, %d",
				tt.name, a.Status, a.Interrupted, a.Attempts, len(a.History), tt.status, tt.interrupted, tt.attempts, tt.history)
		}
		if b := r.Step("b"); b.Status != StepStatusPending || b.Interrupted != 0 {
			t.Errorf("%s: b is %+v", tt.name, b)
		}
	}
}

func TestACutOffAttemptKeepsWhatWasUsed(t *testing.T) { // BEHAVIOUR 8.2, 12.1
	for _, cut := range []Payload{RunResumed{}, StepReset{Steps: []string{"a"}}} {
		r := runningRun(t)
		happen(t, r, begins("a", 1), sample(t, EventUsageReserved, "a", "c1"), sample(t, EventUsageSettled, "a", "c1"), made("a", 1, ""), cut)
		if a := r.Step("a"); a.Usage.TotalTokens != 7 || a.ToolCalls != 1 || a.Attempts != 1 || !a.StartedAt.IsZero() || a.ChangedSeq != r.Seq || r.StepAttempts != 1 {
			t.Errorf("after %s: %+v", cut.Type(), a)
		}
		refuse(t, r, StepSucceeded{Step: "a", Attempt: 1}, `"pending"`)
		happen(t, r, begins("a", 2))
		refuse(t, r, StepSucceeded{Step: "a", Attempt: 1}, "attempt 1")
	}
}

func TestAStepThatChangesForgetsItsCutOffAttempt(t *testing.T) { // BEHAVIOUR 3.5, 12.1: what holds for one work does not for another
	r := runningRun(t)
	happen(t, r, begins("a", 1), RunResumed{}, ReplanRequested{Number: 1})
	p := twoSteps()
	p.Steps[0].Instruction = "look up somewhere else"
	happen(t, r, PlanProposed{Version{Number: 2, Plan: p}})
	if a := r.Step("a"); a.Interrupted != 0 || a.Attempts != 1 || a.Status != StepStatusPending {
		t.Errorf("a is %+v", a)
	}
}

// cutter keeps, beside the fold, which attempts of step a the next one may take
// up: those that were cut off since one ended.
type cutter struct {
	attempt int
	cut     []int
}

// turn makes the next thing happen to step a, or nothing.
func (c *cutter) turn(rt *rapid.T, t testing.TB, r *Run) Payload {
	t.Helper()
	status := r.Step("a").Status
	flies := status == StepStatusRunning || status == StepStatusAwaitingApproval
	switch kind := rapid.IntRange(0, 4).Draw(rt, "kind"); {
	case kind == 0:
		if flies {
			c.cut = append(c.cut, c.attempt)
		}
		return RunResumed{}
	case kind == 1:
		if c.cut = append(c.cut, c.attempt); !flies {
			c.cut = nil // put back by a person
		}
		return StepReset{Steps: []string{"a"}}
	case kind == 2 && status == StepStatusPending:
		c.attempt++
		return begins("a", c.attempt)
	case kind == 3 && status == StepStatusRunning:
		c.cut = nil
		return current(t, r, EventStepFailed, "a", "")
	case kind == 4 && status == StepStatusRunning:
		return current(t, r, EventStepApprovalRequested, "a", "")
	}
	return nil
}

func TestInterruptedIsWhereTheRecordBegins(t *testing.T) { // BEHAVIOUR 12.1
	rapid.Check(t, func(rt *rapid.T) {
		r, c := runningRun(t), &cutter{}
		for range 30 {
			p := c.turn(rt, t, r)
			if p == nil {
				continue
			}
			if err := r.Apply(Event{Seq: r.Seq + 1, At: noon(), Data: p}); err != nil {
				rt.Fatal(err)
			}
			want := 0
			if len(c.cut) > 0 {
				want = c.cut[0]
			}
			if got := r.Step("a"); got.Interrupted != want || got.Attempts != c.attempt {
				rt.Fatalf("after %s: interrupted from %d at attempt %d, want %d at %d", p.Type(), got.Interrupted, got.Attempts, want, c.attempt)
			}
		}
	})
}
