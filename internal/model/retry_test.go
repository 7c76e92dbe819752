package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planwave/internal/model"
)

// failing is a model that fails with each error in turn and then answers. It
// keeps the times of its tries.
type failing struct {
	errs []error
	at   []time.Duration // since the first try
	t0   time.Time
}

func (f *failing) Generate(context.Context, model.Request) (model.Response, error) {
	if f.t0.IsZero() {
		f.t0 = time.Now()
	}
	f.at = append(f.at, time.Since(f.t0))
	if n := len(f.at); n <= len(f.errs) {
		return model.Response{}, f.errs[n-1]
	}
	return model.Response{Text: "done"}, nil
}

func times(e error, n int) []error { return slices.Repeat([]error{e}, n) }

// half is a wait of half its bound.
func half() float64 { return 0.5 }

func limitedFor(wait time.Duration) *model.Error {
	return &model.Error{Kind: model.RateLimited, Message: "Too many.", Status: 429, RetryAfter: wait}
}

func TestWaitsAsToldElseBacksOff(t *testing.T) { // BEHAVIOUR 11
	overloaded := &model.Error{Kind: model.Unavailable, Message: "Overloaded.", Status: 503}
	refused := &model.Error{Kind: model.Unreachable, Message: "Refused."}
	for name, c := range map[string]struct {
		errs []error
		want []time.Duration
	}{
		"no failure":      {nil, []time.Duration{0}},
		"as told":         {[]error{limitedFor(38 * time.Second)}, []time.Duration{0, 38 * time.Second}},
		"told by a 503":   {[]error{&model.Error{Kind: model.Unavailable, RetryAfter: 7 * time.Second}}, []time.Duration{0, 7 * time.Second}},
		"503, 500":        {times(overloaded, 2), []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}},
		"refused":         {[]error{refused}, []time.Duration{0, 500 * time.Millisecond}},
		"429 without one": {[]error{limitedFor(0)}, []time.Duration{0, 500 * time.Millisecond}},
		"told in between": {
			[]error{overloaded, limitedFor(3 * time.Second), overloaded},
			[]time.Duration{0, 500 * time.Millisecond, 3500 * time.Millisecond, 5500 * time.Millisecond},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{errs: c.errs}
				resp, err := model.Retry(model.RetryConfig{Random: half})(f).Generate(t.Context(), model.Request{})
				if err != nil || resp.Text != "done" || !slices.Equal(f.at, c.want) {
					t.Errorf("%+v, %v, tries at %v, want %v", resp, err, f.at, c.want)
				}
			})
		})
	}
}

func TestBackoffHasACapAndSpreads(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		overloaded := &model.Error{Kind: model.Unavailable, Message: "Overloaded."}
		longest := func() float64 { return 1 }
		f := &failing{errs: times(overloaded, 8)}
		m := model.Retry(model.RetryConfig{Tries: 9, Random: longest})(f)
		if _, err := m.Generate(t.Context(), model.Request{}); err != nil {
			t.Fatal(err)
		}
		var waits []time.Duration
		for i := 1; i < len(f.at); i++ {
			waits = append(waits, f.at[i]-f.at[i-1])
		}
		want := []time.Duration{1, 2, 4, 8, 16, 30, 30, 30}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(waits, want) {
			t.Errorf("waits = %v, want %v", waits, want)
		}
		// Requests that fail together are not made together again.
		seen := map[time.Duration]bool{}
		for range 8 {
			f := &failing{errs: times(overloaded, 1)}
			if _, err := model.Retry(model.RetryConfig{})(f).Generate(t.Context(), model.Request{}); err != nil {
				t.Fatal(err)
			}
			if f.at[1] > model.DefaultBackoff {
				t.Errorf("waited %s", f.at[1])
			}
			seen[f.at[1]] = true
		}
		if len(seen) < 2 {
			t.Errorf("8 requests waited %v", seen)
		}
	})
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		for _, err := range []error{
			&model.Error{Kind: model.Auth}, &model.Error{Kind: model.Filtered}, &model.Error{Kind: model.Truncated}, &model.Error{Kind: model.BadResponse},
			&model.Error{Kind: model.Cancelled}, &model.Error{Kind: model.BeyondDemo}, errors.New("of another kind"),
			&model.Error{Kind: model.RateLimited, Final: true, RetryAfter: time.Second}, &model.Error{Kind: model.Unreachable, Final: true},
		} {
			f := &failing{errs: []error{err}}
			_, got := model.Retry(model.RetryConfig{})(f).Generate(t.Context(), model.Request{})
			if !errors.Is(got, err) || len(f.at) != 1 {
				t.Errorf("%v: %v after %d tries", err, got, len(f.at))
			}
		}
		// A model that took too long may still be at work.
		w := waiting{make(chan struct{}, 10)}
		_, err := model.Retry(model.RetryConfig{})(model.Timeout(time.Minute)(w)).Generate(t.Context(), model.Request{})
		if kindOf(err) != model.Unreachable || len(w.there) != 1 {
			t.Errorf("%v after %d tries", err, len(w.there))
		}
	})
}

