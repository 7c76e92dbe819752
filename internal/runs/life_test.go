package runs_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

func TestFromQuestionToAnswer(t *testing.T) {
	h := newHarness(t, &script{planner: writes(loose(), diamond())})
	r := h.ask()
	r = h.until(r.ID, is(plan.RunStatusAwaitingApproval))
	if r.Corrections() != 1 || r.Rejections[0].Violations[0].Code != plan.CodeNoSingleFinalStep { // BEHAVIOUR 2.3
		t.Errorf("rejections = %+v", r.Rejections)
	}
	if n := h.model.count("executor:s1"); n != 0 { // BEHAVIOUR 3.1
		t.Errorf("an executor was called %d times before approval", n)
	}
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusSucceeded || r.Answer.Result != "the answer" {
		t.Errorf("ended %s with %+v, %+v", r.Status, r.Answer, r.Error)
	}
	if !slices.Equal(r.Answer.RestsOn, []string{"s1", "s2", "s3"}) { // BEHAVIOUR 9.2
		t.Errorf("rests on %v", r.Answer.RestsOn)
	}
	if !reflect.DeepEqual(r.Waves, [][]string{{"s1", "s2"}, {"s3"}}) {
		t.Errorf("waves = %v", r.Waves)
	}
	if r.Usage.Requests != 6 || r.Usage.TotalTokens != 90 || *r.Usage.CostUSD != 90_000 {
		t.Errorf("usage = %+v: planner twice, three steps, one answer", r.Usage)
	}
	calls, err := h.store.Trace(t.Context(), r.ID)
	if err != nil || len(calls) != 6 {
		t.Errorf("trace has %d calls, %v", len(calls), err)
	}
	for _, c := range calls {
		if len(c.Request) == 0 || len(c.Response) == 0 || c.FinishedAt.IsZero() {
			t.Errorf("call of the %s is not recorded whole: %+v", c.Agent, c)
		}
	}
}

