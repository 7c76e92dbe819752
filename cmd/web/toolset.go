package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"planwave/internal/guard"
	"planwave/internal/tools"
	"planwave/internal/tools/fetch"
	"planwave/internal/tools/mcp"
)

// toolset is the tools of the program: those that are built in, and those of
// the MCP servers that are there at the moment.
type toolset struct {
	*tools.Registry
	own     []tools.Tool
	servers *mcp.Servers
	logger  *slog.Logger
	mu      sync.Mutex // held while the tools are taken up, so that the newest come last
}

// newTools sets up the built-in tools and starts the MCP servers that the
// configuration names. It does not wait for them.
func newTools(ctx context.Context, c config, logger *slog.Logger) (*toolset, error) {
	t := &toolset{logger: logger, own: []tools.Tool{
		tools.City(), tools.Calculate(), fetch.New(fetch.Config{Guard: guard.New(c.FetchAllow)}),
	}}
	var err error
	if t.Registry, err = tools.New(t.own...); err != nil || c.MCP == "" {
		return t, err
	}
	cfg, err := mcp.ReadConfig(c.MCP)
	if err != nil {
		return nil, err
	}
	t.servers = mcp.Start(ctx, cfg, mcp.Options{Clock: time.Now, Logger: logger})
	t.servers.Watch(t.refresh)
	t.refresh()
	return t, nil
}

// refresh takes up what the servers offer now. Runs that go on keep what they
// began with.
func (t *toolset) refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append(t.own[:len(t.own):len(t.own)], t.servers.Tools()...)
	if err := t.Replace(all...); err != nil {
		t.logger.Error("take up the tools of the MCP servers", "error", err)
	}
}

// settled waits until each server has connected or failed once, and takes up
// what they offer.
func (t *toolset) settled(ctx context.Context) {
	if t.servers != nil {
		t.servers.Settled(ctx)
		t.refresh()
	}
}

// states is what has become of the MCP servers.
func (t *toolset) states() []mcp.State {
	if t.servers == nil {
		return nil
	}
	return t.servers.States()
}

// Close ends the servers.
func (t *toolset) Close() {
	if t.servers != nil {
		t.servers.Close()
	}
}
