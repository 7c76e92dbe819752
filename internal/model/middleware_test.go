package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// waiting is a model that waits until its context ends, and counts who waits.
type waiting struct{ there chan struct{} }

func (w waiting) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	w.there <- struct{}{}
	<-ctx.Done()
	e := model.FromContext(ctx)
	e.Usage = plan.Usage{Requests: 1, TotalTokens: 7}
	return model.Response{}, e
}

func kindOf(err error) model.Kind {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Kind
	}
	return ""
}

func TestLimitLetsNoMoreThrough(t *testing.T) { // BEHAVIOUR 5.4
	synctest.Test(t, func(t *testing.T) {
		w := waiting{make(chan struct{}, 10)}
		m := model.Limit(model.Limits{InFlight: 3})(w)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := m.Generate(ctx, model.Request{})
				done <- err
			}()
		}
		synctest.Wait()
		if n := len(w.there); n != 3 {
			t.Errorf("%d requests are out, want 3", n)
		}
		cancel()
		for range 10 {
			if err := <-done; kindOf(err) != model.Cancelled {
				t.Errorf("error = %v", err)
			}
		}
		if n := len(w.there); n != 3 {
			t.Errorf("%d requests went out, though those that waited were given up", n)
		}
	})
}

func TestLimitGivesItsPlacesBack(t *testing.T) {
	fails := true
	m := model.Limit(model.Limits{InFlight: 1})(model.Func(func(context.Context, model.Request) (model.Response, error) {
		if fails {
			return model.Response{}, errors.New("no")
		}
		return model.Response{Text: "ok"}, nil
	}))
	if _, err := m.Generate(t.Context(), model.Request{}); err == nil {
		t.Error("the failure is lost")
	}
	fails = false
	if resp, err := m.Generate(t.Context(), model.Request{}); err != nil || resp.Text != "ok" {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestTimeoutIsUnreachableAndACallersEndIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := waiting{make(chan struct{}, 10)}
		m := model.Timeout(2 * time.Minute)(w)
		_, err := m.Generate(t.Context(), model.Request{})
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Unreachable || !strings.Contains(e.Message, "2m0s") || !strings.Contains(e.Message, "PLANWAVE_CALL_TIMEOUT") || e.Usage.TotalTokens != 7 {
			t.Errorf("error = %+v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := m.Generate(ctx, model.Request{}); kindOf(err) != model.Cancelled {
			t.Errorf("the caller's end is %v", err)
		}
	})
}

func TestTimeoutLeavesOtherFailuresAlone(t *testing.T) {
	want := &model.Error{Kind: model.Auth, Message: "no"}
	failing := model.Func(func(context.Context, model.Request) (model.Response, error) { return model.Response{}, want })
	for _, d := range []time.Duration{0, time.Hour} {
		if _, err := model.Timeout(d)(failing).Generate(t.Context(), model.Request{}); !errors.Is(err, want) {
			t.Errorf("with %s: %v", d, err)
		}
	}
}