func TestTheFoldIsWhatTheServiceHolds(t *testing.T) { // DESIGN: a run is its events
	h := newHarness(t, &script{planner: writes(diamond())})
	r := h.end(h.ask(auto).ID)
	folded, err := h.store.Load(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(folded.Steps, r.Steps) || folded.Status != r.Status || !reflect.DeepEqual(folded.Usage, r.Usage) {
		t.Errorf("the log folds to\n%+v\nthe service held\n%+v", folded, r)
	}
	for i, e := range h.events(r.ID) {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}

func TestStaleAndDoubleApproval(t *testing.T) { // BEHAVIOUR 3.3; ui: stale approval
	h := newHarness(t, &script{planner: writes(diamond())})
	r := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	edited := diamond()
	edited.Steps[0].Instruction = "one, but better"
	if _, err := h.Edit(t.Context(), r.ID, 1, edited, "me"); err != nil {
		t.Fatal(err)
	}
	_, err := h.Approve(t.Context(), r.ID, 1, "me")
	if plan.CodeOf(err) != plan.CodeStale || !strings.Contains(err.Error(), "the plan is at version 2 now (changed: s1)") {
		t.Errorf("approving an old version: %v", err)
	}
	if _, err := h.Edit(t.Context(), r.ID, 1, diamond(), "me"); plan.CodeOf(err) != plan.CodeStale {
		t.Errorf("editing an old version: %v", err)
	}
	oks := make(chan error, 8)
	for range cap(oks) {
		go func() { _, err := h.Approve(context.Background(), r.ID, 2, "me"); oks <- err }()
	}
	won := 0
	for range cap(oks) {
		if err := <-oks; err == nil {
			won++
		} else if plan.CodeOf(err) != plan.CodeUnexpected {
			t.Errorf("second approval: %v", err)
		}
	}
	r = h.end(r.ID)
	if won != 1 || h.model.count("executor:s1") != 1 {
		t.Errorf("%d approvals won, s1 ran %d times; want one each", won, h.model.count("executor:s1"))
	}
	if r.ApprovedBy != "me" || r.Approved != 2 {
		t.Errorf("approved %d by %q", r.Approved, r.ApprovedBy)
	}
}

func TestAnEditThatChangesNothingKeepsTheVersion(t *testing.T) { // BEHAVIOUR 3.5
	h := newHarness(t, &script{planner: writes(diamond())})
	r := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	r, err := h.Edit(t.Context(), r.ID, 1, diamond(), "me")
	if err != nil || len(r.Versions) != 1 {
		t.Errorf("%d versions, %v", len(r.Versions), err)
	}
}

func TestABrokenEditIsRefusedWhole(t *testing.T) { // BEHAVIOUR 3.2
	h := newHarness(t, &script{planner: writes(diamond())})
	r := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	_, err := h.Edit(t.Context(), r.ID, 1, loose(), "me")
	e := plan.AsError(err)
	if e.Code != plan.CodePlanInvalid || len(e.Violations) == 0 {
		t.Errorf("err = %+v", e)
	}
	if r, _ = h.Get(t.Context(), r.ID); len(r.Versions) != 1 {
		t.Errorf("a broken plan was saved: %d versions", len(r.Versions))
	}
}

func TestSendingThePlanBack(t *testing.T) { // BEHAVIOUR 2.5
	second := diamond()
	second.Steps[0].Instruction = "one, as you wish"
	h := newHarness(t, &script{planner: writes(diamond(), second)})
	r := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	if _, err := h.Revise(t.Context(), r.ID, "  ", "me"); plan.CodeOf(err) != plan.CodeInvalid {
		t.Errorf("an empty comment: %v", err)
	}
	if _, err := h.Revise(t.Context(), r.ID, "make one better", "me"); err != nil {
		t.Fatal(err)
	}
	r = h.until(r.ID, func(r *plan.Run) bool { return len(r.Versions) == 2 })
	v, _ := r.Version()
	if v.Plan.Steps[0].Instruction != "one, as you wish" || !strings.Contains(v.Reason, "make one better") {
		t.Errorf("version 2 = %+v", v)
	}
	calls, err := h.store.Trace(t.Context(), r.ID)
	if err != nil || !strings.Contains(string(calls[1].Request), "make one better") {
		t.Errorf("the planner was not told the comment: %v", err)
	}
}

func TestPlanThatNeverKeepsTheRules(t *testing.T) { // BEHAVIOUR 2.3
	h := newHarness(t, &script{planner: writes(loose())})
	r := h.end(h.ask().ID)
	if r.Status != plan.RunStatusFailed || r.Error.Code != plan.CodePlanInvalid {
		t.Errorf("ended %s, %+v", r.Status, r.Error)
	}
	if h.model.count("planner") != 4 || r.Corrections() != 3 || r.Rejections[3].Plan == nil {
		t.Errorf("asked %d times, %d rejections", h.model.count("planner"), r.Corrections())
	}
}

func TestGivenPlan(t *testing.T) {
	h := newHarness(t, &script{})
	r := h.end(h.ask(given(diamond()), auto).ID)
	if r.Status != plan.RunStatusSucceeded || h.model.count("planner") != 0 {
		t.Errorf("ended %s; the planner was asked %d times", r.Status, h.model.count("planner"))
	}
	broken := loose()
	_, err := h.Ask(t.Context(), runs.Ask{Question: "q", Options: plan.DefaultOptions(), Plan: &broken})
	if plan.CodeOf(err) != plan.CodePlanInvalid {
		t.Errorf("err = %v", err)
	}
	if page, err := h.store.Unfinished(t.Context()); err != nil || len(page) != 0 {
		t.Errorf("a refused plan left a run: %v %v", page, err)
	}
}

func TestRequestsThatCannotBe(t *testing.T) { // BEHAVIOUR 11
	h := newHarness(t, &script{})
	neg, zero := -1, plan.USD(0)
	tests := map[string]struct {
		field  string
		change func(*runs.Ask)
	}{
		"empty question":     {"question", func(a *runs.Ask) { a.Question = " \n " }},
		"over-long question": {"question", func(a *runs.Ask) { a.Question = strings.Repeat("ä", plan.MostQuestion+1) }},
		"only invisible":     {"question", func(a *runs.Ask) { a.Question = "\u200b\x01" }},
		"control characters": {"question", func(a *runs.Ask) { a.Question = "a\x00b" }},
		"not text":           {"question", func(a *runs.Ask) { a.Question = "a\xff" }},
		"no steps":           {"max_steps", func(a *runs.Ask) { a.Options.MaxSteps = 0 }},
		"too many steps":     {"max_steps", func(a *runs.Ask) { a.Options.MaxSteps = plan.MostSteps + 1 }},
		"no parallel steps":  {"max_parallel", func(a *runs.Ask) { a.Options.MaxParallel = 0 }},
		"strategy":           {"strategy", func(a *runs.Ask) { a.Options.Strategy = "guess" }},
		"approval":           {"approval", func(a *runs.Ask) { a.Options.Approval = "maybe" }},
		"schedule":           {"schedule", func(a *runs.Ask) { a.Options.Schedule = "soon" }},
		"unknown model":      {"models.planner", func(a *runs.Ask) { a.Options.Models = map[plan.Role]string{plan.RolePlanner: "no:such"} }},
		"unknown role":       {"models", func(a *runs.Ask) { a.Options.Models = map[plan.Role]string{"boss": "test:model"} }},
		"unknown tool":       {"tools", func(a *runs.Ask) { a.Options.Tools = []string{"hammer"} }},
		"negative requests":  {"budget.requests", func(a *runs.Ask) { a.Options.Budget.Requests = &neg }},
		"no money":           {"budget.cost_usd", func(a *runs.Ask) { a.Options.Budget.CostUSD = &zero }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := runs.Ask{Question: "q", Options: plan.DefaultOptions()}
			tt.change(&a)
			_, err := h.Ask(t.Context(), a)
			e := plan.AsError(err)
			if e == nil || e.Code != plan.CodeInvalid || len(e.Violations) != 1 || e.Violations[0].Field != tt.field {
				t.Fatalf("err = %+v", e)
			}
		})
	}
}

func TestAllStepsFailed(t *testing.T) { // BEHAVIOUR 5.6
	h := newHarness(t, &script{executor: func(context.Context, string, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Kind: model.Unreachable, Message: "The server is away."}
	}})
	r := h.end(h.ask(given(diamond()), auto).ID)
	if r.Status != plan.RunStatusFailed || r.Error.Code != plan.CodeAllStepsFailed || !strings.Contains(r.Error.Message, "The server is away.") {
		t.Errorf("ended %s, %+v", r.Status, r.Error)
	}
	if h.model.count("synthesizer") != 0 {
		t.Error("the synthesizer was called")
	}
	if got := r.Step("s1").Error.Code; got != plan.CodeModelUnreachable {
		t.Errorf("s1 failed with %s", got)
	}
}

