package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// inTurns is an executor that calls a tool three times before it answers, and
// holds its call number hold of a step until the context ends.
func inTurns(hold int, there chan<- struct{}) func(context.Context, string, model.Request) (model.Response, error) {
	return func(ctx context.Context, step string, req model.Request) (model.Response, error) {
		turn := len(req.Messages)/2 + 1
		if turn == hold {
			return model.Response{}, hang(ctx, there)
		}
		if turn <= 3 {
			args := json.RawMessage(fmt.Sprintf(`{"to":"%s-%d"}`, step, turn))
			return model.Response{Calls: []model.ToolCall{{ID: "1", Name: "send", Arguments: args}}}, nil
		}
		return says(step + " is done")
	}
}

// allowAll lets every call of the run's first tool be made.
func allowAll(h *harness, id string) {
	h.t.Helper()
	h.decide(id, h.pending(id, 1).PendingApprovals()[0].ID, plan.DecisionAllow, plan.ScopeRun)
}

func TestWhatWasPaidForIsNotAskedAgain(t *testing.T) { // BEHAVIOUR 12.1, 12.2
	for hold := 2; hold <= 4; hold++ {
		t.Run(fmt.Sprintf("stopped in call %d", hold), func(t *testing.T) {
			there, box := make(chan struct{}, 1), &postbox{}
			path := filepath.Join(t.TempDir(), "runs.db")
			first := &script{executor: inTurns(hold, there)}
			h := openHarness(t, path, first, box)
			id := h.ask(auto, given(line("a"))).ID
			allowAll(h, id)
			<-there
			h.Stop()
			second := &script{executor: inTurns(0, nil)}
			again := openHarness(t, path, second, box)
			if err := again.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := again.end(id)
			if r.Status != plan.RunStatusSucceeded || r.Step("a").Result.Text != "a is done" {
				t.Fatalf("ended %s: %+v", r.Status, r.Error)
			}
			if n := first.count("executor:a") + second.count("executor:a"); n != 5 {
				t.Errorf("the executor was asked %d times: four calls, and one again that was in flight", n)
			}
			if got := box.letters(); len(got) != 3 {
				t.Errorf("sent %v: each once", got)
			}
			if a := r.Step("a"); a.Attempts != 2 || a.ToolCalls != 3 || a.Interrupted != 0 {
				t.Errorf("step = %+v", a)
			}
		})
	}
}

func TestACallThatDiffersIsAskedAnew(t *testing.T) { // BEHAVIOUR 12.1: what is replayed is only what would be asked
	there, box := make(chan struct{}, 1), &postbox{}
	path := filepath.Join(t.TempDir(), "runs.db")
	h := openHarness(t, path, &script{executor: inTurns(3, there)}, box)
	id := h.ask(auto, given(line("a"))).ID
	allowAll(h, id)
	<-there
	h.Stop()
	second := &script{executor: inTurns(0, nil)}
	again := openHarness(t, path, second) // the tool is gone, so the prompt is another
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := again.end(id); r.Status != plan.RunStatusSucceeded || second.count("executor:a") != 4 || len(box.letters()) != 2 {
		t.Errorf("ended %s, asked %d times, sent %v: the executor is told that there is no such tool", r.Status, second.count("executor:a"), box.letters())
	}
}

func TestTheBudgetStopsInTheMiddleOfAStep(t *testing.T) { // BEHAVIOUR 8.2, 8.3
	box, m := &postbox{}, &script{executor: inTurns(0, nil)}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), m, box)
	id := h.ask(auto, given(line("a")), limited(2)).ID
	allowAll(h, id)
	r := h.end(id)
	if r.Error == nil || r.Error.Code != plan.CodeBudgetExhausted || r.Step("a").Status != plan.StepStatusPending {
		t.Fatalf("ended %s, %+v", r.Status, r.Error)
	}
	if _, err := h.Continue(t.Context(), id, budgetOf(10), "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(id)
	if r.Status != plan.RunStatusSucceeded || m.count("executor:a") != 4 || len(box.letters()) != 3 {
		t.Errorf("ended %s, asked %d times, sent %v", r.Status, m.count("executor:a"), box.letters())
	}
}

func TestARetryStartsAnew(t *testing.T) { // BEHAVIOUR 5.8: a failed attempt is not taken up
	var mu sync.Mutex
	n := 0
	m := &script{executor: func(ctx context.Context, step string, req model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == 2 {
			return model.Response{}, &model.Error{Kind: model.Unavailable, Message: "down"}
		}
		return inTurns(0, nil)(ctx, step, req)
	}}
	box := &postbox{}
	h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), m, box)
	id := h.ask(auto, given(line("a"))).ID
	allowAll(h, id)
	h.end(id)
	if _, err := h.Retry(t.Context(), id, "a", "me"); err != nil {
		t.Fatal(err)
	}
	if r := h.end(id); r.Status != plan.RunStatusSucceeded || len(box.letters()) != 4 {
		t.Errorf("ended %s, sent %v", r.Status, box.letters())
	}
}

func TestAnAnswerCutOffIsTakenUp(t *testing.T) { // BEHAVIOUR 12.2
	there := make(chan struct{}, 1)
	path := filepath.Join(t.TempDir(), "runs.db")
	refused := func(hold bool) func(context.Context, model.Request) (string, error) {
		return func(ctx context.Context, req model.Request) (string, error) {
			switch {
			case len(req.Messages) == 1:
				return `{"result":"x","rests_on":["nothing"]}`, nil
			case hold:
				return "", hang(ctx, there)
			}
			return `{"result":"better"}`, nil
		}
	}
	h := openHarness(t, path, &script{synthesizer: refused(true)})
	id := h.ask(auto, given(line("a"))).ID
	<-there
	h.Stop()
	second := &script{synthesizer: refused(false)}
	again := openHarness(t, path, second)
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := again.end(id)
	if r.Status != plan.RunStatusSucceeded || r.Answer.Result != "better" || second.count("synthesizer") != 1 {
		t.Errorf("ended %s, asked %d times again", r.Status, second.count("synthesizer"))
	}
}

func TestEstimate(t *testing.T) { // BEHAVIOUR 3.6
	h := newHarness(t, &script{planner: writes(diamond())})
	p := diamond()
	p.Steps[0].Tool, p.Steps[0].Input = "get_city", json.RawMessage(`"Tarnby"`)
	r := h.ask(given(p))
	e, err := h.Estimate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if e.Steps["s1"].Requests != 0 || e.Steps["s1"].Tokens != 0 || *e.Steps["s1"].CostUSD != 0 {
		t.Errorf("a tool step takes %+v", e.Steps["s1"])
	}
	if e.Requests != 5 || e.Tokens == 0 || *e.CostUSD != plan.USD(e.Tokens)*1000 || strings.Join(e.CriticalPath, " ") != "s2 s3" {
		t.Errorf("without a history: %+v", e)
	}
	h.end(h.ask(auto).ID) // now there is one: each agent took one call of 15 tokens
	if e, err = h.Estimate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if e.Requests != 3 || e.Tokens != 45 || *e.CostUSD != 45_000 {
		t.Errorf("with a history: %+v", e.Take)
	}
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	ended := h.end(r.ID)
	if e, err = h.Estimate(t.Context(), ended); err != nil || len(e.Steps) != 0 || e.Requests != 1 {
		t.Errorf("what has ended takes nothing more: %+v, %v", e, err)
	}
}
