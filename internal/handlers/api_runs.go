package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// askBody is a question and how it is to be answered. It is read over the
// defaults, so that what is left out keeps them, and a budget's null is no
// limit.
type askBody struct {
	Question string `json:"question"`
	plan.Options
	Plan *plan.Plan      `json:"plan"`
	Tree json.RawMessage `json:"tree"`
}

// createRun makes a run and sets it going.
func (a *api) createRun(c echo.Context) error {
	body := askBody{Options: a.Runs.Defaults()}
	if err := a.read(c, "AskRequest", &body); err != nil {
		return err
	}
	if len(body.Tree) > 0 && string(body.Tree) != "null" {
		return withViolation(plan.CodeInvalid, "tree", "Tree search is not there yet; leave tree out.")
	}
	ask := runs.Ask{Question: body.Question, Options: body.Options, Plan: givenPlan(body.Plan), By: by(c)}
	r, err := a.Runs.Ask(c.Request().Context(), ask)
	return a.answerRun(c, http.StatusCreated, r, err)
}

// getRun answers the state of a run.
func (a *api) getRun(c echo.Context) error {
	r, err := a.Runs.Get(c.Request().Context(), shownRun(c))
	return a.answerRun(c, http.StatusOK, r, err)
}

// cancelRun stops a run, and answers when what was in flight has stopped.
func (a *api) cancelRun(c echo.Context) error {
	if err := a.readOptional(c, "EmptyRequest", &struct{}{}); err != nil {
		return err
	}
	r, err := a.Runs.Cancel(c.Request().Context(), c.Param("id"), by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// asGiven is a plan from a request, in which an input of null is none, and a
// deliverable that is the one final step anyway says nothing: a plan that was
// read can be sent back and is the same.
func asGiven(p plan.Plan) plan.Plan {
	p = p.Clone()
	if ends := plan.Terminals(p); len(ends) == 1 && ends[0] == p.Deliverable {
		p.Deliverable = ""
	}
	for i := range p.Steps {
		if string(p.Steps[i].Input) == "null" {
			p.Steps[i].Input = nil
		}
	}
	return p
}

// givenPlan is asGiven for a request that may have no plan.
func givenPlan(p *plan.Plan) *plan.Plan {
	if p == nil {
		return nil
	}
	given := asGiven(*p)
	return &given
}

// inPlan leaves the error as it is, but says in which field of the request a
// plan's violations are.
func inPlan(err error) error {
	e, ok := errors.AsType[*plan.Error](err)
	if !ok || e.Code != plan.CodePlanInvalid {
		return err
	}
	told := *e
	told.Violations = slices.Clone(e.Violations)
	for i := range told.Violations {
		if told.Violations[i].Field == "" {
			told.Violations[i].Field = "plan"
		}
	}
	return &told
}

// knownSteps holds that the plan's steps and those that the request names
// belong together.
func knownSteps(p plan.Plan, steps []string, statuses map[string]plan.StepStatus) error {
	var violations []plan.Violation
	unknown := func(field, id string) {
		if _, ok := p.Step(id); !ok {
			violations = append(violations, plan.Violation{
				Code: plan.CodeInvalid, Steps: []string{id}, Field: field,
				Message: fmt.Sprintf("%s names %q, which is no step of the plan.", field, plan.Short(id, 80)),
			})
		}
	}
	for _, id := range steps {
		unknown("steps", id)
	}
	for id := range statuses {
		unknown("statuses", id)
	}
	if len(violations) == 0 {
		return nil
	}
	slices.SortFunc(violations, func(a, b plan.Violation) int {
		return slices.Compare(append([]string{a.Field}, a.Steps...), append([]string{b.Field}, b.Steps...))
	})
	e := plan.NewError(plan.CodeInvalid, violations[0].Message+" Name steps of the plan only.", nil)
	e.Violations = violations
	return e
}
