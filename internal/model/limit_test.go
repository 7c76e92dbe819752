package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// log is a model that keeps who went out and when.
type log struct {
	mu   sync.Mutex
	t0   time.Time
	out  []string
	does func(ctx context.Context, req model.Request) (model.Response, error)
}

func newLog() *log { return &log{t0: time.Now()} }

func (l *log) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	l.mu.Lock()
	l.out = append(l.out, fmt.Sprintf("%s %s", req.Model, time.Since(l.t0)))
	l.mu.Unlock()
	if l.does == nil {
		return model.Response{}, nil
	}
	return l.does(ctx, req)
}

func (l *log) is(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.out, want) {
		t.Errorf("went out: %q, want %q", l.out, want)
	}
}

// queued makes requests a, b, c, … in that order, and returns their errors by
// name.
func queued(ctx context.Context, m model.Model, names ...string) map[string]chan error {
	done := map[string]chan error{}
	for _, name := range names {
		done[name] = make(chan error, 1)
		go func() {
			_, err := m.Generate(ctx, model.Request{Model: name})
			done[name] <- err
		}()
		synctest.Wait() // it is in the queue
	}
	return done
}

func TestRequestsAMinuteInTheOrderTheyCame(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := model.Limit(model.Limits{RequestsPerMinute: 2, InFlight: 5})(l)
		if _, err := m.Generate(t.Context(), model.Request{Model: "first"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Second)
		for name, done := range queued(t.Context(), m, "a", "b", "c", "d", "e") {
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		l.is(t, "first 0s", "a 20s", "b 1m0s", "c 1m20s", "d 2m0s", "e 2m20s")
	})
}

func TestTokensAMinute(t *testing.T) { // BEHAVIOUR 11
	const ask = 1_000 // what a request without a text is reserved with
	request := func(name string, tokens int) model.Request {
		return model.Request{Model: name, MaxOutputTokens: tokens}
	}
	used := func(tokens int) func(context.Context, model.Request) (model.Response, error) {
		return func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Usage: plan.Usage{TotalTokens: tokens}}, nil
		}
	}
	generate := func(t *testing.T, m model.Model, name string, tokens int) {
		t.Helper()
		if _, err := m.Generate(t.Context(), request(name, tokens)); kindOf(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Run("what was used counts, not what was thought", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			l.does = used(400)
			m := model.Limit(model.Limits{TokensPerMinute: 2 * ask})(l)
			for _, name := range []string{"a", "b", "c", "d"} { // the last would come to 2,200
				generate(t, m, name, ask)
			}
			l.is(t, "a 0s", "b 0s", "c 0s", "d 1m0s")
		})
	})
	t.Run("more than was thought counts, too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			l.does = used(2 * ask)
			m := model.Limit(model.Limits{TokensPerMinute: 2 * ask})(l)
			generate(t, m, "a", ask)
			generate(t, m, "b", ask)
			l.is(t, "a 0s", "b 1m0s")
		})
	})
	t.Run("an answer that used less lets the next one out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			l.does = func(context.Context, model.Request) (model.Response, error) {
				<-time.After(5 * time.Second)
				return model.Response{Usage: plan.Usage{TotalTokens: 10}}, nil
			}
			m := model.Limit(model.Limits{TokensPerMinute: ask})(l)
			done := make(chan struct{})
			go func() { generate(t, m, "a", ask); close(done) }()
			synctest.Wait()
			generate(t, m, "b", ask/2)
			<-done
			l.is(t, "a 0s", "b 5s")
		})
	})
	t.Run("larger than the limit goes out alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			l.does = used(3 * ask)
			m := model.Limit(model.Limits{TokensPerMinute: ask})(l)
			generate(t, m, "a", 3*ask)
			generate(t, m, "b", 3*ask)
			l.is(t, "a 0s", "b 1m0s")
		})
	})
	t.Run("what was refused used nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			m := model.Limit(model.Limits{TokensPerMinute: ask})(l)
			l.does = func(context.Context, model.Request) (model.Response, error) {
				return model.Response{}, &model.Error{Kind: model.Unavailable}
			}
			if _, err := m.Generate(t.Context(), request("a", ask)); kindOf(err) != model.Unavailable {
				t.Error(err)
			}
			l.does = nil
			generate(t, m, "b", ask)
			l.is(t, "a 0s", "b 0s")
		})
	})
}

