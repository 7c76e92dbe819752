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
}

// server holds the handlers' dependencies. It keeps no state of its own but
// caches, and the count of open streams.
type server struct {
	Config
	markdown *markdown.Renderer
	pictures pictures
	slots    slots
}

// bodyLimit is the largest request body. A plan of 2,000 long steps fits.
const bodyLimit = "64M"

// New returns the handler of everything that Planwave serves.
func New(c Config) http.Handler {
	if c.Metrics == nil {
		c.Metrics = metrics.New()
	}
	s := &server{Config: c, markdown: markdown.New()}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.handleError
	e.Use(
		middleware.RequestIDWithConfig(middleware.RequestIDConfig{Generator: c.NewID}),
		s.logRequests,
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, LogErrorFunc: recovered}),
		securityHeaders,
		ownHost,
		sameOrigin(http.NewCrossOriginProtection()),
		middleware.BodyLimit(bodyLimit),
		middleware.GzipWithConfig(middleware.GzipConfig{Level: gzip.BestSpeed, MinLength: 1024, Skipper: sentAsItIs}),
	)
	e.GET("/static/*", echo.WrapHandler(static.Handler()))
	s.pages(e)
	s.shares(e, s.api(e.Group("/api/v1")))
	s.health(e)
	return e
}

// sentAsItIs says that a request is answered with a stream of events, which no one
// may hold back to compress it, or with a backup, whose size is told.
func sentAsItIs(c echo.Context) bool {
	path := c.Path()
	return path == backupPath || strings.HasSuffix(path, "/live") || strings.HasSuffix(path, "/play") || strings.HasSuffix(path, "/events")
}

// by is the person behind a request. Without log-in there is one.
func by(echo.Context) string { return "local" }
