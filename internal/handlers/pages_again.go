package handlers

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// retry has a step tried again. A form that is sent twice has nothing left to
// do the second time.
func (s *server) retry(c echo.Context) error {
	ctx, id, step := c.Request().Context(), c.Param("id"), c.FormValue("step")
	r, err := s.Runs.Retry(ctx, id, step, by(c))
	if plan.CodeOf(err) == plan.CodeUnexpected && s.tried(ctx, id, step, c.FormValue("attempt")) {
		return toRun(c, id, step)
	}
	if err != nil {
		return err
	}
	return toRun(c, r.ID, step)
}

// tried says whether a step is being tried again since it had been tried so often.
func (s *server) tried(ctx context.Context, id, step, attempts string) bool {
	r, err := s.Runs.Get(ctx, id)
	if err != nil {
		return false
	}
	st := r.Step(step)
	return st != nil && (st.Status == plan.StepStatusPending || strconv.Itoa(st.Attempts) != attempts)
}

// fork makes a new run that runs again from a step, and goes there.
func (s *server) fork(c echo.Context) error {
	r, err := s.Runs.Fork(c.Request().Context(), c.Param("id"), runs.Fork{From: []string{c.FormValue("from")}, By: by(c)})
	if err != nil {
		return err
	}
	return toRun(c, r.ID, "")
}

// goOn gives a run that ran out of budget a larger one, or shows the form again
// with what is wrong.
func (s *server) goOn(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return badForm("requests", "The form cannot be read. Go back and send it again.")
	}
	form := &budgetForm{values: values}
	budget := form.read()
	if len(form.problems) == 0 {
		_, err := s.Runs.Continue(c.Request().Context(), v.run.ID, budget, by(c))
		switch plan.CodeOf(err) {
		case plan.CodeInvalid:
			form.problems = fieldProblems(plan.AsError(err))
		case plan.CodeUnexpected:
			if now, getErr := s.Runs.Get(c.Request().Context(), v.run.ID); getErr != nil || now.Status.Ended() {
				return err
			}
			return toRun(c, v.run.ID, "") // it goes on already, from another page
		default:
			if err != nil {
				return err
			}
			return toRun(c, v.run.ID, "")
		}
	}
	v.typed = form
	p, err := s.runPage(c, v)
	if err != nil {
		return err
	}
	return show(c, http.StatusUnprocessableEntity, templates.Run(p))
}

// answerAgain has the answer written from what there is.
func (s *server) answerAgain(c echo.Context) error {
	return s.changed(c, func(ctx context.Context, id string) (*plan.Run, error) {
		r, err := s.Runs.AnswerAgain(ctx, id, nil, by(c))
		if plan.CodeOf(err) == plan.CodeUnexpected {
			// Another page finds the answer being written.
			if r, getErr := s.Runs.Get(ctx, id); getErr == nil && r.Status == plan.RunStatusSynthesizing {
				return r, nil
			}
		}
		return r, err
	})
}

// decide is a person's word on a tool call: the form's field say is allow or
// deny, and once or run.
func (s *server) decide(c echo.Context) error {
	said, scope, _ := strings.Cut(c.FormValue("say"), "-")
	approval := c.FormValue("approval")
	return s.changed(c, func(ctx context.Context, id string) (*plan.Run, error) {
		r, err := s.Runs.Decide(ctx, id, approval, plan.Decision(said), plan.Scope(scope), by(c))
		if plan.CodeOf(err) == plan.CodeUnexpected {
			// The same word said twice is one word.
			if r, getErr := s.Runs.Get(ctx, id); getErr == nil {
				if a, ok := r.Approval(approval); ok && string(a.Decision) == said && string(a.Scope) == scope {
					return r, nil
				}
			}
		}
		return r, err
	})
}
