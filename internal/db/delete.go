package db

import (
	"context"
	"time"
)

// Delete deletes a run with its events, its trace, its place in the search and
// the kept answers of requests about it. Who watches the run is woken, and finds
// that it is gone.
func (d *DB) Delete(ctx context.Context, runID string) error {
	err := d.write(ctx, runID, func(s *session) error {
		run, _, err := s.at(runID)
		if err != nil {
			return err
		}
		return s.delete(run)
	})
	return failed(err, "delete run %s", runID)
}

// delete deletes the run with the given number.
func (s *session) delete(run int64) error {
	// The index must be told the text that it forgets.
	_, err := s.exec(`
		INSERT INTO search (search, rowid, text)
		SELECT 'delete', n, text
		FROM searchable
		WHERE run = ?1`, run)
	if err != nil {
		return err
	}
	_, err = s.exec(`DELETE FROM runs WHERE n = ?1`, run)
	return err
}

// endedBefore is the condition of runs that ended before ?1. Recordings are not
// among them: their times are those of another place.
const endedBefore = ` status IN ('succeeded', 'partial', 'failed', 'cancelled')
	AND created_at < ?1 AND finished_at < ?1 AND NOT recorded`

// DeleteEnded deletes runs that ended before a time, the oldest first and at
// most limit of them, as [DB.Delete] does, and returns how many there were. A
// run that has not ended is never deleted, nor one that was set going again
// meanwhile. Each is a transaction of its own, so that nobody who writes waits
// for more than one.
func (d *DB) DeleteEnded(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	ids, err := readAll(ctx, d.readers, scanText,
		`SELECT id FROM runs WHERE`+endedBefore+` ORDER BY created_at, id LIMIT ?2`, before.UnixMilli(), limit)
	if err != nil {
		return 0, failed(err, "find the runs that ended before %s", before)
	}
	for _, id := range ids {
		var gone int
		err := d.write(ctx, id, func(s *session) error {
			var run int64
			err := s.row(`SELECT coalesce(max(n), 0) FROM runs WHERE id = ?2 AND`+endedBefore, before.UnixMilli(), id).Scan(&run)
			if gone = 0; err != nil || run == 0 {
				return err
			}
			gone = 1
			return s.delete(run)
		})
		if err != nil {
			return deleted, failed(err, "delete run %s, which ended before %s", id, before)
		}
		deleted += gone
	}
	return deleted, nil
}
