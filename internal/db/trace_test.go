package db

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"planwave/internal/plan"
)

// traced is a run with a call of the planner, one of a step that used a tool,
// and a tool step.
func traced(t *testing.T, d *DB) []plan.Call {
	t.Helper()
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	price, free := plan.USD(42), plan.USD(0)
	planner := plan.Call{
		ID: "c1", Agent: plan.RolePlanner, Attempt: 1, Model: "demo", Request: json.RawMessage(`{"messages":[]}`), StartedAt: at(1),
	}
	s := newStory(d, "r1")
	tell := func(b Batch, payloads ...plan.Payload) {
		events, err := s.batch(payloads...)
		if err != nil {
			t.Fatal(err)
		}
		b.Run, b.Events = events.Run, events.Events
		if err := d.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	tell(Batch{Calls: []plan.Call{planner}}, begin("q", 2)...)
	planner.Response, planner.FinishedAt = json.RawMessage(`{"text":"{}"}`), at(3)
	planner.Usage = plan.Usage{
		Requests: 1, InputTokens: 2, OutputTokens: 3, CachedTokens: 1, ThinkingTokens: 1, TotalTokens: 5, CostUSD: &price,
	}
	tell(Batch{Calls: []plan.Call{planner}}, plan.StepStarted{Step: "s1", Attempt: 1, Wave: 1})
	executor := plan.Call{
		ID: "c2", Agent: plan.RoleExecutor, Step: "s1", Attempt: 1, Model: "demo", Request: json.RawMessage(`{"n":2}`), StartedAt: at(4), FinishedAt: at(9),
		Error: &plan.Fault{Code: plan.CodeModelAuth, Message: "no key"}, Usage: plan.Usage{Requests: 1},
	}
	used := plan.ToolCall{
		ID: "t1", CallID: "c2", Step: "s1", Attempt: 1, Tool: "get_city", Arguments: json.RawMessage(`{"name":"Tarnby"}`),
		Result: strings.Repeat("long ", 100_000), StartedAt: at(5), FinishedAt: at(6),
	}
	tell(Batch{Calls: []plan.Call{executor}, ToolCalls: []plan.ToolCall{used}}, plan.StepSucceeded{Step: "s1", Attempt: 1})
	executor.ToolCalls = []plan.ToolCall{used}
	alone := plan.ToolCall{
		ID: "t2", Step: "s2", Attempt: 1, Tool: "calculate", Arguments: json.RawMessage(`"1/0"`), Error: "division by zero", StartedAt: at(2), FinishedAt: at(8),
	}
	tell(Batch{ToolCalls: []plan.ToolCall{alone}}, plan.StepStarted{Step: "s2", Attempt: 1, Wave: 1})
	return []plan.Call{
		planner,
		{
			ID: "t2", Step: "s2", Attempt: 1, Usage: plan.Usage{CostUSD: &free}, StartedAt: at(2), FinishedAt: at(8), ToolCalls: []plan.ToolCall{alone},
			Error: &plan.Fault{Code: plan.CodeToolFailed, Message: "division by zero"},
		},
		executor,
	}
}

func TestTraceInTheOrderOfStart(t *testing.T) { // BEHAVIOUR 4.5, 4.7
	d := openNew(t)
	want := traced(t, d)
	got, err := d.Trace(t.Context(), "r1")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("trace\n%+v\nwant\n%+v\n%v", got, want, err)
	}
	sound(t, d)
}

func TestTraceOfAStep(t *testing.T) {
	d := openNew(t)
	all := traced(t, d)
	tests := map[string]struct {
		calls []plan.Call
		loose []plan.ToolCall
	}{
		"s1":   {all[2:], nil},
		"s2":   {nil, all[1].ToolCalls},
		"none": {nil, nil},
	}
	for step, want := range tests {
		calls, loose, err := d.StepTrace(t.Context(), "r1", step)
		if err != nil || !reflect.DeepEqual(calls, want.calls) || !reflect.DeepEqual(loose, want.loose) {
			t.Errorf("%s: %+v, %+v, %v", step, calls, loose, err)
		}
	}
}

func TestARequestIsWrittenOnce(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "r1")
	call := plan.Call{ID: "c1", Agent: plan.RolePlanner, Request: json.RawMessage(`"as it was sent"`), StartedAt: epoch}
	for _, p := range []plan.Payload{asked("q"), plan.PlanRequested{}} {
		b, err := s.batch(p)
		if err != nil {
			t.Fatal(err)
		}
		b.Calls = []plan.Call{call}
		if err := d.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		call.Request, call.Response = json.RawMessage(`"sent again"`), json.RawMessage(`"the answer"`)
	}
	got, err := d.Trace(t.Context(), "r1")
	if err != nil || len(got) != 1 || string(got[0].Request) != `"as it was sent"` || string(got[0].Response) != `"the answer"` {
		t.Errorf("trace %+v, %v", got, err)
	}
}
