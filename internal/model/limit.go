package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits is what may go to one provider, from all runs together.
type Limits struct {
	// InFlight is how many requests are out at the same time; 0 is no limit.
	InFlight int
	// RequestsPerMinute is how many requests go out in any 60 seconds; 0 is no
	// limit.
	RequestsPerMinute int
	// TokensPerMinute is how many tokens the requests of any 60 seconds use; 0
	// is no limit. A request counts what [Estimate] says until it is answered,
	// and then what it used. One that is larger than the limit counts as much
	// as the limit, and goes out alone.
	TokensPerMinute int
	// LongestPause is the longest wait asked for by a server that holds back
	// the others, too; 0 means [DefaultMaxWait].
	LongestPause time.Duration
	// Clock is nil for real time.
	Clock Clock
}

// Limit holds requests back so that the limits are kept, and so that none goes
// out while the server has asked for a pause. Who comes first goes first. Waits
// are told to [OnWaiting] and end with the context.
func Limit(limits Limits) Middleware {
	l := newLimiter(limits)
	return func(next Model) Model {
		return Func(func(ctx context.Context, req Request) (Response, error) {
			s, err := l.enter(ctx, req)
			if err != nil {
				return Response{}, err
			}
			defer l.leave()
			resp, err := next.Generate(ctx, req)
			l.learn(s, resp, err)
			return resp, err
		})
	}
}

const minute = time.Minute

// limiter is the state behind [Limit]. A request waits in the queue for its
// turn, then for a free place, then for the time; the next one's turn comes
// when it has gone out.
type limiter struct {
	limits Limits
	places chan struct{} // one for each request that may go out; nil is no limit
	freed  chan struct{} // rung when a request used less than was thought

	mu    sync.Mutex
	queue []chan struct{} // of those whose turn it is not yet; closed when it is
	taken bool            // somebody has the turn
	sent  []*sending      // of the last minute, oldest first
	pause Waiting         // asked for by the server
	bell  chan struct{}   // closed and replaced when a pause begins or becomes longer
}

// sending is a request that went out.
type sending struct {
	at     time.Time
	tokens int
}

func newLimiter(limits Limits) *limiter {
	if limits.LongestPause <= 0 {
		limits.LongestPause = DefaultMaxWait
	}
	if limits.Clock == nil {
		limits.Clock = realTime{}
	}
	l := &limiter{limits: limits, freed: make(chan struct{}, 1), bell: make(chan struct{})}
	if limits.InFlight > 0 {
		l.places = make(chan struct{}, limits.InFlight)
		for range limits.InFlight {
			l.places <- struct{}{}
		}
	}
	return l
}

// unsent is the failure of a request that was given up while it waited.
func unsent(ctx context.Context) *Error {
	e := FromContext(ctx)
	e.Unsent = true
	return e
}

// enter returns when the request may go out.
func (l *limiter) enter(ctx context.Context, req Request) (*sending, error) {
	if ctx.Err() != nil {
		return nil, unsent(ctx)
	}
	t := waiterOf(ctx)
	defer t.over()
	if err := l.takeTurn(ctx, t); err != nil {
		return nil, err
	}
	defer l.passTurn()
	if l.places != nil {
		if err := l.await(ctx, t, l.places); err != nil {
			return nil, err
		}
	}
	s, err := l.awaitTime(ctx, t, Estimate(req).Tokens)
	if err != nil {
		l.leave()
	}
	return s, err
}

// leave gives the place back.
func (l *limiter) leave() {
	if l.places != nil {
		l.places <- struct{}{}
	}
}

func (l *limiter) takeTurn(ctx context.Context, t *waiter) error {
	l.mu.Lock()
	if !l.taken {
		l.taken = true
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.queue = append(l.queue, turn)
	l.mu.Unlock()
	err := l.await(ctx, t, turn)
	if err == nil {
		return nil
	}
	l.mu.Lock()
	at := slices.Index(l.queue, turn)
	if at >= 0 {
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	l.mu.Unlock()
	if at < 0 { // the turn came at the same moment
		l.passTurn()
	}
	return err
}

func (l *limiter) passTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.taken = false
		return
	}
	close(l.queue[0])
	l.queue = slices.Delete(l.queue, 0, 1)
}

