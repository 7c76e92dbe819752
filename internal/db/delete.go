package db

import "context"

// Delete deletes a run with its events, its trace, its place in the search and
// the kept answers of requests about it. Who watches the run is woken, and finds
// that it is gone.
func (d *DB) Delete(ctx context.Context, runID string) error {
	err := d.write(ctx, runID, func(s *session) error {
		run, _, err := s.at(runID)
		if err != nil {
			return err
		}
		// The index must be told the text that it forgets.
		_, err = s.exec(`
			INSERT INTO search (search, rowid, text)
			SELECT 'delete', n, text
			FROM searchable
			WHERE run = ?1`, run)
		if err != nil {
			return err
		}
		_, err = s.exec(`DELETE FROM runs WHERE n = ?1`, run)
		return err
	})
	return failed(err, "delete run %s", runID)
}
