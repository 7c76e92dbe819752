package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"planwave/internal/budget"
	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// wake starts a driver for the run if it has work and no driver.
func (s *Service) wake(l *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.driving || !hasWork(l.run.Status) || !s.enter(l) {
		return
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	l.driving, l.cancel, l.ended = true, cancel, make(chan struct{})
	go func() {
		defer s.wg.Done()
		defer s.release(l)
		defer cancel(nil)
		s.drive(ctx, l)
	}()
}

// enter holds the run for a driver, unless the service is stopping.
func (s *Service) enter(l *live) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	l.users++
	s.wg.Add(1)
	return true
}

// hasWork says whether a run in this status goes on by itself.
func hasWork(status plan.RunStatus) bool {
	switch status {
	case plan.RunStatusPlanning, plan.RunStatusRunning, plan.RunStatusAwaitingToolApproval, plan.RunStatusSynthesizing:
		return true
	case plan.RunStatusAwaitingApproval,
		plan.RunStatusSucceeded, plan.RunStatusPartial, plan.RunStatusFailed, plan.RunStatusCancelled:
	}
	return false
}

// drive does what the run's status asks for until it waits or has ended.
func (s *Service) drive(ctx context.Context, l *live) {
	for {
		err := s.advance(ctx, l)
		if err != nil && !s.give(ctx, l, err) {
			l.rest(true)
			return
		}
		if l.rest(false) {
			return
		}
	}
}

// rest ends the driver, if told to or if the run has no work left. Checking
// and ending are one step, so that no wake is lost in between.
func (l *live) rest(always bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !always && hasWork(l.run.Status) {
		return false
	}
	l.driving = false
	close(l.ended)
	return true
}

// advance carries the run through one status. A panic is an error of this run
// only.
func (s *Service) advance(ctx context.Context, l *live) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("drive run %s: panic: %v\n%s", l.id, p, debug.Stack())
		}
	}()
	switch l.snapshot().Status {
	case plan.RunStatusPlanning:
		return s.plan(ctx, l)
	case plan.RunStatusRunning, plan.RunStatusAwaitingToolApproval:
		return s.execute(ctx, l)
	case plan.RunStatusSynthesizing:
		return s.answer(ctx, l)
	case plan.RunStatusAwaitingApproval, plan.RunStatusSucceeded,
		plan.RunStatusPartial, plan.RunStatusFailed, plan.RunStatusCancelled:
	}
	return nil
}

// give ends a run that cannot go on because of err: cancelled when a person
// stopped it, else failed. It reports false when the run must be left as it
// is: the process ends, or the end could not be committed.
func (s *Service) give(ctx context.Context, l *live, err error) bool {
	cause := context.Cause(ctx)
	if errors.Is(cause, scheduler.ErrShutdown) {
		return false
	}
	cancel, cancelled := errors.AsType[cancelledBy](cause)
	if cancelled && cancel.key != nil {
		ctx = WithKey(ctx, *cancel.key)
	}
	end := func(r *plan.Run) ([]plan.Payload, error) {
		if r.Status.Ended() {
			return nil, nil
		}
		if cancelled {
			return cancelEvents(r, cancel.by), nil
		}
		return failEvents(r, shown(err)), nil
	}
	if shown(err).Code == plan.CodeInternal && !cancelled {
		s.Logger.ErrorContext(ctx, "run failed", "run", l.id, "error", err)
	}
	err = l.update(context.WithoutCancel(ctx), end)
	if errors.Is(err, db.ErrInFlight) { // the request was answered meanwhile
		err = l.update(withoutKey(context.WithoutCancel(ctx)), end)
	}
	if err != nil {
		s.Logger.ErrorContext(ctx, "end run", "run", l.id, "error", err)
		return false
	}
	return true
}

// failEvents ends a run that cannot go on. One whose answer could not be
// written again keeps the answer it has.
func failEvents(r *plan.Run, err *plan.Error) []plan.Payload {
	fault := plan.FaultOf(err)
	switch {
	case r.Status != plan.RunStatusSynthesizing || r.Answer == nil:
		return []plan.Payload{plan.RunFailed{Error: fault}}
	case r.Delivered():
		return []plan.Payload{plan.RunSucceeded{Error: &fault}}
	}
	return []plan.Payload{plan.RunPartial{Error: &fault}}
}

// cancelEvents ends a run with every step that has not ended.
func cancelEvents(r *plan.Run, by string) []plan.Payload {
	var events []plan.Payload
	for _, st := range r.Steps {
		if !st.Status.Ended() {
			events = append(events, plan.StepCancelled{Step: st.ID, Attempt: st.Attempts})
		}
	}
	return append(events, plan.RunCancelled{By: by})
}

// cancelledBy is the cause of a context that a person cancelled.
type cancelledBy struct {
	by  string
	key *db.Key // of the request, which is carried out when the run has ended
}

func (cancelledBy) Error() string   { return "cancelled by a person" }
func (cancelledBy) Is(e error) bool { return e == scheduler.ErrCancelled }

// shown turns any error of a driver into one that people can be shown.
func shown(err error) *plan.Error {
	if e, ok := errors.AsType[*plan.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Shown()
	}
	if e, ok := errors.AsType[*budget.ExhaustedError](err); ok {
		return plan.NewError(plan.CodeBudgetExhausted,
			"The budget of this run is used up ("+e.Error()+"). What succeeded is kept.", err)
	}
	return plan.AsError(err)
}