// await waits for what is ready, and tells of the pauses meanwhile.
func (l *limiter) await(ctx context.Context, t *waiter, ready <-chan struct{}) error {
	for {
		select { // what is ready needs no wait that could be told
		case <-ready:
			return nil
		default:
		}
		pause, bell := l.paused()
		if pause.Until.After(l.limits.Clock.Now()) {
			t.say(pause)
		}
		select {
		case <-ready:
			return nil
		case <-bell:
		case <-ctx.Done():
			return unsent(ctx)
		}
	}
}

func (l *limiter) paused() (Waiting, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pause, l.bell
}

// awaitTime waits until the pause and the limits of a minute let the request
// go out, and counts it.
func (l *limiter) awaitTime(ctx context.Context, t *waiter, tokens int) (*sending, error) {
	if l.limits.TokensPerMinute > 0 {
		tokens = min(tokens, l.limits.TokensPerMinute)
	}
	for {
		_, bell := l.paused()
		s, w := l.send(tokens)
		if s != nil {
			return s, nil
		}
		t.say(w)
		select {
		case <-l.limits.Clock.At(w.Until):
		case <-l.freed:
		case <-bell:
		case <-ctx.Done():
			return nil, unsent(ctx)
		}
	}
}

// send counts a request that goes out now, or returns what it has to wait for.
func (l *limiter) send(tokens int) (*sending, Waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.limits.Clock.Now()
	old := 0
	for old < len(l.sent) && !l.sent[old].at.Add(minute).After(now) {
		old++
	}
	l.sent = slices.Delete(l.sent, 0, old)
	w := l.pause
	for _, other := range []Waiting{l.untilRequests(), l.untilTokens(tokens)} {
		if other.Until.After(w.Until) {
			w = other
		}
	}
	if w.Until.After(now) {
		return nil, w
	}
	s := &sending{at: now, tokens: tokens}
	if l.limits.RequestsPerMinute > 0 || l.limits.TokensPerMinute > 0 {
		l.sent = append(l.sent, s)
	}
	return s, Waiting{}
}

// untilRequests is the wait for the limit on requests, zero when it is not
// reached.
func (l *limiter) untilRequests() Waiting {
	n := l.limits.RequestsPerMinute
	if n <= 0 || len(l.sent) < n {
		return Waiting{}
	}
	return Waiting{
		Kind: RateLimited, Until: l.sent[len(l.sent)-n].at.Add(minute),
		Reason: fmt.Sprintf("No more than %d requests a minute go to this provider (PLANWAVE_REQUESTS_PER_MINUTE).", n),
	}
}

// untilTokens is the wait for the limit on tokens, zero when so many fit.
func (l *limiter) untilTokens(tokens int) Waiting {
	n := l.limits.TokensPerMinute
	if n <= 0 {
		return Waiting{}
	}
	for i := len(l.sent) - 1; i >= 0; i-- {
		if tokens += l.sent[i].tokens; tokens > n {
			return Waiting{
				Kind: RateLimited, Until: l.sent[i].at.Add(minute),
				Reason: fmt.Sprintf("No more than %d tokens a minute go to this provider (PLANWAVE_TOKENS_PER_MINUTE).", n),
			}
		}
	}
	return Waiting{}
}

// learn corrects what a request was counted with, and pauses when the server
// asks for it.
func (l *limiter) learn(s *sending, resp Response, err error) {
	used, known := usedTokens(s.tokens, resp, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if known {
		s.tokens = used
		select {
		case l.freed <- struct{}{}:
		default:
		}
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.passes() || e.RetryAfter <= 0 || e.RetryAfter > l.limits.LongestPause {
		return
	}
	until := l.limits.Clock.Now().Add(e.RetryAfter)
	if until.After(l.pause.Until) {
		l.pause = Waiting{Kind: e.Kind, Reason: e.Message, Until: until}
		close(l.bell)
		l.bell = make(chan struct{})
	}
}

// usedTokens is what a request used as far as its answer or failure tells. A
// server that refused it used nothing; one that was given up on, nobody knows.
func usedTokens(counted int, resp Response, err error) (tokens int, known bool) {
	u := resp.Usage
	e, failed := errors.AsType[*Error](err)
	if failed {
		u = e.Usage
	}
	switch {
	case u.TotalTokens > 0:
		return u.TotalTokens, true
	case !failed:
		return counted, false
	}
	switch e.Kind {
	case RateLimited, Unavailable, Auth:
		return 0, true
	case Unreachable, Filtered, Truncated, BadResponse, Cancelled, BeyondDemo:
	}
	return counted, false
}
