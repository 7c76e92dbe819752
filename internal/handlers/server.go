// Package handlers is Planwave over HTTP: pages, fragments, live streams and
// the JSON API. A handler binds, validates, makes one call and renders; what a
// run may do is decided in internal/runs.
package handlers

import (
	"compress/gzip"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"planwave/internal/db"
	"planwave/internal/metrics"
	"planwave/internal/model"
	"planwave/internal/people"
	"planwave/internal/runs"
	"planwave/internal/tools"
	"planwave/internal/tools/mcp"
	"planwave/web/markdown"
	"planwave/web/static"
)

// Config is what the handlers work with.
type Config struct {
	Runs   *runs.Service
	Store  *db.DB
	Models *model.Registry
	Tools  *tools.Registry
	Logger *slog.Logger
	Clock  func() time.Time
	NewID  func() string
	// Examples are questions that work with what is configured.
	Examples []string
	// DemoOnly says that no real model is configured.
	DemoOnly bool
	// Servers are the servers that further tools come from, with their state; nil
	// where there are none.
	Servers func() []mcp.State
	// Metrics are what is counted; nil counts on its own.
	Metrics *metrics.Metrics
	// Quit is closed when the server stops, so that streams end.
	Quit <-chan struct{}
	// Access is who is let in.
	Access Access
}

// server holds the handlers' dependencies. It keeps no state of its own but
// caches, the open streams, and how often a log-in was tried.
type server struct {
	Config
	markdown  *markdown.Renderer
	pictures  pictures
	slots     slots
	doors     doors
	passwords *people.Passwords // nil where none are used
	limit     *people.Limit
	actions   map[string]action // by method and path of the route
	routed    map[string]bool   // every route there is
}

// bodyLimit is the largest request body. A plan of 2,000 long steps fits.
const bodyLimit = "64M"

// New returns the handler of everything that Planwave serves.
func New(c Config) http.Handler {
	if c.Access.Auth == "" {
		c.Access.Auth = AuthOff
	}
	if c.Metrics == nil {
		c.Metrics = metrics.New()
	}
	s := &server{Config: c, markdown: markdown.New(), limit: people.NewLimit(c.Clock), actions: actions(), routed: map[string]bool{}}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.handleError
	e.Use(
		middleware.RequestIDWithConfig(middleware.RequestIDConfig{Generator: c.NewID}),
		s.logRequests,
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, LogErrorFunc: recovered}),
		securityHeaders,
		s.ownHost,
		sameOrigin(c.Access.ownOrigin()),
		s.admit,
		middleware.BodyLimit(bodyLimit),
		middleware.GzipWithConfig(middleware.GzipConfig{Level: gzip.BestSpeed, MinLength: 1024, Skipper: sentAsItIs}),
	)
	e.GET("/static/*", echo.WrapHandler(static.Handler()))
	s.pages(e)
	s.shares(e, s.api(e.Group("/api/v1")))
	s.health(e)
	if c.Access.Auth != AuthOff {
		s.people(e)
	}
	for _, r := range e.Routes() {
		s.routed[r.Method+" "+r.Path] = true
	}
	return e
}

// sentAsItIs says that a request is answered with a stream of events, which no one
// may hold back to compress it, or with a backup, whose size is told.
func sentAsItIs(c echo.Context) bool { return c.Path() == backupPath || streams(c) }

// streams says that a request is answered with a stream of events.
func streams(c echo.Context) bool {
	path := c.Path()
	return strings.HasSuffix(path, "/live") || strings.HasSuffix(path, "/play") || strings.HasSuffix(path, "/events")
}
