package treesearch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"planwave/internal/treesearch"
)

func TestAPanicIsAnError(t *testing.T) {
	o := tree{children: map[string]string{"root": "a"}}.options()
	o.Judge = treesearch.JudgeFunc(func(context.Context, treesearch.Node) (treesearch.Verdict, error) { panic("boom") })
	if _, err := treesearch.Search(t.Context(), "root", o); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error %v", err)
	}
}

func TestACancelledSearchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := tree{children: map[string]string{"s": "s s"}}.options()
	o.OnLevel = func(_ context.Context, l treesearch.Level) error {
		if l.Depth == 2 {
			cancel()
		}
		return nil
	}
	r, err := treesearch.Search(ctx, "s", o)
	if !errors.Is(err, context.Canceled) || len(r.Levels) != 2 {
		t.Errorf("%d levels, error %v", len(r.Levels), err)
	}
}

// TestTheLowestFailureCounts holds the order of errors: of calls under way
// together the first fails last, and still its error is the one, while those
// after a failure are cancelled and those not begun never begin.
func TestTheLowestFailureCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		begun, ended := make(chan struct{}), make(chan error, 1) // c
		errs := map[string]error{"a": errors.New("of a"), "b": errors.New("of b")}
		o := tree{children: map[string]string{"root": "a b c d"}}.options()
		o.Parallel = 3
		o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
			switch n.State {
			case "a":
				<-release
				return treesearch.Verdict{}, errors.Join(errs["a"], ctx.Err())
			case "b":
				<-begun
				return treesearch.Verdict{}, errs["b"]
			case "c":
				close(begun)
				<-ctx.Done()
				ended <- ctx.Err()
				return treesearch.Verdict{}, ctx.Err()
			}
			t.Errorf("%s is judged after a failure", n.State)
			return treesearch.Verdict{}, nil
		})
		done := make(chan error, 1)
		go func() {
			_, err := treesearch.Search(t.Context(), "root", o)
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("c ended with %v", err)
			}
		default:
			t.Error("c, after the failure of b, is not cancelled")
		}
		close(release)
		if err := <-done; !errors.Is(err, errs["a"]) || errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of a, which nobody cancelled", err)
		}
	})
}

// TestACancelledCallHidesNoFailure is the other order: the first fails first,
// and what it cancels fails after it.
func TestACancelledCallHidesNoFailure(t *testing.T) {
	exhausted := errors.New("budget exhausted")
	begun := make(chan struct{})
	o := tree{children: map[string]string{"root": "a b"}}.options()
	o.Parallel = 2
	o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
		if n.State == "a" {
			<-begun
			return treesearch.Verdict{}, exhausted
		}
		close(begun)
		<-ctx.Done()
		return treesearch.Verdict{}, ctx.Err()
	})
	if _, err := treesearch.Search(t.Context(), "root", o); err != exhausted { //nolint:errorlint // the very error, not wrapped
		t.Errorf("error %v", err)
	}
}

func TestAContextEndsWithItsCall(t *testing.T) {
	tr := tree{children: map[string]string{"root": "a b"}}
	var given []context.Context
	o := tr.options()
	o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
		if ctx.Err() != nil {
			t.Errorf("the judge of %s is cancelled from the start", n.ID)
		}
		given = append(given, ctx)
		return tr.Judge(ctx, n)
	})
	_, _ = treesearch.Search(t.Context(), "root", o)
	for i, ctx := range given {
		if ctx.Err() == nil {
			t.Errorf("the context of call %d is not released", i)
		}
	}
	if len(given) != 2 {
		t.Errorf("%d nodes were judged, want 2", len(given))
	}
}
