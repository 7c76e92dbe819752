package runs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"planwave/internal/budget"
	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/scheduler"
)

// live is a run that somebody has open in this process: its driver, or who
// changes it. Everything in it but the ledger is rebuilt from the events.
type live struct {
	s     *Service
	id    string
	users int // guarded by s.mu; see hold

	waiting struct {
		sync.Mutex
		changes  []*change // recorded and not yet committed, in order
		flushing bool      // whether a goroutine is at work on them
	}
	// retries are the wishes of people to try a step again while the scheduler
	// is at work.
	retries chan scheduler.Retry

	mu     sync.Mutex // guards what follows; held while a change is committed
	run    *plan.Run  // the fold of what is committed; nil before it is loaded
	snap   *plan.Run  // the last clone handed out; equal to run while Seq is
	bell   chan struct{}
	ledger *budget.Ledger

	// The driver, while there is one.
	driving bool
	cancels int // how often the run was cancelled
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the driver has ended
}

// set makes r the state. mu is held, or nobody else has l yet.
func (l *live) set(r *plan.Run) {
	l.run, l.retries = r, make(chan scheduler.Retry)
	l.ledger = budget.New(r.Options.Budget, r.Used())
}

// snapshot returns the committed state as a value that never changes, nil
// where it is not loaded.
func (l *live) snapshot() *plan.Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run == nil {
		return nil
	}
	if l.snap == nil || l.snap.Seq != l.run.Seq {
		l.snap = l.run.Clone()
	}
	return l.snap
}

// changed returns a channel that is closed at the next commit.
func (l *live) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bell == nil {
		l.bell = make(chan struct{})
	}
	return l.bell
}

// update decides on the committed state and commits what was decided, as one
// step that nothing comes between. Deciding on nothing changes nothing.
func (l *live) update(ctx context.Context, decide func(*plan.Run) ([]plan.Payload, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush(withoutKey(ctx))
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
	awaited  bool // whoever recorded it learns of its outcome
	done     bool
	err      error
}

// record commits events together with the recorded calls of b, and all that
// was handed over before them. Records of one run that come while another is
// being committed share the next commit: the first of them to get hold of the
// run commits for all.
func (l *live) record(ctx context.Context, b db.Batch, payloads ...plan.Payload) error {
	mine := &change{batch: b, payloads: payloads, awaited: true}
	l.waiting.Lock()
	l.waiting.changes = append(l.waiting.changes, mine)
	l.waiting.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !mine.done {
		l.flush(ctx)
	}
	return mine.err
}

// later hands events over that nobody waits for: they are committed soon, in
// the order of their handing over and always before what is recorded after
// them. When they cannot be, the driver is told to stop.
func (l *live) later(b db.Batch, payloads ...plan.Payload) {
	l.waiting.Lock()
	defer l.waiting.Unlock()
	l.waiting.changes = append(l.waiting.changes, &change{batch: b, payloads: payloads})
	if l.waiting.flushing {
		return
	}
	l.waiting.flushing = true
	l.s.wg.Go(func() {
		for l.waits() {
			l.mu.Lock()
			l.flush(context.Background())
			l.mu.Unlock()
		}
	})
}

// waits says whether there is more to commit; when not, flushing is over.
func (l *live) waits() bool {
	l.waiting.Lock()
	defer l.waiting.Unlock()
	l.waiting.flushing = len(l.waiting.changes) > 0
	return l.waiting.flushing
}

// errLost is what became of a change whose commit did not come back.
var errLost = errors.New("the commit was given up in the middle")

// flush commits everything that waits; each change has its own outcome. Changes
// that do not fit together are tried one by one, so that one that is refused
// takes no other down. mu is held.
func (l *live) flush(ctx context.Context) {
	l.waiting.Lock()
	together := l.waiting.changes
	l.waiting.changes = nil
	l.waiting.Unlock()
	if len(together) == 0 {
		return
	}
	var all change
	for _, c := range together {
		c.done, c.err = true, errLost
		all.batch.Calls = append(all.batch.Calls, c.batch.Calls...)
		all.batch.ToolCalls = append(all.batch.ToolCalls, c.batch.ToolCalls...)
		all.payloads = append(all.payloads, c.payloads...)
	}
	err := l.commit(ctx, all.batch, all.payloads)
	alone := len(together) > 1 && errors.Is(err, plan.ErrTransition)
	for _, c := range together {
		if c.err = err; alone {
			c.err = l.commit(ctx, c.batch, c.payloads)
		}
		if c.err != nil && !c.awaited && l.driving {
			l.cancel(c.err)
		}
	}
}

// commit numbers and applies events and appends them to the log. When that
// fails the state is read again, so that it is never ahead of the log.
func (l *live) commit(ctx context.Context, b db.Batch, payloads []plan.Payload) error {
	if len(payloads) == 0 {
		return nil
	}
	at := l.s.Clock().UTC().Truncate(time.Millisecond)
	if at.Before(l.run.UpdatedAt) {
		at = l.run.UpdatedAt
	}
	apply := func(p plan.Payload) error {
		e := plan.Event{Seq: l.run.Seq + 1, At: at, Data: p}
		b.Events = append(b.Events, e)
		return l.run.Apply(e)
	}
	for _, p := range payloads {
		if err := apply(p); err != nil {
			return l.reload(ctx, err)
		}
	}
	if l.run.Status == plan.RunStatusRunning && len(l.run.Approvals) > 0 && l.run.OnlyWaits() {
		if err := apply(plan.RunWaiting{}); err != nil {
			return l.reload(ctx, err)
		}
	}
	b.Run, b.Key = l.run, keyOf(ctx)
	if err := l.s.Store.Append(ctx, b); err != nil {
		return l.reload(ctx, fmt.Errorf("append to run %s: %w", l.id, kept(err)))
	}
	l.committed(payloads)
	return nil
}

// errNotKept is a commit that the store could not make: a full disk, a locked
// file. The run goes on from its log when it can be written again.
var errNotKept = errors.New("what happened could not be kept")

// kept tells a store that cannot write from one that refuses what it was given.
func kept(err error) error {
	for _, refusal := range []error{db.ErrConflict, db.ErrNotFound, db.ErrClosed, db.ErrInFlight} {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errNotKept, err)
}

// committed does what follows from events that are in the log.
func (l *live) committed(payloads []plan.Payload) {
	for _, p := range payloads {
		switch p := p.(type) {
		case plan.RunContinued:
			if p.Budget != nil {
				l.ledger.Raise(*p.Budget)
			}
		case plan.RunCancelled:
			l.cancels++
		case plan.RunResumed: // what the stopped process had reserved is charged from here on
			l.ledger = budget.New(l.run.Options.Budget, l.run.Used())
		}
	}
	l.ring()
}

// ring tells those who wait for a change. mu is held.
func (l *live) ring() {
	if l.bell != nil {
		close(l.bell)
		l.bell = nil
	}
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
