package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// What [RetryConfig] means where it says nothing.
const (
	DefaultTries   = 5
	DefaultMaxWait = 5 * time.Minute
	DefaultBackoff = time.Second
	// LongestBackoff is the longest wait that no server asked for.
	LongestBackoff = 30 * time.Second
)

// RetryConfig says how often a failed request is made again, and when.
type RetryConfig struct {
	// Tries is how often a request is made at most, the first time included; 0
	// means [DefaultTries].
	Tries int
	// MaxWait is how long one request waits between its tries, all waits
	// together; 0 means [DefaultMaxWait].
	MaxWait time.Duration
	// Backoff is the longest first wait where the server asks for none; 0 means
	// [DefaultBackoff]. Each one after it may be twice as long, up to
	// [LongestBackoff].
	Backoff time.Duration
	// Random returns what waits are spread with, from 0 to 1; nil means chance.
	Random func() float64
	// Clock is nil for real time.
	Clock Clock
}

func (c RetryConfig) filled() RetryConfig {
	if c.Tries <= 0 {
		c.Tries = DefaultTries
	}
	if c.MaxWait <= 0 {
		c.MaxWait = DefaultMaxWait
	}
	if c.Backoff <= 0 {
		c.Backoff = DefaultBackoff
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Clock == nil {
		c.Clock = realTime{}
	}
	return c
}

// Retry makes a request again when that may help: when the server could not be
// reached, failed for reasons of its own, or asks to come back later. It waits
// exactly as long as the server asks for, else a random while whose bound
// doubles from try to try. A wait beyond what is left of MaxWait, or beyond the
// context's deadline, is not begun: the failure is returned at once. Waits are
// told to [OnWaiting] and end with the context, and the failure is [Cancelled]
// then.
//
// It stands around everything else, so that each try is metered, recorded and
// limited as a request of its own.
func Retry(c RetryConfig) Middleware {
	c = c.filled()
	return func(next Model) Model {
		return Func(func(ctx context.Context, req Request) (Response, error) {
			return c.generate(ctx, next, req)
		})
	}
}

func (c RetryConfig) generate(ctx context.Context, next Model, req Request) (Response, error) {
	waited := time.Duration(0)
	for try := 1; ; try++ {
		resp, err := next.Generate(ctx, req)
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.passes() || ctx.Err() != nil {
			return resp, err
		}
		wait := c.wait(e, try)
		if try == c.tries(e) || wait > c.MaxWait-waited || c.tooLate(ctx, wait) {
			return Response{}, c.givenUp(e, try, wait > c.MaxWait-waited)
		}
		w := Waiting{Kind: e.Kind, Reason: e.Message, Until: c.Clock.Now().Add(wait), Try: try + 1, Of: c.tries(e)}
		if err := c.pause(ctx, w); err != nil {
			return Response{}, err
		}
		waited += wait
	}
}

// passes says whether a failure may be gone after a while.
func (e *Error) passes() bool {
	switch e.Kind {
	case RateLimited, Unavailable, Unreachable:
		return !e.Final
	case BadResponse:
		return e.Once
	case Auth, Filtered, Truncated, Cancelled, BeyondDemo:
	}
	return false
}

// tries is how often a request that fails in this way is made at most.
func (c RetryConfig) tries(e *Error) int {
	const once = 2
	if e.Once {
		return min(c.Tries, once)
	}
	return c.Tries
}

// wait is how long to wait after a failed try: as told, else with full jitter.
func (c RetryConfig) wait(e *Error, try int) time.Duration {
	if e.RetryAfter > 0 {
		return e.RetryAfter
	}
	const mostDoublings = 16
	bound := min(c.Backoff<<min(try-1, mostDoublings), LongestBackoff)
	return time.Duration(c.Random() * float64(bound))
}

func (c RetryConfig) tooLate(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && c.Clock.Now().Add(wait).After(deadline)
}

func (c RetryConfig) pause(ctx context.Context, w Waiting) error {
	t := waiterOf(ctx)
	t.say(w)
	defer t.over()
	select {
	case <-c.Clock.At(w.Until):
		return nil
	case <-ctx.Done():
		return unsent(ctx)
	}
}

// givenUp is the last failure with what was done about it.
func (c RetryConfig) givenUp(e *Error, tries int, tooLong bool) *Error {
	out := *e
	if tries > 1 {
		out.Message += fmt.Sprintf(" It was asked %d times.", tries)
	}
	if tooLong && e.RetryAfter > 0 {
		out.Message += fmt.Sprintf(" A request waits %s in all at most. Come back after the wait of %s that was asked for, use another model, or allow more with PLANWAVE_MAX_WAIT.", c.MaxWait, e.RetryAfter.Round(roundedTo(e.RetryAfter)))
	}
	return &out
}