func TestAWaitForATurnCanBeGivenUp(t *testing.T) { // BEHAVIOUR 5.7
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := model.Limit(model.Limits{RequestsPerMinute: 1})(l)
		ctx, stop := context.WithCancel(t.Context())
		first := queued(t.Context(), m, "out")
		stopped := queued(ctx, m, "has the turn", "waits for it")
		stays := queued(t.Context(), m, "stays", "stays, too")
		stop()
		for name, done := range stopped {
			e, ok := errors.AsType[*model.Error](<-done)
			if !ok || e.Kind != model.Cancelled || !e.Unsent {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if time.Since(l.t0) != 0 {
			t.Errorf("the stop took %s", time.Since(l.t0))
		}
		for _, done := range []chan error{first["out"], stays["stays"], stays["stays, too"]} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		l.is(t, "out 0s", "stays 1m0s", "stays, too 2m0s")
	})
}

// tellings keeps what waiting requests are told, by request.
type tellings struct {
	mu   sync.Mutex
	said map[string][]string
	t0   time.Time
}

func (s *tellings) of(ctx context.Context, name string) context.Context {
	return model.OnWaiting(ctx, func(w model.Waiting) {
		s.mu.Lock()
		defer s.mu.Unlock()
		said := "over"
		if w != (model.Waiting{}) {
			said = fmt.Sprintf("%s until %s", w.Reason, w.Until.Sub(s.t0))
		}
		s.said[name] = append(s.said[name], said)
	})
}

func (s *tellings) get(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said[name])
}

func TestAPauseHoldsAllBackAndIsTold(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		answer := make(chan struct{})
		l.does = func(_ context.Context, req model.Request) (model.Response, error) {
			switch req.Model {
			case "refused":
				return model.Response{}, limitedFor(3 * time.Second)
			case "slow":
				<-answer
			}
			return model.Response{}, nil
		}
		m := model.Limit(model.Limits{InFlight: 2})(l)
		s := &tellings{said: map[string][]string{}, t0: time.Now()}
		slow := queued(t.Context(), m, "slow")
		refused := queued(t.Context(), m, "refused")
		if err := <-refused["refused"]; kindOf(err) != model.RateLimited {
			t.Error(err)
		}
		// One waits for the time, two for their turn.
		var waiters []map[string]chan error
		for _, name := range []string{"a", "b", "c"} {
			waiters = append(waiters, queued(s.of(t.Context(), name), m, name))
		}
		l.is(t, "slow 0s", "refused 0s")
		close(answer) // what is out already is not held back
		if err := <-slow["slow"]; err != nil {
			t.Error(err)
		}
		for _, w := range waiters {
			for name, done := range w {
				if err := <-done; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		l.mu.Lock()
		l.out = l.out[2:]
		slices.Sort(l.out) // two are out at the same time, and log in any order
		l.mu.Unlock()
		l.is(t, "a 3s", "b 3s", "c 3s")
		for _, name := range []string{"a", "b", "c"} {
			if got := s.get(name); !slices.Equal(got, []string{"Too many. until 3s", "over"}) {
				t.Errorf("%s was told %q", name, got)
			}
		}
	})
}

func TestThoseInTheQueueAreToldOfAPauseThatBegins(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		refuse := make(chan struct{})
		m := model.Limit(model.Limits{InFlight: 1})(model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			if req.Model == "refused" {
				<-refuse
				return model.Response{}, limitedFor(3 * time.Second)
			}
			return model.Response{}, nil
		}))
		s := &tellings{said: map[string][]string{}, t0: time.Now()}
		refused := queued(s.of(t.Context(), "refused"), m, "refused")
		a, b := queued(s.of(t.Context(), "a"), m, "a"), queued(s.of(t.Context(), "b"), m, "b")
		close(refuse)
		synctest.Wait()
		for _, name := range []string{"a", "b"} {
			if got := s.get(name); !slices.Equal(got, []string{"Too many. until 3s"}) {
				t.Errorf("%s was told %q", name, got)
			}
		}
		if err := errors.Join(<-a["a"], <-b["b"]); err != nil || kindOf(<-refused["refused"]) != model.RateLimited {
			t.Error(err)
		}
		if len(s.get("refused")) != 0 {
			t.Errorf("who went out at once was told %q", s.get("refused"))
		}
	})
}

