package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"planwave/internal/agent"
	"planwave/internal/db"
	"planwave/internal/handlers"
	"planwave/internal/metrics"
	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/planner"
	"planwave/internal/prompt"
	"planwave/internal/runs"
	"planwave/internal/traces"
)

// requestGrace is how long requests in flight may take when the program ends, and
// the last traces.
const requestGrace = 5 * time.Second

// app is the whole server. [newApp] binds the address and opens the database,
// Run serves until its context ends, Close lets go of everything.
type app struct {
	listener net.Listener
	server   *http.Server
	runs     *runs.Service
	store    *db.DB
	models   *model.Registry
	tools    *toolset
	traces   *traces.Tracer // nil where none are made
	retain   *retention
	grace    time.Duration
	quit     chan struct{}
	access   handlers.Access
	setUp    string // the link for the first owner, "" when there is one
	demoOnly bool
}

func newApp(ctx context.Context, c config, logger *slog.Logger) (*app, error) {
	registry, err := newModels(ctx, c)
	if err != nil {
		return nil, err
	}
	prompts, err := loadPrompts(c.Prompts)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; is another Planwave running? Choose another address with -addr", c.Addr, err)
	}
	set, err := newTools(ctx, c, logger)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up the tools: %w", err), listener.Close())
	}
	figures := metrics.New()
	observers := []db.Observer{figures.Committed}
	spans, err := newTraces(ctx, c, logger)
	if err != nil {
		set.Close()
		return nil, errors.Join(err, registry.Close(), listener.Close())
	}
	if spans != nil {
		observers = append(observers, spans.Committed)
	}
	store, err := db.Open(ctx, c.DB, db.Options{Logger: logger, Clock: time.Now, Observers: observers})
	if err != nil {
		set.Close()
		return nil, errors.Join(err, closeTraces(spans), registry.Close(), listener.Close())
	}
	if err := withReplays(registry, store); err != nil {
		set.Close()
		return nil, errors.Join(err, closeTraces(spans), store.Close(), registry.Close(), listener.Close())
	}
	a := &app{
		listener: listener, store: store, models: registry, tools: set, traces: spans, grace: c.ShutdownGrace,
		retain: &retention{store: store, keep: c.Retention, clock: time.Now, log: logger},
		quit:   make(chan struct{}), access: c.Access, demoOnly: registry.DemoOnly(),
	}
	a.runs = runs.New(runs.Config{
		Store: store, Models: registry, Tools: set.Registry, CostLimit: c.CostLimit, Prompts: prompts,
		Clock: time.Now, NewID: newID, Logger: logger,
	})
	figures.Watch(store, a.runs.StepsRunning)
	if c.Samples && store.New() {
		a.takeSamples(ctx)
	}
	if a.setUp, err = setUpLink(ctx, c, store, a.URL(), logger); err != nil {
		return nil, errors.Join(err, a.Close(), listener.Close())
	}
	a.server = &http.Server{
		Handler: handlers.New(handlers.Config{
			Runs: a.runs, Store: store, Models: registry, Tools: set.Registry, Logger: logger,
			Clock: time.Now, NewID: newID, Examples: demo.Questions(), DemoOnly: a.demoOnly, Servers: set.states, Metrics: figures, Quit: a.quit, Access: c.Access,
		}),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return a, nil
}

// loadPrompts returns the prompts with those of the folder, if one is set, and
// tries each.
func loadPrompts(folder string) (*prompt.Set, error) {
	if folder == "" {
		return nil, nil
	}
	set, err := prompt.Load(folder)
	if err != nil {
		return nil, err
	}
	return set, errors.Join(planner.CheckPrompt(set), agent.CheckPrompts(set))
}

// newID returns a UUID of version 7: ids sort by the time they were made.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// URL is where a browser finds the server.
func (a *app) URL() string {
	if a.access.BaseURL != nil {
		return a.access.BaseURL.String()
	}
	return "http://" + a.listener.Addr().String()
}

// Run takes up the runs that were left and serves until ctx ends.
func (a *app) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- a.server.Serve(a.listener) }()
	a.tools.settled(ctx)
	if err := a.runs.Start(ctx); err != nil {
		return errors.Join(err, a.server.Close())
	}
	tidied := make(chan struct{})
	tidy, stop := context.WithCancel(ctx)
	go func() {
		defer close(tidied)
		a.retain.run(tidy)
	}()
	defer func() {
		stop()
		<-tidied
	}()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return a.shutDown(context.WithoutCancel(ctx))
}

// shutDown ends the streams at once, and lets requests and the calls of models
// and tools that are being made come to their end, each for their time.
func (a *app) shutDown(ctx context.Context) error {
	flying, landed := a.runs.Drain()
	close(a.quit)
	answered := make(chan error, 1)
	go func() {
		grace, cancel := context.WithTimeout(ctx, requestGrace)
		defer cancel()
		answered <- a.server.Shutdown(grace)
	}()
	grace := time.NewTimer(a.grace)
	defer grace.Stop()
	select {
	case <-landed:
	case <-grace.C:
	}
	if flying > 0 {
		left, _ := a.runs.Drain()
		a.runs.Logger.InfoContext(ctx, "runs are parked and go on at the next start", "calls_ended", flying-left, "calls_cut_off", left)
	}
	if err := <-answered; err != nil {
		return fmt.Errorf("shut down: %w", errors.Join(err, a.server.Close()))
	}
	return nil
}

// Close stops the runs, which go on at the next start, and closes the database.
func (a *app) Close() error {
	a.runs.Stop()
	a.tools.Close()
	return errors.Join(a.store.Close(), a.models.Close(), closeTraces(a.traces))
}

// newTraces returns what makes traces, nil where no collector is named.
func newTraces(ctx context.Context, c config, logger *slog.Logger) (*traces.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	return traces.New(ctx, c.OTLPEndpoint, logger)
}

// closeTraces sends the last traces. A collector that is away is no failure of
// the program.
func closeTraces(t *traces.Tracer) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestGrace)
	defer cancel()
	if err := t.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
