package budget

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"planwave/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limits is a budget; a negative number is no limit.
func limits(requests, tokens, steps int, cost plan.USD) plan.Budget {
	var b plan.Budget
	for at, n := range map[**int]int{&b.Requests: requests, &b.Tokens: tokens, &b.Steps: steps} {
		if n >= 0 {
			*at = &n
		}
	}
	if cost >= 0 {
		b.CostUSD = &cost
	}
	return b
}

const none = -1

func requests(n int) plan.Amount { return plan.Amount{Requests: n} }

func reserve(t *testing.T, l *Ledger, a plan.Amount) *Reservation {
	t.Helper()
	r, err := l.Reserve(t.Context(), a)
	if err != nil {
		t.Fatalf("reserve %+v: %v", a, err)
	}
	return r
}

func holds(t *testing.T, l *Ledger, used, reserved plan.Amount) {
	t.Helper()
	if u, r := l.Used(); u != used || r != reserved {
		t.Errorf("used %+v, reserved %+v, want %+v and %+v", u, r, used, reserved)
	}
}

// BEHAVIOUR 8.2: exactly reaching the maximum is allowed, and going over it is
// refused in words that name the dimension.
func TestEachDimensionMayBeReachedExactly(t *testing.T) {
	tests := map[string]struct {
		limit plan.Budget
		fits  plan.Amount
		over  plan.Amount
		says  string
	}{
		"requests": {limits(40, none, none, none), requests(40), requests(1), "requests: 40 used, 1 more asked for, 40 allowed"},
		"tokens":   {limits(none, 200, none, none), plan.Amount{Tokens: 200}, plan.Amount{Tokens: 3}, "tokens: 200 used, 3 more asked for, 200 allowed"},
		"steps":    {limits(none, none, 2, none), plan.Amount{Steps: 2}, plan.Amount{Steps: 1}, "steps: 2 used, 1 more asked for, 2 allowed"},
		"cost": {
			limits(none, none, none, plan.Dollar/4),
			plan.Amount{CostUSD: plan.Dollar / 4},
			plan.Amount{CostUSD: plan.Dollar / 100},
			"cost: $0.2500 used, $0.0100 more asked for, $0.2500 allowed",
		},
		"nothing at all": {limits(0, none, none, none), plan.Amount{}, requests(1), "requests: 0 used, 1 more asked for, 0 allowed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := New(tt.limit, plan.Amount{})
			reserve(t, l, tt.fits).Settle(tt.fits)
			_, err := l.Reserve(t.Context(), tt.over)
			if !errors.Is(err, ErrExhausted) || !strings.HasSuffix(err.Error(), tt.says) {
				t.Errorf("the error is %v, want %q", err, tt.says)
			}
			holds(t, l, tt.fits, plan.Amount{})
			reserve(t, l, plan.Amount{}).Settle(plan.Amount{})
		})
	}
}

// BEHAVIOUR 8.2: all counters move, or nothing moves.
func TestReservingIsAllOrNothing(t *testing.T) {
	l := New(limits(10, 100, none, plan.Dollar), plan.Amount{Tokens: 50})
	for _, a := range []plan.Amount{
		{Requests: 1, Tokens: 51, CostUSD: 1, Steps: 1},
		{Requests: 11, Tokens: 1},
		{Requests: 1, Tokens: 1, CostUSD: plan.Dollar + 1},
	} {
		if _, err := l.Reserve(t.Context(), a); !errors.Is(err, ErrExhausted) {
			t.Errorf("reserve %+v: %v", a, err)
		}
		holds(t, l, plan.Amount{Tokens: 50}, plan.Amount{})
	}
	all := plan.Amount{Requests: 10, Tokens: 50, CostUSD: plan.Dollar, Steps: 7}
	reserve(t, l, all)
	holds(t, l, plan.Amount{Tokens: 50}, all)
}

