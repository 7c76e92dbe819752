package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Func is a function that is a [Model].
type Func func(ctx context.Context, req Request) (Response, error)

// Generate calls the function.
func (f Func) Generate(ctx context.Context, req Request) (Response, error) { return f(ctx, req) }

// Middleware returns a model that does something around another.
type Middleware func(Model) Model

// errTimeout is why a request's own time is over, as against its caller's.
var errTimeout = errors.New("the model's time is over")

// Timeout gives every request at most d, and no limit when d is 0. A request
// whose time is over is [Unreachable], for good: the server may still be at work
// on it, and is not asked twice. One whose caller gave up is [Cancelled].
func Timeout(d time.Duration) Middleware {
	return func(next Model) Model {
		if d <= 0 {
			return next
		}
		return Func(func(ctx context.Context, req Request) (Response, error) {
			timed, cancel := context.WithTimeoutCause(ctx, d, errTimeout)
			defer cancel()
			resp, err := next.Generate(timed, req)
			if err == nil || ctx.Err() != nil || !errors.Is(context.Cause(timed), errTimeout) {
				return resp, err
			}
			late := &Error{Kind: Unreachable, Final: true, Cause: err, Message: fmt.Sprintf(
				"The model gave no answer within %s. Try again, use a faster model, or allow more time with PLANWAVE_CALL_TIMEOUT.", d)}
			if e, ok := errors.AsType[*Error](err); ok {
				late.Usage = e.Usage
			}
			return Response{}, late
		})
	}
}
