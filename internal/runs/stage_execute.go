package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"planwave/internal/agent"
	"planwave/internal/budget"
	"planwave/internal/contract"
	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/scheduler"
	"planwave/internal/tools"
)

// execute runs the approved plan and says what comes of it: an answer is
// written when at least one step succeeded.
func (s *Service) execute(ctx context.Context, l *live) error {
	run := l.snapshot()
	set, err := s.Tools.Subset(run.Options.Tools)
	if err != nil {
		return err
	}
	eng := &engine{l: l, tools: set, question: run.Question}
	if err := scheduler.Run(ctx, run, eng); err != nil {
		return err
	}
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		if len(r.WithStatus(plan.StepStatusSucceeded)) == 0 {
			return nil, plan.NewError(plan.CodeAllStepsFailed, allFailed(r), nil)
		}
		return []plan.Payload{plan.AnswerStarted{Attempt: r.AnswerAttempts + 1}}, nil
	})
}

func allFailed(r *plan.Run) string {
	msg := "No step succeeded, so there is nothing to answer from."
	for _, st := range r.Steps {
		if st.Error != nil {
			return fmt.Sprintf("%s Step %s failed first: %s", msg, st.ID, st.Error.Message)
		}
	}
	return msg
}

// engine does the scheduler's work for one run.
type engine struct {
	l        *live
	tools    *tools.Registry
	question string
}

// Record commits the scheduler's events.
func (e *engine) Record(ctx context.Context, events ...plan.Payload) error {
	return e.l.record(ctx, db.Batch{}, events...)
}

// Admit charges an attempt to the budget's steps.
func (e *engine) Admit(ctx context.Context) error {
	r, err := e.l.ledger.Reserve(ctx, plan.Amount{Steps: 1})
	if err != nil {
		return err
	}
	r.Settle(plan.Amount{Steps: 1})
	return nil
}

// Execute carries out one attempt, by a tool or by an agent.
func (e *engine) Execute(ctx context.Context, t scheduler.Task) scheduler.Outcome {
	run := e.executeAgent
	if t.Step.Tool != "" {
		run = e.executeTool
	}
	result, err := run(ctx, t)
	if err == nil {
		return scheduler.Outcome{Status: plan.StepStatusSucceeded, Result: result}
	}
	if errors.Is(err, budget.ErrExhausted) {
		return scheduler.Outcome{Stop: shown(err)}
	}
	if c, ok := errors.AsType[*agent.ContractError](err); ok {
		return scheduler.Outcome{Status: plan.StepStatusInvalid, Result: c.Result, Fault: plan.FaultOf(c.Shown())}
	}
	if shown(err).Code == plan.CodeInternal && ctx.Err() == nil {
		e.l.s.Logger.ErrorContext(ctx, "step failed", "run", e.l.id, "step", t.Step.ID, "error", err)
	}
	return scheduler.Failed(shown(err))
}

func (e *engine) executeAgent(ctx context.Context, t scheduler.Task) (plan.Result, error) {
	m, name, err := e.l.s.meterFor(e.l, plan.RoleExecutor, t.Step.ID, t.Attempt)
	if err != nil {
		return plan.Result{}, err
	}
	x := agent.Executor{
		Model: m, ModelName: name, MaxOutputTokens: outputTokens,
		Tools: &recorder{engine: e, step: t.Step.ID, attempt: t.Attempt, call: m.last},
	}
	task := agent.Task{Question: e.question, Step: t.Step}
	for _, in := range t.Inputs {
		task.Inputs = append(task.Inputs, agent.Input{Step: in.Step, Result: in.Result})
	}
	return x.Execute(ctx, task)
}

// executeTool carries a tool step out with no model call. References in its
// input are filled once, from the results as they are.
func (e *engine) executeTool(ctx context.Context, t scheduler.Task) (plan.Result, error) {
	results := make(map[string]plan.Result, len(t.Inputs))
	for _, in := range t.Inputs {
		results[in.Step] = in.Result
	}
	args, err := e.tools.Arguments(t.Step.Tool, t.Step.Input)
	if err != nil {
		return plan.Result{}, plan.NewError(plan.CodeToolFailed, err.Error(), err)
	}
	args, err = plan.Fill(args, results)
	if err != nil {
		return plan.Result{}, plan.NewError(plan.CodeBadReference, err.Error(), err)
	}
	rec := recorder{engine: e, step: t.Step.ID, attempt: t.Attempt}
	out, err := rec.Call(ctx, t.Step.Tool, args)
	if err != nil {
		return plan.Result{}, plan.NewError(plan.CodeToolFailed, fmt.Sprintf("The tool %s broke: %v", t.Step.Tool, err), err)
	}
	if out.IsError {
		return plan.Result{}, plan.NewError(plan.CodeToolFailed, out.Text, nil)
	}
	result := plan.Result{Text: out.Text, Data: out.Data}
	if t.Step.Contract != nil {
		if problems := contract.Validate(result.Data, *t.Step.Contract); len(problems) > 0 {
			return plan.Result{}, &agent.ContractError{Problems: problems, Result: result}
		}
	}
	return result, nil
}

// recorder is the tools as one attempt has them: every call is recorded.
type recorder struct {
	*engine
	step    string
	attempt int
	call    func() string // id of the model call that asks; nil for a tool step
}

// List returns the tools that executors have.
func (r *recorder) List() []tools.Info { return r.tools.List() }

// Call calls a tool and records the call with its whole result.
func (r *recorder) Call(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	s := r.l.s
	c := plan.ToolCall{
		ID: s.NewID(), Step: r.step, Attempt: r.attempt, Tool: name, Arguments: args, StartedAt: s.Clock().UTC(),
	}
	if r.call != nil {
		c.CallID = r.call()
	}
	out, err := r.tools.Call(ctx, name, args)
	c.FinishedAt, c.Result = s.Clock().UTC(), out.Text
	switch {
	case err != nil:
		c.Error = err.Error()
	case out.IsError:
		c.Error = out.Text
	}
	event := plan.StepToolCalled{
		Step: r.step, Attempt: r.attempt, ID: c.ID, Tool: name, Arguments: args,
		Error: tools.Cut(c.Error, errorLimit), Millis: c.FinishedAt.Sub(c.StartedAt).Milliseconds(),
	}
	if r.call == nil {
		// The step's outcome comes next, and is committed together with this.
		r.l.later(db.Batch{ToolCalls: []plan.ToolCall{c}}, event)
		return out, err
	}
	if recErr := r.l.record(context.WithoutCancel(ctx), db.Batch{ToolCalls: []plan.ToolCall{c}}, event); recErr != nil {
		return tools.Result{}, recErr
	}
	return out, err
}

// errorLimit is how much of a tool's error, in characters, an event holds.
const errorLimit = 2_000
