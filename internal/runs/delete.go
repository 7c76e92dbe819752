package runs

import (
	"context"

	"planwave/internal/plan"
)

// Delete stops a run and deletes it with everything that belongs to it: its
// trace, its shares and what can be found of it. Whoever watches it is woken.
func (s *Service) Delete(ctx context.Context, id, by string) error {
	r, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	s.deleting.Store(id, true)
	defer s.deleting.Delete(id)
	if !r.Status.Ended() {
		if _, err := s.Cancel(ctx, id, by); err != nil && plan.CodeOf(err) != plan.CodeUnexpected {
			return err
		}
	}
	return s.Store.Delete(ctx, id)
}

// Deleting says whether a run is being deleted, so that who watches it waits for
// that rather than for the end of the run.
func (s *Service) Deleting(id string) bool {
	_, is := s.deleting.Load(id)
	return is
}
