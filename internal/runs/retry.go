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
	case r.Recorded:
		return false, unexpected(r, "try a step again", "it comes from a recording: run it again from there instead")
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
