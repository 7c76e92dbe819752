// Package budget reserves and settles what a run may use: requests, tokens,
// money and steps, over everything in the run together.
package budget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"planwave/internal/plan"
)

// Errors of a reservation.
var (
	// ErrExhausted is returned, as an [*ExhaustedError], for an amount that does
	// not fit and never will with this limit.
	ErrExhausted = errors.New("budget exhausted")
	// ErrNegative refuses a negative amount.
	ErrNegative = errors.New("a negative amount cannot be reserved")
)

// ExhaustedError says in which dimension an amount does not fit.
type ExhaustedError struct{ Dimension, Used, Asked, Allowed string }

// Error says it in words that are safe to show.
func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%s: %s used, %s more asked for, %s allowed", e.Dimension, e.Used, e.Asked, e.Allowed)
}

// Is says that it is [ErrExhausted].
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// Ledger is the budget of one run. Every method is safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	limit    plan.Budget
	used     plan.Amount // settled
	reserved plan.Amount // not settled yet
	open     int         // reservations not settled yet
	waiting  []*waiter   // first come, first served
}

// waiter is a reservation that does not fit while others are unsettled.
type waiter struct {
	amount plan.Amount
	done   chan error // receives once; buffered
}

// Reservation is an amount set aside until it is settled.
type Reservation struct {
	ledger *Ledger
	amount plan.Amount
	once   sync.Once
}

// New returns a ledger with what was used before.
func New(limit plan.Budget, used plan.Amount) *Ledger {
	return &Ledger{limit: limit, used: used}
}

// Reserve sets an amount aside, in all dimensions or in none. It fits when
// what is used, reserved and asked for together is at most the limit in every
// dimension, also in one that nothing is asked of. What does not fit while
// others are unsettled waits for them; when it still does not fit, the error is
// [ErrExhausted]. It is the error of ctx when ctx ends first.
func (l *Ledger) Reserve(ctx context.Context, a plan.Amount) (*Reservation, error) {
	if a.Requests < 0 || a.Tokens < 0 || a.CostUSD < 0 || a.Steps < 0 {
		return nil, ErrNegative
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := l.join(a)
	select {
	case err := <-w.done:
		return l.outcome(w, err)
	case <-ctx.Done():
	}
	if l.leave(w) {
		return nil, ctx.Err()
	}
	return l.outcome(w, <-w.done)
}

// StartStep counts one attempt at a step. Nothing reserves steps, so it waits
// for nothing: when what is settled leaves no room it is [ErrExhausted].
func (l *Ledger) StartStep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := plan.Amount{Steps: 1}
	if err := l.short(l.used, one); err != nil {
		return err
	}
	l.used = l.used.Plus(one)
	return nil
}

// join puts an amount behind those that wait, and serves whoever can be.
func (l *Ledger) join(a plan.Amount) *waiter {
	w := &waiter{amount: a, done: make(chan error, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	l.admit()
	return w
}

// leave gives up waiting, which may let others in. It is false for one that
// was served before.
func (l *Ledger) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.waiting, w)
	if at < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	l.admit()
	return true
}

func (l *Ledger) outcome(w *waiter, err error) (*Reservation, error) {
	if err != nil {
		return nil, err
	}
	return &Reservation{ledger: l, amount: w.amount}, nil
}

// Settle replaces the reservation by what was really used, which may be more
// or less. Only the first call counts. What is told as less than nothing is
// nothing, so that no provider can give budget back.
func (r *Reservation) Settle(actual plan.Amount) {
	r.once.Do(func() {
		l := r.ledger
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reserved = l.reserved.Minus(r.amount)
		l.used = l.used.Plus(plan.Amount{
			Requests: max(actual.Requests, 0), Tokens: max(actual.Tokens, 0),
			CostUSD: max(actual.CostUSD, 0), Steps: max(actual.Steps, 0),
		})
		l.open--
		l.admit()
	})
}

// Raise replaces the limit, and lets in what fits now.
func (l *Ledger) Raise(limit plan.Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = limit
	l.admit()
}

// Used returns what is settled and what is reserved beside it.
func (l *Ledger) Used() (used, reserved plan.Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used, l.reserved
}

// admit serves the waiting in order: the first that does not fit waits while
// anything is unsettled, and is refused when nothing is. mu is held.
func (l *Ledger) admit() {
	for len(l.waiting) > 0 {
		w := l.waiting[0]
		short := l.short(l.used.Plus(l.reserved), w.amount)
		if short != nil && l.open > 0 {
			return
		}
		l.waiting = l.waiting[1:]
		if short == nil {
			l.reserved = l.reserved.Plus(w.amount)
			l.open++
		}
		w.done <- short
	}
}

// short says in which dimension an amount does not fit beside what is held, or
// nil. mu is held.
func (l *Ledger) short(held, a plan.Amount) error {
	return cmp.Or(
		over("requests", count, held.Requests, a.Requests, l.limit.Requests),
		over("tokens", count, held.Tokens, a.Tokens, l.limit.Tokens),
		over("steps", count, held.Steps, a.Steps, l.limit.Steps),
		over("cost", dollars, held.CostUSD, a.CostUSD, l.limit.CostUSD),
	)
}

// over is the error of a dimension in which an amount does not fit, or nil. It
// subtracts, since a sum could overflow.
func over[T int | plan.USD](dimension string, written func(T) string, held, asked T, limit *T) error {
	if limit == nil || asked <= *limit-held {
		return nil
	}
	return &ExhaustedError{Dimension: dimension, Used: written(held), Asked: written(asked), Allowed: written(*limit)}
}

func count(n int) string { return strconv.Itoa(n) }

func dollars(u plan.USD) string { return fmt.Sprintf("$%.4f", u.Dollars()) }
