package handlers

import (
	"fmt"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// replayRun plays a run's record again, as a new run.
func (a *api) replayRun(c echo.Context) error {
	if err := a.readOptional(c, "EmptyRequest", &struct{}{}); err != nil {
		return err
	}
	r, err := a.Runs.Replay(c.Request().Context(), c.Param("id"))
	return a.answerRun(c, http.StatusCreated, r, err)
}

// exportRun answers with a run as a file.
func (a *api) exportRun(c echo.Context) error {
	if f := c.QueryParam("format"); f != "" && f != "json" {
		return withViolation(plan.CodeInvalid, "format", fmt.Sprintf("The format %q is not there; it is json.", plan.Short(f, mostEchoed)))
	}
	rec, err := a.Runs.Export(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": "planwave-" + rec.ID + ".json"}))
	return writeJSON(c, http.StatusOK, rec)
}

// mostEchoed is how much of a value, in characters, an error repeats.
const mostEchoed = 80

// importRun takes an exported run in.
func (a *api) importRun(c echo.Context) error {
	var rec runs.Recording
	if err := a.read(c, "ImportRequest", &rec); err != nil {
		return err
	}
	r, err := a.Runs.Import(c.Request().Context(), rec)
	return a.answerRun(c, http.StatusCreated, r, err)
}
