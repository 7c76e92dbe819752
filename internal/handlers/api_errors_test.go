package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// The table from code to status knows every code that a request can be refused
// with, and a code that it does not know is an internal error.
func TestKindOf(t *testing.T) {
	for code, want := range map[plan.Code]int{
		codeMalformed: 400, codeForbidden: 403, plan.CodeNotFound: 404, codeMethod: 405,
		plan.CodeConflict: 409, plan.CodeStale: 409, plan.CodeUnexpected: 409,
		plan.CodeTooLarge: 413, plan.CodeInvalid: 422, plan.CodePlanInvalid: 422,
		codeClientGone: 499, plan.CodeInternal: 500, plan.CodeToolFailed: 500, "never heard of": 500,
		codeUnavailable: 503, codeStoreFull: 507,
	} {
		status, title := kindOf(code)
		if status != want || title == "" {
			t.Errorf("%s is %d %q, want %d", code, status, title, want)
		}
	}
}

// failingRoutes adds routes that fail in every way to a site.
func failingRoutes(s *site) {
	for path, err := range map[string]error{
		"internal": errors.New("secret cause"),
		"wrapped":  fmt.Errorf("while at it: %w", plan.NewError(plan.CodeStale, "Stale words.", errors.New("secret cause"))),
		"teapot":   echo.NewHTTPError(http.StatusTeapot, "secret cause"),
		"gone":     fmt.Errorf("call: %w", context.Canceled),
	} {
		s.echo.GET("/api/v1/test/"+path, func(echo.Context) error { return err })
		s.echo.GET("/test/"+path, func(echo.Context) error { return err })
	}
	s.echo.GET("/api/v1/test/panic", func(echo.Context) error { panic("secret cause") })
	s.echo.GET("/api/v1/test/late", func(c echo.Context) error {
		if err := c.String(http.StatusOK, "begun"); err != nil {
			return err
		}
		return errors.New("secret cause")
	})
}

// An error is shown by its code, in words that are safe; what is not known is an
// internal error with the request's id, and its cause is in the log once.
func TestErrorsAreShownInOnePlace(t *testing.T) {
	for _, c := range []struct {
		path   string
		status int
		code   plan.Code
		says   string
	}{
		{"internal", 500, plan.CodeInternal, "log has the details"},
		{"wrapped", 409, plan.CodeStale, "Stale words."},
		{"teapot", 500, plan.CodeInternal, "log has the details"},
		{"gone", 500, plan.CodeInternal, "log has the details"},
		{"panic", 500, plan.CodeInternal, "log has the details"},
	} {
		t.Run(c.path, func(t *testing.T) {
			s := newSite(t, &scriptedModel{})
			failingRoutes(s)
			a := s.want(c.status, "GET", "/api/v1/test/"+c.path, "")
			p := problemIn(t, a)
			if p.Code != c.code || !strings.Contains(p.Detail, c.says) || strings.Contains(a.body, "secret") {
				t.Errorf("shown: %s", a.body)
			}
			if internal := c.status >= 500; internal != (p.RequestID != "") || p.RequestID != "" && p.RequestID != a.header.Get("X-Request-Id") {
				t.Errorf("request id %q of %q", p.RequestID, a.header.Get("X-Request-Id"))
			}
			if c.status < 500 {
				return
			}
			cause := "secret cause"
			if c.path == "gone" {
				cause = context.Canceled.Error()
			}
			if log := s.log.String(); strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, cause) || !strings.Contains(log, p.RequestID) {
				t.Errorf("the log should have the cause once: %s", log)
			}
		})
	}
}

// After an answer has begun nothing can be added to it.
func TestErrorAfterTheAnswerBegan(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	failingRoutes(s)
	if a := s.want(200, "GET", "/api/v1/test/late", ""); a.body != "begun" {
		t.Errorf("answered %q", a.body)
	}
}

// Programs are answered with a problem, people with a page.
func TestErrorsAreShownAsTheReaderAsks(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	failingRoutes(s)
	for _, c := range []struct {
		path, accept string
		problem      bool
	}{
		{"/api/v1/test/wrapped", "", true},
		{"/api/v1/test/wrapped", "text/html", true},
		{"/test/wrapped", "", false},
		{"/test/wrapped", "text/html,application/xhtml+xml,application/json;q=0.9", false},
		{"/test/wrapped", "*/*", false},
		{"/test/wrapped", "application/json", true},
		{"/test/wrapped", "application/problem+json", true},
	} {
		a := s.want(409, "GET", c.path, "", "Accept", c.accept)
		if got := strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json"); got != c.problem {
			t.Errorf("%s for %q is answered with %s", c.path, c.accept, a.header.Get("Content-Type"))
		}
		if !strings.Contains(a.body, "Stale words.") || strings.Contains(a.body, "secret") {
			t.Errorf("shown: %s", a.body)
		}
	}
}

// The router's own refusals have words, too.
func TestErrorsOfTheRouter(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, c := range []struct {
		name, method, path string
		headers            []string
		status             int
		code               plan.Code
		says               string
	}{
		{"no such path", "GET", "/api/v1/nothing", nil, 404, plan.CodeNotFound, "/api/v1/openapi.json"},
		{"no such version", "GET", "/api/v9", nil, 404, plan.CodeNotFound, "/api/v9"},
		{"no such method", "DELETE", "/api/v1/plans/check", nil, 405, codeMethod, "DELETE"},
		{"another site's page", "POST", "/api/v1/runs", []string{"Sec-Fetch-Site", "cross-site"}, 403, codeForbidden, "another site"},
		{"another origin", "POST", "/api/v1/runs", []string{"Origin", "https://evil.example"}, 403, codeForbidden, "another site"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.want(c.status, c.method, c.path, `{"question":"q"}`, c.headers...)
			if p := problemIn(t, a); p.Code != c.code || !strings.Contains(p.Detail, c.says) {
				t.Errorf("shown: %s", a.body)
			}
			if c.status == 405 && a.header.Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
	if s.model.asked.Load() != 0 {
		t.Error("a refused request asked a model")
	}
}

// A client that hung up is no error of the server.
func TestClientThatWentAway(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	arrived, ended := make(chan struct{}), make(chan int, 1)
	s.echo.GET("/api/v1/test/wait", func(c echo.Context) error {
		c.Response().Before(func() { ended <- c.Response().Status })
		close(arrived)
		<-c.Request().Context().Done()
		return fmt.Errorf("load: %w", c.Request().Context().Err())
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	resp, err := s.client.Do(s.request("GET", "/api/v1/test/wait", nil).WithContext(ctx))
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("the client did not hang up")
	}
	if status := <-ended; status != statusClientGone {
		t.Errorf("status %d", status)
	}
	if log := s.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
		t.Errorf("logged as an error: %s", log)
	}
}