// BEHAVIOUR 8.2: negative amounts are refused.
func TestNegativeAmountsAreRefused(t *testing.T) {
	l := New(plan.Budget{}, plan.Amount{})
	for _, a := range []plan.Amount{requests(-1), {Tokens: -1}, {CostUSD: -1}, {Steps: -1}, {Requests: 1, Tokens: -1}} {
		if _, err := l.Reserve(t.Context(), a); !errors.Is(err, ErrNegative) {
			t.Errorf("reserve %+v: %v", a, err)
		}
	}
	reserve(t, l, requests(3)).Settle(plan.Amount{Requests: 1, Tokens: -5, CostUSD: -5, Steps: -5})
	holds(t, l, requests(1), plan.Amount{})
}

func TestAmountsBeyondAllMeasureDoNotFit(t *testing.T) {
	l := New(limits(10, 10, 10, 10), plan.Amount{Requests: 5, Tokens: 5, CostUSD: 5, Steps: 5})
	for _, a := range []plan.Amount{requests(math.MaxInt), {Tokens: math.MaxInt}, {CostUSD: math.MaxInt64}, {Steps: math.MaxInt}} {
		if _, err := l.Reserve(t.Context(), a); !errors.Is(err, ErrExhausted) {
			t.Errorf("reserve %+v: %v", a, err)
		}
	}
}

// BEHAVIOUR 8.1: any dimension can be unlimited.
func TestWithoutLimitsEverythingFits(t *testing.T) {
	l := New(plan.Budget{}, plan.Amount{})
	a := plan.Amount{Requests: 1e6, Tokens: 1e12, CostUSD: 1e6 * plan.Dollar, Steps: 1e6}
	reserve(t, l, a)
	reserve(t, l, a)
	holds(t, l, plan.Amount{}, a.Plus(a))
}

func TestSettlingReplacesTheEstimateOnce(t *testing.T) {
	l := New(limits(10, 100, none, none), plan.Amount{})
	r := reserve(t, l, plan.Amount{Requests: 1, Tokens: 60})
	r.Settle(plan.Amount{Requests: 1, Tokens: 20})
	r.Settle(plan.Amount{Requests: 9, Tokens: 99})
	holds(t, l, plan.Amount{Requests: 1, Tokens: 20}, plan.Amount{})
	reserve(t, l, plan.Amount{Tokens: 80})
}

// A call that used more than it reserved is charged whole, and what is over its
// limit stops every further reservation, whatever it asks for.
func TestAnOverrunIsChargedAndStopsTheRest(t *testing.T) {
	l := New(limits(10, 100, none, none), plan.Amount{})
	reserve(t, l, plan.Amount{Requests: 1, Tokens: 90}).Settle(plan.Amount{Requests: 1, Tokens: 130})
	_, err := l.Reserve(t.Context(), requests(1))
	if !errors.Is(err, ErrExhausted) || !strings.Contains(err.Error(), "tokens: 130 used, 0 more asked for, 100 allowed") {
		t.Errorf("the error is %v", err)
	}
}

func TestAnEndedContextReservesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := New(plan.Budget{}, plan.Amount{})
	if _, err := l.Reserve(ctx, requests(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	holds(t, l, plan.Amount{}, plan.Amount{})
}

// asking is a reservation in a goroutine of its own.
type asking struct {
	cancel context.CancelFunc
	got    *Reservation
	err    error
	ended  bool
}

// ask starts a reservation inside a synctest bubble and waits until it is
// served or waits itself.
func ask(ctx context.Context, l *Ledger, a plan.Amount) *asking {
	ctx, cancel := context.WithCancel(ctx)
	q := &asking{cancel: cancel}
	go func() {
		q.got, q.err = l.Reserve(ctx, a)
		q.ended = true
	}()
	synctest.Wait()
	return q
}

// BEHAVIOUR 8.2: what does not fit while others are unsettled waits for them.
func TestAReservationWaitsForThoseThatAreUnsettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(limits(none, 100, none, none), plan.Amount{})
		first := reserve(t, l, plan.Amount{Tokens: 80})
		second := ask(t.Context(), l, plan.Amount{Tokens: 50})
		if second.ended {
			t.Fatalf("it did not wait: %v", second.err)
		}
		first.Settle(plan.Amount{Tokens: 30})
		synctest.Wait()
		if !second.ended || second.err != nil {
			t.Fatalf("it still waits, or failed: %v", second.err)
		}
		holds(t, l, plan.Amount{Tokens: 30}, plan.Amount{Tokens: 50})
	})
}