func TestGivesUpVisibly(t *testing.T) { // BEHAVIOUR 11
	for name, c := range map[string]struct {
		err    *model.Error
		config model.RetryConfig
		tries  int
		says   []string
	}{
		"after the last try": {
			&model.Error{Kind: model.Unavailable, Status: 503, Message: "Overloaded."},
			model.RetryConfig{Tries: 3},
			3,
			[]string{"Overloaded. It was asked 3 times."},
		},
		"when it is to be asked once": {&model.Error{Kind: model.Unavailable, Message: "Overloaded."}, model.RetryConfig{Tries: 1}, 1, []string{"Overloaded."}},
		"before a wait that is too long": {
			limitedFor(time.Hour),
			model.RetryConfig{MaxWait: time.Minute},
			1,
			[]string{"A request waits 1m0s in all at most", "the wait of 1h0m0s", "PLANWAVE_MAX_WAIT", "another model"},
		},
		"when the waits come to too much": {limitedFor(25 * time.Second), model.RetryConfig{MaxWait: time.Minute}, 3, []string{"It was asked 3 times.", "PLANWAVE_MAX_WAIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{errs: times(c.err, 20)}
				_, err := model.Retry(c.config)(f).Generate(t.Context(), model.Request{})
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Kind != c.err.Kind || e.Status != c.err.Status || len(f.at) != c.tries {
					t.Fatalf("%+v after %d tries, want %d", err, len(f.at), c.tries)
				}
				if name == "before a wait that is too long" && time.Since(f.t0) != 0 {
					t.Errorf("it waited %s first", time.Since(f.t0))
				}
				for _, says := range c.says {
					if !strings.Contains(e.Message, says) {
						t.Errorf("the message %q does not say %q", e.Message, says)
					}
				}
			})
		})
	}
}

func TestNoWaitBeyondTheDeadline(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		f := &failing{errs: times(limitedFor(38*time.Second), 9)}
		_, err := model.Retry(model.RetryConfig{})(f).Generate(ctx, model.Request{})
		if kindOf(err) != model.RateLimited || ctx.Err() != nil || len(f.at) != 1 {
			t.Errorf("%v after %d tries, the context is %v", err, len(f.at), ctx.Err())
		}
	})
}

func TestWaitsAreTold(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		t0 := time.Now()
		var told []string
		ctx := model.OnWaiting(t.Context(), func(w model.Waiting) {
			if w == (model.Waiting{}) {
				told = append(told, fmt.Sprintf("over at %s", time.Since(t0)))
				return
			}
			told = append(told, fmt.Sprintf("%s: %s until %s, %d of %d", w.Kind, w.Reason, w.Until.Sub(t0), w.Try, w.Of))
		})
		f := &failing{errs: []error{limitedFor(3 * time.Second), &model.Error{Kind: model.Unavailable, Message: "Overloaded."}}}
		if _, err := model.Retry(model.RetryConfig{Random: half})(f).Generate(ctx, model.Request{}); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"rate_limited: Too many. until 3s, 2 of 5", "over at 3s",
			"unavailable: Overloaded. until 4s, 3 of 5", "over at 4s",
		}
		if !slices.Equal(told, want) {
			t.Errorf("told %q", told)
		}
	})
}

func TestAStopEndsTheWaitAtOnce(t *testing.T) { // BEHAVIOUR 5.7
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped by a person")
		ctx, cancel := context.WithCancelCause(t.Context())
		over := 0
		ctx = model.OnWaiting(ctx, func(w model.Waiting) {
			if w == (model.Waiting{}) {
				over++
			}
		})
		f := &failing{errs: times(limitedFor(38*time.Second), 9)}
		done := make(chan error, 1)
		go func() {
			_, err := model.Retry(model.RetryConfig{})(f).Generate(ctx, model.Request{})
			done <- err
		}()
		synctest.Wait()
		cancel(stopped)
		err := <-done
		if kindOf(err) != model.Cancelled || !errors.Is(err, stopped) || len(f.at) != 1 || time.Since(f.t0) != 0 || over != 1 {
			t.Errorf("%v after %d tries and %s, told to be over %d times", err, len(f.at), time.Since(f.t0), over)
		}
		if e, ok := errors.AsType[*model.Error](err); !ok || !e.Unsent {
			t.Errorf("%+v is not known to be unsent", err)
		}
	})
}
