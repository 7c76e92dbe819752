package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"planwave/internal/budget"
	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
)

// meter is a model as one agent of one run has it: each call is reserved from
// the budget before it is made, settled after it, and recorded both times. At
// most one call lies between two commits.
type meter struct {
	l       *live
	inner   model.Model
	name    string // provider:model
	agent   plan.Role
	step    string // empty outside a step
	attempt int

	journal *journal
	newest  string // id of the newest call, which its tool calls refer to
}

// meterFor returns the model bound to a role, metered, and its name after the
// provider.
func (s *Service) meterFor(l *live, run *plan.Run, role plan.Role, step string, attempt int) (*meter, string, error) {
	name := run.Options.Models[role]
	inner, short, err := s.Models.Resolve(name)
	if err != nil {
		return nil, "", err
	}
	return &meter{l: l, inner: inner, name: name, agent: role, step: step, attempt: attempt}, short, nil
}

// Generate makes one metered call, or returns what a call like it was answered
// before the attempt was cut off.
func (m *meter) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	request, err := json.Marshal(req)
	if err != nil {
		return model.Response{}, fmt.Errorf("record a request: %w", err)
	}
	if resp, id, ok := m.journal.call(request); ok {
		m.newest = id
		return resp, nil
	}
	amount := m.estimate(req)
	reserved, err := m.l.ledger.Reserve(ctx, amount)
	if err != nil {
		return model.Response{}, fmt.Errorf("reserve a call of the %s: %w", m.agent, err)
	}
	defer reserved.Settle(amount) // whatever happens; what is settled below counts first
	land, err := m.l.s.gate.pass(ctx)
	if err != nil {
		reserved.Settle(plan.Amount{})
		return model.Response{}, err
	}
	defer land()
	call, err := m.begin(ctx, request, amount)
	if err != nil {
		reserved.Settle(plan.Amount{})
		return model.Response{}, err
	}
	resp, callErr := m.ask(ctx, call, req)
	if callErr == nil && !plausible(resp.Usage) {
		resp.Usage = model.EstimateUsage(req, resp)
	}
	err = m.end(call, reserved, resp, usedBy(req, callErr))
	if callErr != nil {
		return model.Response{}, callErr
	}
	return resp, err
}

// retried is the model that asks again where that helps. What it waits for is on
// the board.
func (m *meter) retried() model.Model {
	s := m.l.s
	inner := s.Models.Retry(m)
	return model.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		return inner.Generate(s.board.waits(ctx, m.l.id, m.now("")), req)
	})
}

// now is what the board says of a call.
func (m *meter) now(call string) Now {
	return Now{Call: call, Agent: m.agent, Step: m.step, Attempt: m.attempt, Model: m.name}
}

// ask makes a call, which is on the board meanwhile.
func (m *meter) ask(ctx context.Context, call plan.Call, req model.Request) (model.Response, error) {
	ctx, onText, done := m.l.s.board.post(ctx, m.l.id, m.now(call.ID))
	defer done()
	req.OnText = onText
	return m.inner.Generate(ctx, req)
}

// estimate is what a call is reserved with.
func (m *meter) estimate(req model.Request) plan.Amount {
	amount := model.Estimate(req)
	if c := m.l.s.Models.Cost(m.name, plan.Usage{
		Requests: 1, InputTokens: amount.Tokens - req.MaxOutputTokens, OutputTokens: req.MaxOutputTokens,
	}); c != nil {
		amount.CostUSD = *c
	}
	return amount
}

// usedBy returns a failed call's error with what the call used. A server that
// took the request and did not tell charges at least what was sent.
func usedBy(req model.Request, err error) error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Usage.TotalTokens > 0 {
		return err
	}
	switch e.Kind {
	case model.Cancelled, model.Filtered, model.Truncated:
		if e.Unsent {
			return err
		}
		told := *e
		told.Usage = model.EstimateUsage(req, model.Response{})
		return &told
	case model.Unreachable, model.RateLimited, model.Auth, model.Unavailable, model.BadResponse, model.BeyondDemo:
	}
	return err
}

func (m *meter) begin(ctx context.Context, request json.RawMessage, amount plan.Amount) (plan.Call, error) {
	s := m.l.s
	call := plan.Call{
		ID: s.NewID(), Agent: m.agent, Step: m.step, Attempt: m.attempt, Model: m.name,
		Request: request, StartedAt: s.Clock().UTC(),
	}
	m.newest = call.ID
	return call, m.l.record(context.WithoutCancel(ctx), db.Batch{Calls: []plan.Call{call}}, plan.UsageReserved{
		Call: call.ID, Agent: m.agent, Step: m.step, Attempt: m.attempt, Model: m.name, Amount: amount,
	})
}

// end settles and records a call, also one that failed or was cancelled. It is
// committed with what comes of it, and before the next call in any case.
func (m *meter) end(call plan.Call, reserved *budget.Reservation, resp model.Response, callErr error) error {
	s := m.l.s
	usage := resp.Usage
	if callErr != nil {
		usage = plan.Usage{}
		if e, ok := errors.AsType[*model.Error](callErr); ok {
			usage = e.Usage
		}
		f := plan.FaultOf(shown(callErr))
		call.Error = &f
	} else {
		response, err := json.Marshal(resp)
		if err != nil {
			return fmt.Errorf("record a response: %w", err)
		}
		call.Response = response
	}
	usage.Requests = 1
	usage.CostUSD = s.Models.Cost(m.name, usage)
	call.Request = nil // it is written already
	call.Usage, call.FinishedAt = usage, s.Clock().UTC()
	actual := plan.Amount{Requests: 1, Tokens: usage.TotalTokens}
	if usage.CostUSD != nil {
		actual.CostUSD = *usage.CostUSD
	}
	reserved.Settle(actual)
	m.l.later(db.Batch{Calls: []plan.Call{call}}, plan.UsageSettled{
		Call: call.ID, Agent: m.agent, Step: m.step, Usage: usage, Error: call.Error,
	})
	return nil
}

// mostTokens is more than any one call can use.
const mostTokens = 100_000_000

// plausible says whether a server's word on what a call used can be true. What
// cannot is estimated instead, so that no server talks itself out of a budget.
func plausible(u plan.Usage) bool {
	return possible(u) && u.TotalTokens > 0 && u.TotalTokens >= u.InputTokens+u.OutputTokens
}

// possible says whether a call can have used so much.
func possible(u plan.Usage) bool {
	for _, n := range []int{u.Requests, u.InputTokens, u.OutputTokens, u.CachedTokens, u.ThinkingTokens, u.TotalTokens} {
		if n < 0 || n > mostTokens {
			return false
		}
	}
	return u.CostUSD == nil || *u.CostUSD >= 0
}

// last returns the id of the newest call.
func (m *meter) last() string { return m.newest }
