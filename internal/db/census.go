package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"planwave/internal/plan"
)

// Census is how many runs there are of one kind.
type Census struct {
	Status   plan.RunStatus
	Strategy plan.Strategy
	Runs     int
}

// Census counts the runs by status and strategy. Kinds without runs are not in it.
func (d *DB) Census(ctx context.Context) ([]Census, error) {
	all, err := readAll(ctx, d.readers, scanCensus,
		`SELECT status, strategy, count(*) FROM runs GROUP BY status, strategy ORDER BY status, strategy`)
	return all, failed(err, "count the runs")
}

func scanCensus(rows *sql.Rows) (c Census, err error) {
	err = rows.Scan(&c.Status, &c.Strategy, &c.Runs)
	return c, err
}

// Sizes returns how large the database file is, and the log that is written
// ahead of it.
func (d *DB) Sizes() (file, log int64, err error) {
	info, err := os.Stat(d.path)
	if err != nil {
		return 0, 0, failed(err, "measure database %s", d.path)
	}
	ahead, err := os.Stat(d.path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return info.Size(), 0, nil
	case err != nil:
		return 0, 0, failed(err, "measure database %s", d.path)
	}
	return info.Size(), ahead.Size(), nil
}
