package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// recorder is the tools as one attempt has them: every call is recorded, and
// one that is not read-only waits for a person.
type recorder struct {
	*engine
	step    string
	attempt int
	journal *journal
	call    func() string // id of the model call that asks; nil for a tool step
}

// errDenied is a call that a person did not allow.
var errDenied = errors.New("denied by a person")

// errorLimit is how much of a tool's error, in characters, an event holds.
const errorLimit = 2_000

// List returns the tools that executors have.
func (r *recorder) List() []tools.Info { return r.tools.List() }

// Call calls a tool and records the call with its whole result. What was
// recorded before a restart is not called again. A call that a person denies is
// a result that says so to an agent, and [errDenied] to a tool step.
func (r *recorder) Call(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	args, reaches := r.tools.Coerced(name, args)
	if out, err, ok := r.journal.tool(name, args); ok {
		return out, err
	}
	info, _ := r.tools.Get(name)
	if info.ReadOnly || !reaches {
		return r.make(ctx, name, args, "")
	}
	a, err := r.approval(ctx, name, args)
	if err != nil {
		return tools.Result{}, err
	}
	if a.Decision == plan.DecisionDeny {
		return r.denied(ctx, a, args)
	}
	r.side.Lock()
	defer r.side.Unlock()
	if ended := context.Cause(ctx); ended != nil {
		return tools.Result{}, ended
	}
	return r.make(ctx, name, args, a.ID)
}

// make makes a call and records it.
func (r *recorder) make(ctx context.Context, name string, args json.RawMessage, approval string) (tools.Result, error) {
	land, err := r.l.s.gate.pass(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	defer land()
	c := r.newCall(name, args)
	telling, done := r.l.s.board.tool(ctx, r.l.id, Now{Call: c.ID, Agent: plan.RoleExecutor, Step: r.step, Attempt: r.attempt, Progress: tools.Progress{Tool: name}})
	out, err := r.tools.Call(telling, name, args)
	done()
	if ended := context.Cause(ctx); err != nil && ended != nil {
		return tools.Result{}, ended // nobody knows what came of it
	}
	c.Result, c.Data = out.Text, out.Data
	switch {
	case err != nil:
		c.Error = err.Error()
	case out.IsError:
		c.Error = out.Text
	}
	if recErr := r.record(ctx, c, approval); recErr != nil {
		return tools.Result{}, recErr
	}
	return out, err
}

// denied records a call that was not made.
func (r *recorder) denied(ctx context.Context, a plan.ToolApproval, args json.RawMessage) (tools.Result, error) {
	c := r.newCall(a.Tool, args)
	out := tools.Result{Text: fmt.Sprintf("A person did not allow this call of %s. Do without it, or say what cannot be done.", a.Tool), IsError: true}
	c.Result, c.Error = out.Text, out.Text
	if err := r.record(ctx, c, a.ID); err != nil {
		return tools.Result{}, err
	}
	if r.call == nil {
		return out, errDenied
	}
	return out, nil
}

func (r *recorder) newCall(name string, args json.RawMessage) plan.ToolCall {
	s := r.l.s
	c := plan.ToolCall{
		ID: s.NewID(), Step: r.step, Attempt: r.attempt, Tool: name, Arguments: args, StartedAt: s.Clock().UTC(),
	}
	if r.call != nil {
		c.CallID = r.call()
	}
	return c
}

// record records a finished call. One that changed something is committed at
// once; another comes with what follows it.
func (r *recorder) record(ctx context.Context, c plan.ToolCall, approval string) error {
	c.FinishedAt = r.l.s.Clock().UTC()
	event := plan.StepToolCalled{
		Step: r.step, Attempt: r.attempt, ID: c.ID, Tool: c.Tool, Arguments: c.Arguments,
		Error: tools.Cut(c.Error, errorLimit), Millis: c.FinishedAt.Sub(c.StartedAt).Milliseconds(), Approval: approval,
	}
	batch := db.Batch{ToolCalls: []plan.ToolCall{c}}
	if approval == "" {
		r.l.later(batch, event)
		return nil
	}
	return r.l.record(context.WithoutCancel(ctx), batch, event)
}

// approval returns a person's word on a call, and waits for it.
func (r *recorder) approval(ctx context.Context, name string, args json.RawMessage) (plan.ToolApproval, error) {
	for {
		bell := r.l.changed()
		a, err := r.request(ctx, name, args)
		if err != nil || a.Decision != "" {
			return a, err
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return plan.ToolApproval{}, context.Cause(ctx)
		}
	}
}

// request asks for a person's word, once for each call, and returns what is
// known of it.
func (r *recorder) request(ctx context.Context, name string, args json.RawMessage) (a plan.ToolApproval, err error) {
	err = r.l.update(context.WithoutCancel(ctx), func(run *plan.Run) ([]plan.Payload, error) {
		var asked bool
		a, asked = run.ApprovalFor(r.step, name, args)
		switch {
		case a.Decision != "", run.Step(r.step).Status == plan.StepStatusAwaitingApproval:
			return nil, nil
		case !asked:
			a.ID = r.l.s.NewID()
		}
		return []plan.Payload{plan.StepApprovalRequested{
			ID: a.ID, Step: r.step, Attempt: r.attempt, Tool: name, Arguments: args,
		}}, nil
	})
	return a, err
}
