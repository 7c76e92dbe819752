package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// shareRun gives out a link. The address is in this answer and nowhere else.
func (a *api) shareRun(c echo.Context) error {
	var req struct {
		ExpiresIn *string `json:"expires_in"`
		Trace     bool    `json:"trace"`
	}
	if err := a.readOptional(c, "ShareRequest", &req); err != nil {
		return err
	}
	var expires time.Duration
	if req.ExpiresIn != nil {
		var err error
		if expires, err = time.ParseDuration(*req.ExpiresIn); err != nil || expires <= 0 {
			return withViolation(plan.CodeInvalid, "expires_in", "expires_in is a time as 168h or 30m, or absent for a link that does not expire.")
		}
	}
	l, url, err := a.share(c, c.Param("id"), expires, req.Trace)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, map[string]any{"id": l.ID, "url": url, "trace": l.Trace, "expires_at": stamp(l.ExpiresAt)})
}

// unshareRun takes a link back.
func (a *api) unshareRun(c echo.Context) error {
	if err := a.Store.RevokeShare(c.Request().Context(), c.Param("id"), c.Param("share")); err != nil {
		return noShare(err)
	}
	return c.NoContent(http.StatusNoContent)
}

// deleteRun stops a run and deletes it with all that belongs to it.
func (a *api) deleteRun(c echo.Context) error {
	if err := a.Runs.Delete(c.Request().Context(), c.Param("id"), by(c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
