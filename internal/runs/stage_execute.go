package runs

import (
	"context"
	"errors"

	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// execute runs the approved plan and says what comes of it: the planner is
// asked for more, or an answer is written when at least one step succeeded.
func (s *Service) execute(ctx context.Context, l *live) error {
	run := l.snapshot()
	eng := &engine{l: l, run: run, tools: s.Tools.Present(run.Options.Tools)}
	err := scheduler.Run(ctx, run, eng)
	if errors.Is(err, scheduler.ErrRoundOver) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		return afterSteps(r)
	})
}