func TestALimitIsToldWithItsVariable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, limits := range map[string]model.Limits{
			"No more than 1 requests a minute go to this provider (PLANWAVE_REQUESTS_PER_MINUTE). until 1m0s": {RequestsPerMinute: 1},
			"No more than 1 tokens a minute go to this provider (PLANWAVE_TOKENS_PER_MINUTE). until 1m0s":     {TokensPerMinute: 1},
		} {
			m := model.Limit(limits)(newLog())
			s := &tellings{said: map[string][]string{}, t0: time.Now()}
			for range 2 {
				if _, err := m.Generate(s.of(t.Context(), "x"), model.Request{System: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.get("x"); !slices.Equal(got, []string{want, "over"}) {
				t.Errorf("told %q", got)
			}
		}
	})
}

func TestNoPauseForWhatDoesNotPassSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, err := range map[string]*model.Error{
			"an hour":           limitedFor(time.Hour),
			"a quota used up":   {Kind: model.RateLimited, RetryAfter: time.Second, Final: true},
			"no wait":           limitedFor(0),
			"of another nature": {Kind: model.BadResponse, RetryAfter: time.Second},
		} {
			l := newLog()
			l.does = func(context.Context, model.Request) (model.Response, error) { return model.Response{}, err }
			m := model.Limit(model.Limits{InFlight: 1, LongestPause: time.Minute})(l)
			for _, model := range []string{"a", "b"} {
				done := queued(t.Context(), m, model)
				if got := <-done[model]; !errors.Is(got, err) {
					t.Errorf("%s: %v", name, got)
				}
			}
			l.is(t, "a 0s", "b 0s")
		}
	})
}

// Requests come, are refused, given up and answered at random. No limit is
// broken, nobody overtakes, and everybody comes to an end.
func TestLimitsUnderLoad(t *testing.T) { // BEHAVIOUR 5.4, 11
	synctest.Test(t, func(t *testing.T) {
		const requests, inFlight, perMinute = 300, 4, 40
		var mu sync.Mutex
		out := 0
		var sent []time.Time
		m := model.Limit(model.Limits{InFlight: inFlight, RequestsPerMinute: perMinute})(
			model.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
				mu.Lock()
				n := len(sent)
				sent, out = append(sent, time.Now()), out+1
				if out > inFlight {
					t.Errorf("%d requests are out", out)
				}
				if n >= perMinute && sent[n].Sub(sent[n-perMinute]) < time.Minute {
					t.Errorf("%d requests within %s", perMinute+1, sent[n].Sub(sent[n-perMinute]))
				}
				mu.Unlock()
				defer func() { mu.Lock(); out--; mu.Unlock() }()
				select {
				case <-time.After(time.Duration(n%7) * time.Second):
				case <-ctx.Done():
					return model.Response{}, model.FromContext(ctx)
				}
				if n%11 == 0 {
					return model.Response{}, limitedFor(time.Duration(n%5) * time.Second)
				}
				return model.Response{}, nil
			}))
		var wg sync.WaitGroup
		for i := range requests {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%9 == 0 {
					stop := time.AfterFunc(time.Duration(i)*100*time.Millisecond, cancel)
					defer stop.Stop()
				}
				if _, err := m.Generate(ctx, model.Request{}); kindOf(err) == model.Cancelled && i%9 != 0 {
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if len(sent) < requests*8/9 || out != 0 {
			t.Errorf("%d of %d went out, %d still are", len(sent), requests, out)
		}
		// Every place was given back.
		for _, name := range strings.Split("abcdefgh", "") {
			if _, err := m.Generate(t.Context(), model.Request{Model: name}); kindOf(err) == model.Cancelled {
				t.Error(err)
			}
		}
	})
}
