package modeltest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planwave/internal/model"
)

// parallel is how many steps ask at the same time.
const parallel = 8

// registry is one of a single provider, p, which asks the server.
func (s Subject) registry(t *testing.T, server *Server, clock model.Clock, inFlight int) *model.Registry {
	t.Helper()
	r := model.NewRegistry(model.Config{Clock: clock, PerProviderInFlight: inFlight})
	if err := r.Register("p", model.Provider{Model: s.New(t, server.URL, Key), DefaultModel: "m", Key: Key}); err != nil {
		t.Fatal(err)
	}
	return r
}

// steps makes requests at the same time, each with retries, and returns when
// all of them wait until the same moment.
func steps(t *testing.T, r *model.Registry, until time.Time) (answers chan error, stop context.CancelFunc) {
	t.Helper()
	m, short, err := r.Resolve("p")
	if err != nil {
		t.Fatal(err)
	}
	m = r.Retry(m)
	ctx, stop := context.WithCancel(t.Context())
	answers = make(chan error, parallel)
	waits := make(chan struct{}, parallel)
	for range parallel {
		var once sync.Once
		ctx := model.OnWaiting(ctx, func(w model.Waiting) {
			if w.Until.Equal(until) && w.Kind == model.RateLimited {
				once.Do(func() { waits <- struct{}{} })
			}
		})
		go func() {
			req := ask("Hi")
			req.Model = short
			_, err := m.Generate(ctx, req)
			answers <- err
		}()
	}
	for range parallel {
		select {
		case <-waits:
		case err := <-answers:
			t.Fatalf("a step did not wait: %v", err)
		}
	}
	return answers, stop
}

// refusing is a script that refuses the first n requests, all together, and
// answers the others.
func refusing(n int, refusal Reply) Script {
	var came atomic.Int32
	all := make(chan struct{})
	return func(ctx context.Context, _ Asked) Reply {
		at := int(came.Add(1))
		if at == n {
			close(all)
		}
		if at > n {
			return Reply{Text: "done"}
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		return refusal
	}
}

// told is a refusal that asks for a wait of three seconds, as the protocol does.
func (s Subject) told() Reply {
	if s.Protocol == Gemini {
		return Reply{Status: http.StatusTooManyRequests, Body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota",
			"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`}
	}
	return Reply{
		Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3"}},
		Body: `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`,
	}
}

// Steps that ask at once and are told to wait three seconds wait until the same
// moment, whether they were refused themselves or not, and nothing goes out
// before.
func pauseHoldsAll(t *testing.T, s Subject) {
	for _, c := range []struct{ inFlight, refused int }{{1, 1}, {3, 3}, {2 * parallel, parallel}} {
		t.Run(fmt.Sprintf("%d of %d are refused", c.refused, parallel), func(t *testing.T) {
			server := NewServer(t, s.Protocol, refusing(c.refused, s.told()))
			clock := NewClock()
			answers, stop := steps(t, s.registry(t, server, clock, c.inFlight), clock.Now().Add(3*time.Second))
			defer stop()
			clock.Advance(3*time.Second - 1)
			if n := len(server.Asked()); n != c.refused {
				t.Errorf("%d requests before the pause was over, want the %d that were refused", n, c.refused)
			}
			clock.Advance(1)
			for range parallel {
				if err := <-answers; err != nil {
					t.Error(err)
				}
			}
			if n := len(server.Asked()); n != c.refused+parallel {
				t.Errorf("%d requests, want %d: %d refused, then one for each step", n, c.refused+parallel, c.refused)
			}
		})
	}
}

func stopEndsThePause(t *testing.T, s Subject) {
	server := NewServer(t, s.Protocol, refusing(3, s.told()))
	clock := NewClock()
	answers, stop := steps(t, s.registry(t, server, clock, 3), clock.Now().Add(3*time.Second))
	stop() // the clock stands still: what ends now does not wait
	for range parallel {
		if e := failure(t, <-answers); e.Kind != model.Cancelled {
			t.Error(e)
		}
	}
	if n := len(server.Asked()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// atOnce tries again without waiting.
func atOnce(m model.Model) model.Model {
	return model.Retry(model.RetryConfig{Random: func() float64 { return 0 }})(m)
}

// google-gemini/gemini-cli#7227, browser-use/browser-use#1533
func failingServerIsAskedAgain(t *testing.T, s Subject) {
	overloaded := Reply{Status: http.StatusServiceUnavailable, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`}
	internal := Reply{Status: http.StatusInternalServerError, Body: `{"error":{"code":500,"message":"internal","status":"INTERNAL"}}`}
	m, server := s.start(t, InTurn(overloaded, internal, Reply{Text: "done"}))
	resp, err := atOnce(m).Generate(t.Context(), ask("Hi"))
	if n := len(server.Asked()); err != nil || resp.Text != "done" || n != 3 {
		t.Errorf("%+v, %v after %d requests", resp, err, n)
	}
	m, server = s.start(t, InTurn(overloaded))
	_, err = atOnce(m).Generate(t.Context(), ask("Hi"))
	e := failure(t, err)
	if n := len(server.Asked()); e.Kind != model.Unavailable || n != model.DefaultTries || !strings.Contains(e.Message, fmt.Sprintf("It was asked %d times.", n)) {
		t.Errorf("%v after %d requests", e, n)
	}
}

// A connection that ends before an answer, and one that ends in it.
func brokenConnectionIsAskedAgain(t *testing.T, s Subject) {
	var came atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch came.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"choices":[`))
		default:
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"done"}}],"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}`))
		}
	}))
	t.Cleanup(server.Close)
	resp, err := atOnce(s.New(t, server.URL, Key)).Generate(t.Context(), ask("Hi"))
	if n := came.Load(); err != nil || resp.Text != "done" || n != 3 {
		t.Errorf("%+v, %v after %d requests", resp, err, n)
	}
}
