package handlers

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// failingOnce is an executor that cannot carry out one step the first time, and
// after that does what then does.
func failingOnce(step string, then func(context.Context, model.Request) (string, error)) func(context.Context, model.Request) (string, error) {
	var tried atomic.Bool
	return func(ctx context.Context, req model.Request) (string, error) {
		switch {
		case !strings.Contains(req.Messages[0].Text, `<step id="`+step+`">`):
			return `{"result":"done"}`, nil
		case tried.CompareAndSwap(false, true):
			return broken(ctx, req)
		}
		return then(ctx, req)
	}
}

func wellDone(context.Context, model.Request) (string, error) { return `{"result":"done"}`, nil }

// wantProblem sends a request that is refused with a code, about the fields.
func (s *site) wantProblem(status int, code plan.Code, method, path, body string, fields ...string) problem {
	s.t.Helper()
	p := problemIn(s.t, s.want(status, method, path, body))
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Field)
	}
	slices.Sort(got)
	if p.Code != code || !slices.Equal(got, fields) {
		s.t.Errorf("%s %s %s: answered %s about %q, want %s about %q: %s", method, path, body, p.Code, got, code, fields, p.Detail)
	}
	return p
}

// A retry resets the step and what needs it, and keeps the rest. BEHAVIOUR 5.8
func TestRetryStep(t *testing.T) {
	s := newSite(t, &scriptedModel{executor: failingOnce("s1", wellDone)})
	id := s.askGiven(plan.ApprovalAuto)
	at := "/api/v1/runs/" + id
	s.until(id, plan.RunStatusPartial)

	p := s.wantProblem(409, plan.CodeUnexpected, "POST", at+"/steps/s2/retry", "")
	if !strings.Contains(p.Detail, "s2") || !strings.Contains(p.Detail, "succeeded") {
		t.Errorf("retrying a step that succeeded: %s", p.Detail)
	}
	p = s.wantProblem(409, plan.CodeUnexpected, "POST", at+"/steps/s3/retry", "")
	if !strings.Contains(p.Detail, "s1") {
		t.Errorf("retrying a skipped step does not name its cause: %s", p.Detail)
	}
	p = s.wantProblem(404, plan.CodeNotFound, "POST", at+"/steps/"+strings.Repeat("x", 5000)+"/retry", "")
	if len(p.Detail) > 300 {
		t.Errorf("an unknown step is repeated in %d characters", len(p.Detail))
	}
	s.wantProblem(422, plan.CodeInvalid, "POST", at+"/steps/s1/retry", `{"force":true}`, "force")
	s.wantProblem(400, codeMalformed, "POST", at+"/steps/s1/retry", `{`)

	var r runSeen
	s.want(202, "POST", at+"/steps/s1/retry", "").json(t, &r)
	if r.Status != plan.RunStatusRunning || len(r.Failed) != 0 || len(r.Skipped) != 0 ||
		r.Steps["s2"].Status != plan.StepStatusSucceeded || r.Steps["s3"].Status != plan.StepStatusPending {
		t.Errorf("the run is %+v", r)
	}
	s.until(id, plan.RunStatusSucceeded)
	s.want(200, "GET", at, "").json(t, &r)
	for step, attempts := range map[string]int{"s1": 2, "s2": 1, "s3": 1} {
		if got := r.Steps[step].Attempts; got != attempts {
			t.Errorf("%s was tried %d times, want %d", step, got, attempts)
		}
	}
	s.wantProblem(409, plan.CodeUnexpected, "POST", at+"/steps/s1/retry", `{}`)
}

// A step is tried again while others are in flight. BEHAVIOUR 5.8
func TestRetryStepWhileTheRunGoesOn(t *testing.T) {
	release := make(chan struct{})
	once := failingOnce("s1", wellDone)
	s := newSite(t, &scriptedModel{executor: func(ctx context.Context, req model.Request) (string, error) {
		if strings.Contains(req.Messages[0].Text, `<step id="s2">`) {
			return held(release)(ctx, req)
		}
		return once(ctx, req)
	}})
	id := s.askGiven(plan.ApprovalAuto)
	s.untilStep(id, "s1", plan.StepStatusFailed)
	var r runSeen
	s.want(202, "POST", "/api/v1/runs/"+id+"/steps/s1/retry", "").json(t, &r)
	if r.Status != plan.RunStatusRunning || slices.Contains(r.Failed, "s1") {
		t.Errorf("the run is %+v", r)
	}
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/steps/s2/retry", "")
	close(release)
	s.until(id, plan.RunStatusSucceeded)
}

// A step of a plan that was never approved cannot be tried again.
func TestRetryStepBeforeApproval(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/steps/s1/retry", "")
	s.want(202, "POST", "/api/v1/runs/"+id+"/cancel", "")
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/steps/s1/retry", "")
	if s.model.asked.Load() != 0 {
		t.Error("a model was asked")
	}
}

// outOfBudget is a run that stopped after s1 and s2.
func outOfBudget(s *site) (id, at string) {
	s.t.Helper()
	id = s.ask(`{"question":"q","approval":"auto","budget":{"requests":2,"cost_usd":0.5},"plan":` + planText(diamond()) + `}`)
	at = "/api/v1/runs/" + id
	if r := s.until(id, plan.RunStatusFailed); r.Error.Code != plan.CodeBudgetExhausted {
		s.t.Fatalf("the run failed with %+v", r.Error)
	}
	return id, at
}

