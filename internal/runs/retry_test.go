package runs_test

import (
	"context"
	"sync/atomic"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// patient are models that are asked again where that helps, without a wait.
type patient struct{ scripted }

func (patient) Retry(m model.Model) model.Model {
	return model.Retry(model.RetryConfig{Tries: 3, Backoff: 1})(m)
}

func TestAProviderThatIsDownForAMoment(t *testing.T) { // BEHAVIOUR 8.1, 11
	var n atomic.Int32
	h := newHarness(t, &script{executor: func(_ context.Context, step string, _ model.Request) (model.Response, error) {
		if n.Add(1) < 3 {
			return model.Response{}, &model.Error{Kind: model.Unavailable, Message: "down for a moment"}
		}
		return says("result of " + step)
	}})
	c := h.Config
	c.Models = patient{scripted{h.model}}
	s := runs.New(c)
	t.Cleanup(s.Stop)
	o := plan.DefaultOptions()
	o.Approval = plan.ApprovalAuto
	p := line("a")
	r, err := s.Ask(t.Context(), runs.Ask{Question: "q", Options: o, Plan: &p})
	if err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusSucceeded || r.Step("a").Attempts != 1 || r.Usage.Requests != 4 {
		t.Fatalf("ended %s with %d requests, %+v", r.Status, r.Usage.Requests, r.Error)
	}
	calls, err := h.store.Trace(t.Context(), r.ID)
	if err != nil || len(calls) != 4 || calls[0].Error == nil || calls[1].Error == nil || calls[2].Error != nil {
		t.Errorf("every try is a call of its own, with its reason: %+v, %v", calls, err)
	}
}
