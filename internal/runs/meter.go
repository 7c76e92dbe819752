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

	newest string // id of the newest call, which its tool calls refer to
}

// meterFor returns the model bound to a role, metered, and its name after the
// provider.
func (s *Service) meterFor(l *live, role plan.Role, step string, attempt int) (*meter, string, error) {
	name := l.options.Models[role]
	inner, short, err := s.Models.Resolve(name)
	if err != nil {
		return nil, "", err
	}
	return &meter{l: l, inner: inner, name: name, agent: role, step: step, attempt: attempt}, short, nil
}

// Generate makes one metered call.
func (m *meter) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	s := m.l.s
	amount := model.Estimate(req)
	if c := s.Models.Cost(m.name, plan.Usage{
		Requests: 1, InputTokens: amount.Tokens - req.MaxOutputTokens, OutputTokens: req.MaxOutputTokens,
	}); c != nil {
		amount.CostUSD = *c
	}
	reserved, err := m.l.ledger.Reserve(ctx, amount)
	if err != nil {
		return model.Response{}, fmt.Errorf("reserve a call of the %s: %w", m.agent, err)
	}
	defer reserved.Settle(amount) // whatever happens; what is settled below counts first
	call, err := m.begin(ctx, req, amount)
	if err != nil {
		reserved.Settle(plan.Amount{})
		return model.Response{}, err
	}
	resp, callErr := m.inner.Generate(ctx, req)
	if callErr == nil && !plausible(resp.Usage) {
		resp.Usage = model.EstimateUsage(req, resp)
	}
	err = m.end(ctx, call, reserved, resp, callErr)
	if callErr != nil {
		return model.Response{}, callErr
	}
	return resp, err
}

func (m *meter) begin(ctx context.Context, req model.Request, amount plan.Amount) (plan.Call, error) {
	request, err := json.Marshal(req)
	if err != nil {
		return plan.Call{}, fmt.Errorf("record a request: %w", err)
	}
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

// end settles and records a call, also one that failed or was cancelled.
func (m *meter) end(ctx context.Context, call plan.Call, reserved *budget.Reservation, resp model.Response, callErr error) error {
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
	call.Usage, call.FinishedAt = usage, s.Clock().UTC()
	actual := plan.Amount{Requests: 1, Tokens: usage.TotalTokens}
	if usage.CostUSD != nil {
		actual.CostUSD = *usage.CostUSD
	}
	reserved.Settle(actual)
	return m.l.record(context.WithoutCancel(ctx), db.Batch{Calls: []plan.Call{call}}, plan.UsageSettled{
		Call: call.ID, Agent: m.agent, Step: m.step, Usage: usage, Error: call.Error,
	})
}

// mostTokens is more than any one call can use.
const mostTokens = 100_000_000

// plausible says whether a server's word on what a call used can be true. What
// cannot is estimated instead, so that no server talks itself out of a budget.
func plausible(u plan.Usage) bool {
	for _, n := range []int{u.InputTokens, u.OutputTokens, u.CachedTokens, u.ThinkingTokens, u.TotalTokens} {
		if n < 0 || n > mostTokens {
			return false
		}
	}
	return u.TotalTokens > 0 && u.TotalTokens >= u.InputTokens+u.OutputTokens
}

// last returns the id of the newest call.
func (m *meter) last() string { return m.newest }
