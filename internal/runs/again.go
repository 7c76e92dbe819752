package runs

import (
	"context"
	"errors"
	"fmt"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// Retry tries a step again that failed, broke its contract or was cancelled:
// it and all that need it are reset, every other result is kept. It works on an
// ended run and on one that goes on.
func (s *Service) Retry(ctx context.Context, id, step, by string) (*plan.Run, error) {
	l, done, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	for {
		bell := l.changed()
		working := false
		err := l.update(ctx, func(r *plan.Run) (events []plan.Payload, err error) {
			working, err = retryable(r, step)
			if err != nil || working {
				return nil, err
			}
			return retryEvents(r, step, by)
		})
		if err != nil {
			return nil, err
		}
		if !working {
			s.wake(l)
			return l.snapshot(), nil
		}
		s.wake(l) // where its driver gave up
		wish := scheduler.Retry{Step: step, By: by, Done: make(chan error, 1)}
		select {
		case l.retries <- wish:
			return l.told(ctx, wish, step)
		case <-bell: // the scheduler may have ended: look again
		case <-s.ctx.Done():
			return nil, context.Cause(s.ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// told returns the run when the scheduler has said what came of a wish.
func (l *live) told(ctx context.Context, wish scheduler.Retry, step string) (*plan.Run, error) {
	select {
	case err := <-wish.Done:
		if errors.Is(err, scheduler.ErrNotRetryable) {
			return nil, plan.NewError(plan.CodeUnexpected, fmt.Sprintf(
				"Step %s cannot be tried again now: the run is coming to a stop, or the step has changed. Look at the run and try again.", step), err)
		}
		return l.snapshot(), err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// retryable says whether a step can be tried again, and whether the scheduler
// is at work and must be asked.
func retryable(r *plan.Run, step string) (working bool, err error) {
	st := r.Step(step)
	if st == nil {
		return false, plan.NewError(plan.CodeNotFound, fmt.Sprintf("There is no step %q in this run.", plan.Short(step, mostNamed)), nil)
	}
	switch {
	case st.Status == plan.StepStatusSkipped:
		return false, unexpectedStep(r, st, fmt.Sprintf("it waits for step %s, which failed first: try that one again", st.Cause))
	case !st.Status.Broken() && st.Status != plan.StepStatusCancelled:
		return false, unexpectedStep(r, st, "only a failed, invalid or cancelled step can be tried again; to run a finished step anew, run again from there")
	case r.Status == plan.RunStatusRunning || r.Status == plan.RunStatusAwaitingToolApproval:
		return true, nil
	case !r.Status.Ended():
		return false, unexpected(r, "try a step again", "a step is tried again while the plan runs or when the run has ended")
	}
	if v, _ := r.Version(); r.Approved != v.Number {
		return false, unexpected(r, "try a step again", "its newest plan was not approved")
	}
	return false, nil
}

func unexpectedStep(r *plan.Run, st *plan.StepState, why string) error {
	return plan.NewError(plan.CodeUnexpected, fmt.Sprintf("Cannot try step %s again: it is %s in a run that is %s. A hint: %s.",
		st.ID, st.Status, r.Status.Words(), why), nil)
}

// retryEvents reopens an ended run for a step.
func retryEvents(r *plan.Run, step, by string) ([]plan.Payload, error) {
	reset, err := plan.Affected(r.Plan(), []string{step})
	if err != nil {
		return nil, err
	}
	return []plan.Payload{
		plan.RunContinued{Status: plan.RunStatusRunning, Reason: "step " + step + " is tried again", By: by},
		plan.StepReset{Steps: reset, Reason: "tried again", By: by},
	}, nil
}

// Continue goes on with a run that ran out of budget, with a budget that leaves
// it room.
func (s *Service) Continue(ctx context.Context, id string, b plan.Budget, by string) (*plan.Run, error) {
	if err := refused(func(bad reject) { checkBudget(b, bad) }); err != nil {
		return nil, err
	}
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if r.Status != plan.RunStatusFailed || r.Error == nil || r.Error.Code != plan.CodeBudgetExhausted {
			return nil, unexpected(r, "go on", "only a run that ran out of budget goes on with a larger one")
		}
		if err := refused(func(bad reject) { checkRoom(r, b, bad) }); err != nil {
			return nil, err
		}
		to := r.FailedIn
		if to == plan.RunStatusAwaitingToolApproval {
			to = plan.RunStatusRunning
		}
		return []plan.Payload{plan.RunContinued{Status: to, Reason: "goes on with a larger budget", Budget: &b, By: by}}, nil
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