// A run goes on with a larger budget from where it stopped. BEHAVIOUR 8.3
func TestContinueRun(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id, at := outOfBudget(s)
	for _, c := range []struct {
		body   string
		status int
		code   plan.Code
		fields []string
	}{
		{``, 400, codeMalformed, nil},
		{`{}`, 422, plan.CodeInvalid, []string{"budget"}},
		{`{"budget":null}`, 422, plan.CodeInvalid, []string{"budget"}},
		{`{"budget":{}}`, 422, plan.CodeInvalid, []string{"budget.requests"}},
		{`{"budget":{"requests":2,"tokens":7}}`, 422, plan.CodeInvalid, []string{"budget.requests", "budget.tokens"}},
		{`{"budget":{"requests":0,"cost_usd":-1}}`, 422, plan.CodeInvalid, []string{"budget.cost_usd", "budget.requests"}},
		{`{"budget":{"requests":"many","dollars":1},"by":"me"}`, 422, plan.CodeInvalid, []string{"budget.dollars", "budget.requests", "by"}},
		{`{"budget":{"requests":1e30}}`, 422, plan.CodeInvalid, []string{"budget.requests"}},
	} {
		s.wantProblem(c.status, c.code, "POST", at+"/continue", c.body, c.fields...)
	}
	if got := s.until(id, plan.RunStatusFailed).Options.Budget; *got.Requests != 2 || *got.Tokens != plan.DefaultTokens {
		t.Fatalf("what was refused changed the budget: %+v", got)
	}
	var r runSeen
	a := s.want(202, "POST", at+"/continue", `{"budget":{"requests":9,"cost_usd":null}}`)
	a.json(t, &r)
	if r.Status != plan.RunStatusRunning || !strings.Contains(a.body, `"budget":{"requests":9,"tokens":200000,"cost_usd":null,"steps":null}`) {
		t.Errorf("answered %s", a.body)
	}
	s.until(id, plan.RunStatusSucceeded)
	s.want(200, "GET", at, "").json(t, &r)
	for _, step := range []string{"s1", "s2"} {
		if got := r.Steps[step].Attempts; got != 1 {
			t.Errorf("%s was paid for %d times", step, got)
		}
	}
	p := s.wantProblem(409, plan.CodeUnexpected, "POST", at+"/continue", `{"budget":{"requests":90}}`)
	if !strings.Contains(p.Detail, "budget") {
		t.Errorf("%s", p.Detail)
	}
}

// The answer is written from what there is, with the room that it takes or with
// a budget of its own. BEHAVIOUR 8.3, 9.3
func TestAnswerAgain(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id, at := outOfBudget(s)
	var r runSeen
	s.want(202, "POST", at+"/answer", "").json(t, &r)
	if r.Status != plan.RunStatusSynthesizing {
		t.Errorf("the run is %+v", r)
	}
	s.until(id, plan.RunStatusPartial)
	for _, body := range []string{`{}`, `{"budget":{"requests":20}}`, `{"budget":{"requests":null}}`} {
		s.want(202, "POST", at+"/answer", body)
		s.until(id, plan.RunStatusPartial)
	}
	a := s.want(200, "GET", at, "")
	a.json(t, &r)
	if st := r.Steps["s3"]; st.Attempts > 1 || st.Status == plan.StepStatusSucceeded || r.Steps["s1"].Attempts != 1 {
		t.Errorf("a step ran: %+v", r.Steps)
	}
	if !strings.Contains(a.body, `"budget":{"requests":null,"tokens":200000,"cost_usd":0.5,"steps":null}`) {
		t.Errorf("the budget is not what was asked for: %s", a.body)
	}
	s.wantProblem(422, plan.CodeInvalid, "POST", at+"/answer", `{"budget":{"requests":3}}`, "budget.requests")
	s.wantProblem(422, plan.CodeInvalid, "POST", at+"/answer", `{"budget":{"steps":0}}`, "budget.steps")
	s.wantProblem(422, plan.CodeInvalid, "POST", at+"/answer", `{"budget":null,"step":"s1"}`, "budget", "step")
}

// There is no answer to write where nothing succeeded, or while a run goes on.
func TestAnswerAgainRefused(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusRunning)
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/answer", "")
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/answer", `{"budget":{"requests":9}}`)
	if a := s.want(200, "GET", "/api/v1/runs/"+id, ""); !strings.Contains(a.body, `"budget":{"requests":40,`) {
		t.Errorf("what was refused changed the run: %s", a.body)
	}
	s.want(202, "POST", "/api/v1/runs/"+id+"/cancel", "")
	s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+id+"/answer", `{}`)
	close(release)
}

// A null lifts the configured cost limit, and what is left out keeps it, for a
// run of the API and of the form alike. BEHAVIOUR 8.2
func TestCostLimitIsADefault(t *testing.T) {
	limit := plan.Dollar / 4
	s := newSiteOf(t, &scriptedModel{}, parts{costLimit: &limit})
	for _, c := range []struct{ body, want string }{
		{`{"question":"q"}`, `"cost_usd":0.25,"steps"`},
		{`{"question":"q","budget":{"cost_usd":2}}`, `"cost_usd":2,"steps"`},
		{`{"question":"q","budget":{"cost_usd":null}}`, `"cost_usd":null,"steps"`},
		{`{"question":"q","budget":{}}`, `"cost_usd":0.25,"steps"`},
	} {
		if a := s.want(201, "POST", "/api/v1/runs", c.body); !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %s is not in %s", c.body, c.want, a.body)
		}
	}
	a := s.form("/runs", askForm("What is it?"))
	id := strings.TrimPrefix(a.header.Get("Location"), "/runs/")
	if a = s.want(200, "GET", "/api/v1/runs/"+id, ""); !strings.Contains(a.body, `"cost_usd":0.25,"steps"`) {
		t.Errorf("the form's run has another limit: %s", a.body)
	}
}
