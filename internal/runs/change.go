package runs

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Approve starts the newest version of the plan, named by its number. A
// version that is no longer the newest is refused, and so is a second approval.
func (s *Service) Approve(ctx context.Context, id string, number int, by string) (*plan.Run, error) {
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if err := newest(r, number); err != nil {
			return nil, err
		}
		if !r.Approvable() {
			return nil, unexpected(r, "approve the plan", "only a plan that waits for approval can be approved")
		}
		v, _ := r.Version()
		return []plan.Payload{plan.PlanApproved{Version: v.Number, Hash: v.Hash, By: by}, plan.RunStarted{}}, nil
	})
}

// Edit saves a person's plan as a new version, made from version number. A
// plan that breaks a rule is refused whole; one that changes nothing keeps the
// version. In the middle of a run a step that succeeded keeps its result as long
// as it and what it needs stay as they are.
func (s *Service) Edit(ctx context.Context, id string, number int, p plan.Plan, by string) (*plan.Run, error) {
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if err := newest(r, number); err != nil {
			return nil, err
		}
		if !r.Editable() {
			return nil, unexpected(r, "edit the plan", "only a plan that waits for approval can be edited")
		}
		p, mends, warnings, err := s.checked(r, p)
		if err != nil {
			return nil, err
		}
		v, err := version(r, p, by, "edited", mends, warnings)
		if err != nil {
			return nil, err
		}
		if now, _ := r.Version(); now.Hash == v.Hash {
			return nil, nil
		}
		return []plan.Payload{plan.PlanEdited{Version: v}}, nil
	})
}

// Revise sends the plan back to the planner with a comment.
func (s *Service) Revise(ctx context.Context, id, comment, by string) (*plan.Run, error) {
	comment = strings.TrimSpace(comment)
	if n := utf8.RuneCountInString(comment); n == 0 || n > plan.MostQuestion {
		e := plan.NewError(plan.CodeInvalid, fmt.Sprintf("Say what to change, in 1 to %d characters.", plan.MostQuestion), nil)
		e.Violations = []plan.Violation{{Code: plan.CodeInvalid, Steps: []string{}, Field: "comment", Message: e.Message}}
		return nil, e
	}
	return s.change(ctx, id, func(r *plan.Run) ([]plan.Payload, error) {
		if !r.Editable() {
			return nil, unexpected(r, "ask for changes", "only a plan that waits for approval can be sent back")
		}
		return []plan.Payload{plan.PlanRequested{Comment: comment, By: by}}, nil
	})
}

// Cancel stops a run. It returns when what was in flight has stopped and the
// end is committed, or when ctx ends.
func (s *Service) Cancel(ctx context.Context, id, by string) (*plan.Run, error) {
	l, done, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	before := l.cancelled()
	for {
		ended, err := l.cancelNow(ctx, by, before)
		if err != nil {
			return nil, err
		}
		if ended == nil {
			return l.snapshot(), nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// cancelled counts how often the run was cancelled.
func (l *live) cancelled() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cancels
}

// cancelNow ends a run that has no driver. One that has is told to stop, and
// the channel that says when it has is returned. Looking and acting are one
// step, so that no driver starts in between. A run that was cancelled since
// before is left: somebody may have set it going again.
func (l *live) cancelNow(ctx context.Context, by string, before int) (ended <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush(withoutKey(ctx))
	switch {
	case l.cancels > before:
		return nil, nil
	case !l.run.Cancelable():
		return nil, unexpected(l.run, "cancel the run", "it has ended")
	case l.driving:
		l.cancel(cancelledBy{by: by, key: keyOf(ctx)})
		return l.ended, nil
	}
	return nil, l.commit(ctx, db.Batch{}, cancelEvents(l.run, by))
}

// change makes a person's change and sets the run going again where it has work.
func (s *Service) change(ctx context.Context, id string, decide func(*plan.Run) ([]plan.Payload, error)) (*plan.Run, error) {
	l, done, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := l.update(ctx, decide); err != nil {
		return nil, err
	}
	s.wake(l)
	return l.snapshot(), nil
}

// newest holds that a person means the newest version, and says what is other in
// it where they do not.
func newest(r *plan.Run, number int) error {
	v, _ := r.Version()
	if v.Number == number {
		return nil
	}
	what := ""
	for _, was := range r.Versions {
		if was.Number == number {
			what = differs(was.Plan, v.Plan)
		}
	}
	return plan.NewError(plan.CodeStale, fmt.Sprintf(
		"Version %d is not the newest: the plan is at version %d now%s. Look at what changed, then decide again.", number, v.Number, what), nil)
}

// differs names the steps that a plan changes in another.
func differs(was, now plan.Plan) string {
	by := map[plan.Change][]string{}
	for _, c := range plan.Diff(was, now) {
		by[c.Change] = append(by[c.Change], c.Step)
	}
	var said []string
	for _, c := range []plan.Change{plan.ChangeAdded, plan.ChangeChanged, plan.ChangeRemoved} {
		if ids := by[c]; len(ids) > 0 {
			said = append(said, string(c)+": "+plan.Short(strings.Join(ids, ", "), mostSaid))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}

// mostSaid is how much, in characters, a refusal says of the steps that changed.
const mostSaid = 200

func unexpected(r *plan.Run, what, why string) error {
	return plan.NewError(plan.CodeUnexpected, fmt.Sprintf("Cannot %s: the run is %s, and %s.", what, r.Status.Words(), why), nil)
}
