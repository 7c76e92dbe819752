// Package budget reserves and settles what a run may use: requests, tokens,
// money and steps, over everything in the run together.
package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"planwave/internal/plan"
)

// Errors of a reservation.
var (
	// ErrExhausted is returned for an amount that does not fit and never will
	// with this limit.
	ErrExhausted = errors.New("budget exhausted")
	// ErrNegative refuses a negative amount.
	ErrNegative = errors.New("a negative amount cannot be reserved")
)

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
// what is used, reserved and asked for together is at most the limit. What
// does not fit while others are unsettled waits for them; when it still does
// not fit, the error is [ErrExhausted]. It is the error of ctx when ctx ends
// first.
func (l *Ledger) Reserve(ctx context.Context, a plan.Amount) (*Reservation, error) {
	if a.Requests < 0 || a.Tokens < 0 || a.CostUSD < 0 || a.Steps < 0 {
		return nil, ErrNegative
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waiter{amount: a, done: make(chan error, 1)}
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	l.admit()
	l.mu.Unlock()
	select {
	case err := <-w.done:
		return l.outcome(w, err)
	case <-ctx.Done():
	}
	l.mu.Lock()
	if at := slices.Index(l.waiting, w); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		l.admit()
		l.mu.Unlock()
		return nil, ctx.Err()
	}
	l.mu.Unlock()
	return l.outcome(w, <-w.done)
}

func (l *Ledger) outcome(w *waiter, err error) (*Reservation, error) {
	if err != nil {
		return nil, err
	}
	return &Reservation{ledger: l, amount: w.amount}, nil
}

// Settle replaces the reservation by what was really used, which may be more
// or less. Only the first call counts.
func (r *Reservation) Settle(actual plan.Amount) {
	r.once.Do(func() {
		l := r.ledger
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reserved = l.reserved.Minus(r.amount)
		l.used = l.used.Plus(actual)
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
		short := l.short(w.amount)
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

// short says in which dimension an amount does not fit, or nil.
func (l *Ledger) short(a plan.Amount) error {
	total := l.used.Plus(l.reserved).Plus(a)
	over := func(name string, total, asked int, limit *int) error {
		if limit == nil || asked == 0 || total <= *limit {
			return nil
		}
		return fmt.Errorf("%w: %s: %d used, %d more asked for, %d allowed", ErrExhausted, name, total-asked, asked, *limit)
	}
	if err := over("requests", total.Requests, a.Requests, l.limit.Requests); err != nil {
		return err
	}
	if err := over("tokens", total.Tokens, a.Tokens, l.limit.Tokens); err != nil {
		return err
	}
	if err := over("steps", total.Steps, a.Steps, l.limit.Steps); err != nil {
		return err
	}
	if m := l.limit.CostUSD; m != nil && a.CostUSD > 0 && total.CostUSD > *m {
		return fmt.Errorf("%w: cost: $%.4f used, $%.4f more asked for, $%.4f allowed",
			ErrExhausted, (total.CostUSD - a.CostUSD).Dollars(), a.CostUSD.Dollars(), m.Dollars())
	}
	return nil
}
