package plan

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// book keeps the accounts of a run by hand, beside the fold.
type book struct {
	requests, tokens int
	cost             USD
	unknown          bool // a call without a price
	attempts         int
	open             map[string]Amount
	lost             Amount
	byRole           map[Role]int // tokens
	byStep           map[string]int
}

func newBook() *book {
	return &book{open: map[string]Amount{}, byRole: map[Role]int{}, byStep: map[string]int{}}
}

// event draws something that may happen and writes it into the book.
func (b *book) event(rt *rapid.T, r *Run, n int) Payload {
	step := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "step")
	switch kind := rapid.IntRange(0, 9).Draw(rt, "kind"); {
	case kind < 4:
		call := fmt.Sprint("c", n)
		amount := Amount{Requests: 1, Tokens: rapid.IntRange(0, 900).Draw(rt, "tokens"), CostUSD: USD(rapid.IntRange(0, 900).Draw(rt, "cost"))}
		b.open[call] = amount
		return UsageReserved{Call: call, Agent: RoleExecutor, Step: step, Model: "demo", Amount: amount}
	case kind < 8 && len(b.open) > 0:
		return b.settle(rt, step)
	case kind == 8 && r.Step("a").Status == StepStatusPending:
		b.attempts++
		return StepStarted{Step: "a", Attempt: r.Step("a").Attempts + 1, Wave: 1}
	case kind == 9:
		for _, amount := range b.open {
			b.lost = b.lost.Plus(amount)
		}
		clear(b.open)
		return RunResumed{}
	}
	return StepReset{Steps: []string{"a"}, Reason: "again"}
}

func (b *book) settle(rt *rapid.T, step string) Payload {
	call := rapid.SampledFrom(slices.Sorted(maps.Keys(b.open))).Draw(rt, "call")
	delete(b.open, call)
	role := rapid.SampledFrom([]Role{RolePlanner, RoleExecutor, RoleSynthesizer}).Draw(rt, "role")
	u := Usage{Requests: 1, InputTokens: rapid.IntRange(1, 900).Draw(rt, "in"), OutputTokens: rapid.IntRange(0, 900).Draw(rt, "out")}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	if rapid.IntRange(0, 9).Draw(rt, "priced") > 0 {
		cost := USD(rapid.IntRange(0, 900).Draw(rt, "cost"))
		u.CostUSD = &cost
		b.cost += cost
	} else {
		b.unknown = true
	}
	b.requests++
	b.tokens += u.TotalTokens
	b.byRole[role] += u.TotalTokens
	if step != "" {
		b.byStep[step] += u.TotalTokens
	}
	return UsageSettled{Call: call, Agent: role, Step: step, Usage: u}
}

// agrees says what of the run is not as the book has it.
func (b *book) agrees(r *Run) error {
	used := r.Used()
	switch {
	case used.Requests != b.requests+b.lost.Requests:
		return fmt.Errorf("%d requests are used, not %d and %d lost", used.Requests, b.requests, b.lost.Requests)
	case used.Tokens != b.tokens+b.lost.Tokens:
		return fmt.Errorf("%d tokens are used, not %d and %d lost", used.Tokens, b.tokens, b.lost.Tokens)
	case used.Steps != b.attempts:
		return fmt.Errorf("%d attempts are used, not %d", used.Steps, b.attempts)
	case (r.Usage.CostUSD == nil) != b.unknown:
		return fmt.Errorf("the cost is %v, and unknown: %v", r.Usage.CostUSD, b.unknown)
	case !b.unknown && *r.Usage.CostUSD != b.cost:
		return fmt.Errorf("the cost is %d, not %d", *r.Usage.CostUSD, b.cost)
	case r.KnownCost != b.cost || used.CostUSD != b.cost+b.lost.CostUSD: // BEHAVIOUR 8.4: what is known counts
		return fmt.Errorf("%d is known and %d is used, not %d and %d lost", r.KnownCost, used.CostUSD, b.cost, b.lost.CostUSD)
	case len(r.Open) != len(b.open) || r.Lost != b.lost:
		return fmt.Errorf("%d are open and %+v lost, not %d and %+v", len(r.Open), r.Lost, len(b.open), b.lost)
	}
	for role, tokens := range b.byRole {
		if r.AgentUsage[role].TotalTokens != tokens {
			return fmt.Errorf("the %s used %d tokens, not %d", role, r.AgentUsage[role].TotalTokens, tokens)
		}
	}
	for step, tokens := range b.byStep {
		if r.Step(step).Usage.TotalTokens != tokens {
			return fmt.Errorf("step %s used %d tokens, not %d", step, r.Step(step).Usage.TotalTokens, tokens)
		}
	}
	return nil
}

