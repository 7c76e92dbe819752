package runs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"planwave/internal/budget"
	"planwave/internal/db"
	"planwave/internal/plan"
)

// live is a run that has not ended, in this process. Everything in it but the
// ledger is rebuilt from the events when a process takes the run up.
type live struct {
	s      *Service
	id     string
	ledger *budget.Ledger
	// options are the run's, which never change.
	options plan.Options

	waiting struct {
		sync.Mutex
		changes []*change // recorded and not yet committed, in order
	}

	mu   sync.Mutex // guards what follows; held while a change is committed
	run  *plan.Run  // the fold of what is committed
	snap *plan.Run  // the last clone handed out; equal to run while Seq is

	// The driver, while there is one.
	driving bool
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the driver has ended
}

func newLive(s *Service, r *plan.Run, o plan.Options) *live {
	return &live{s: s, id: r.ID, run: r, options: o, ledger: budget.New(o.Budget, r.Used())}
}

// snapshot returns the committed state as a value that never changes.
func (l *live) snapshot() *plan.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.snap == nil || l.snap.Seq != l.run.Seq {
		l.snap = l.run.Clone()
	}
	return l.snap
}

// update decides on the committed state and commits what was decided, as one
// step that nothing comes between. Deciding on nothing changes nothing.
func (l *live) update(ctx context.Context, decide func(*plan.Run) ([]plan.Payload, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(ctx); err != nil {
		return err
	}
	payloads, err := decide(l.run)
	if err != nil || len(payloads) == 0 {
		return err
	}
	return l.commit(ctx, db.Batch{}, payloads)
}

// change is events, with the calls recorded beside them, that wait to be
// committed together with others.
type change struct {
	batch    db.Batch
	payloads []plan.Payload
	done     bool
	err      error
}

// record commits events together with the recorded calls of b. Records of one
// run that come while another is being committed share the next commit: the
// first of them to get hold of the run commits for all.
func (l *live) record(ctx context.Context, b db.Batch, payloads ...plan.Payload) error {
	mine := l.later(b, payloads...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !mine.done {
		return l.flush(ctx)
	}
	return mine.err
}

// later hands events over that are committed with whatever is recorded next,
// always before it: what a step tells of on its way to its outcome.
func (l *live) later(b db.Batch, payloads ...plan.Payload) *change {
	c := &change{batch: b, payloads: payloads}
	l.waiting.Lock()
	l.waiting.changes = append(l.waiting.changes, c)
	l.waiting.Unlock()
	return c
}

// flush commits everything that waits. mu is held.
func (l *live) flush(ctx context.Context) error {
	l.waiting.Lock()
	together := l.waiting.changes
	l.waiting.changes = nil
	l.waiting.Unlock()
	if len(together) == 0 {
		return nil
	}
	var all db.Batch
	var events []plan.Payload
	for _, c := range together {
		all.Calls = append(all.Calls, c.batch.Calls...)
		all.ToolCalls = append(all.ToolCalls, c.batch.ToolCalls...)
		events = append(events, c.payloads...)
	}
	err := l.commit(ctx, all, events)
	for _, c := range together {
		c.done, c.err = true, err
	}
	return err
}

// commit numbers and applies events and appends them to the log. When that
// fails the state is read again, so that it is never ahead of the log.
func (l *live) commit(ctx context.Context, b db.Batch, payloads []plan.Payload) error {
	at := l.s.Clock().UTC().Truncate(time.Millisecond)
	if at.Before(l.run.UpdatedAt) {
		at = l.run.UpdatedAt
	}
	for _, p := range payloads {
		e := plan.Event{Seq: l.run.Seq + 1, At: at, Data: p}
		if err := l.run.Apply(e); err != nil {
			return l.reload(ctx, err)
		}
		b.Events = append(b.Events, e)
	}
	b.Run, b.Key = l.run, keyOf(ctx)
	if err := l.s.Store.Append(ctx, b); err != nil {
		return l.reload(ctx, fmt.Errorf("append to run %s: %w", l.id, err))
	}
	if l.run.Status.Ended() {
		l.s.forget(l.id)
	}
	return nil
}

// reload gives up what was applied and not committed, and returns err.
func (l *live) reload(ctx context.Context, err error) error {
	r, loadErr := l.s.Store.Load(context.WithoutCancel(ctx), l.id)
	if loadErr != nil {
		return fmt.Errorf("%w; and read it again: %w", err, loadErr)
	}
	l.run, l.snap = r, nil
	return err
}
