package handlers

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// pages routes what people see.
func (s *server) pages(e *echo.Echo) {
	e.GET("/", s.home)
	e.POST("/theme", s.setTheme)
	e.GET("/settings", s.settings)
	e.POST("/settings/test", s.testModel)
	e.POST(backupPath, s.backUp)

	e.GET("/runs", s.history)
	e.GET("/runs/latest", s.latest)
	e.GET("/compare", s.compare)
	e.POST("/runs", s.ask, s.submittedOnce)
	e.POST("/runs/import", s.importRun)
	e.GET("/runs/:id", s.run)
	e.GET("/runs/:id/live", s.live)
	e.GET("/runs/:id/panel", s.panel)
	e.GET("/runs/:id/graph", s.graph)
	e.GET("/runs/:id/moment", s.moment)
	e.GET("/runs/:id/play", s.play)
	e.GET("/runs/:id/calls/:call", s.call)
	e.GET("/runs/:id/versions/:version", s.versions)
	e.GET("/runs/:id/versions/:version/layout.css", s.versionsCSS)
	e.GET("/plans/:hash/layout.css", s.layoutCSS)

	e.POST("/runs/:id/approve", s.approve)
	e.POST("/runs/:id/revise", s.revise)
	e.POST("/runs/:id/cancel", s.cancel)
	e.POST("/runs/:id/plan", s.savePlan)
	e.POST("/runs/:id/draft", s.draft)
	e.POST("/runs/:id/retry", s.retry)
	e.POST("/runs/:id/fork", s.fork, s.submittedOnce)
	e.POST("/runs/:id/continue", s.goOn, s.submittedOnce)
	e.POST("/runs/:id/answer", s.answerAgain, s.submittedOnce)
	e.POST("/runs/:id/decide", s.decide)
	e.POST("/runs/:id/shares", s.shareRun)
	e.POST("/runs/:id/shares/:share/revoke", s.unshareRun)
	e.POST("/runs/:id/delete", s.deleteRun)
}

// show renders a component whole before the status is sent, so that an error
// in it is an error page and not half a page.
func show(c echo.Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.HTMLBlob(status, b.Bytes())
}

// pageProps is what every page has.
func (s *server) pageProps(c echo.Context, title, nav string) templates.PageProps {
	theme := ""
	if cookie, err := c.Cookie("theme"); err == nil {
		theme = cookie.Value
	}
	p := templates.PageProps{Title: title, Path: c.Request().URL.RequestURI(), Nav: nav, Theme: theme, Now: s.Clock()}
	if who := personOf(c); s.Access.Auth != AuthOff {
		p.Person, p.Bare = who.Name, who.Name == ""
	}
	return p
}

// setTheme keeps the colours that were chosen, and goes back to the page.
func (s *server) setTheme(c echo.Context) error {
	theme := c.FormValue("theme")
	if theme != "light" && theme != "dark" && theme != "system" {
		return badForm("theme", "The colours are light, dark or system.")
	}
	c.SetCookie(&http.Cookie{ //nolint:gosec // on loopback there is no TLS, and the cookie holds a colour
		Name: "theme", Value: theme, Path: "/", MaxAge: 400 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.Access.secure(c.Request()),
	})
	return c.Redirect(http.StatusSeeOther, ownPath(c.FormValue("return")))
}

// ownPath returns a path of this server, or the home page for anything else.
func ownPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) {
		return "/"
	}
	return path
}

// errorPage says why there is no other page, and what to do.
func (s *server) errorPage(c echo.Context, status int, e *plan.Error) error {
	_, title := kindOf(e.Code)
	p := templates.ErrorPageProps{
		Page: s.pageProps(c, title, ""), Status: status, Title: title, Text: e.Message,
	}
	for _, v := range e.Violations {
		if v.Message != e.Message {
			p.Problems = append(p.Problems, v.Message)
		}
	}
	if id := c.Param("id"); id != "" && e.Code != plan.CodeNotFound {
		p.Back, p.BackLabel = "/runs/"+url.PathEscape(id), "Back to the run"
	}
	if status >= http.StatusInternalServerError {
		p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	}
	return show(c, status, templates.ErrorPage(p))
}
