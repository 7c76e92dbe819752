package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a model that says its turns in order and keeps what it was asked.
type script struct {
	turns []func(model.Request) (model.Response, error)

	mu    sync.Mutex
	asked []model.Request
}

func (s *script) Generate(_ context.Context, req model.Request) (model.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Messages = slices.Clone(req.Messages)
	s.asked = append(s.asked, req)
	if len(s.asked) > len(s.turns) {
		return model.Response{}, errors.New("the script has no more turns")
	}
	return s.turns[len(s.asked)-1](req)
}

// says is a turn of text, calls one of tool calls, fails one that fails.
func says(text string) func(model.Request) (model.Response, error) {
	return func(model.Request) (model.Response, error) { return model.Response{Text: text}, nil }
}

func calls(list ...model.ToolCall) func(model.Request) (model.Response, error) {
	return func(model.Request) (model.Response, error) { return model.Response{Calls: list}, nil }
}

func fails(err error) func(model.Request) (model.Response, error) {
	return func(model.Request) (model.Response, error) { return model.Response{}, err }
}

func speak(turns ...func(model.Request) (model.Response, error)) *script {
	return &script{turns: turns}
}

func toolCall(id, name, args string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

// fake is a tool whose answers are code.
type fake struct {
	name    string
	changes bool
	call    func(ctx context.Context, args json.RawMessage) (tools.Result, error)
}

func (f fake) Info() tools.Info {
	return tools.Info{Name: f.name, Description: "what " + f.name + " does", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: !f.changes}
}

func (f fake) Call(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	return f.call(ctx, args)
}

// answers is a tool that always answers the same.
func answers(name, text string) fake {
	return fake{name: name, call: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{Text: text}, nil
	}}
}

func registry(t *testing.T, list ...tools.Tool) *tools.Registry {
	t.Helper()
	r, err := tools.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// carryOut runs one step with a scripted model.
func carryOut(t *testing.T, m model.Model, task Task, list ...tools.Tool) (plan.Result, error) {
	t.Helper()
	e := Executor{Model: m, ModelName: "m", Tools: registry(t, list...), MaxOutputTokens: 100}
	return e.Execute(t.Context(), task)
}

func task() Task {
	return Task{Question: "Which is densest?", Step: plan.Step{ID: "s1", Instruction: "Look up Tarnby."}}
}

func withContract(required []string, checks ...string) Task {
	t := task()
	t.Step.Contract = &plan.Contract{Required: required, Checks: checks}
	return t
}

// code fails unless err has the code and its message mentions the words.
func code(t *testing.T, err error, want plan.Code, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*plan.Error](err)
	if !ok || e.Code != want {
		t.Fatalf("the error is %v, want the code %s", err, want)
	}
	mentions(t, e.Message, words...)
}

func mentions(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%.2000q does not mention %q", text, w)
		}
	}
}
