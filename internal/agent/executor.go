package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"planwave/internal/contract"
	"planwave/internal/looseread"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// ToolCaller is the tools as an agent has them.
type ToolCaller interface {
	List() []tools.Info
	Call(ctx context.Context, name string, arguments json.RawMessage) (tools.Result, error)
}

// DefaultTurns is how many model calls one attempt at a step may take.
const DefaultTurns = 8

// Executor carries out steps. Its fields are not changed while it works.
type Executor struct {
	Model           model.Model
	ModelName       string // after the provider
	Tools           ToolCaller
	MaxTurns        int // 0 means [DefaultTurns]
	MaxOutputTokens int
	// ResultLimit is how much of a result, in characters, the model is shown;
	// 0 means [tools.ResultLimit].
	ResultLimit int
}

// Task is one step to carry out.
type Task struct {
	Question string
	Step     plan.Step
	// Inputs are the results of exactly the step's dependencies.
	Inputs []Input
}

// Input is the result of a dependency.
type Input struct {
	Step   string
	Result plan.Result
}

// ContractError is an output that broke its contract, also after the one
// chance to mend it.
type ContractError struct {
	Problems []string
	Result   plan.Result
}

// Error lists the problems.
func (e *ContractError) Error() string { return e.Shown().Message }

// Shown returns the failure as people are shown it.
func (e *ContractError) Shown() *plan.Error {
	return plan.NewError(plan.CodeContractBroken, "The output broke the step's contract: "+strings.Join(e.Problems, " "), nil)
}

// Execute carries out one attempt: model calls and tool calls in turn, until
// the model writes a result. A failed model call is a [*model.Error], a broken
// contract a [*ContractError].
func (e *Executor) Execute(ctx context.Context, t Task) (plan.Result, error) {
	req, err := e.request(t)
	if err != nil {
		return plan.Result{}, err
	}
	mended := false
	for range e.turns() {
		resp, err := e.Model.Generate(ctx, req)
		if err != nil {
			return plan.Result{}, fmt.Errorf("carry out step %s: %w", t.Step.ID, err)
		}
		req.Messages = append(req.Messages, model.Message{Speaker: model.Assistant, Text: resp.Text, Calls: resp.Calls})
		if len(resp.Calls) > 0 {
			results, err := e.callTools(ctx, resp.Calls)
			if err != nil {
				return plan.Result{}, err
			}
			req.Messages = append(req.Messages, model.Message{Speaker: model.ToolSpeaker, Results: results})
			continue
		}
		result, problems, err := readResult(resp.Text, t.Step.Contract)
		switch {
		case err != nil:
			return plan.Result{}, err
		case len(problems) == 0:
			return result, nil
		case mended:
			return plan.Result{}, &ContractError{Problems: problems, Result: result}
		}
		mended = true
		req.Messages = append(req.Messages, model.Message{Speaker: model.User, Text: "Your output breaks the step's contract:\n" +
			strings.Join(problems, "\n") + "\nAnswer again with one JSON object that keeps it."})
	}
	return plan.Result{}, plan.NewError(plan.CodeModelBadResponse,
		fmt.Sprintf("The model called tools for %d turns and never wrote a result. Make the step smaller.", e.turns()), nil)
}

func (e *Executor) turns() int {
	if e.MaxTurns > 0 {
		return e.MaxTurns
	}
	return DefaultTurns
}

func (e *Executor) limit() int {
	if e.ResultLimit > 0 {
		return e.ResultLimit
	}
	return tools.ResultLimit
}

func (e *Executor) request(t Task) (model.Request, error) {
	infos := e.Tools.List()
	values := struct {
		Tools    bool
		Contract bool
		Required string
		Checks   []string
	}{Tools: len(infos) > 0}
	if c := t.Step.Contract; c != nil {
		values.Contract, values.Required, values.Checks = true, strings.Join(c.Required, ", "), c.Checks
	}
	system, err := prompt("executor", values)
	if err != nil {
		return model.Request{}, err
	}
	user, err := executorPrompt(t, e.limit())
	if err != nil {
		return model.Request{}, err
	}
	req := model.Request{
		Model: e.ModelName, Role: plan.RoleExecutor, System: system, MaxOutputTokens: e.MaxOutputTokens,
		Messages: []model.Message{{Speaker: model.User, Text: user}},
	}
	for _, info := range infos {
		req.Tools = append(req.Tools, model.Tool{Name: info.Name, Description: info.Description, Schema: info.Schema})
	}
	return req, nil
}

