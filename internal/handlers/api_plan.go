package handlers

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// editPlan saves a person's plan as a new version.
func (a *api) editPlan(c echo.Context) error {
	var body struct {
		Version int       `json:"version"`
		Plan    plan.Plan `json:"plan"`
	}
	if err := a.read(c, "EditRequest", &body); err != nil {
		return err
	}
	r, err := a.Runs.Edit(c.Request().Context(), c.Param("id"), body.Version, asGiven(body.Plan), by(c))
	return a.answerRun(c, http.StatusOK, r, err)
}

// revisePlan sends the plan back to the planner.
func (a *api) revisePlan(c echo.Context) error {
	var body struct {
		Comment string `json:"comment"`
	}
	if err := a.read(c, "ReviseRequest", &body); err != nil {
		return err
	}
	r, err := a.Runs.Revise(c.Request().Context(), c.Param("id"), body.Comment, by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// approvePlan starts the version that is named, if it is the newest.
func (a *api) approvePlan(c echo.Context) error {
	var body struct {
		Version int `json:"version"`
	}
	if err := a.read(c, "ApproveRequest", &body); err != nil {
		return err
	}
	r, err := a.Runs.Approve(c.Request().Context(), c.Param("id"), body.Version, by(c))
	return a.answerRun(c, http.StatusAccepted, r, err)
}

// versionDoc is one saved plan and why there is it.
type versionDoc struct {
	Version   int              `json:"version"`
	Hash      string           `json:"hash"`
	Author    string           `json:"author"`
	Reason    string           `json:"reason"`
	CreatedAt stamp            `json:"created_at"`
	Approved  bool             `json:"approved"`
	Plan      versionPlan      `json:"plan"`
	Mends     []string         `json:"mends"`
	Warnings  []plan.Violation `json:"warnings"`
	// Kept are the steps that stay as they were.
	Kept []string `json:"kept"`
	// Changes say what became of each step since the version before; the first
	// has none.
	Changes []plan.StepChange `json:"changes"`
}

type versionPlan struct {
	Deliverable *string   `json:"deliverable"`
	Steps       []stepDoc `json:"steps"`
}

// listVersions answers every version of the plan, oldest first.
func (a *api) listVersions(c echo.Context) error {
	r, err := a.Runs.Get(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	out := make([]versionDoc, 0, len(r.Versions))
	for i, v := range r.Versions {
		d := versionDoc{
			Version: v.Number, Hash: v.Hash, Author: v.Author, Reason: v.Reason, CreatedAt: stamp(v.At), Approved: v.Number == r.Approved,
			Plan:  versionPlan{Deliverable: orNull(v.Plan.Deliverable), Steps: newStepDocs(v.Plan)},
			Mends: orEmpty(v.Mends), Warnings: orEmpty(v.Warnings), Kept: orEmpty(v.Kept), Changes: []plan.StepChange{},
		}
		if i > 0 {
			d.Changes = plan.Diff(r.Versions[i-1].Plan, v.Plan)
		}
		out = append(out, d)
	}
	return writeJSON(c, http.StatusOK, map[string]any{"versions": out})
}

// checkAnswer is what code finds in a plan.
type checkAnswer struct {
	Valid        bool             `json:"valid"`
	Violations   []plan.Violation `json:"violations"`
	Waves        [][]string       `json:"waves"`
	Order        []string         `json:"order"`
	CriticalPath []string         `json:"critical_path"`
	Hash         string           `json:"hash"`
}

// checkPlan holds a plan to the rules of a run with all tools. It makes
// nothing.
func (a *api) checkPlan(c echo.Context) error {
	var body struct {
		Plan     plan.Plan `json:"plan"`
		MaxSteps int       `json:"max_steps"`
	}
	body.MaxSteps = plan.DefaultMaxSteps
	if err := a.read(c, "CheckRequest", &body); err != nil {
		return err
	}
	if body.MaxSteps < 1 || body.MaxSteps > plan.MostSteps {
		return withViolation(plan.CodeInvalid, "max_steps",
			fmt.Sprintf("max_steps is %d; it can be 1 to %d.", body.MaxSteps, plan.MostSteps))
	}
	o := plan.DefaultOptions()
	o.MaxSteps, o.Tools = body.MaxSteps, a.Tools.Names()
	p := asGiven(body.Plan)
	answer := checkAnswer{Violations: orEmpty(a.Runs.CheckPlan(&plan.Run{Options: o}, p)), Waves: [][]string{}, Order: []string{}, CriticalPath: []string{}}
	answer.Valid = plan.Valid(answer.Violations)
	if err := answer.describe(p); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, answer)
}

// describe adds what follows from the plan. Steps that cannot be ordered have
// no order at all, never a part of one.
func (a *checkAnswer) describe(p plan.Plan) error {
	p, _ = plan.Mended(p)
	hash, err := plan.Hash(p)
	if err != nil {
		return err
	}
	a.Hash = hash
	order, err := plan.Order(p)
	if err != nil {
		return nil //nolint:nilerr // the violations say why there is no order
	}
	waves, err := plan.Waves(p)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	path, err := plan.CriticalPath(p, nil)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	a.Order, a.Waves, a.CriticalPath = orEmpty(order), orEmpty(waves), orEmpty(path)
	return nil
}

// affectedSteps answers what running steps again resets, and which results
// stay: those of the succeeded steps outside. Without statuses every step
// counts as succeeded.
func (a *api) affectedSteps(c echo.Context) error {
	var body struct {
		Plan     plan.Plan                  `json:"plan"`
		Steps    []string                   `json:"steps"`
		Statuses map[string]plan.StepStatus `json:"statuses"`
	}
	if err := a.read(c, "AffectedRequest", &body); err != nil {
		return err
	}
	if err := knownSteps(body.Plan, body.Steps, body.Statuses); err != nil {
		return err
	}
	if err := ordered(body.Plan); err != nil {
		return err
	}
	reset, err := plan.Affected(body.Plan, body.Steps)
	if err != nil {
		return err
	}
	preserved := []string{}
	for _, id := range body.Plan.IDs() {
		kept := body.Statuses == nil || body.Statuses[id] == plan.StepStatusSucceeded
		if kept && !slices.Contains(reset, id) {
			preserved = append(preserved, id)
		}
	}
	slices.Sort(reset)
	slices.Sort(preserved)
	return writeJSON(c, http.StatusOK, map[string][]string{"reset": orEmpty(reset), "preserved": preserved})
}

// ordered holds that the steps of a plan can be told apart and ordered, which
// is all that an answer about its graph needs.
func ordered(p plan.Plan) error {
	violations := slices.DeleteFunc(plan.Check(p, plan.Rules{MaxSteps: plan.MostSteps}), func(v plan.Violation) bool {
		switch v.Code {
		case plan.CodeEmptyPlan, plan.CodeTooManySteps, plan.CodeDuplicateID, plan.CodeUnknownDependency, plan.CodeSelfDependency, plan.CodeCycle:
			return false
		default:
			return true
		}
	})
	if len(violations) == 0 {
		return nil
	}
	e := plan.NewError(plan.CodePlanInvalid, "The steps of the plan cannot be ordered: "+violations[0].Message, nil)
	e.Violations = violations
	return inPlan(e)
}
