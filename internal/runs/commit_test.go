package runs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

var errFull = errors.New("the disk is full")

// filling is a database whose disk is full from the nth append on, for so many
// appends.
type filling struct {
	*db.DB
	mu   sync.Mutex
	left int // appends that there is room for
	full int // appends that fail after them; below 0 for ever
	hit  chan struct{}
}

func newFilling(d *db.DB, left, full int) *filling {
	return &filling{DB: d, left: left, full: full, hit: make(chan struct{})}
}

func (f *filling) Append(ctx context.Context, b db.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 || f.full == 0 {
		f.left--
		return f.DB.Append(ctx, b)
	}
	if f.full--; f.hit != nil {
		close(f.hit)
		f.hit = nil
	}
	return errFull
}

// stopped is closed at the first append that there is no room for.
func (f *filling) stopped() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hit == nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return f.hit
}

// spare says whether there was room for all.
func (f *filling) spare() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit != nil
}

// TestNothingLeavesBeforeItIsCommitted fills the disk at every append of a run:
// no model is asked for a step whose start and reservation are not in the log,
// and when there is room again the run goes on and ends as ever.
func TestNothingLeavesBeforeItIsCommitted(t *testing.T) { // DESIGN: decide, commit, publish; BEHAVIOUR 12.1
	for room := 1; ; room++ {
		h := newHarness(t, &script{})
		store := newFilling(h.store, room, -1)
		h.model.executor = func(_ context.Context, step string, _ model.Request) (model.Response, error) {
			events, err := h.store.Events(context.Background(), h.lastID(), 0, 1000)
			if err != nil {
				t.Error(err)
			}
			for _, want := range []plan.EventType{plan.EventStepStarted, plan.EventUsageReserved} {
				if !slices.ContainsFunc(events, func(e plan.Event) bool { return e.Type() == want && stepIn(e.Data) == step }) {
					t.Errorf("with room for %d appends the model is asked for %s, and %s is not in the log", room, step, want)
				}
			}
			return says("result of " + step)
		}
		c := h.Config
		c.Store = store
		filling := runs.New(c)
		o := plan.DefaultOptions()
		o.Approval = plan.ApprovalAuto
		p := diamond()
		r, err := filling.Ask(t.Context(), runs.Ask{Question: "q", Options: o, Plan: &p})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-store.stopped():
		case <-h.ended(r.ID):
		}
		filling.Stop()
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded {
			t.Errorf("with room for %d appends the run ended %s, %+v", room, r.Status, r.Error)
		}
		if store.spare() {
			return
		}
	}
}

// TestARunGoesOnAfterItsDiskWasFull fails one append of a run, each in turn, and
// restarts nothing: the run waits and goes on from its log.
func TestARunGoesOnAfterItsDiskWasFull(t *testing.T) { // BEHAVIOUR 11, 12.1
	for room := 1; ; room++ {
		h := newHarness(t, &script{})
		c := h.Config
		store := newFilling(h.store, room, 1)
		c.Store = store
		s := runs.New(c)
		o := plan.DefaultOptions()
		o.Approval = plan.ApprovalAuto
		p := diamond()
		r, err := s.Ask(t.Context(), runs.Ask{Question: "q", Options: o, Plan: &p})
		if err != nil {
			t.Fatal(err)
		}
		r = h.end(r.ID)
		if r.Status != plan.RunStatusSucceeded {
			t.Errorf("with room for %d appends the run ended %s, %+v", room, r.Status, r.Error)
		}
		for _, st := range r.Steps {
			if n := h.model.count("executor:" + st.ID); n > 2 {
				t.Errorf("with room for %d appends %s was asked %d times", room, st.ID, n)
			}
		}
		s.Stop()
		if store.spare() {
			return
		}
	}
}

// TestAClientThatLeavesHarmsNoRun has clients that are gone before their
// request is carried out, while a run goes on.
func TestAClientThatLeavesHarmsNoRun(t *testing.T) { // BEHAVIOUR 11: a browser that double-submits or goes back
	h := newHarness(t, &script{})
	var ids []string
	for i := range 30 {
		ids = append(ids, fmt.Sprintf("s%d", i))
	}
	id := h.ask(auto, given(line(ids...)), func(a *runs.Ask) { a.Options.MaxSteps, a.Options.Budget.Requests = 30, nil }).ID
	gone, leave := context.WithCancel(t.Context())
	leave()
	over := h.ended(id)
	for busy := true; busy; {
		select {
		case <-over:
			busy = false
		default:
			_, _ = h.Edit(gone, id, 1, line("a"), "somebody") // what comes of it is seen in the run
		}
	}
	if r := h.end(id); r.Status != plan.RunStatusSucceeded {
		t.Errorf("ended %s, %+v", r.Status, r.Error)
	}
}

// stepIn is the step that an event is of.
func stepIn(p plan.Payload) string {
	switch p := p.(type) {
	case plan.StepStarted:
		return p.Step
	case plan.UsageReserved:
		return p.Step
	}
	return ""
}

// lastID is the id of the newest run.
func (h *harness) lastID() string {
	page, err := h.store.List(context.Background(), db.Filter{Limit: 1})
	if err != nil || len(page.Runs) == 0 {
		h.t.Error("no run is listed", err)
		return ""
	}
	return page.Runs[0].ID
}
