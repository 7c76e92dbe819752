package main

import (
	"context"
	"log/slog"
	"time"
)

const (
	// tidyEvery is how often runs are looked for that ended too long ago.
	tidyEvery = time.Hour
	// tidyBatch is how many of them are deleted between two looks at whether the
	// program ends.
	tidyBatch = 100
)

// retention deletes runs that ended longer ago than they are kept.
type retention struct {
	store interface {
		DeleteEnded(ctx context.Context, before time.Time, limit int) (int, error)
	}
	keep  time.Duration // 0 keeps all
	clock func() time.Time
	log   *slog.Logger
}

// run deletes at once and then again and again, until ctx ends.
func (r *retention) run(ctx context.Context) {
	if r.keep == 0 {
		return
	}
	again := time.NewTicker(tidyEvery)
	defer again.Stop()
	for {
		if err := r.runOnce(ctx); err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "delete runs that ended long ago; it is tried again in an hour", "error", err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// runOnce deletes what is too old now, in batches.
func (r *retention) runOnce(ctx context.Context) error {
	before, all := r.clock().Add(-r.keep), 0
	for {
		n, err := r.store.DeleteEnded(ctx, before, tidyBatch)
		if all += n; err != nil || n == 0 {
			if all > 0 {
				r.log.InfoContext(ctx, "deleted runs that ended long ago", "runs", all, "before", before)
			}
			return err
		}
	}
}
