package runs_test

import (
	"context"
	"path/filepath"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// At the end of the process the calls that fly come to their end, no other
// begins, and the next process asks for nothing that was answered.
func TestDrainLetsCallsLandAndBeginsNone(t *testing.T) { // BEHAVIOUR 12.1
	path := filepath.Join(t.TempDir(), "runs.db")
	there, release := make(chan struct{}, 8), make(chan struct{})
	h := openHarness(t, path, &script{executor: func(ctx context.Context, _ string, _ model.Request) (model.Response, error) {
		there <- struct{}{}
		select {
		case <-release:
			return says("landed")
		case <-ctx.Done():
			return model.Response{}, &model.Error{Kind: model.Cancelled, Message: "given up", Cause: ctx.Err()}
		}
	}})
	id := h.ask(given(diamond()), auto).ID
	<-there
	<-there // s1 and s2
	if n := h.StepsRunning(); n != 2 {
		t.Errorf("%d steps are running, want 2", n)
	}
	flying, landed := h.Drain()
	if flying != 2 {
		t.Errorf("%d calls fly, want 2", flying)
	}
	late := h.ask(given(diamond()), auto).ID // begins while the process ends
	close(release)
	<-landed
	if flying, landed := h.Drain(); flying != 0 || landed == nil {
		t.Errorf("%d calls fly after all have landed", flying)
	}
	h.Stop()
	if n := h.StepsRunning(); n != 0 {
		t.Errorf("%d steps are running after the end", n)
	}
	if n := len(h.model.asked); n != 2 {
		t.Errorf("%d calls were made, want the 2 that flew: %v", n, h.model.asked)
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}

	again := openHarness(t, path, &script{})
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := again.end(id)
	again.end(late)
	if r.Status != plan.RunStatusSucceeded || r.Step("s1").Result.Text != "landed" || r.Step("s2").Result.Text != "landed" {
		t.Errorf("ended %s, s1 %+v, s2 %+v", r.Status, r.Step("s1").Result, r.Step("s2").Result)
	}
	if n := again.model.count("executor:s1"); n != 1 { // that of the late run
		t.Errorf("s1 was asked for %d times after the restart: %v", n, again.model.asked)
	}
}

// A run can be cancelled while it waits for the process to end.
func TestCancelWhileDraining(t *testing.T) {
	h := newHarness(t, &script{})
	_, landed := h.Drain()
	<-landed // nothing flew
	r := h.ask(given(diamond()), auto)
	h.until(r.ID, func(r *plan.Run) bool { return r.Step("s1").Status == plan.StepStatusRunning })
	r, err := h.Cancel(t.Context(), r.ID, "me")
	if err != nil || r.Status != plan.RunStatusCancelled || len(h.model.asked) != 0 {
		t.Errorf("%v, %v, asked %v", r.Status, err, h.model.asked)
	}
}
