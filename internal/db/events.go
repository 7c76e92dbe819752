package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"planwave/internal/plan"
)

// Events returns the events of a run whose numbers are larger than after, in
// order, at most limit of them, which is at least 1. A run that is not there is [ErrNotFound].
func (d *DB) Events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error) {
	events, err := d.events(ctx, runID, after, limit)
	return events, failed(err, "read the events of run %s", runID)
}

// events reads by one statement, so that a run that is made or deleted
// meanwhile is there with its events or not at all.
func (d *DB) events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error) {
	rows, err := readAll(ctx, d.readers, scanEvent, `
		SELECT e.seq, e.type, e.at, e.v, e.data
		FROM runs AS r LEFT JOIN events AS e ON e.run = r.n AND e.seq > ?2
		WHERE r.id = ?1
		ORDER BY e.seq
		LIMIT ?3`, runID, after, limit)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, ErrNotFound
	case rows[0].Data == nil:
		return nil, nil
	}
	return rows, nil
}

// scanEvent reads a row of the log. The row of a run without events is an
// event without data.
func scanEvent(rows *sql.Rows) (plan.Event, error) {
	var (
		e             plan.Event
		seq, at, form sql.NullInt64
		t             sql.NullString
		data          []byte
	)
	if err := rows.Scan(&seq, &t, &at, &form, &data); err != nil || !seq.Valid {
		return e, err
	}
	if form.Int64 != dataVersion {
		return e, fmt.Errorf("event %d: %w: its data has the form %d", seq.Int64, ErrNewer, form.Int64)
	}
	p, err := plan.Decode(plan.EventType(t.String), data)
	if err != nil {
		return e, fmt.Errorf("event %d: %w", seq.Int64, err)
	}
	return plan.Event{Seq: seq.Int64, At: moment(at), Data: p}, nil
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
