package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

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
