package db

import (
	"context"
	"database/sql"
	"time"

	"planwave/internal/plan"
)

// Day is what the model calls that began on one day used.
type Day struct {
	Start  time.Time // 0:00 UTC
	Calls  int
	Tokens int
	// Cost is that of the calls whose price is known; Unpriced is how many other
	// calls used anything.
	Cost     plan.USD
	Unpriced int
}

// Spend returns the days since a time on which anything was called, the newest
// first. Calls of recordings are not among them: nothing was paid for those.
func (d *DB) Spend(ctx context.Context, since time.Time) ([]Day, error) {
	days, err := readAll(ctx, d.readers, scanDay, `
		SELECT c.started_at / ?1, count(*), sum(c.total_tokens), ifnull(sum(c.cost), 0), sum(c.cost IS NULL AND c.total_tokens > 0)
		FROM calls c JOIN runs r ON r.n = c.run
		WHERE c.started_at >= ?2 AND NOT r.recorded
		GROUP BY 1 ORDER BY 1 DESC`, perDay, since.UnixMilli())
	if err != nil {
		return nil, failed(err, "add up the calls by day")
	}
	return days, nil
}

const perDay = 24 * 60 * 60 * 1000 // in milliseconds

func scanDay(row *sql.Rows) (Day, error) {
	var (
		d Day
		n int64
	)
	err := row.Scan(&n, &d.Calls, &d.Tokens, &d.Cost, &d.Unpriced)
	d.Start = time.UnixMilli(n * perDay).UTC()
	return d, err
}

// Storage is how much room the runs take.
type Storage struct {
	Runs  int
	Bytes int64 // the database file, without the log that is written ahead of it
}

// Storage tells how much room the runs take.
func (d *DB) Storage(ctx context.Context) (s Storage, err error) {
	err = d.readers.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM runs), page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&s.Runs, &s.Bytes)
	if err != nil {
		return s, failed(err, "measure the database")
	}
	return s, nil
}
