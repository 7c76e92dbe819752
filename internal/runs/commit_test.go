package runs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

var errFull = errors.New("the disk is full")

// filling is a database whose disk is full from the nth append on.
type filling struct {
	*db.DB
	mu   sync.Mutex
	left int
}

func (f *filling) Append(ctx context.Context, b db.Batch) error {
	f.mu.Lock()
	full := f.left == 0
	f.left = max(f.left-1, 0)
	f.mu.Unlock()
	if full {
		return errFull
	}
	return f.DB.Append(ctx, b)
}

// TestNothingLeavesBeforeItIsCommitted fills the disk at every append of a run:
// no model is asked for a step whose start and reservation are not in the log,
// and when there is room again the run goes on and ends as ever.
func TestNothingLeavesBeforeItIsCommitted(t *testing.T) { // DESIGN: decide, commit, publish; BEHAVIOUR 12.1
	for room := 1; ; room++ {
		h := newHarness(t, &script{})
		store := &filling{DB: h.store, left: room}
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
		filling.Settle(r.ID)
		filling.Stop()
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded {
			t.Errorf("with room for %d appends the run ended %s, %+v", room, r.Status, r.Error)
		}
		if store.left > 0 {
			return // it had room to spare
		}
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
