package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// refuse holds that a run does not take an event, for a reason that says so,
// and is not changed by it.
func refuse(t testing.TB, r *Run, p Payload, says string) {
	t.Helper()
	before := deep(t, r)
	err := r.Apply(Event{Seq: r.Seq + 1, At: r.UpdatedAt, Data: p})
	if !errors.Is(err, ErrTransition) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want it to say %q", p.Type(), err, says)
	}
	if deep(t, r) != before {
		t.Errorf("%s is refused and changed the run", p.Type())
	}
}

// begins and does are an attempt at a step, and one that succeeds.
func begins(step string, attempt int) Payload {
	return StepStarted{Step: step, Attempt: attempt, Wave: 1}
}

func does(step string, attempt int) []Payload {
	return []Payload{begins(step, attempt), StepSucceeded{Step: step, Attempt: attempt, Result: Result{Text: fmt.Sprint(step, " ", attempt)}}}
}

func fails(step string, attempt int) []Payload {
	return []Payload{begins(step, attempt), StepFailed{Step: step, Attempt: attempt, Error: Fault{Code: CodeToolFailed, Message: "m"}}}
}

// endings are the ways that a run comes to its end, by the status it ends in
// and where it was before.
func endings(t testing.TB) map[string][]Payload {
	t.Helper()
	start := begun(t, ScheduleWaves)
	fault := Fault{Code: CodeBudgetExhausted, Message: "The budget is used up."}
	running := slices.Concat(start, does("a", 1), fails("b", 1))
	answering := append(slices.Clone(running), AnswerStarted{Attempt: 1})
	answered := append(slices.Clone(answering), sample(t, EventAnswerWritten, "", ""))
	replanning := append(slices.Clone(running), ReplanRequested{Number: 1})
	return map[string][]Payload{
		"succeeded":                    append(slices.Clone(answered), RunSucceeded{}),
		"partial":                      append(slices.Clone(answered), RunPartial{}),
		"failed in planning":           append(slices.Clone(start[:2]), RunFailed{Error: fault}),
		"failed in awaiting_approval":  append(slices.Clone(start[:3]), RunFailed{Error: fault}),
		"failed in running":            append(slices.Clone(running), RunFailed{Error: fault}),
		"failed in replanning":         append(slices.Clone(replanning), RunFailed{Error: fault}),
		"failed in synthesizing":       append(slices.Clone(answering), RunFailed{Error: fault}),
		"cancelled in planning":        append(slices.Clone(start[:2]), RunCancelled{By: "ann"}),
		"cancelled before it starts":   append(slices.Clone(start[:3]), RunCancelled{By: "ann"}),
		"cancelled in running":         append(slices.Clone(running), RunCancelled{By: "ann"}),
		"cancelled in synthesizing":    append(slices.Clone(answering), RunCancelled{By: "ann"}),
		"not ended, and a replan fell": replanning,
	}
}

func TestWhereARunGoesOn(t *testing.T) { // BEHAVIOUR 5.8, 8.3
	for name, events := range endings(t) {
		for _, to := range append(RunStatuses(), "", "paused") {
			r := &Run{ID: "r1"}
			happen(t, r, events...)
			p := RunContinued{Status: to, Reason: "tried again", By: "ann"}
			switch {
			case !slices.Contains([]RunStatus{RunStatusPlanning, RunStatusRunning, RunStatusSynthesizing}, to):
				refuse(t, r, p, "does not go on in")
				continue
			case r.Approved == 0 && to == RunStatusRunning: // BEHAVIOUR 3.1, 3.5
				refuse(t, r, p, "no version is approved")
				continue
			}
			steps := fmt.Sprint(r.Steps)
			happen(t, r, p)
			if r.Status != to || !r.FinishedAt.IsZero() || r.Error != nil || r.FailedIn != "" {
				t.Errorf("%s: goes on in %s, not %s, finished %v, with %v of %q", name, r.Status, to, r.FinishedAt, r.Error, r.FailedIn)
			}
			if fmt.Sprint(r.Steps) != steps {
				t.Errorf("%s: going on changed the steps: %v", name, r.Steps)
			}
		}
	}
}

func TestWhenAnAnswerCanBeWritten(t *testing.T) { // BEHAVIOUR 5.6, 8.3, 9.3: a run that ended with something done
	for name, events := range endings(t) {
		r := &Run{ID: "r1"}
		for _, p := range events {
			if r.Answerable() {
				t.Errorf("%s: answerable before its end, while it is %s", name, r.Status)
			}
			happen(t, r, p)
		}
		started := !r.StartedAt.IsZero() // then a succeeded
		if want := r.Status.Ended() && started; r.Answerable() != want {
			t.Errorf("%s: answerable %v", name, r.Answerable())
		}
		if r.Answerable() {
			happen(t, r, RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: r.AnswerAttempts + 1})
		}
	}
	r := &Run{ID: "r1"} // planned again, and stopped before the new version was approved
	happen(t, r, endings(t)["failed in replanning"]...)
	happen(t, r, RunContinued{Status: RunStatusPlanning}, PlanProposed{Version{Number: 2, Plan: twoSteps(), Kept: []string{"a"}}}, RunCancelled{})
	if !r.Answerable() || r.Approved != 0 {
		t.Errorf("answerable %v with version %d approved", r.Answerable(), r.Approved)
	}
	happen(t, r, RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: 1})
	for _, status := range []RunStatus{RunStatusSucceeded, RunStatusPartial, RunStatusFailed, RunStatusCancelled} {
		if at(t, status).Answerable() {
			t.Errorf("a run that is %s is answerable and nothing succeeded", status)
		}
	}
}

