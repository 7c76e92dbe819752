package runs_test

import (
	"testing"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// The key of a request is of the request's own change, not of what a driver had
// waiting to be committed before it.
func TestKeyIsOfTheRequestsOwnChange(t *testing.T) {
	for name, change := range map[string]func(*harness, db.Key, string) error{
		"approve": func(h *harness, k db.Key, id string) error {
			_, err := h.Approve(runs.WithKey(t.Context(), k), id, 1, "me")
			return err
		},
		"cancel": func(h *harness, k db.Key, id string) error {
			_, err := h.Cancel(runs.WithKey(t.Context(), k), id, "me")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, &script{})
			r := h.ask(func(a *runs.Ask) { a.Plan = &plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "one"}}} })
			release, err := h.Later(t.Context(), r.ID, plan.UsageReserved{Call: "c", Agent: plan.RolePlanner, Model: "test:model"})
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			k := db.Key{Scope: "me", Key: name, Fingerprint: "f"}
			if _, err := h.store.Claim(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if err := change(h, k, r.ID); err != nil {
				t.Fatal(err)
			}
			a, err := h.store.Claim(t.Context(), k)
			if err != nil || a == nil || a.RunID != r.ID {
				t.Errorf("a repeat finds %+v, %v", a, err)
			}
		})
	}
}
