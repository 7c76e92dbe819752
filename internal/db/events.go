package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"planwave/internal/plan"
)

// Events returns the events of a run whose numbers are larger than after, in
// order, at most limit of them. A run that is not there is [ErrNotFound].
func (d *DB) Events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error) {
	events, err := d.events(ctx, runID, after, limit)
	return events, failed(err, "read the events of run %s", runID)
}

func (d *DB) events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error) {
	events, err := readAll(ctx, d.readers, scanEvent, `
		SELECT e.seq, e.type, e.at, e.v, e.data
		FROM runs AS r JOIN events AS e ON e.run = r.n
		WHERE r.id = ?1 AND e.seq > ?2
		ORDER BY e.seq
		LIMIT ?3`, runID, after, limit)
	if err != nil || len(events) > 0 {
		return events, err
	}
	var there bool
	err = d.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)`, runID).Scan(&there)
	if err == nil && !there {
		err = ErrNotFound
	}
	return nil, err
}

func scanEvent(rows *sql.Rows) (plan.Event, error) {
	var (
		e        plan.Event
		at, form int64
		t        plan.EventType
		data     []byte
	)
	if err := rows.Scan(&e.Seq, &t, &at, &form, &data); err != nil {
		return e, err
	}
	if form != dataVersion {
		return e, fmt.Errorf("event %d: %w: its data has the form %d", e.Seq, ErrNewer, form)
	}
	e.At = time.UnixMilli(at).UTC()
	p, err := plan.Decode(t, data)
	if err != nil {
		return e, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	e.Data = p
	return e, nil
}

// Load returns the state of a run: the fold of all its events.
func (d *DB) Load(ctx context.Context, runID string) (*plan.Run, error) {
	events, err := d.events(ctx, runID, 0, mostEvents)
	if err != nil {
		return nil, failed(err, "load run %s", runID)
	}
	r, err := plan.Fold(runID, events)
	return r, failed(err, "load run %s", runID)
}

// Unfinished returns the ids of the runs that have not ended, oldest first.
func (d *DB) Unfinished(ctx context.Context) ([]string, error) {
	ids, err := readAll(ctx, d.readers, scanText, `
		SELECT id
		FROM runs
		WHERE status <> 'succeeded' AND status <> 'partial' AND status <> 'failed' AND status <> 'cancelled'
		ORDER BY created_at, id`)
	return ids, failed(err, "list the runs that have not ended")
}

func scanText(rows *sql.Rows) (s string, err error) {
	err = rows.Scan(&s)
	return s, err
}

// PlanByHash returns a plan that was saved under a hash, in any run.
func (d *DB) PlanByHash(ctx context.Context, hash string) (plan.Plan, error) {
	var (
		t    plan.EventType
		data []byte
	)
	err := d.readers.QueryRowContext(ctx, `
		SELECT e.type, e.data
		FROM versions AS v JOIN events AS e ON e.run = v.run AND e.seq = v.seq
		WHERE v.hash = ?1
		LIMIT 1`, hash).Scan(&t, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return plan.Plan{}, fmt.Errorf("find the plan %s: %w with that plan", hash, ErrNotFound)
	}
	if err != nil {
		return plan.Plan{}, failed(err, "find the plan %s", hash)
	}
	p, err := plan.Decode(t, data)
	if err != nil {
		return plan.Plan{}, failed(err, "find the plan %s", hash)
	}
	v, _ := versionIn(p)
	return v.Plan, nil
}
