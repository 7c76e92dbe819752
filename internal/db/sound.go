package db

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
)

// mostChecked is the size of file up to which every page is looked at when it is
// opened, which takes about a second for so much. What is wrong in a larger one is
// found when it is read, and by a restore.
const mostChecked = 256 << 20

// whole holds that no page of the file is damaged, if it is small enough to be
// looked through at every start.
func (d *DB) whole(ctx context.Context) error {
	info, err := os.Stat(d.path) //nolint:gosec // the operator names the file
	if err != nil || info.Size() > mostChecked {
		return err
	}
	return soundBy(ctx, d.writer, "PRAGMA quick_check(1)")
}

// soundBy carries out one of SQLite's checks, which find nothing or say "ok".
func soundBy(ctx context.Context, q querier, pragma string) error {
	found, err := readAll(ctx, q, scanFirst, pragma)
	if err != nil {
		return err
	}
	if text := strings.Join(found, "; "); text != "" && text != "ok" {
		return fmt.Errorf("%w (%s found %s)", ErrCorrupt, pragma, strings.ReplaceAll(text, "\n", " "))
	}
	return nil
}

// scanFirst reads the first of however many columns there are.
func scanFirst(rows *sql.Rows) (string, error) {
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	into := make([]any, len(columns))
	for i := range into {
		into[i] = new(sql.NullString)
	}
	if err := rows.Scan(into...); err != nil {
		return "", err
	}
	return into[0].(*sql.NullString).String, nil //nolint:errcheck,forcetypeassert // it was put there above
}
