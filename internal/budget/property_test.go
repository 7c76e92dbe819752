package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func amount(t *rapid.T, most int) plan.Amount {
	n := rapid.IntRange(0, most)
	return plan.Amount{
		Requests: n.Draw(t, "requests"), Tokens: n.Draw(t, "tokens"),
		CostUSD: plan.USD(n.Draw(t, "cost")), Steps: n.Draw(t, "steps"),
	}
}

func budget(t *rapid.T, most int) plan.Budget {
	n := rapid.IntRange(none, most)
	return limits(n.Draw(t, "requests"), n.Draw(t, "tokens"), n.Draw(t, "steps"), plan.USD(n.Draw(t, "cost")))
}

// within says whether an amount is at most the limit in every dimension.
func within(a plan.Amount, b plan.Budget) bool {
	return (b.Requests == nil || a.Requests <= *b.Requests) && (b.Tokens == nil || a.Tokens <= *b.Tokens) &&
		(b.Steps == nil || a.Steps <= *b.Steps) && (b.CostUSD == nil || a.CostUSD <= *b.CostUSD)
}

// reference is the budget as the behaviour says it, in the plainest words: what
// was let in, in which order the others wait.
type reference struct {
	limit plan.Budget
	used  plan.Amount
	open  []*ticket
	queue []*ticket
}

// ticket is one reservation, in the ledger and in the reference.
type ticket struct {
	amount plan.Amount
	w      *waiter
	state  string // waiting, open, exhausted
}

func (m *reference) serve() {
	for len(m.queue) > 0 {
		next := m.queue[0]
		total := m.used.Plus(next.amount)
		for _, o := range m.open {
			total = total.Plus(o.amount)
		}
		switch {
		case within(total, m.limit):
			next.state = "open"
			m.open = append(m.open, next)
		case len(m.open) > 0:
			return
		default:
			next.state = "exhausted"
		}
		m.queue = m.queue[1:]
	}
}

// compare holds every ticket's state in the ledger against the reference.
func compare(t *rapid.T, l *Ledger, m *reference, all []*ticket) {
	reserved := plan.Amount{}
	for _, o := range m.open {
		reserved = reserved.Plus(o.amount)
	}
	if u, r := l.Used(); u != m.used || r != reserved {
		t.Fatalf("used %+v, reserved %+v, want %+v and %+v", u, r, m.used, reserved)
	}
	for i, k := range all {
		waits := slices.Contains(l.waiting, k.w)
		if waits != (k.state == "waiting") {
			t.Fatalf("reservation %d waits: %v, want it %s", i, waits, k.state)
		}
		if waits || len(k.w.done) == 0 {
			continue
		}
		if err := <-k.w.done; errors.Is(err, ErrExhausted) != (k.state == "exhausted") {
			t.Fatalf("reservation %d has the error %v, want it %s", i, err, k.state)
		}
	}
}

// BEHAVIOUR 8.2
func TestALedgerDoesAsTheReferenceDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		used, limit := amount(t, 5), budget(t, 30)
		l, m := New(limit, used), &reference{limit: limit, used: used}
		var all []*ticket
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				a := amount(t, 12)
				k := &ticket{amount: a, state: "waiting"}
				m.queue = append(m.queue, k)
				m.serve()
				k.w = l.join(a)
				all = append(all, k)
			},
			"settle": func(t *rapid.T) {
				if len(m.open) == 0 {
					return
				}
				at := rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
				k, actual := m.open[at], amount(t, 14)
				m.open = slices.Delete(m.open, at, at+1)
				m.used = m.used.Plus(actual)
				m.serve()
				(&Reservation{ledger: l, amount: k.w.amount}).Settle(actual)
				k.state = "settled"
			},
			"give up": func(t *rapid.T) {
				if len(m.queue) == 0 {
					return
				}
				at := rapid.IntRange(0, len(m.queue)-1).Draw(t, "which")
				k := m.queue[at]
				m.queue = slices.Delete(m.queue, at, at+1)
				k.state = "gone"
				m.serve()
				if !l.leave(k.w) {
					t.Fatal("one that waits was served")
				}
			},
			"raise": func(t *rapid.T) {
				m.limit = budget(t, 60)
				m.serve()
				l.Raise(m.limit)
			},
			"": func(t *rapid.T) { compare(t, l, m, all) },
		})
	})
}

// BEHAVIOUR 8.2: parallel steps cannot together overrun requests, none of them
// waits for ever, and what is refused is refused because the budget is used up.
func TestParallelReservationsNeverOverrun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 12).Draw(t, "limit")
		steps := rapid.IntRange(1, 20).Draw(t, "steps")
		each := rapid.IntRange(1, 3).Draw(t, "calls each")
		l := New(limits(most, none, none, none), plan.Amount{})
		var made atomic.Int64
		var wg sync.WaitGroup
		for range steps {
			wg.Go(func() {
				for range each {
					r, err := l.Reserve(context.Background(), requests(1))
					if err != nil {
						return
					}
					made.Add(1)
					r.Settle(requests(1))
				}
			})
		}
		wg.Wait()
		if want := int64(min(most, steps*each)); made.Load() != want {
			t.Fatalf("%d calls were made, want %d", made.Load(), want)
		}
	})
}

// Whoever is cancelled while waiting holds nothing, so that the ledger is empty
// when all have ended.
func TestCancelledWaitersHoldNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(limits(none, 10, none, none), plan.Amount{})
		sizes := rapid.SliceOfN(rapid.IntRange(0, 10), 1, 20).Draw(t, "sizes")
		var wg sync.WaitGroup
		for i, n := range sizes {
			ctx, cancel := context.WithCancel(context.Background())
			wg.Go(func() {
				if r, err := l.Reserve(ctx, plan.Amount{Tokens: n}); err == nil {
					r.Settle(plan.Amount{})
				} else if !errors.Is(err, context.Canceled) {
					panic(err)
				}
			})
			if i%2 == 0 {
				wg.Go(cancel)
			} else {
				defer cancel()
			}
		}
		wg.Wait()
		if u, r := l.Used(); u != (plan.Amount{}) || r != (plan.Amount{}) || len(l.waiting) > 0 {
			t.Fatalf("used %+v, reserved %+v, %d wait", u, r, len(l.waiting))
		}
	})
}
