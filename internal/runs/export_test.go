package runs

import (
	"context"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Later leaves events of a run to be committed with whatever is committed next,
// as a driver's are while somebody changes the run. They wait until release.
func (s *Service) Later(ctx context.Context, id string, events ...plan.Payload) (release func(), err error) {
	l, done, err := s.open(ctx, id)
	if err == nil {
		l.later(db.Batch{}, events...)
	}
	return done, err
}