func TestWhereAFailedRunFailed(t *testing.T) { // BEHAVIOUR 8.3
	for name, events := range endings(t) {
		r := &Run{ID: "r1"}
		happen(t, r, events...)
		want, failed := strings.CutPrefix(name, "failed in ")
		switch {
		case !failed:
			want = ""
		case want == "replanning":
			want = "planning"
		}
		if r.FailedIn != RunStatus(want) || (r.Error != nil) != failed {
			t.Errorf("%s: failed in %q, want %q, with %v", name, r.FailedIn, want, r.Error)
		}
	}
}

func TestABudgetThatIsRaised(t *testing.T) { // BEHAVIOUR 8.3
	r := at(t, RunStatusFailed)
	before := r.Clone()
	more := 80
	happen(t, r, RunContinued{Status: RunStatusRunning, Budget: &Budget{Requests: &more}})
	if b := r.Options.Budget; b.Requests == nil || *b.Requests != 80 || b.Tokens != nil || b.Steps != nil {
		t.Errorf("the budget is %+v", b)
	}
	if b := before.Options.Budget; *b.Requests != DefaultRequests || b.Tokens == nil {
		t.Errorf("the clone's budget is %+v", b)
	}
	happen(t, r, RunCancelled{}, RunContinued{Status: RunStatusRunning})
	if b := r.Options.Budget; *b.Requests != 80 {
		t.Errorf("a budget that is not named again is %+v", b)
	}
}

func TestWhatWasUsedStaysChargedWhenARunGoesOn(t *testing.T) { // BEHAVIOUR 8.2, 8.3
	r := runningRun(t)
	happen(t, r, begins("a", 1), sample(t, EventUsageReserved, "a", "c1"), sample(t, EventUsageSettled, "a", "c1"),
		StepReset{Steps: []string{"a"}}, RunFailed{Error: Fault{Code: CodeBudgetExhausted}})
	used := r.Used()
	happen(t, r, RunContinued{Status: RunStatusRunning})
	if r.Used() != used || used.Tokens != 7 || used.Steps != 1 {
		t.Errorf("used %+v, and %+v before", r.Used(), used)
	}
}

func TestTheAnswerWrittenAgain(t *testing.T) { // BEHAVIOUR 9.3
	fault := Fault{Code: CodeModelUnreachable, Message: "Nobody answers."}
	start := append(begun(t, ScheduleWaves), does("a", 1)...)
	first := append(append(start, does("b", 1)...), AnswerStarted{Attempt: 1}, AnswerWritten{Answer{Result: "first"}}, RunSucceeded{})
	for _, tt := range []struct {
		name   string
		more   []Payload
		answer string // "" for none
		failed bool
		status RunStatus
	}{
		{"asked for", []Payload{RunContinued{Status: RunStatusSynthesizing}}, "first", false, RunStatusSynthesizing},
		{"being written", []Payload{RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: 2}}, "first", false, RunStatusSynthesizing},
		{"written", []Payload{RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: 2}, AnswerWritten{Answer{Result: "second"}}, RunSucceeded{}}, "second", false, RunStatusSucceeded},
		{"not written", []Payload{RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: 2}, RunSucceeded{Error: &fault}}, "first", true, RunStatusSucceeded},
		{"partly written", []Payload{RunContinued{Status: RunStatusSynthesizing}, AnswerStarted{Attempt: 2}, RunPartial{Error: &fault}}, "first", true, RunStatusPartial},
		{"once more after that", []Payload{
			RunContinued{Status: RunStatusSynthesizing},
			AnswerStarted{Attempt: 2},
			RunSucceeded{Error: &fault},
			RunContinued{Status: RunStatusSynthesizing},
			AnswerStarted{Attempt: 3},
			AnswerWritten{Answer{Result: "third"}},
			RunSucceeded{},
		}, "third", false, RunStatusSucceeded},
		{"steps run again", []Payload{RunContinued{Status: RunStatusRunning}}, "", false, RunStatusRunning},
		{"planned again", []Payload{RunContinued{Status: RunStatusPlanning}}, "", false, RunStatusPlanning},
	} {
		r := &Run{ID: "r1"}
		happen(t, r, slices.Concat(first, tt.more)...)
		got := ""
		if r.Answer != nil {
			got = r.Answer.Result
		}
		if got != tt.answer || (r.Error != nil) != tt.failed || r.Status != tt.status || r.StepAttempts != 2 {
			t.Errorf("%s: the answer is %q, the error %v, %s after %d attempts", tt.name, got, r.Error, r.Status, r.StepAttempts)
		}
	}
}