// callTools answers every call of a turn, one result for each, in order. They
// run side by side when all of them only read.
func (e *Executor) callTools(ctx context.Context, calls []model.ToolCall) ([]model.ToolResult, error) {
	results := make([]model.ToolResult, len(calls))
	errs := make([]error, len(calls))
	if !e.onlyRead(calls) {
		for i, c := range calls {
			results[i], errs[i] = e.callTool(ctx, c)
		}
		return results, errors.Join(errs...)
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() { results[i], errs[i] = e.callTool(ctx, c) })
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

func (e *Executor) onlyRead(calls []model.ToolCall) bool {
	infos := e.Tools.List()
	for _, c := range calls {
		at := slices.IndexFunc(infos, func(i tools.Info) bool { return i.Name == c.Name })
		if at >= 0 && !infos[at].ReadOnly {
			return false
		}
	}
	return true
}

// callTool makes one call. A tool that broke is told to the model, which may
// go another way; only the end of ctx stops the step.
func (e *Executor) callTool(ctx context.Context, c model.ToolCall) (model.ToolResult, error) {
	out, err := e.Tools.Call(ctx, c.Name, c.Arguments)
	if ctx.Err() != nil {
		return model.ToolResult{}, fmt.Errorf("call %s: %w", c.Name, ctx.Err())
	}
	if err != nil {
		out = tools.Result{Text: fmt.Sprintf("The tool %s broke and gave no result.", c.Name), IsError: true}
	}
	return model.ToolResult{ID: c.ID, Name: c.Name, Text: tools.Cut(out.Text, e.limit()), IsError: out.IsError}, nil
}

// readResult reads a model's last word on a step. Plain text is the result as
// it is, unless a contract asks for an object.
func readResult(text string, c *plan.Contract) (plan.Result, []string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return plan.Result{}, nil, plan.NewError(plan.CodeModelBadResponse, "The model wrote nothing. Try the step again or use another model.", nil)
	}
	object, found, err := resultObject(text)
	if err != nil {
		return plan.Result{}, nil, err
	}
	if !found {
		result := plan.Result{Text: text}
		if c != nil {
			return result, contract.Validate(nil, *c), nil
		}
		return result, nil, nil
	}
	result := plan.Result{Text: textOf(object), Data: object}
	if c != nil {
		return result, contract.Validate(object, *c), nil
	}
	return result, nil, nil
}

// resultObject finds the output object in what a model wrote. A cut-off object
// is an error, never a shorter result; anything else that is no object with a
// result is plain text.
func resultObject(text string) (json.RawMessage, bool, error) {
	raw, err := looseread.Find(text, func(v json.RawMessage) bool { return v[0] == '{' })
	if errors.Is(err, looseread.ErrTruncated) && strings.HasPrefix(text, "{") {
		return nil, false, plan.NewError(plan.CodeOutputTruncated, "The model's output ends in the middle. Ask for less in one step, or use a model that may write more.", err)
	}
	if err != nil || raw[0] != '{' {
		return nil, false, nil //nolint:nilerr // what is no object is plain text
	}
	return raw, true, nil
}

// textOf is the "result" of an object in words, or the whole object.
func textOf(object json.RawMessage) string {
	var out struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(object, &out) != nil || len(out.Result) == 0 || string(out.Result) == "null" {
		return string(object)
	}
	var text string
	if json.Unmarshal(out.Result, &text) == nil {
		return text
	}
	return string(out.Result)
}

// lineOf is a result as a model is shown it, cut at limit characters.
func lineOf(step string, r plan.Result, limit int) resultLine {
	line := resultLine{Step: step, Result: tools.Cut(r.Text, limit)}
	if len(r.Data) <= limit {
		line.Data = r.Data
	}
	return line
}
