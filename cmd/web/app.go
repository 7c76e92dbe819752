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
	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/planner"
	"planwave/internal/prompt"
	"planwave/internal/runs"
)

// shutdownGrace is how long requests in flight may take when the program ends.
const shutdownGrace = 5 * time.Second

// app is the whole server. [newApp] binds the address and opens the database,
// Run serves until its context ends, Close lets go of everything.
type app struct {
	listener net.Listener
	server   *http.Server
	runs     *runs.Service
	store    *db.DB
	models   *model.Registry
	tools    *toolset
	quit     chan struct{}
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
	store, err := db.Open(ctx, c.DB, db.Options{Logger: logger, Clock: time.Now})
	if err != nil {
		set.Close()
		return nil, errors.Join(fmt.Errorf("open the database %s: %w", c.DB, err), listener.Close())
	}
	if err := withReplays(registry, store); err != nil {
		set.Close()
		return nil, errors.Join(err, store.Close(), registry.Close(), listener.Close())
	}
	a := &app{listener: listener, store: store, models: registry, tools: set, quit: make(chan struct{}), demoOnly: registry.DemoOnly()}
	a.runs = runs.New(runs.Config{
		Store: store, Models: registry, Tools: set.Registry, CostLimit: c.CostLimit, Prompts: prompts,
		Clock: time.Now, NewID: newID, Logger: logger,
	})
	if c.Samples && store.New() {
		a.takeSamples(ctx)
	}
	a.server = &http.Server{
		Handler: handlers.New(handlers.Config{
			Runs: a.runs, Store: store, Models: registry, Tools: set.Registry, Logger: logger,
			Clock: time.Now, NewID: newID, Examples: demo.Questions(), DemoOnly: a.demoOnly, Servers: set.states, Quit: a.quit,
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
func (a *app) URL() string { return "http://" + a.listener.Addr().String() }

// Run takes up the runs that were left and serves until ctx ends.
func (a *app) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- a.server.Serve(a.listener) }()
	a.tools.settled(ctx)
	if err := a.runs.Start(ctx); err != nil {
		return errors.Join(err, a.server.Close())
	}
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	close(a.quit)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := a.server.Shutdown(grace); err != nil {
		return fmt.Errorf("shut down: %w", errors.Join(err, a.server.Close()))
	}
	return nil
}

// Close stops the runs, which go on at the next start, and closes the database.
func (a *app) Close() error {
	a.runs.Stop()
	a.tools.Close()
	return errors.Join(a.store.Close(), a.models.Close())
}
