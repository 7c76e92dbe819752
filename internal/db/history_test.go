package db

import (
	"testing"
	"time"

	"planwave/internal/plan"
)

func TestHistoryOfAModel(t *testing.T) { // BEHAVIOUR 3.6
	d := openNew(t)
	s := newStory(d, "a")
	s.tell(t, asked("q"))
	cost := func(n plan.USD) *plan.USD { return &n }
	call := func(id, step string, attempt, tokens int, price *plan.USD, fault *plan.Fault) plan.Call {
		return plan.Call{
			ID: id, Agent: plan.RoleExecutor, Step: step, Attempt: attempt, Model: "openai:m", Request: []byte(`{}`), Response: []byte(`{}`),
			Usage: plan.Usage{Requests: 1, TotalTokens: tokens, CostUSD: price}, Error: fault, StartedAt: epoch, FinishedAt: epoch,
		}
	}
	b, err := s.batch(plan.PlanRequested{})
	if err != nil {
		t.Fatal(err)
	}
	flying := call("4", "s3", 1, 0, nil, nil)
	flying.FinishedAt, flying.Response = time.Time{}, nil
	b.Calls = []plan.Call{
		call("1", "s1", 1, 10, cost(100), nil), call("2", "s1", 1, 20, cost(300), nil), call("3", "s2", 1, 30, cost(200), nil),
		flying, call("5", "s4", 1, 99, nil, &plan.Fault{Code: plan.CodeModelUnreachable}),
	}
	if err := d.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	h, err := d.History(t.Context(), "openai:m", plan.RoleExecutor)
	if err != nil || h.Attempts != 2 || h.Calls != 3 || h.Tokens != 60 || *h.CostUSD != 600 {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err = d.History(t.Context(), "openai:other", plan.RoleExecutor); err != nil || h.Attempts != 0 {
		t.Errorf("of a model that was never asked: %+v, %v", h, err)
	}
	b, err = s.batch(plan.PlanRequested{})
	if err != nil {
		t.Fatal(err)
	}
	b.Calls = []plan.Call{call("6", "s5", 1, 10, nil, nil)}
	if err := d.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if h, err = d.History(t.Context(), "openai:m", plan.RoleExecutor); err != nil || h.CostUSD != nil || h.Calls != 4 {
		t.Errorf("with a call of unknown cost: %+v, %v", h, err)
	}
}
