package db

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"
)

const (
	// mostGrouped is how many jobs share one transaction at most.
	mostGrouped = 256
	// idleAfter is how long nothing was written before the write-ahead log is
	// folded back, and largeLog from which size on.
	idleAfter = 500 * time.Millisecond
	largeLog  = 4 << 20
)

// job is one thing to write. It may be tried more than once, so do changes
// nothing but the database.
type job struct {
	do   func(*session) error
	wake string // the run whose watchers are told
	done chan error
}

// write has do carried out in a transaction and returns when it is committed
// or has failed. Once handed over it is not given up, whatever becomes of ctx:
// the caller always learns what became of it.
func (d *DB) write(ctx context.Context, wake string, do func(*session) error) error {
	j := &job{do: do, wake: wake, done: make(chan error, 1)}
	select {
	case <-d.stop:
		return ErrClosed
	default:
	}
	select {
	case d.jobs <- j:
		return <-j.done
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.stop:
		return ErrClosed
	}
}

// writeLoop is the only goroutine that writes.
func (d *DB) writeLoop() {
	defer close(d.stopped)
	idle := time.NewTimer(idleAfter)
	defer idle.Stop()
	for {
		select {
		case j := <-d.jobs:
			d.commit(d.gather(j))
			idle.Reset(idleAfter)
		case <-idle.C:
			d.checkpoint(largeLog)
		case <-d.stop:
			return
		}
	}
}

// gather returns the first job and all that wait beside it.
func (d *DB) gather(first *job) []*job {
	group := []*job{first}
	for len(group) < mostGrouped {
		select {
		case j := <-d.jobs:
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commit writes a group in one transaction and tells each job its outcome.
// When the transaction is lost as a whole, each is tried alone, so that one
// that does not fit takes no other down.
func (d *DB) commit(group []*job) {
	outcome, err := d.transact(group)
	switch {
	case err != nil && len(group) > 1 && !errors.Is(kindOf(err), ErrBusy):
		for _, j := range group {
			d.commit([]*job{j})
		}
		return
	case err != nil:
		for i := range outcome {
			outcome[i] = err
		}
	}
	for i, j := range group {
		if outcome[i] == nil {
			d.hub.Wake(j.wake)
		}
		j.done <- outcome[i]
	}
}

// transact writes a group. An error of its own means that nothing of the group
// is in the file; outcome has the errors of single jobs, which leave the others in.
func (d *DB) transact(group []*job) (outcome []error, err error) {
	outcome = make([]error, len(group))
	s := &session{conn: d.writer}
	err = s.transaction(func() error {
		for _, j := range group {
			if err := j.do(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || len(group) == 1 || errors.Is(kindOf(err), ErrBusy) {
		return outcome, err
	}
	// Hardly a job ever fails. Only when one did are the points to go back to
	// worth what they cost, since FTS5 writes out a segment at each.
	return outcome, s.transaction(func() (err error) {
		for i, j := range group {
			if outcome[i], err = s.apart(j.do); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkpoint folds the write-ahead log back into the file and cuts it to
// nothing when it is larger than least. A reader in the middle of something
// keeps it from doing so, and then it is done another time.
func (d *DB) checkpoint(least int64) {
	info, err := os.Stat(d.path + "-wal") //nolint:gosec // the operator names the file
	if err != nil || info.Size() < least {
		return
	}
	s := &session{conn: d.writer}
	if _, err := s.exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		d.log.Warn("checkpoint the database", "file", d.path, "error", err)
	}
}

// session is the writer's connection inside a transaction. Its statements are
// cached by the driver.
type session struct{ conn *sql.Conn }

// exec runs a statement and returns how many rows it changed.
func (s *session) exec(query string, args ...any) (int64, error) {
	r, err := s.conn.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// row runs a query of one row.
func (s *session) row(query string, args ...any) *sql.Row {
	return s.conn.QueryRowContext(context.Background(), query, args...)
}

// transaction carries out do and commits, or leaves nothing of it.
func (s *session) transaction(do func() error) error {
	if _, err := s.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = s.exec(`COMMIT`)
	}
	if err != nil {
		// SQLite may have rolled back by itself, and then there is nothing to
		// roll back any more.
		_, _ = s.exec(`ROLLBACK`)
	}
	return err
}

// apart carries out do in a savepoint. failure is do's error, after which
// nothing of it is left; err means that the transaction itself is lost.
func (s *session) apart(do func(*session) error) (failure, err error) {
	if _, err := s.exec(`SAVEPOINT job`); err != nil {
		return nil, err
	}
	if failure = do(s); failure != nil {
		if _, err := s.exec(`ROLLBACK TO job`); err != nil {
			return failure, err
		}
	}
	_, err = s.exec(`RELEASE job`)
	return failure, err
}