func TestPartialAnswer(t *testing.T) { // BEHAVIOUR 9.1, 9.3
	var prompt string
	h := newHarness(t, &script{
		executor: func(_ context.Context, step string, _ model.Request) (model.Response, error) {
			if step == "s2" {
				return model.Response{}, errors.New("boom")
			}
			return says("fine")
		},
		synthesizer: func(_ context.Context, req model.Request) (string, error) {
			prompt = req.Messages[0].Text
			return `{"result":"half an answer"}`, nil
		},
	})
	r := h.end(h.ask(given(diamond()), auto).ID)
	if r.Status != plan.RunStatusPartial || !slices.Equal(r.Answer.RestsOn, []string{"s1"}) {
		t.Errorf("ended %s, %+v", r.Status, r.Answer)
	}
	for _, want := range []string{"FAILED", "SKIPPED (a step it needed did not complete)"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the synthesizer was not told %q:\n%s", want, prompt)
		}
	}
	if strings.Contains(prompt, "boom") {
		t.Error("an internal error's text went to the model")
	}
}

func TestToolStepsAskNoModel(t *testing.T) { // BEHAVIOUR 4.2, 5.11
	h := newHarness(t, &script{})
	p := plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "look up", Tool: "get_city", Input: []byte(`"Quillhaven"`)},
		{ID: "s0", Instruction: "a text that is one reference", Tool: "calculate", DependsOn: []string{"s1"}, Input: []byte(`"${s1.population}"`)},
		{
			ID: "s2", Instruction: "divide", Tool: "calculate", DependsOn: []string{"s1", "s0"},
			Input: []byte(`{"expression":"${s1.population} / ${s1.area_km2}"}`),
		},
	}}
	r := h.end(h.ask(given(p), auto).ID)
	if r.Status != plan.RunStatusSucceeded || r.Step("s2").Result.Text != "1200" {
		t.Errorf("ended %s; s2 = %+v, %+v", r.Status, r.Step("s2").Result, r.Step("s2").Error)
	}
	if !slices.Equal(h.model.asked, []string{"synthesizer"}) {
		t.Errorf("asked = %v", h.model.asked)
	}
}

func TestAToolStepWhoseToolReportsAnErrorHasFailed(t *testing.T) { // BEHAVIOUR 4.2
	h := newHarness(t, &script{})
	p := plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "look up", Tool: "get_city", Input: []byte(`{"name":"Atlantis"}`)},
		{ID: "s2", Instruction: "and then", DependsOn: []string{"s1"}},
	}}
	r := h.end(h.ask(given(p), auto).ID)
	if st := r.Step("s1"); st.Status != plan.StepStatusFailed || st.Error.Code != plan.CodeToolFailed {
		t.Errorf("s1 = %s, %+v", st.Status, st.Error)
	}
}

func TestContractBrokenTwiceIsInvalid(t *testing.T) { // BEHAVIOUR 6.3
	h := newHarness(t, &script{executor: func(context.Context, string, model.Request) (model.Response, error) {
		return says("no tests here")
	}})
	p := plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "test", Contract: &plan.Contract{Required: []string{"tests"}, Checks: []string{`tests == "passed"`}}},
		{ID: "s2", Instruction: "use", DependsOn: []string{"s1"}},
	}}
	r := h.end(h.ask(given(p), auto).ID)
	if st := r.Step("s1"); st.Status != plan.StepStatusInvalid || st.Error.Code != plan.CodeContractBroken {
		t.Errorf("s1 = %s, %+v", st.Status, st.Error)
	}
	if n := h.model.count("executor:s1"); n != 2 {
		t.Errorf("the executor was asked %d times; it gets one chance to mend", n)
	}
	if !slices.Equal(r.Failed(), []string{"s1"}) || !slices.Equal(r.Skipped(), []string{"s2"}) {
		t.Errorf("failed %v, skipped %v", r.Failed(), r.Skipped())
	}
}
