package runs_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// postbox is a tool that changes the world: it keeps what was sent, and how
// many were at it at the same time.
type postbox struct {
	mu        sync.Mutex
	sent      []string
	now, most int
}

func (*postbox) Info() tools.Info {
	return tools.Info{
		Name: "send", Description: "sends a letter",
		Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`),
	}
}

func (p *postbox) Call(_ context.Context, args json.RawMessage) (tools.Result, error) {
	p.mu.Lock()
	p.now++
	p.most = max(p.most, p.now)
	p.sent = append(p.sent, string(args))
	p.mu.Unlock()
	defer func() { p.mu.Lock(); p.now--; p.mu.Unlock() }()
	return tools.Result{Text: "sent", Data: json.RawMessage(`{"result":"sent","stamp":7}`)}, nil
}

func (p *postbox) letters() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// sends is a plan whose steps each send one letter, side by side.
func sends(to ...string) plan.Plan {
	p := wide("end", to...)
	for i := range to {
		p.Steps[i].Tool = "send"
		p.Steps[i].Input = json.RawMessage(`{"to":"` + to[i] + `"}`)
	}
	return p
}

// pending waits until so many tool calls wait for a person and nothing else is
// in flight.
func (h *harness) pending(id string, n int) *plan.Run {
	h.t.Helper()
	return h.until(id, func(r *plan.Run) bool {
		return len(r.PendingApprovals()) == n && r.Status == plan.RunStatusAwaitingToolApproval
	})
}

func (h *harness) decide(id, approval string, d plan.Decision, s plan.Scope) {
	h.t.Helper()
	if _, err := h.Decide(h.t.Context(), id, approval, d, s, "me"); err != nil {
		h.t.Fatal(err)
	}
}

func TestASideEffectWaitsForAPerson(t *testing.T) { // BEHAVIOUR 3.4, 4.6
	box := &postbox{}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, box)
	id := h.ask(auto, given(sends("ann", "bob"))).ID
	r := h.pending(id, 2)
	if len(box.letters()) != 0 {
		t.Fatalf("sent %v before anyone allowed it", box.letters())
	}
	waiting := r.PendingApprovals() // in the order of asking, which is any
	slices.SortFunc(waiting, func(a, b plan.ToolApproval) int { return strings.Compare(a.Step, b.Step) })
	if got := string(waiting[0].Arguments); got != `{"to":"ann"}` || r.Step("ann").Status != plan.StepStatusAwaitingApproval {
		t.Errorf("asked about %s; ann is %s", got, r.Step("ann").Status)
	}
	h.decide(id, waiting[0].ID, plan.DecisionAllow, plan.ScopeOnce)
	r = h.pending(id, 1)
	if r.Step("ann").Status != plan.StepStatusSucceeded || !slices.Equal(box.letters(), []string{`{"to":"ann"}`}) {
		t.Errorf("ann is %s, sent %v", r.Step("ann").Status, box.letters())
	}
	h.decide(id, waiting[1].ID, plan.DecisionDeny, plan.ScopeOnce)
	r = h.end(id)
	bob := r.Step("bob")
	if bob.Status != plan.StepStatusFailed || bob.Error.Code != plan.CodeToolDenied || len(box.letters()) != 1 {
		t.Errorf("bob is %s, %+v; sent %v", bob.Status, bob.Error, box.letters())
	}
	if r.Status != plan.RunStatusPartial || !slices.Equal(r.Skipped(), []string{"end"}) {
		t.Errorf("ended %s, skipped %v", r.Status, r.Skipped())
	}
}

func TestAWordForTheRestOfTheRun(t *testing.T) { // BEHAVIOUR 4.6
	for decision, sent := range map[plan.Decision]int{plan.DecisionAllow: 4, plan.DecisionDeny: 0} {
		t.Run(string(decision), func(t *testing.T) {
			box := &postbox{}
			h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, box)
			p := sends("ann", "bob", "cid")
			p.Steps[3].Tool, p.Steps[3].Input = "send", json.RawMessage(`{"to":"all"}`)
			id := h.ask(auto, given(p)).ID
			r := h.pending(id, 3)
			h.decide(id, r.PendingApprovals()[1].ID, decision, plan.ScopeRun)
			r = h.end(id)
			if len(box.letters()) != sent || box.most > 1 {
				t.Errorf("sent %v, %d at once; ended %s", box.letters(), box.most, r.Status)
			}
		})
	}
}

func TestAnAgentIsToldThatItsCallWasDenied(t *testing.T) { // BEHAVIOUR 4.6
	box := &postbox{}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{executor: func(_ context.Context, _ string, req model.Request) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		if len(last.Results) == 0 {
			return model.Response{Calls: []model.ToolCall{{ID: "1", Name: "send", Arguments: json.RawMessage(`{"to":"ann"}`)}}}, nil
		}
		if !last.Results[0].IsError {
			return says("it was sent")
		}
		return says("I was told: " + last.Results[0].Text)
	}}, box)
	id := h.ask(auto, given(line("a"))).ID
	h.decide(id, h.pending(id, 1).PendingApprovals()[0].ID, plan.DecisionDeny, plan.ScopeOnce)
	r := h.end(id)
	if got := r.Step("a").Result.Text; !strings.Contains(got, "A person did not allow") || len(box.letters()) != 0 {
		t.Errorf("%q; sent %v", got, box.letters())
	}
}

func TestWrongArgumentsAskNobody(t *testing.T) { // BEHAVIOUR 4.5, 4.6
	box := &postbox{}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{executor: func(_ context.Context, _ string, req model.Request) (model.Response, error) {
		if len(req.Messages) == 1 {
			return model.Response{Calls: []model.ToolCall{{ID: "1", Name: "send", Arguments: json.RawMessage(`{"too":"ann"}`)}}}, nil
		}
		return says("gave up")
	}}, box)
	r := h.end(h.ask(auto, given(line("a"))).ID)
	if len(r.Approvals) != 0 || len(box.letters()) != 0 || r.Status != plan.RunStatusSucceeded {
		t.Errorf("asked %+v, sent %v, ended %s", r.Approvals, box.letters(), r.Status)
	}
}

func TestCancelWhileAToolCallWaits(t *testing.T) { // BEHAVIOUR 4.6, 5.7
	box := &postbox{}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, box)
	id := h.ask(auto, given(sends("ann"))).ID
	approval := h.pending(id, 1).PendingApprovals()[0].ID
	r, err := h.Cancel(t.Context(), id, "me")
	if err != nil || r.Status != plan.RunStatusCancelled || len(r.PendingApprovals()) != 0 {
		t.Fatalf("%s, %v", r.Status, err)
	}
	if _, err := h.Decide(t.Context(), id, approval, plan.DecisionAllow, plan.ScopeOnce, "me"); plan.CodeOf(err) != plan.CodeUnexpected {
		t.Errorf("deciding after the cancel: %v", err)
	}
	if len(box.letters()) != 0 {
		t.Errorf("sent %v", box.letters())
	}
}

func TestDecisionsThatCannotBe(t *testing.T) { // BEHAVIOUR 4.6, 11
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, &postbox{})
	id := h.ask(auto, given(sends("ann", "bob"))).ID
	first := h.pending(id, 2).PendingApprovals()[0].ID
	h.decide(id, first, plan.DecisionAllow, plan.ScopeOnce)
	tests := map[string]struct {
		approval string
		decision plan.Decision
		scope    plan.Scope
		code     plan.Code
	}{
		"no such call":     {"nothing", plan.DecisionAllow, plan.ScopeOnce, plan.CodeNotFound},
		"decided already":  {first, plan.DecisionDeny, plan.ScopeOnce, plan.CodeUnexpected},
		"no such decision": {first, "maybe", plan.ScopeOnce, plan.CodeInvalid},
		"no such scope":    {first, plan.DecisionAllow, "ever", plan.CodeInvalid},
	}
	for name, tt := range tests {
		if _, err := h.Decide(t.Context(), id, tt.approval, tt.decision, tt.scope, "me"); plan.CodeOf(err) != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.Cancel(t.Context(), id, "me"); err != nil {
		t.Fatal(err)
	}
}

// TestAToolCallOverARestart stops the process while a call waits, and at every
// event of the run's log, and looks at what is asked and what is sent.
func TestAToolCallOverARestart(t *testing.T) { // BEHAVIOUR 4.6, 12.1
	box := &postbox{}
	path := filepath.Join(t.TempDir(), "runs.db")
	h := openHarness(t, path, &script{}, box)
	id := h.ask(auto, given(sends("ann"))).ID
	asked := h.pending(id, 1).PendingApprovals()[0]
	h.Stop()
	again := openHarness(t, path, &script{}, box)
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := again.pending(id, 1)
	if got := r.PendingApprovals()[0]; got.ID != asked.ID || got.Again || len(r.Approvals) != 1 {
		t.Fatalf("asked %+v, was asked %+v", got, asked)
	}
	again.decide(id, asked.ID, plan.DecisionAllow, plan.ScopeOnce)
	if r = again.end(id); r.Status != plan.RunStatusSucceeded || len(box.letters()) != 1 {
		t.Fatalf("ended %s, sent %v", r.Status, box.letters())
	}
	log := again.events(id)
	for cut := 1; cut < len(log); cut++ {
		box := &postbox{}
		path := filepath.Join(t.TempDir(), "runs.db")
		before := plant(t, path, log[:cut])
		inFlight := before.Step("ann") != nil && before.Step("ann").Status == plan.StepStatusRunning
		if before.Status == plan.RunStatusAwaitingApproval || inFlight && len(before.Approvals) > 0 && before.Approvals[0].Used {
			continue // in the middle of a commit, or with a trace that a log alone has not
		}
		h := openHarness(t, path, &script{planner: writes(sends("ann"))}, box)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		was := plan.ToolApproval{}
		if len(before.Approvals) > 0 {
			was = before.Approvals[0]
		}
		if was.Decision == "" || inFlight && !was.Used { // allowed once is made once at most
			a := h.pending(plantedID, 1).PendingApprovals()[0]
			if a.Again != (was.Decision != "") || was.ID != "" && a.ID != was.ID {
				t.Errorf("cut after %d %s: asked %+v", cut, log[cut-1].Type(), a)
			}
			h.decide(plantedID, a.ID, plan.DecisionAllow, plan.ScopeOnce)
		}
		r := h.end(plantedID)
		if r.Status != plan.RunStatusSucceeded {
			t.Errorf("cut after %d: ended %s", cut, r.Status)
		}
	}
}

// held is a tool that answers only when it is let go, whatever its context says.
type held struct {
	readOnly bool
	there    chan string
	free     chan struct{}
}

func (h *held) Info() tools.Info {
	return tools.Info{
		Name: "send", Description: "sends a letter", ReadOnly: h.readOnly,
		Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`),
	}
}

