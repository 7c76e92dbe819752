package runs

import (
	"context"

	"planwave/internal/plan"
)

// Continue goes on with a run that ran out of budget, with a budget that leaves
// it room.
func (s *Service) Continue(ctx context.Context, id string, b plan.Budget, by string) (*plan.Run, error) {
	if err := refused(func(bad reject) { checkBudget(b, bad) }); err != nil {
		return nil, err
	}
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if !r.Continuable() {
			return nil, unexpected(r, "go on", "only a run that ran out of budget, with something left to do, goes on with a larger one")
		}
		if err := refused(func(bad reject) { checkRoom(r, b, bad) }); err != nil {
			return nil, err
		}
		return []plan.Payload{plan.RunContinued{Status: r.ContinuesIn(), Reason: "goes on with a larger budget", Budget: &b, By: by}}, nil
	})
}

// checkRoom holds that a budget leaves room beside what is used.
func checkRoom(r *plan.Run, b plan.Budget, bad reject) {
	used := r.Used()
	room := func(field string, limit *int, used int) {
		if limit != nil && *limit <= used {
			bad("budget."+field, "budget.%s is %d and %d are used already; give more, or null for no limit.", field, *limit, used)
		}
	}
	room("requests", b.Requests, used.Requests)
	room("tokens", b.Tokens, used.Tokens)
	room("steps", b.Steps, used.Steps)
	if b.CostUSD != nil && *b.CostUSD <= used.CostUSD {
		bad("budget.cost_usd", "budget.cost_usd is %v and %v are used already; give more, or null for no limit.", b.CostUSD.Dollars(), used.CostUSD.Dollars())
	}
}

// AnswerAgain has the answer of an ended run written, again or for the first
// time, from what there is. No step runs. Without a budget the run's is given
// the room that one answer takes.
func (s *Service) AnswerAgain(ctx context.Context, id string, b *plan.Budget, by string) (*plan.Run, error) {
	if b != nil {
		if err := refused(func(bad reject) { checkBudget(*b, bad) }); err != nil {
			return nil, err
		}
	}
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if !r.Answerable() {
			return nil, unexpected(r, "write the answer", "an answer is written when a run has ended and at least one step succeeded")
		}
		budget := s.allowance(r)
		if b != nil {
			budget = *b
			if err := refused(func(bad reject) { checkRoom(r, budget, bad) }); err != nil {
				return nil, err
			}
		}
		return []plan.Payload{
			plan.RunContinued{Status: plan.RunStatusSynthesizing, Reason: "the answer is written from what there is", Budget: &budget, By: by},
			plan.AnswerStarted{Attempt: r.AnswerAttempts + 1},
		}, nil
	})
}

// What the writing of one answer is allowed beside what is used: the answer
// and one correction of it.
const (
	answerCalls  = 2
	answerTokens = 60_000
)

// allowance is the run's budget with at least the room that an answer takes.
func (s *Service) allowance(r *plan.Run) plan.Budget {
	b, used := r.Options.Budget, r.Used()
	atLeast := func(limit *int, n int) *int {
		if limit == nil {
			return nil
		}
		n = max(*limit, n)
		return &n
	}
	b.Requests = atLeast(b.Requests, used.Requests+answerCalls)
	b.Tokens = atLeast(b.Tokens, used.Tokens+answerTokens)
	b.Steps = atLeast(b.Steps, used.Steps)
	cost := s.Models.Cost(r.Options.Models[plan.RoleSynthesizer], plan.Usage{
		Requests: answerCalls, InputTokens: answerTokens - outputTokens, OutputTokens: outputTokens, TotalTokens: answerTokens,
	})
	if b.CostUSD != nil && cost != nil {
		most := max(*b.CostUSD, used.CostUSD+*cost)
		b.CostUSD = &most
	}
	return b
}
