package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"planwave/internal/agent"
	"planwave/internal/budget"
	"planwave/internal/contract"
	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/scheduler"
	"planwave/internal/tools"
)

// engine does the scheduler's work for one run.
type engine struct {
	l     *live
	run   *plan.Run // as it was when the execution began
	tools *tools.Registry
	side  sync.Mutex // held during a call that is not read-only
}

// Record hands the scheduler's events over. Before a model is asked or a tool
// changes anything they are committed, since that is recorded first.
func (e *engine) Record(events ...plan.Payload) { e.l.later(db.Batch{}, events...) }

// Commit returns when the scheduler's events are durable.
func (e *engine) Commit(ctx context.Context) error { return e.l.record(ctx, db.Batch{}) }

// Admit charges an attempt to the budget's steps.
func (e *engine) Admit() error { return e.l.ledger.StartStep() }

// Retries delivers what people want tried again.
func (e *engine) Retries() <-chan scheduler.Retry { return e.l.retries }

// Execute carries out one attempt, by a tool or by an agent.
func (e *engine) Execute(ctx context.Context, t scheduler.Task) (out scheduler.Outcome) {
	e.l.s.steps.Add(1)
	defer e.l.s.steps.Add(-1)
	defer func() {
		if p := recover(); p != nil {
			out = e.failed(ctx, t, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	run := e.executeAgent
	if t.Step.Tool != "" {
		run = e.executeTool
	}
	result, err := run(ctx, t)
	if err == nil {
		return scheduler.Outcome{Status: plan.StepStatusSucceeded, Result: result}
	}
	if errors.Is(err, errNotKept) {
		return scheduler.Outcome{Stop: err}
	}
	if errors.Is(err, budget.ErrExhausted) {
		return scheduler.Outcome{Stop: shown(err)}
	}
	if c, ok := errors.AsType[*agent.ContractError](err); ok {
		return scheduler.Outcome{Status: plan.StepStatusInvalid, Result: c.Result, Fault: plan.FaultOf(c.Shown())}
	}
	return e.failed(ctx, t, err)
}

// failed is the outcome of an attempt that raised an error. What people are not
// shown of it is logged.
func (e *engine) failed(ctx context.Context, t scheduler.Task, err error) scheduler.Outcome {
	if shown(err).Code == plan.CodeInternal && ctx.Err() == nil {
		e.l.s.Logger.ErrorContext(ctx, "step failed", "run", e.l.id, "step", t.Step.ID, "error", err)
	}
	return scheduler.Failed(shown(err))
}

func (e *engine) executeAgent(ctx context.Context, t scheduler.Task) (plan.Result, error) {
	m, name, err := e.l.s.meterFor(e.l, e.run, plan.RoleExecutor, t.Step.ID, t.Attempt)
	if err != nil {
		return plan.Result{}, err
	}
	if m.journal, err = e.journal(ctx, t); err != nil {
		return plan.Result{}, err
	}
	x := agent.Executor{
		Model: m.retried(), ModelName: name, MaxOutputTokens: outputTokens, Prompts: e.l.s.Prompts,
		Tools: &recorder{engine: e, step: t.Step.ID, attempt: t.Attempt, journal: m.journal, call: m.last},
	}
	task := agent.Task{Question: e.run.Question, Step: t.Step}
	for _, in := range t.Inputs {
		task.Inputs = append(task.Inputs, agent.Input{Step: in.Step, Result: in.Result})
	}
	return x.Execute(ctx, task)
}

// journal is what was recorded of the attempt that this one takes up.
func (e *engine) journal(ctx context.Context, t scheduler.Task) (*journal, error) {
	was := e.run.Step(t.Step.ID)
	if was.Interrupted == 0 || t.Attempt != was.Attempts+1 {
		return nil, nil
	}
	calls, loose, err := e.l.s.Store.StepTrace(ctx, e.l.id, t.Step.ID)
	if err != nil {
		return nil, fmt.Errorf("read what was recorded of step %s: %w", t.Step.ID, err)
	}
	return newJournal(calls, loose, was.Interrupted), nil
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
	if rec.journal, err = e.journal(ctx, t); err != nil {
		return plan.Result{}, err
	}
	out, err := rec.Call(ctx, t.Step.Tool, args)
	if errors.Is(err, errDenied) {
		return plan.Result{}, plan.NewError(plan.CodeToolDenied, out.Text, err)
	}
	if ended := context.Cause(ctx); err != nil && ended != nil {
		return plan.Result{}, ended
	}
	if err != nil {
		return plan.Result{}, plan.NewError(plan.CodeToolFailed, fmt.Sprintf("The tool %s broke: %v", t.Step.Tool, err), err)
	}
	if out.IsError {
		return plan.Result{}, plan.NewError(cmp.Or(out.Code, plan.CodeToolFailed), out.Text, nil)
	}
	result := plan.Result{Text: out.Text, Data: out.Data}
	if t.Step.Contract != nil {
		if problems := contract.Validate(result.Data, *t.Step.Contract); len(problems) > 0 {
			return plan.Result{}, &agent.ContractError{Problems: problems, Result: result}
		}
	}
	return result, nil
}
