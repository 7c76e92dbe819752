package treesearch

import (
	"context"
	"fmt"
	"sync"
)

// calls are the calls of one level, numbered from 0. They are taken by number
// by a few workers.
type calls struct {
	mu      sync.Mutex
	n       int
	cancels []context.CancelFunc // of the calls that were begun
	failed  int                  // the lowest number that failed; -1 while none has
	err     error                // its error
}

// inOrder calls f for 0 to n−1, at most limit at once, and returns the results
// by number. Its error is that of the lowest number that fails, whatever the
// timing: calls begin in order, a failure begins no more and cancels those
// after it, and those before it are waited for. A panic in f is an error.
// When ctx ends before all were begun, the error is that of ctx or of a call.
func inOrder[T any](ctx context.Context, n, limit int, f func(context.Context, int) (T, error)) ([]T, error) {
	results := make([]T, n)
	c := &calls{n: n, failed: -1}
	work := func() {
		for i, own, ok := c.begin(ctx); ok; i, own, ok = c.begin(ctx) {
			var err error
			results[i], err = guarded(own, i, f)
			c.end(i, err)
		}
	}
	var others sync.WaitGroup
	for range min(limit, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if c.failed >= 0 {
		return nil, c.err
	}
	if len(c.cancels) < n {
		return nil, ctx.Err()
	}
	return results, nil
}

// begin takes the next call and gives it a context of its own. It is false when
// there is none, or none may begin any more.
func (c *calls) begin(ctx context.Context) (i int, own context.Context, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i = len(c.cancels); i == c.n || c.failed >= 0 || ctx.Err() != nil {
		return 0, nil, false
	}
	own, cancel := context.WithCancel(ctx)
	c.cancels = append(c.cancels, cancel)
	return i, own, true
}

// end notes what became of call i. A failure cancels the calls after it.
func (c *calls) end(i int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels[i]()
	if err == nil || c.failed >= 0 && c.failed < i {
		return
	}
	c.failed, c.err = i, err
	for _, cancel := range c.cancels[i+1:] {
		cancel()
	}
}

// guarded calls f and makes a panic an error.
func guarded[T any](ctx context.Context, i int, f func(context.Context, int) (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("call %d of a level panicked: %v", i, p)
		}
	}()
	return f(ctx, i)
}
