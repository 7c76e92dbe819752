package model_test

import (
	"testing"
	"testing/synctest"

	"planwave/internal/model"
)

// An answer that came out empty, or as a call that nobody can read, is asked for
// once more and no more than once.
func TestAnswersThatAreNoneAreAskedForOnceMore(t *testing.T) { // BEHAVIOUR 11
	synctest.Test(t, func(t *testing.T) {
		empty := &model.Error{Kind: model.BadResponse, Message: "Empty.", Once: true}
		overloaded := &model.Error{Kind: model.Unavailable, Message: "Overloaded."}
		for _, tt := range []struct {
			errs  []error
			tries int
			fails bool
		}{
			{times(empty, 1), 2, false},
			{times(empty, 2), 2, true},
			{times(empty, 9), 2, true},
			{[]error{overloaded, empty, overloaded}, 2, true},
			{[]error{empty, overloaded, overloaded}, 4, false},
			{[]error{&model.Error{Kind: model.BadResponse}}, 1, true},
			{[]error{&model.Error{Kind: model.Filtered, Once: true}}, 1, true},
		} {
			f := &failing{errs: tt.errs}
			_, err := model.Retry(model.RetryConfig{Random: half})(f).Generate(t.Context(), model.Request{})
			if len(f.at) != tt.tries || (err != nil) != tt.fails {
				t.Errorf("%v: %d tries, %v", tt.errs, len(f.at), err)
			}
		}
	})
}
