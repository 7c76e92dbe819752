package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// asks is a step's request to send mail to somebody, and word on it.
func asks(id, step string, attempt int, to string) StepApprovalRequested {
	return StepApprovalRequested{ID: id, Step: step, Attempt: attempt, Tool: "send_mail", Arguments: mailTo(to)}
}

func mailTo(to string) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"to":%q}`, to)) }

func word(id, step string, d Decision, scope Scope) StepApprovalDecided {
	return StepApprovalDecided{ID: id, Step: step, Decision: d, Scope: scope, By: "ann"}
}

func made(step string, attempt int, approval string) StepToolCalled {
	return StepToolCalled{Step: step, Attempt: attempt, ID: "t1", Tool: "send_mail", Arguments: mailTo("x"), Approval: approval}
}

// waitingRun is a run in which only step a is in flight, asking about p1.
func waitingRun(t testing.TB, more ...Payload) *Run {
	t.Helper()
	r := runningRun(t)
	happen(t, r, begins("a", 1), asks("p1", "a", 1, "x"))
	happen(t, r, more...)
	return r
}

// pending are the ids of the calls that wait.
func pending(r *Run) []string {
	ids := []string{}
	for _, a := range r.PendingApprovals() {
		ids = append(ids, a.ID)
	}
	return ids
}

// under is how the call of a step stands: "id word scope", or "" to be asked.
func under(r *Run, step, tool string, arguments json.RawMessage) string {
	a, ok := r.ApprovalFor(step, tool, arguments)
	if !ok {
		return ""
	}
	return fmt.Sprint(a.ID, " ", a.Decision, " ", a.Scope)
}

func TestACallThatWaits(t *testing.T) { // BEHAVIOUR 4.6: a person sees the exact arguments
	r := waitingRun(t)
	a, ok := r.Approval("p1")
	if !ok || a.Step != "a" || a.Attempt != 1 || a.Tool != "send_mail" || string(a.Arguments) != `{"to":"x"}` || a.Decision != "" || a.Used || a.Again {
		t.Fatalf("asked %+v, %v", a, ok)
	}
	if s := r.Step("a"); s.Status != StepStatusAwaitingApproval || s.ChangedSeq != r.Seq || r.Status != RunStatusRunning || !r.OnlyWaits() {
		t.Errorf("a is %s, the run %s, only waits: %v", s.Status, r.Status, r.OnlyWaits())
	}
	happen(t, r, RunWaiting{})
	if r.Status != RunStatusAwaitingToolApproval || !slices.Equal(pending(r), []string{"p1"}) || !r.Cancelable() {
		t.Errorf("the run is %s and waits for %v", r.Status, pending(r))
	}
	happen(t, r, word("p1", "a", DecisionAllow, ScopeOnce))
	a, _ = r.Approval("p1")
	if a.Decision != DecisionAllow || a.Scope != ScopeOnce || a.By != "ann" || !a.At.Equal(r.UpdatedAt) || a.Used {
		t.Errorf("decided %+v", a)
	}
	if r.Status != RunStatusRunning || r.Step("a").Status != StepStatusRunning || len(pending(r)) != 0 || r.OnlyWaits() {
		t.Errorf("after the word: %s, a %s, %v wait", r.Status, r.Step("a").Status, pending(r))
	}
	happen(t, r, made("a", 1, "p1"))
	if a, _ = r.Approval("p1"); !a.Used || under(r, "a", "send_mail", mailTo("x")) != "" {
		t.Errorf("made and still %+v", a)
	}
	if _, ok := r.Approval("p9"); ok {
		t.Error("there is an approval that nobody asked for")
	}
}

func TestWhatACallStandsUnder(t *testing.T) { // BEHAVIOUR 4.6: once, or for the rest of the run
	for _, tt := range []struct {
		name             string
		more             []Payload
		same, other, beh string // the same call, one of the same step to another, one of step b
	}{
		{"asked", nil, "p1  ", "", ""},
		{"allowed once", []Payload{word("p1", "a", DecisionAllow, ScopeOnce)}, "p1 allow once", "", ""},
		{"denied once", []Payload{word("p1", "a", DecisionDeny, ScopeOnce)}, "p1 deny once", "", ""},
		{"allowed once and made", []Payload{word("p1", "a", DecisionAllow, ScopeOnce), made("a", 1, "p1")}, "", "", ""},
		{"denied once and told", []Payload{word("p1", "a", DecisionDeny, ScopeOnce), made("a", 1, "p1")}, "", "", ""},
		{"allowed for the run", []Payload{word("p1", "a", DecisionAllow, ScopeRun)}, "p1 allow run", "p1 allow run", "p1 allow run"},
		{"allowed for the run and made", []Payload{word("p1", "a", DecisionAllow, ScopeRun), made("a", 1, "p1")}, "p1 allow run", "p1 allow run", "p1 allow run"},
		{"denied for the run", []Payload{word("p1", "a", DecisionDeny, ScopeRun), made("a", 1, "p1")}, "p1 deny run", "p1 deny run", "p1 deny run"},
		{"made without it", []Payload{word("p1", "a", DecisionAllow, ScopeOnce), made("a", 1, "")}, "p1 allow once", "", ""},
		{"the step failed", []Payload{word("p1", "a", DecisionAllow, ScopeOnce), StepFailed{Step: "a", Attempt: 1}}, "", "", ""},
		{"the next attempt", []Payload{word("p1", "a", DecisionAllow, ScopeOnce), StepFailed{Step: "a", Attempt: 1}, StepReset{Steps: []string{"a"}}, begins("a", 2)}, "", "", ""},
		{"denied, and the next attempt", []Payload{word("p1", "a", DecisionDeny, ScopeOnce), StepFailed{Step: "a", Attempt: 1}, StepReset{Steps: []string{"a"}}, begins("a", 2)}, "", "", ""},
		{"for the run, and the next attempt", []Payload{word("p1", "a", DecisionDeny, ScopeRun), StepFailed{Step: "a", Attempt: 1}, StepReset{Steps: []string{"a"}}, begins("a", 2)}, "p1 deny run", "p1 deny run", "p1 deny run"},
	} {
		r := waitingRun(t, tt.more...)
		same, other, beh := under(r, "a", "send_mail", mailTo("x")), under(r, "a", "send_mail", mailTo("y")), under(r, "b", "send_mail", mailTo("x"))
		if same != tt.same || other != tt.other || beh != tt.beh {
			t.Errorf("%s: %q, %q, %q, want %q, %q, %q", tt.name, same, other, beh, tt.same, tt.other, tt.beh)
		}
		if got := under(r, "a", "delete_mail", mailTo("x")); got != "" {
			t.Errorf("%s: another tool stands under %q", tt.name, got)
		}
	}
}

func TestWordForTheRunComesBeforeACallThatWaits(t *testing.T) { // BEHAVIOUR 4.6
	r := waitingRun(t, begins("b", 1), asks("p2", "b", 1, "y"), word("p2", "b", DecisionAllow, ScopeRun))
	if got := under(r, "a", "send_mail", mailTo("x")); got != "p2 allow run" {
		t.Errorf("the call that was asked before stands under %q", got)
	}
	if got := pending(r); !slices.Equal(got, []string{"p1"}) {
		t.Errorf("%v wait", got)
	}
}

func TestTheSameArgumentsWrittenOtherwise(t *testing.T) { // BEHAVIOUR 4.6
	r := waitingRun(t)
	for arguments, want := range map[string]string{
		`{"to":"x"}`: "p1  ", ` { "to" : "x" } `: "p1  ", `{"to":"\u0078"}`: "p1  ",
		`{"to":"X"}`: "", `{"to":"x","cc":"y"}`: "", `{}`: "", ``: "", `null`: "", `{"to":`: "",
	} {
		if got := under(r, "a", "send_mail", json.RawMessage(arguments)); got != want {
			t.Errorf("%s stands under %q, want %q", arguments, got, want)
		}
	}
}

func TestWhoIsAskedAndWhoDecides(t *testing.T) { // BEHAVIOUR 4.6: one call, one word
	allow := word("p1", "a", DecisionAllow, ScopeOnce)
	running := []Payload{begins("a", 1), begins("b", 1)}
	asked := append(slices.Clone(running), asks("p1", "a", 1, "x"))
	decided := append(slices.Clone(asked), allow)
	for _, tt := range []struct {
		name  string
		more  []Payload
		event Payload
		says  string // "" is taken
	}{
		{"asked", running, asks("p1", "a", 1, "x"), ""},
		{"asked by an attempt before", running, asks("p1", "a", 0, "x"), "attempt 0"},
		{"asked by an attempt to come", running, asks("p1", "a", 2, "x"), "attempt 2"},
		{"asked by nobody", running, asks("p1", "zz", 1, "x"), `no step "zz"`},
		{"asked without an id", running, asks("", "a", 1, "x"), "without an id"},
		{"asked before the step runs", nil, asks("p1", "a", 0, "x"), `"pending"`},
		{"asked twice at once", asked, asks("p2", "a", 1, "y"), `"awaiting_approval"`},
		{"asked under another's id", asked, asks("p1", "b", 1, "x"), "another call"},
		{"asked beside it", asked, asks("p2", "b", 1, "x"), ""},
		{"asked again when decided", decided, asks("p1", "a", 1, "x"), "decided already"},
		{"the next question", decided, asks("p2", "a", 1, "y"), ""},
		{"the same question once more", append(slices.Clone(decided), made("a", 1, "p1")), asks("p2", "a", 1, "x"), ""},
		{"decided", asked, allow, ""},
		{"denied", asked, word("p1", "a", DecisionDeny, ScopeRun), ""},
		{"decided twice", decided, allow, "decided already"},
		{"decided otherwise", decided, word("p1", "a", DecisionDeny, ScopeOnce), "decided already"},
		{"nothing asked", running, allow, "not asked for"},
		{"another id", asked, word("p2", "a", DecisionAllow, ScopeOnce), "not asked for"},
		{"another step", asked, word("p1", "b", DecisionAllow, ScopeOnce), "not asked for"},
		{"no word", asked, word("p1", "a", "", ScopeOnce), "decided by"},
		{"another word", asked, word("p1", "a", "perhaps", ScopeOnce), "decided by"},
		{"after the step was stopped", append(slices.Clone(asked), StepCancelled{Step: "a", Attempt: 1}), allow, `"cancelled"`},
		{"after the run was stopped", append(slices.Clone(asked), RunCancelled{}), allow, `"cancelled"`},
		{"for an attempt before", append(slices.Clone(asked), StepCancelled{Step: "a"}, StepReset{Steps: []string{"a"}}), allow, "attempt that is over"},
		{"when the next attempt was cut off", append(slices.Clone(asked), StepCancelled{Step: "a"}, StepReset{Steps: []string{"a"}}, begins("a", 2), RunResumed{}), allow, "attempt that is over"},
		{"while the next attempt runs", append(slices.Clone(asked), StepCancelled{Step: "a"}, StepReset{Steps: []string{"a"}}, begins("a", 2)), allow, "attempt that is over"},
		{"made as it was allowed", decided, made("a", 1, "p1"), ""},
		{"made twice", append(slices.Clone(decided), made("a", 1, "p1")), made("a", 1, "p1"), "used already"},
		{"made without any word", append(slices.Clone(asked), RunResumed{}, begins("a", 2)), made("a", 2, "p1"), "not decided"},
		{"made on word that was taken back", append(slices.Clone(decided), RunResumed{}, begins("a", 2)), made("a", 2, "p1"), "not decided"},
		{"made on nobody's word", decided, made("a", 1, "p7"), "not asked for"},
		{"made on word to another step", decided, made("b", 1, "p1"), "not asked for"},
		{"made by another tool", decided, StepToolCalled{Step: "a", Attempt: 1, Tool: "delete_mail", Approval: "p1"}, "not asked for"},
		{"made in another attempt", decided, made("a", 2, "p1"), "attempt 2"},
		{"made on word for the run", append(slices.Clone(asked), word("p1", "a", DecisionAllow, ScopeRun), made("a", 1, "p1"), made("b", 1, "p1")), made("a", 1, "p1"), ""},
		{"a tool that needs no word", decided, sample(t, EventStepToolCalled, "a", ""), ""},
		{"a call made while it waits", asked, made("a", 1, "p1"), `"awaiting_approval"`},
		{"a result while it waits", asked, StepSucceeded{Step: "a", Attempt: 1}, `"awaiting_approval"`},
		{"a failure while it waits", asked, StepFailed{Step: "a", Attempt: 1}, `"awaiting_approval"`},
		{"stopped while it waits", asked, StepCancelled{Step: "a", Attempt: 1}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runningRun(t)
			happen(t, r, tt.more...)
			if tt.says == "" {
				happen(t, r, tt.event)
				return
			}
			refuse(t, r, tt.event, tt.says)
		})
	}
}

func TestWhenARunOnlyWaits(t *testing.T) { // BEHAVIOUR 4.6, 5.10
	for _, tt := range []struct {
		name string
		more []Payload
		want bool
	}{
		{"nothing runs", nil, false},
		{"a runs", []Payload{begins("a", 1)}, false},
		{"a waits and b runs", []Payload{begins("a", 1), asks("p1", "a", 1, "x"), begins("b", 1)}, false},
		{"both wait", []Payload{begins("a", 1), asks("p1", "a", 1, "x"), begins("b", 1), asks("p2", "b", 1, "x")}, true},
		{"a waits and b is left", []Payload{begins("a", 1), asks("p1", "a", 1, "x")}, true},
		{"a waits and b failed", append([]Payload{begins("a", 1), asks("p1", "a", 1, "x")}, fails("b", 1)...), true},
		{"a is allowed", []Payload{begins("a", 1), asks("p1", "a", 1, "x"), word("p1", "a", DecisionAllow, ScopeOnce)}, false},
		{"one of two is allowed", []Payload{begins("a", 1), asks("p1", "a", 1, "x"), begins("b", 1), asks("p2", "b", 1, "x"), word("p1", "a", DecisionDeny, ScopeOnce)}, false},
		{"after a restart", []Payload{begins("a", 1), asks("p1", "a", 1, "x"), RunResumed{}}, false},
	} {
		r := runningRun(t)
		happen(t, r, tt.more...)
		if r.OnlyWaits() != tt.want {
			t.Errorf("%s: only waits: %v", tt.name, r.OnlyWaits())
		}
		if tt.want {
			happen(t, r, RunWaiting{})
			refuse(t, r, RunWaiting{}, `"awaiting_tool_approval"`)
			continue
		}
		refuse(t, r, RunWaiting{}, "in flight")
	}
}

func TestACallThatWaitedOverARestart(t *testing.T) { // BEHAVIOUR 4.6, 12.1: it still waits, under the same id
	r := waitingRun(t, RunWaiting{}, RunResumed{})
	if a := r.Step("a"); a.Status != StepStatusPending || a.Interrupted != 1 || r.Status != RunStatusAwaitingToolApproval || !slices.Equal(pending(r), []string{"p1"}) {
		t.Fatalf("a is %+v, the run %s, %v wait", a, r.Status, pending(r))
	}
	asked := r.Clone()
	happen(t, asked, begins("a", 2))
	if got := under(asked, "a", "send_mail", mailTo("x")); got != "p1  " || !slices.Equal(pending(asked), []string{"p1"}) || asked.Status != RunStatusRunning {
		t.Errorf("the next attempt's call stands under %q, %v wait", got, pending(asked))
	}
	refuse(t, asked, asks("p1", "a", 2, "y"), "another call")
	refuse(t, asked, StepApprovalRequested{ID: "p1", Step: "a", Attempt: 2, Tool: "delete_mail", Arguments: mailTo("x")}, "another call")
	happen(t, asked, asks("p1", "a", 2, "x"))
	if a, _ := asked.Approval("p1"); len(asked.Approvals) != 1 || a.Attempt != 2 || a.Again {
		t.Errorf("asked once more: %+v", asked.Approvals)
	}
	happen(t, asked, RunWaiting{}, word("p1", "a", DecisionAllow, ScopeOnce))
	if asked.Step("a").Status != StepStatusRunning || asked.Status != RunStatusRunning {
		t.Errorf("a is %s, the run %s", asked.Step("a").Status, asked.Status)
	}

	early := r.Clone() // word that comes before the step runs again
	happen(t, early, word("p1", "a", DecisionDeny, ScopeOnce))
	if a := early.Step("a"); a.Status != StepStatusPending || early.Status != RunStatusRunning || a.ChangedSeq != early.Seq || len(pending(early)) != 0 {
		t.Errorf("a is %+v, the run %s", a, early.Status)
	}
	happen(t, early, begins("a", 2))
	if got := under(early, "a", "send_mail", mailTo("x")); got != "p1 deny once" {
		t.Errorf("the next attempt's call stands under %q", got)
	}
}

func TestWhatAPersonSaidOverARestart(t *testing.T) { // BEHAVIOUR 4.6, 12.1: allowed once is made once at most
	cut := []Payload{RunResumed{}}
	for _, tt := range []struct {
		name    string
		more    []Payload
		want    string
		again   bool
		waiting bool
	}{
		{"allowed once, and nobody knows", append([]Payload{word("p1", "a", DecisionAllow, ScopeOnce)}, cut...), "p1  ", true, true},
		{"the same when the budget stops it", []Payload{word("p1", "a", DecisionAllow, ScopeOnce), StepReset{Steps: []string{"a"}}}, "p1  ", true, true},
		{"allowed once and made", append([]Payload{word("p1", "a", DecisionAllow, ScopeOnce), made("a", 1, "p1")}, cut...), "", false, false},
		{"denied once", append([]Payload{word("p1", "a", DecisionDeny, ScopeOnce)}, cut...), "p1 deny once", false, false},
		{"denied for the run", append([]Payload{word("p1", "a", DecisionDeny, ScopeRun)}, cut...), "p1 deny run", false, false},
		{"allowed for the run", append([]Payload{word("p1", "a", DecisionAllow, ScopeRun)}, cut...), "p1 allow run", false, false},
		{"allowed between two restarts", []Payload{RunResumed{}, word("p1", "a", DecisionAllow, ScopeOnce), RunResumed{}}, "p1 allow once", false, false},
		{"allowed twice, and nobody knows", []Payload{
			word("p1", "a", DecisionAllow, ScopeOnce), RunResumed{}, word("p1", "a", DecisionAllow, ScopeOnce), begins("a", 2), RunResumed{},
		}, "p1  ", true, true},
		{"stopped while it waits", []Payload{StepReset{Steps: []string{"a"}}}, "p1  ", false, true},
		{"put back by a person", []Payload{RunResumed{}, StepReset{Steps: []string{"a"}}}, "", false, false},
	} {
		r := waitingRun(t, tt.more...)
		a, _ := r.Approval("p1")
		if got := under(r, "a", "send_mail", mailTo("x")); got != tt.want || a.Again != tt.again || (len(pending(r)) > 0) != tt.waiting {
			t.Errorf("%s: stands under %q, again %v, %v wait", tt.name, got, a.Again, pending(r))
		}
		if a.Again && (a.Decision != "" || a.By != "" || !a.At.IsZero() || a.Scope != "" || string(a.Arguments) != `{"to":"x"}`) {
			t.Errorf("%s: asked again as %+v", tt.name, a)
		}
	}
}

func TestNothingWaitsInARunThatEnded(t *testing.T) { // BEHAVIOUR 5.7
	r := waitingRun(t, RunWaiting{}, RunCancelled{})
	if got := pending(r); len(got) != 0 {
		t.Errorf("%v wait in a run that is %s", got, r.Status)
	}
	gone := twoSteps()
	gone.Steps = gone.Steps[:1]
	gone.Steps[0].ID = "c"
	r = waitingRun(t, RunCancelled{}, RunContinued{Status: RunStatusPlanning}, PlanProposed{Version{Number: 2, Plan: gone}})
	if got := pending(r); len(got) != 0 || under(r, "a", "send_mail", mailTo("x")) != "" {
		t.Errorf("%v wait for a step that is not in the plan any more", got)
	}
	happen(t, r, PlanEdited{Version{Number: 3, Plan: twoSteps()}})
	if got := pending(r); len(got) != 0 || r.Step("a").Attempts != 1 {
		t.Errorf("%v wait for a step that came back", got)
	}
}

func TestWordOnOneOfTwoQuestionsOfAStep(t *testing.T) { // BEHAVIOUR 4.6: after a restart the executor may ask something else
	r := waitingRun(t, RunResumed{}, begins("a", 2), asks("p2", "a", 2, "y"))
	if got := pending(r); !slices.Equal(got, []string{"p1", "p2"}) {
		t.Fatalf("%v wait", got)
	}
	happen(t, r, word("p1", "a", DecisionAllow, ScopeOnce))
	if r.Step("a").Status != StepStatusAwaitingApproval || !r.OnlyWaits() {
		t.Errorf("word on the question before answers the one that a waits for: a is %s", r.Step("a").Status)
	}
	happen(t, r, word("p2", "a", DecisionDeny, ScopeOnce))
	if r.Step("a").Status != StepStatusRunning {
		t.Errorf("a is %s", r.Step("a").Status)
	}
}