func TestTheAccountsAgree(t *testing.T) { // BEHAVIOUR 8.1, 8.2: what was used stays charged
	rapid.Check(t, func(rt *rapid.T) {
		r, b := runningRun(t), newBook()
		for n := range rapid.IntRange(1, 40).Draw(rt, "events") {
			e := Event{Seq: r.Seq + 1, At: noon().Add(time.Duration(n) * time.Second), Data: b.event(rt, r, n)}
			if err := r.Apply(e); err != nil {
				rt.Fatal(err)
			}
			if err := b.agrees(r); err != nil {
				rt.Fatalf("after %s: %v", e.Type(), err)
			}
		}
	})
}

func TestNothingIsSettledTwice(t *testing.T) { // BEHAVIOUR 8.2
	r := runningRun(t)
	reserved := UsageReserved{Call: "c1", Agent: RoleExecutor, Step: "a", Amount: Amount{Requests: 1, Tokens: 100}}
	settled := UsageSettled{Call: "c1", Agent: RoleExecutor, Step: "a", Usage: Usage{Requests: 1, TotalTokens: 7, CostUSD: cents(1)}}
	happen(t, r, reserved)
	if used := r.Used(); used.Tokens != 0 || r.Open["c1"].Amount.Tokens != 100 {
		t.Errorf("an open reservation counts as used: %+v", used)
	}
	happen(t, r, settled)
	if err := r.Apply(Event{Seq: r.Seq + 1, Data: settled}); err == nil || r.Used().Tokens != 7 {
		t.Errorf("settled twice: %v, %+v", err, r.Used())
	}
	happen(t, r, reserved, RunResumed{})
	if err := r.Apply(Event{Seq: r.Seq + 1, Data: settled}); err == nil || r.Used().Tokens != 107 {
		t.Errorf("settled after it was lost: %v, %+v", err, r.Used())
	}
}

// at is a run in a status, by the events that lead there.
func at(t *testing.T, status RunStatus) *Run {
	t.Helper()
	ways := map[RunStatus][]Payload{
		RunStatusPlanning:         begun(t, ScheduleWaves)[:2],
		RunStatusAwaitingApproval: begun(t, ScheduleWaves)[:3],
		RunStatusRunning:          begun(t, ScheduleWaves),
		RunStatusSynthesizing:     append(begun(t, ScheduleWaves), AnswerStarted{Attempt: 1}),
		RunStatusSucceeded:        append(begun(t, ScheduleWaves), AnswerStarted{Attempt: 1}, RunSucceeded{}),
		RunStatusPartial:          append(begun(t, ScheduleWaves), AnswerStarted{Attempt: 1}, RunPartial{}),
		RunStatusFailed:           append(begun(t, ScheduleWaves), RunFailed{Error: Fault{Code: CodeAllStepsFailed, Message: "m"}}),
		RunStatusCancelled:        append(begun(t, ScheduleWaves), RunCancelled{By: "ann"}),
	}
	r := &Run{ID: "r1"}
	happen(t, r, ways[status]...)
	if r.Status != status {
		t.Fatalf("the run is %s, not %s", r.Status, status)
	}
	return r
}