func TestAnAnswerFromWhatThereIs(t *testing.T) { // BEHAVIOUR 7.1, 8.3
	start := begun(t, ScheduleWaves)
	taken := StepSucceeded{Step: "a", From: "r0", Result: Result{Text: "x"}}
	for _, tt := range []struct {
		name   string
		events []Payload
		says   string // "" for an answer
	}{
		{"with steps left to run", append(slices.Clone(start), does("a", 1)...), ""},
		{"in the place of a replan", append(slices.Clone(start), ReplanRequested{Number: 1}), ""},
		{"again", append(slices.Clone(start), AnswerStarted{Attempt: 1}), ""},
		{"of a fork that was never planned", append(slices.Clone(start[:3]), taken, PlanRequested{}), ""},
		{"before anything ran", start[:2], "nothing has run"},
		{"of a plan that was sent back", append(slices.Clone(start[:3]), PlanRequested{}), "nothing has run"},
		{"of a plan that waits", start[:3], `a run that is "awaiting_approval"`},
		{"while a person is asked", append(slices.Clone(start), begins("a", 1), sample(t, EventStepApprovalRequested, "a", ""), RunWaiting{}), `"awaiting_tool_approval"`},
		{"after the end", append(slices.Clone(start), RunCancelled{}), `"cancelled"`},
	} {
		r := &Run{ID: "r1"}
		happen(t, r, tt.events...)
		p := AnswerStarted{Attempt: 1, Reason: "asked for"}
		if tt.says != "" {
			refuse(t, r, p, tt.says)
			continue
		}
		if happen(t, r, p); r.Status != RunStatusSynthesizing {
			t.Errorf("%s: %s", tt.name, r.Status)
		}
	}
}

func TestRetryOnARunThatEnded(t *testing.T) { // BEHAVIOUR 5.8: the attempts before stay, the rest is not paid for again
	r := runningRun(t)
	happen(t, r, does("a", 1)...)
	happen(t, r, fails("b", 1)...)
	happen(t, r, AnswerStarted{Attempt: 1}, AnswerWritten{Answer{Result: "partly"}}, RunPartial{})
	ended := r.FinishedAt
	refuse(t, r, StepReset{Steps: []string{"b"}}, `a run that is "partial"`)
	happen(t, r, RunContinued{Status: RunStatusRunning}, StepReset{Steps: []string{"b"}, Reason: "tried again", By: "ann"})
	if a, b := r.Step("a"), r.Step("b"); a.Status != StepStatusSucceeded || b.Status != StepStatusPending || b.Attempts != 1 || len(b.History) != 1 {
		t.Errorf("a is %+v\nb is %+v", a, b)
	}
	happen(t, r, does("b", 2)...)
	happen(t, r, AnswerStarted{Attempt: 2}, AnswerWritten{Answer{Result: "wholly"}}, RunSucceeded{})
	b := r.Step("b")
	if r.Status != RunStatusSucceeded || !r.FinishedAt.After(ended) || r.Answer.Result != "wholly" || len(b.History) != 2 || b.History[0].Status != StepStatusFailed {
		t.Errorf("%s, finished %v, b %+v", r.Status, r.FinishedAt, b)
	}
	if !r.Delivered() || r.StepAttempts != 3 {
		t.Errorf("delivered %v after %d attempts", r.Delivered(), r.StepAttempts)
	}
}

func TestARunStartsOnce(t *testing.T) { // BEHAVIOUR 7.3
	r := runningRun(t)
	started := r.StartedAt
	happen(t, r, ReplanRequested{Number: 1}, PlanProposed{Version{Number: 2, Plan: twoSteps(), Hash: "sha256:2"}}, PlanApproved{Version: 2, Hash: "sha256:2"}, RunStarted{})
	if !r.StartedAt.Equal(started) || r.Status != RunStatusRunning {
		t.Errorf("started %v, and before %v", r.StartedAt, started)
	}
}

func TestStepsThatWereStoppedSayWhy(t *testing.T) { // BEHAVIOUR 5.7, 8.3
	r := runningRun(t)
	happen(t, r, begins("a", 1), StepCancelled{Step: "a", Attempt: 1}, StepCancelled{Step: "b", Reason: "the budget is used up"})
	if a, b := r.Step("a"), r.Step("b"); a.Reason != "" || b.Reason != "the budget is used up" || len(r.Failed()) != 0 {
		t.Errorf("a: %q, b: %q, failed: %v", a.Reason, b.Reason, r.Failed())
	}
	happen(t, r, StepReset{Steps: []string{"a", "b"}})
	if b := r.Step("b"); b.Reason != "" || b.Status != StepStatusPending || b.Attempts != 0 {
		t.Errorf("b is %+v", b)
	}
	happen(t, r, begins("a", 2))
	happen(t, r, current(t, r, EventStepApprovalRequested, "a", ""), StepCancelled{Step: "a", Attempt: 2, Reason: "nobody answered"})
	if a := r.Step("a"); a.Status != StepStatusCancelled || a.Reason != "nobody answered" || len(a.History) != 2 || a.History[1].Number != 2 {
		t.Errorf("a step that waited: %+v", a)
	}
}