// BEHAVIOUR 8.2: when it still does not fit, the budget is exhausted.
func TestWhatStillDoesNotFitIsExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(limits(2, none, none, none), plan.Amount{})
		first, second := reserve(t, l, requests(1)), reserve(t, l, requests(1))
		third := ask(t.Context(), l, requests(1))
		first.Settle(requests(1))
		synctest.Wait()
		if third.ended {
			t.Fatal("it gave up while one was unsettled")
		}
		second.Settle(requests(1))
		synctest.Wait()
		if !errors.Is(third.err, ErrExhausted) {
			t.Fatalf("the error is %v", third.err)
		}
	})
}

func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(limits(none, 100, none, none), plan.Amount{})
		first := reserve(t, l, plan.Amount{Tokens: 90})
		large := ask(t.Context(), l, plan.Amount{Tokens: 60})
		small := ask(t.Context(), l, plan.Amount{Tokens: 5})
		if large.ended || small.ended {
			t.Fatal("one overtook the other")
		}
		first.Settle(plan.Amount{})
		synctest.Wait()
		if large.err != nil || small.err != nil || !large.ended || !small.ended {
			t.Fatalf("large: %v, small: %v", large.err, small.err)
		}
	})
}

func TestAWaiterThatGivesUpLetsTheNextIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(limits(none, 100, none, none), plan.Amount{})
		reserve(t, l, plan.Amount{Tokens: 90})
		large := ask(t.Context(), l, plan.Amount{Tokens: 60})
		small := ask(t.Context(), l, plan.Amount{Tokens: 5})
		large.cancel()
		synctest.Wait()
		if !errors.Is(large.err, context.Canceled) {
			t.Errorf("the error is %v", large.err)
		}
		if !small.ended || small.err != nil {
			t.Errorf("the next still waits, or failed: %v", small.err)
		}
		holds(t, l, plan.Amount{}, plan.Amount{Tokens: 95})
	})
}

// BEHAVIOUR 8.3: a person may go on with a larger budget.
func TestARaisedLimitLetsWaitersIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(limits(1, none, none, none), plan.Amount{})
		reserve(t, l, requests(1))
		second := ask(t.Context(), l, requests(1))
		l.Raise(limits(2, none, none, none))
		synctest.Wait()
		if !second.ended || second.err != nil {
			t.Errorf("it still waits, or failed: %v", second.err)
		}
		l.Raise(plan.Budget{})
		reserve(t, l, requests(100))
	})
}

// BEHAVIOUR 8.2: budget is left for one call, and a wave of four steps is ready.
func TestAWaveCannotOverrunTheLastCall(t *testing.T) {
	l := New(limits(10, none, none, none), requests(9))
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 4 {
		wg.Go(func() {
			r, err := l.Reserve(t.Context(), requests(1))
			if err == nil {
				r.Settle(requests(1))
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	refused := 0
	for err := range errs {
		if errors.Is(err, ErrExhausted) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 3 {
		t.Errorf("%d of 4 were refused, want 3", refused)
	}
	holds(t, l, requests(10), plan.Amount{})
}

func BenchmarkReserveAndSettle(b *testing.B) {
	l := New(plan.DefaultBudget(), plan.Amount{})
	for b.Loop() {
		r, err := l.Reserve(b.Context(), plan.Amount{Requests: 1, Tokens: 1000})
		if err != nil {
			b.Fatal(err)
		}
		r.Settle(plan.Amount{})
	}
}

func TestStartStepWaitsForNothing(t *testing.T) { // BEHAVIOUR 8.2
	two, one := 2, 1
	l := New(plan.Budget{Steps: &two, Requests: &one}, plan.Amount{})
	held, err := l.Reserve(t.Context(), plan.Amount{Requests: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() { _, err := l.Reserve(ctx, plan.Amount{Requests: 1}); waits <- err }()
	for range two { // beside a call in flight and one that waits for it
		if err := l.StartStep(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.StartStep(); !errors.Is(err, ErrExhausted) {
		t.Errorf("a third of two steps: %v", err)
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	held.Settle(plan.Amount{Requests: 1})
	if used, _ := l.Used(); used.Steps != two || used.Requests != 1 {
		t.Errorf("used = %+v", used)
	}
}