func TestWhatMayBeDoneWithARun(t *testing.T) { // BEHAVIOUR 3.1, 3.2, 5.7
	for _, tt := range []struct {
		status                         RunStatus
		cancel, approve, edit, started bool
	}{
		{RunStatusPlanning, true, false, false, false},
		{RunStatusAwaitingApproval, true, true, true, false},
		{RunStatusRunning, true, false, false, true},
		{RunStatusSynthesizing, true, false, false, true},
		{RunStatusSucceeded, false, false, false, true},
		{RunStatusPartial, false, false, false, true},
		{RunStatusFailed, false, false, false, true},
		{RunStatusCancelled, false, false, false, true},
	} {
		r := at(t, tt.status)
		if r.Cancelable() != tt.cancel || r.Approvable() != tt.approve || r.Editable() != tt.edit {
			t.Errorf("%s: cancel %v, approve %v, edit %v", tt.status, r.Cancelable(), r.Approvable(), r.Editable())
		}
		if r.StartedAt.IsZero() == tt.started || r.FinishedAt.IsZero() != tt.cancel {
			t.Errorf("%s: started %v, finished %v", tt.status, r.StartedAt, r.FinishedAt)
		}
		// What the predicate says is what the log takes.
		for event, may := range map[Payload]bool{RunCancelled{By: "ann"}: tt.cancel, PlanApproved{Version: 1, Hash: "sha256:1"}: tt.approve} {
			err := r.Clone().Apply(Event{Seq: r.Seq + 1, At: noon(), Data: event})
			if (err == nil) != may {
				t.Errorf("%s: %s is taken: %v", tt.status, event.Type(), err)
			}
		}
		edited := PlanEdited{Version{Number: 2, Plan: twoSteps(), Hash: "sha256:2", Author: "ann"}}
		if err := r.Clone().Apply(Event{Seq: r.Seq + 1, At: noon(), Data: edited}); (err == nil) != tt.edit {
			t.Errorf("%s: an edit is taken: %v", tt.status, err)
		}
	}
}

func TestTheDeliverableOfARun(t *testing.T) { // BEHAVIOUR 9.3
	proposed := func(deliverable string, steps ...Step) *Run {
		r := &Run{ID: "r1"}
		happen(t, r, append(begun(t, ScheduleWaves)[:2], PlanProposed{Version{Number: 1, Plan: Plan{Steps: steps, Deliverable: deliverable}}})...)
		return r
	}
	a, b, c := Step{ID: "a"}, Step{ID: "b", DependsOn: []string{"a"}}, Step{ID: "c"}
	for _, tt := range []struct {
		name string
		run  *Run
		want string
	}{
		{"no plan", at(t, RunStatusPlanning), ""},
		{"the one end", proposed("", a, b), "b"},
		{"the one end, written first", proposed("", b, a), "b"},
		{"the one that is named", proposed("b", a, b, c), "b"},
		{"the last of several", proposed("", a, b, c), "c"},
		{"none, in a cycle", proposed("", Step{ID: "a", DependsOn: []string{"b"}}, b), ""},
	} {
		if got := tt.run.Deliverable(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTimesOfARun(t *testing.T) {
	r := at(t, RunStatusSucceeded)
	second := func(n int64) time.Time { return noon().Add(time.Duration(n) * time.Second) }
	if !r.CreatedAt.Equal(second(0)) || !r.StartedAt.Equal(second(4)) || !r.FinishedAt.Equal(second(6)) || !r.UpdatedAt.Equal(second(6)) {
		t.Errorf("created %v, started %v, finished %v, updated %v", r.CreatedAt, r.StartedAt, r.FinishedAt, r.UpdatedAt)
	}
	r = runningRun(t)
	happen(t, r, StepStarted{Step: "a", Attempt: 1, Wave: 1})
	a := *r.Step("a")
	if !a.StartedAt.Equal(r.UpdatedAt) || !a.FinishedAt.IsZero() {
		t.Errorf("a step that started: %+v", a)
	}
	happen(t, r, StepFailed{Step: "a", Attempt: 1, Error: Fault{Code: CodeToolFailed}})
	if a = *r.Step("a"); !a.FinishedAt.Equal(r.UpdatedAt) || a.History[0].StartedAt != a.StartedAt || a.History[0].FinishedAt != a.FinishedAt {
		t.Errorf("a step that failed: %+v", a)
	}
	happen(t, r, StepReset{Steps: []string{"a"}}, StepStarted{Step: "a", Attempt: 2, Wave: 2})
	if a = *r.Step("a"); !a.StartedAt.Equal(r.UpdatedAt) || !a.FinishedAt.IsZero() || a.Error != nil || len(a.History) != 1 {
		t.Errorf("a step that started again: %+v", a)
	}
}
