package runs_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
)

// untilNow waits for the one call of a run that is on the board to be as wanted.
func (h *harness) untilNow(id string, changed <-chan struct{}, want func(runs.Now) bool) runs.Now {
	h.t.Helper()
	for {
		if all := h.Now(id); len(all) == 1 && want(all[0]) {
			return all[0]
		}
		select {
		case <-changed:
		case <-h.t.Context().Done():
			h.t.Fatalf("the board stays at %+v", h.Now(id))
		}
	}
}

// What a model writes is told while it writes, to whoever watches, and is gone
// from the board when it is in the log.
func TestWhatIsWrittenIsToldMeanwhile(t *testing.T) { // UX, Run: "text streams in as the model writes"
	goOn := make(chan struct{})
	say := func(req model.Request, pieces ...string) {
		for _, p := range pieces {
			req.OnText(p)
		}
		<-goOn
	}
	h := newHarness(t, &script{
		planner: writes(plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "one"}}}),
		executor: func(_ context.Context, _ string, req model.Request) (model.Response, error) {
			say(req, "", `{"result":`, `"half`)
			say(req, "") // the provider is asked again
			say(req, `{"result":`)
			return says("whole")
		},
	})
	r := h.ask()
	h.until(r.ID, is(plan.RunStatusAwaitingApproval))
	changed, stop := h.WatchNow(r.ID)
	defer stop()
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	n := h.untilNow(r.ID, changed, func(n runs.Now) bool { return n.Text == `{"result":"half` })
	if n.Agent != plan.RoleExecutor || n.Step != "s1" || n.Attempt != 1 || n.Void != 0 || n.Model != "test:model" {
		t.Errorf("the board says %+v", n)
	}
	goOn <- struct{}{}
	h.untilNow(r.ID, changed, func(n runs.Now) bool { return n.Text == "" && n.Void == 1 })
	goOn <- struct{}{}
	h.untilNow(r.ID, changed, func(n runs.Now) bool { return n.Text == `{"result":` && n.Void == 1 })
	close(goOn)
	if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded || len(h.Now(r.ID)) > 0 {
		t.Errorf("the run is %s and the board still says %+v", r.Status, h.Now(r.ID))
	}
}

// A call that nobody watches is made plainly: a server that cannot stream is
// never asked to for nothing.
func TestACallThatNobodyWatchesIsNotStreamed(t *testing.T) {
	streamed := make(chan bool, 1)
	h := newHarness(t, &script{planner: func(_ context.Context, req model.Request) (string, error) {
		streamed <- req.OnText != nil
		return `{"steps":[{"id":"s1","instruction":"one","depends_on":[]}]}`, nil
	}})
	h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	if <-streamed {
		t.Error("the planner was asked to stream, and nobody watches")
	}
}

// digger is a tool that says how far it has got, and goes on when it may.
type digger struct{ goOn chan struct{} }

func (digger) Info() tools.Info {
	return tools.Info{Name: "dig", Description: "digs", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true}
}

func (d digger) Call(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
	tools.ToldProgress(ctx)(tools.Progress{Tool: "dig", Done: 3, Total: 5, Message: "deep"})
	<-d.goOn
	return tools.Result{Text: "a hole"}, nil
}

// How far a tool has got is told while it is at work.
func TestAToolSaysHowFarItHasGot(t *testing.T) {
	d := digger{goOn: make(chan struct{})}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, d)
	r := h.ask(given(plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "dig", Tool: "dig", Input: json.RawMessage(`{}`)}}}))
	changed, stop := h.WatchNow(r.ID)
	defer stop()
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	n := h.untilNow(r.ID, changed, func(n runs.Now) bool { return n.Progress.Done > 0 })
	if want := (tools.Progress{Tool: "dig", Done: 3, Total: 5, Message: "deep"}); n.Progress != want || n.Step != "s1" {
		t.Errorf("the board says %+v", n)
	}
	close(d.goOn)
	if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded {
		t.Errorf("the run is %s", r.Status)
	}
}
