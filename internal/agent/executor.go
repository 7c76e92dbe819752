package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/prompt"
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
	Prompts         *prompt.Set // nil has those that are built in
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
// contract a [*ContractError]. Output that is wrong is sent back once.
func (e *Executor) Execute(ctx context.Context, t Task) (plan.Result, error) {
	req, err := e.request(t)
	if err != nil {
		return plan.Result{}, err
	}
	mended := false
	for turn := 1; ; turn++ {
		resp, err := e.Model.Generate(ctx, req)
		if err != nil {
			return plan.Result{}, fmt.Errorf("carry out step %s: %w", t.Step.ID, err)
		}
		req.Messages = append(req.Messages, model.Message{Speaker: model.Assistant, Text: resp.Text, Calls: resp.Calls})
		if len(resp.Calls) > 0 {
			if turn >= e.turns() {
				return plan.Result{}, endless(e.turns())
			}
			results, err := e.callTools(ctx, resp.Calls)
			if err != nil {
				return plan.Result{}, fmt.Errorf("carry out step %s: %w", t.Step.ID, err)
			}
			req.Messages = append(req.Messages, model.Message{Speaker: model.ToolSpeaker, Results: results})
			continue
		}
		result, wrong := readResult(resp.Text, t.Step.Contract)
		switch {
		case wrong == nil:
			return result, nil
		case mended || wrong.told == "":
			return plan.Result{}, wrong.final
		}
		mended = true
		req.Messages = append(req.Messages, model.Message{Speaker: model.User, Text: wrong.told})
	}
}

func endless(turns int) error {
	return plan.NewError(plan.CodeModelBadResponse, fmt.Sprintf(
		"The model still called tools in turn %d, the last one, and never wrote a result. Make the step smaller or use another model.", turns), nil)
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
	values := executorValues{Tools: len(infos) > 0}
	if c := t.Step.Contract; c != nil {
		values.Contract, values.Required, values.Checks = true, strings.Join(c.Required, ", "), c.Checks
	}
	system, err := e.Prompts.Fill(prompt.Executor, values)
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
