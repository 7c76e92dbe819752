package handlers

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// retryStep tries a step again, with all that need it.
func (a *api) retryStep(c echo.Context) error {
	if err := a.readOptional(c, "EmptyRequest", &struct{}{}); err != nil {
		return err
	}
	r, err := a.Runs.Retry(c.Request().Context(), c.Param("id"), c.Param("step"), by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// continueRun goes on with a run that ran out of budget.
func (a *api) continueRun(c echo.Context) error {
	budget, err := a.readBudget(c, a.read, "ContinueRequest")
	if err != nil {
		return err
	}
	r, err := a.Runs.Continue(c.Request().Context(), c.Param("id"), *budget, by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// answerAgain has the answer written from what there is.
func (a *api) answerAgain(c echo.Context) error {
	budget, err := a.readBudget(c, a.readOptional, "AnswerRequest")
	if err != nil {
		return err
	}
	r, err := a.Runs.AnswerAgain(c.Request().Context(), c.Param("id"), budget, by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// forkRun runs a run again from some of its steps, as a new run.
func (a *api) forkRun(c echo.Context) error {
	var body struct {
		From []string   `json:"from"`
		Plan *plan.Plan `json:"plan"`
	}
	if err := a.read(c, "ForkRequest", &body); err != nil {
		return err
	}
	f := runs.Fork{From: body.From, Plan: givenPlan(body.Plan), By: by(c)}
	r, err := a.Runs.Fork(c.Request().Context(), c.Param("id"), f)
	return a.answerRun(c, http.StatusCreated, r, err)
}

// decideCall takes a person's word on a tool call that waits.
func (a *api) decideCall(c echo.Context) error {
	var body struct {
		Decision plan.Decision `json:"decision"`
		Scope    plan.Scope    `json:"scope"`
	}
	body.Scope = plan.ScopeOnce
	if err := a.read(c, "DecideRequest", &body); err != nil {
		return err
	}
	r, err := a.Runs.Decide(c.Request().Context(), c.Param("id"), c.Param("approval"), body.Decision, body.Scope, by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// readBudget reads a body with a budget for a run that has one: what it leaves
// out keeps the run's limit. It returns nil where the body has no budget.
func (a *api) readBudget(c echo.Context, read func(echo.Context, string, any) error, schema string) (*plan.Budget, error) {
	r, err := a.Runs.Get(c.Request().Context(), c.Param("id"))
	if err != nil {
		return nil, err
	}
	var body struct {
		Budget limits `json:"budget"`
	}
	body.Budget.Budget = copied(r.Options.Budget)
	if err := read(c, schema, &body); err != nil || !body.Budget.given {
		return nil, err
	}
	return &body.Budget.Budget, nil
}

// limits is a budget in a request.
type limits struct {
	plan.Budget
	given bool // it is in the request
}

// UnmarshalJSON reads a budget over the limits there are: null is no limit.
func (l *limits) UnmarshalJSON(b []byte) error {
	l.given = true
	return json.Unmarshal(b, &l.Budget)
}

// copied is a budget that can be read over without changing b.
func copied(b plan.Budget) plan.Budget {
	return plan.Budget{Requests: fresh(b.Requests), Tokens: fresh(b.Tokens), CostUSD: fresh(b.CostUSD), Steps: fresh(b.Steps)}
}

func fresh[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
