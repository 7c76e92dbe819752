package handlers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/web/templates"
)

// tokenBytes is the randomness of a link's token: 256 bits.
const tokenBytes = 32

// newToken returns the token of a new link, as it stands in the address, and the
// hash that is kept of it.
func newToken() (token string, hash []byte) {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // which never fails
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, hashOf(token)
}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// sharedLink is the link that a request came by. The zero value is none: the
// request is that of a person who may see everything.
type sharedLink struct {
	db.Share
	hash []byte
	at   string // the path of the page that it opens
}

func (l sharedLink) is() bool { return l.at != "" }

const sharedKey = "share"

// sharedOf is the link that a request came by.
func sharedOf(c echo.Context) sharedLink {
	l, _ := c.Get(sharedKey).(sharedLink)
	return l
}

// shownRun is the run that a request is about. It is the one function that says so:
// by a link it is the run of the link, whatever else the request names.
func shownRun(c echo.Context) string {
	if l := sharedOf(c); l.is() {
		return l.RunID
	}
	return c.Param("id")
}

// byLink opens what a link shows, and nothing else. A link that is revoked, has
// expired or never was is answered 404 in words.
func (s *server) byLink(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderCacheControl, "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		token := c.Param("token")
		l := sharedLink{hash: hashOf(token), at: "/s/" + token}
		var err error
		l.Share, err = s.Store.ShareOf(c.Request().Context(), l.hash)
		switch {
		case errors.Is(err, db.ErrNotFound):
			return plan.NewError(plan.CodeNotFound, "This link opens nothing: it was never given out, or its run was deleted.", err)
		case err != nil:
			return err
		case !l.Open(s.Clock()):
			return plan.NewError(plan.CodeNotFound, closedLink(l.Share), nil)
		}
		if !l.ExpiresAt.IsZero() {
			ctx, cancel := context.WithTimeout(c.Request().Context(), l.ExpiresAt.Sub(s.Clock()))
			defer cancel()
			c.SetRequest(c.Request().WithContext(ctx))
		}
		c.Set(sharedKey, l)
		return next(c)
	}
}

func closedLink(l db.Share) string {
	if l.RevokedAt.IsZero() {
		return "This link has expired. Ask whoever gave it to you for a new one."
	}
	return "This link was taken back. Ask whoever gave it to you for a new one."
}

// withTrace lets only those links through that show the trace.
func withTrace(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !sharedOf(c).Trace {
			return plan.NewError(plan.CodeNotFound, "This link shows the run without its trace.", nil)
		}
		return next(c)
	}
}

// stillOpen says whether a stream by the link may go on.
func (s *server) stillOpen(ctx context.Context, l sharedLink) (bool, error) {
	if !l.is() {
		return true, nil
	}
	now, err := s.Store.ShareOf(ctx, l.hash)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return now.Open(s.Clock()), err
}

// shows is a run as the link shows it: without a trace the arguments of tools and
// the plans that were sent back are left out.
func (l sharedLink) shows(r *plan.Run) *plan.Run {
	if !l.is() || l.Trace {
		return r
	}
	r = r.Clone()
	r.Rejections, r.Versions = nil, slices.Clone(r.Versions)
	for i := range r.Versions {
		p := r.Versions[i].Plan.Clone()
		for k := range p.Steps {
			p.Steps[k].Input = nil
		}
		r.Versions[i].Plan = p
	}
	return r
}

// mayTrace says whether prompts, outputs and arguments are shown.
func (v view) mayTrace() bool { return !v.shared.is() || v.shared.Trace }

// props says on the page who shared it and until when.
func (l sharedLink) props() *templates.SharedProps {
	if !l.is() {
		return nil
	}
	by := l.By
	if by == "local" {
		by = ""
	}
	return &templates.SharedProps{By: by, Expires: l.ExpiresAt}
}

// share gives out a link to a run. Its token is in the answer and nowhere else.
func (s *server) share(c echo.Context, runID string, expires time.Duration, trace bool) (db.Share, string, error) {
	now := s.Clock().UTC().Truncate(time.Millisecond)
	token, hash := newToken()
	l := db.Share{ID: s.NewID(), RunID: runID, By: by(c), Trace: trace, CreatedAt: now}
	if expires > 0 {
		l.ExpiresAt = now.Add(expires)
	}
	err := s.Store.AddShare(c.Request().Context(), l, hash)
	return l, s.Access.base(c.Request()) + "/s/" + token, err
}

// shares routes what links open. Every route reads, and none names another run.
func (s *server) shares(e *echo.Echo, a *api) {
	g := e.Group("/s/:token", s.byLink)
	g.GET("", s.run)
	g.GET("/live", s.live)
	g.GET("/panel", s.panel)
	g.GET("/graph", s.graph)
	g.GET("/moment", s.moment)
	g.GET("/play", s.play)
	g.GET("/plans/:hash/layout.css", s.layoutCSS)
	g.GET("/export", a.exportRun)
	g.GET("/run", a.getRun, withTrace)
	g.GET("/events", a.streamEvents, withTrace)
	g.GET("/calls/:call", s.call, withTrace)
	g.GET("/versions/:version", s.versions, withTrace)
	g.GET("/versions/:version/layout.css", s.versionsCSS, withTrace)
}

// shareRun gives out a link from the run's page and shows it, once.
func (s *server) shareRun(c echo.Context) error {
	days := map[string]time.Duration{"day": 24 * time.Hour, "week": 7 * 24 * time.Hour, "month": 30 * 24 * time.Hour, "never": 0}
	expires, known := days[c.FormValue("expires")]
	if !known {
		return badForm("expires", "A link expires after a day, a week, a month, or never.")
	}
	_, url, err := s.share(c, c.Param("id"), expires, c.FormValue("trace") != "")
	if err != nil {
		return err
	}
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	p, err := s.runPage(c, v)
	if err != nil {
		return err
	}
	p.Notice = templates.NoticeProps{
		Tone: "info", Title: "Whoever has this link sees the run", Text: url,
		Todo: "Copy it now: it is shown this once. Under Share it can be taken back.",
	}
	return show(c, http.StatusOK, templates.Run(p))
}

// unshareRun takes a link back.
func (s *server) unshareRun(c echo.Context) error {
	if err := s.Store.RevokeShare(c.Request().Context(), c.Param("id"), c.Param("share")); err != nil {
		return noShare(err)
	}
	return toRun(c, c.Param("id"), "")
}

func noShare(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return plan.NewError(plan.CodeNotFound, "This run has no such link. It may have been deleted.", err)
	}
	return err
}

// actionsOf are the actions that make sense now, with the links that were given
// out.
func (s *server) actionsOf(ctx context.Context, v view) (templates.RunActionsProps, error) {
	a := v.actions()
	if v.past || v.watches {
		return a, nil
	}
	links, err := s.Store.Shares(ctx, v.run.ID)
	if err != nil {
		return a, err
	}
	p := &templates.ShareProps{URL: v.url() + "/shares"}
	for _, l := range links {
		if l.Open(v.now) {
			p.Links = append(p.Links, templates.LinkProps{RevokeURL: v.url() + "/shares/" + l.ID + "/revoke", Created: l.CreatedAt, Expires: l.ExpiresAt, Trace: l.Trace})
		}
	}
	a.Share = p
	return a, nil
}

// deleteRun deletes a run from its page.
func (s *server) deleteRun(c echo.Context) error {
	if err := s.Runs.Delete(c.Request().Context(), c.Param("id"), by(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/runs")
}
