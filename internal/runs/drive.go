package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

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

// drive does what the run's status asks for until it waits or has ended. When
// something kept it from that, it rests, and another driver goes on from the
// log with a context of its own.
func (s *Service) drive(ctx context.Context, l *live) {
	err := l.takeUp(ctx)
	for err == nil {
		if err = s.advance(ctx, l); err == nil && l.rest(false) {
			return
		}
	}
	goesOn := s.give(ctx, l, err)
	l.rest(true)
	if goesOn {
		s.wake(l)
	}
}

// takeUp puts back what a driver left in flight whose last commits were lost.
func (l *live) takeUp(ctx context.Context) error {
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		inFlight := r.WithStatus(plan.StepStatusRunning, plan.StepStatusAwaitingApproval)
		if len(r.Open) == 0 && len(inFlight) == 0 {
			return nil, nil
		}
		return []plan.Payload{plan.RunResumed{}}, nil
	})
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
	l.ring()
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
	if !cancelled && (errors.Is(err, errNotKept) || errors.Is(cause, errNotKept)) {
		return s.waitForRoom(ctx, l, err)
	}
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

// notKeptPause is how long a run waits before it goes on after its store could
// not write.
const notKeptPause = 2 * time.Second

// waitForRoom lets a run be whose events could not be kept, and says whether it
// goes on: not when the process ends.
func (s *Service) waitForRoom(ctx context.Context, l *live, err error) bool {
	s.Logger.ErrorContext(ctx, "a run waits, since what happened to it could not be kept", "run", l.id, "error", err)
	pause := time.NewTimer(notKeptPause)
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// failEvents ends a run that cannot go on. One whose answer could not be
// written again keeps the answer it has.
func failEvents(r *plan.Run, err *plan.Error) []plan.Payload {
	fault := plan.FaultOf(err)
	switch {
	case r.Status != plan.RunStatusSynthesizing || r.Answer == nil:
		return append(putBack(r, fault.Message), plan.RunFailed{Error: fault})
	case r.Delivered():
		return []plan.Payload{plan.RunSucceeded{Error: &fault}}
	}
	return []plan.Payload{plan.RunPartial{Error: &fault}}
}

// putBack resets what is in flight in a run that fails, so that none of its
// steps is running for ever.
func putBack(r *plan.Run, reason string) []plan.Payload {
	inFlight := r.WithStatus(plan.StepStatusRunning, plan.StepStatusAwaitingApproval)
	if len(inFlight) == 0 {
		return nil
	}
	return []plan.Payload{plan.StepReset{Steps: inFlight, Reason: reason}}
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
