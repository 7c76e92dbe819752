package model

import (
	"context"
	"time"
)

// Clock is the time that limits and retries go by.
type Clock interface {
	// Now returns the time.
	Now() time.Time
	// At returns a channel that is sent the time when it is t or later.
	At(t time.Time) <-chan time.Time
}

// realTime is the clock of those who set none.
type realTime struct{}

// Now returns the time.
func (realTime) Now() time.Time {
	return time.Now() //nolint:forbidigo // what waits for a server waits in real time, unless a test sets another clock
}

// At waits in real time.
func (r realTime) At(t time.Time) <-chan time.Time { return time.After(t.Sub(r.Now())) }

// Waiting is a request that waits: for a try after a failed one, or for its
// turn at its provider.
type Waiting struct {
	// Kind is the kind of the failure that is waited out. It is [RateLimited]
	// also for the limits that are configured here.
	Kind Kind
	// Reason says in words safe to show why.
	Reason string
	// Until is when the wait is over, at the earliest.
	Until time.Time
	// Try is the try that follows, from 2 on, and Of the most there are. Both
	// are 0 for a request that waits for its turn.
	Try, Of int
}

type waitingKey struct{}

// OnWaiting returns a context whose requests call tell when a wait begins or
// becomes another one, and with the zero Waiting when it is over, however it
// ended. Tell is called in the goroutine of the request, which waits for it.
func OnWaiting(ctx context.Context, tell func(Waiting)) context.Context {
	return context.WithValue(ctx, waitingKey{}, tell)
}

// waiter tells of the waits of one request, each once.
type waiter struct {
	tell func(Waiting)
	told Waiting
}

func waiterOf(ctx context.Context) *waiter {
	tell, _ := ctx.Value(waitingKey{}).(func(Waiting))
	return &waiter{tell: tell}
}

func (t *waiter) say(w Waiting) {
	if t.tell == nil || t.told == w {
		return
	}
	t.told = w
	t.tell(w)
}

// over tells that there is nothing to wait for any more.
func (t *waiter) over() { t.say(Waiting{}) }