func (h *held) Call(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	h.there <- string(args)
	if h.free == nil { // as long as it is wanted
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
	<-h.free
	return tools.Result{Text: "sent"}, nil
}

func TestNothingIsSentAfterTheCancel(t *testing.T) { // BEHAVIOUR 4.6, 5.7
	tool := &held{there: make(chan string, 8), free: make(chan struct{})}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{}, tool)
	id := h.ask(auto, given(sends("ann", "bob"))).ID
	h.decide(id, h.pending(id, 2).PendingApprovals()[0].ID, plan.DecisionAllow, plan.ScopeRun)
	<-tool.there
	cancelled := make(chan error)
	go func() { _, err := h.Cancel(context.Background(), id, "me"); cancelled <- err }()
	h.until(id, func(r *plan.Run) bool { return len(r.PendingApprovals()) == 0 })
	close(tool.free)
	if err := <-cancelled; err != nil {
		t.Fatal(err)
	}
	if r, err := h.Get(t.Context(), id); err != nil || r.Status != plan.RunStatusCancelled || len(tool.there) > 1 {
		t.Errorf("%s, %v, and %d more were sent", r.Status, err, len(tool.there))
	}
}

func TestAToolCutOffByAShutdownHasNoOutcome(t *testing.T) { // BEHAVIOUR 4.6, 12.1
	for _, readOnly := range []bool{true, false} {
		tool := &held{readOnly: readOnly, there: make(chan string, 8)}
		path := filepath.Join(t.TempDir(), "runs.db")
		h := openHarness(t, path, &script{}, tool)
		id := h.ask(auto, given(sends("ann"))).ID
		if !readOnly {
			h.decide(id, h.pending(id, 1).PendingApprovals()[0].ID, plan.DecisionAllow, plan.ScopeOnce)
		}
		<-tool.there
		h.Stop()
		box := &postbox{}
		second := openHarness(t, path, &script{}, tools.Tool(box))
		if err := second.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := second.pending(id, 1).PendingApprovals()[0]
		if a.Again == readOnly {
			t.Errorf("read-only %v: asked %+v", readOnly, a)
		}
		second.decide(id, a.ID, plan.DecisionAllow, plan.ScopeOnce)
		if r := second.end(id); r.Status != plan.RunStatusSucceeded || len(box.letters()) != 1 {
			t.Errorf("read-only %v: ended %s, sent %v", readOnly, r.Status, box.letters())
		}
	}
}
