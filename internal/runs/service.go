package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/prompt"
	"planwave/internal/scheduler"
	"planwave/internal/tools"
)

// Store is where runs are kept. Every method is safe for concurrent use.
type Store interface {
	Log
	Traces
}

// Log keeps the events of runs.
type Log interface {
	Append(ctx context.Context, b db.Batch) error
	Load(ctx context.Context, runID string) (*plan.Run, error)
	Unfinished(ctx context.Context) ([]string, error)
	// Events returns at most limit events of a run after the numbered one.
	Events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error)
	// Delete deletes a run and all that belongs to it.
	Delete(ctx context.Context, runID string) error
}

// Traces tells what models were asked before.
type Traces interface {
	Trace(ctx context.Context, runID string) ([]plan.Call, error)
	StepTrace(ctx context.Context, runID, step string) ([]plan.Call, []plan.ToolCall, error)
	History(ctx context.Context, model string, role plan.Role) (db.History, error)
}

// Models resolves the names that roles are bound to.
type Models interface {
	// Resolve returns the model named provider:model, ready to be asked, and
	// the part of the name after the provider.
	Resolve(name string) (model.Model, string, error)
	// Default returns the name that a role is bound to when a run names none.
	Default(role plan.Role) string
	// Retry returns a model that asks again where that helps.
	Retry(m model.Model) model.Model
	// Cost returns the price of a usage, nil when it is unknown.
	Cost(name string, u plan.Usage) *plan.USD
}

// Config is what a [Service] works with.
type Config struct {
	Store  Store
	Models Models
	Tools  *tools.Registry
	// CostLimit is the default cost limit of a run; nil is none.
	CostLimit *plan.USD
	// Prompts are what agents are told; nil has those that are built in.
	Prompts *prompt.Set
	Clock   func() time.Time
	NewID   func() string
	Logger  *slog.Logger
}

// Service carries runs from question to answer. A run goes on whether anyone
// looks at it or not.
//
// Each run that has not ended has at most one driver, a goroutine that does
// what the run's status asks for. All changes of one run, by its driver or by
// a person, go through [live.update], one after the other.
type Service struct {
	Config
	ctx  context.Context // of all drivers; ends with Stop
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	board    board
	gate     gate
	deleting sync.Map     // the runs that are being deleted, by id
	steps    atomic.Int64 // attempts that are being carried out

	mu      sync.Mutex
	live    map[string]*live // guarded by mu; runs that are in use
	stopped bool             // guarded by mu; no driver starts any more
}

// New returns a service that does nothing until it is asked or started.
func New(c Config) *Service {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Service{Config: c, ctx: ctx, stop: stop, live: map[string]*live{}}
}

// Start takes up every run that a stopped process left: an approved run goes
// on running, one that waits for a person waits.
func (s *Service) Start(ctx context.Context) error {
	ids, err := s.Store.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("find the runs to go on with: %w", err)
	}
	for _, id := range ids {
		if err := s.resume(ctx, id); err != nil {
			s.Logger.ErrorContext(ctx, "resume run", "run", id, "error", err)
		}
	}
	return nil
}

func (s *Service) resume(ctx context.Context, id string) error {
	l, done, err := s.open(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	err = l.update(ctx, func(r *plan.Run) ([]plan.Payload, error) {
		if r.Status.Ended() || r.Status == plan.RunStatusAwaitingApproval || l.driving {
			return nil, nil // somebody set it going before it was found
		}
		return []plan.Payload{plan.RunResumed{}}, nil
	})
	if err != nil {
		return err
	}
	s.wake(l)
	return nil
}

// Stop ends all drivers without ending their runs, which go on at the next
// start, and waits for them.
func (s *Service) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.stop(scheduler.ErrShutdown)
	s.wg.Wait()
}

// Get returns the state of a run, which the caller must not change.
func (s *Service) Get(ctx context.Context, id string) (*plan.Run, error) {
	s.mu.Lock()
	l := s.live[id]
	s.mu.Unlock()
	if l != nil {
		if r := l.snapshot(); r != nil {
			return r, nil
		}
	}
	return s.load(ctx, id)
}

func (s *Service) load(ctx context.Context, id string) (*plan.Run, error) {
	r, err := s.Store.Load(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return nil, notFound(id)
	}
	return r, err
}

func notFound(id string) error {
	return plan.NewError(plan.CodeNotFound, fmt.Sprintf("There is no run %q. It may have been deleted.", id), nil)
}

// open returns the live state of a run, the same one to all who have it open,
// and what is called when it is no longer needed.
func (s *Service) open(ctx context.Context, id string) (*live, func(), error) {
	l := s.hold(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.run != nil {
		return l, func() { s.release(l) }, nil
	}
	r, err := s.load(ctx, id)
	if err != nil {
		s.release(l)
		return nil, nil, err
	}
	l.set(r)
	return l, func() { s.release(l) }, nil
}

// hold returns the entry of a run, which stays while anyone holds it.
func (s *Service) hold(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live[id]
	if l == nil {
		l = &live{s: s, id: id}
		s.live[id] = l
	}
	l.users++
	return l
}

func (s *Service) release(l *live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(s.live, l.id)
	}
}
