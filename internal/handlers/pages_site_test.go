package handlers

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
)

// sends is a tool that is not read-only: every call of it asks a person.
type sends struct{}

// Info describes the tool.
func (sends) Info() tools.Info {
	return tools.Info{
		Name: "send", Description: "Sends a <b>letter</b>.",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}
}

// Call sends nothing.
func (sends) Call(context.Context, json.RawMessage) (tools.Result, error) {
	return tools.Result{Text: "sent"}, nil
}

// pageTools are the tools of the sites that pages are tested on.
func pageTools(t testing.TB) *tools.Registry {
	t.Helper()
	set, err := tools.New(tools.City(), tools.Calculate(), sends{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// newPageSite starts a server whose executors have a tool that asks a person.
// Its runs are kept in what wrap makes of the database.
func newPageSite(t testing.TB, m *scriptedModel, wrap ...func(runs.Store) runs.Store) *site {
	t.Helper()
	s := &site{t: t, model: m, log: &syncBuffer{}, quit: make(chan struct{}), doc: readDocument(t)}
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	store, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), db.Options{Logger: logger, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	set, models, newID := pageTools(t), registryOf(t, m, nil), counter()
	s.store = store
	kept := runs.Store(store)
	for _, f := range wrap {
		kept = f(kept)
	}
	s.runs = runs.New(runs.Config{Store: kept, Models: models, Tools: set, Clock: time.Now, NewID: newID, Logger: logger})
	server := httptest.NewServer(New(Config{
		Runs: s.runs, Store: store, Models: models, Tools: set, Logger: logger, Clock: time.Now, NewID: newID, Quit: s.quit,
	}))
	s.url, s.client = server.URL, server.Client()
	t.Cleanup(func() {
		s.stop()
		server.Close()
		s.runs.Stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start makes a run of a plan as a person would.
func (s *site) start(p plan.Plan, change ...func(*plan.Options)) string {
	s.t.Helper()
	o := plan.DefaultOptions()
	o.Approval = plan.ApprovalAuto
	for _, f := range change {
		f(&o)
	}
	ask := runs.Ask{Question: "What is it?", Options: o, Plan: &p, By: "me"}
	r, err := s.runs.Ask(s.t.Context(), ask)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.ID
}

// events is the whole log of a run.
func (s *site) events(id string) []plan.Event {
	s.t.Helper()
	events, err := s.store.Events(s.t.Context(), id, 0, 10_000)
	if err != nil {
		s.t.Fatal(err)
	}
	return events
}
