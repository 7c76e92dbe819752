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

// Limit lets at most n requests go out at the same time. Those that wait give
// up when their context ends.
func Limit(n int) Middleware {
	slots := make(chan struct{}, n)
	return func(next Model) Model {
		return Func(func(ctx context.Context, req Request) (Response, error) {
			if ctx.Err() != nil {
				return Response{}, FromContext(ctx)
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return Response{}, FromContext(ctx)
			}
			defer func() { <-slots }()
			return next.Generate(ctx, req)
		})
	}
}

// errTimeout is why a request's own time is over, as against its caller's.
var errTimeout = errors.New("the model's time is over")

// Timeout gives every request at most d, and no limit when d is 0. A request
// whose time is over is [Unreachable]; one whose caller gave up is [Cancelled].
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
			late := &Error{Kind: Unreachable, Cause: err, Message: fmt.Sprintf(
				"The model gave no answer within %s. Try again, use a faster model, or allow more time with PLANWAVE_CALL_TIMEOUT.", d)}
			if e, ok := errors.AsType[*Error](err); ok {
				late.Usage = e.Usage
			}
			return Response{}, late
		})
	}
}
