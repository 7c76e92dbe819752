package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Options are how a database is opened.
type Options struct {
	// Logger is told of copies and of checkpoints that fail; nil is told nothing.
	Logger *slog.Logger
	// Clock is the time; nil is the machine's.
	Clock func() time.Time
	// Observers are told of each batch after it was committed, with how long that
	// took, before Append returns. They must be quick, keep nothing of the batch,
	// and change nothing.
	Observers []Observer
}

// Observer is told of a batch that is in the file.
type Observer func(b Batch, took time.Duration)

// DB is an open database. Every method is safe for concurrent use.
type DB struct {
	path  string
	log   *slog.Logger
	clock func() time.Time
	told  []Observer

	readers *sql.DB
	writing *sql.DB   // one connection, which writer holds
	writer  *sql.Conn // used by the goroutine of writeLoop only
	jobs    chan *job
	hub     Hub
	isNew   bool

	closing sync.Once
	stop    chan struct{} // closed to end writeLoop
	stopped chan struct{} // closed when it has ended
	closed  error
}

// Open opens the database in the file at path and makes it when it is not
// there. An older database is brought up to date, and a copy of it as it was
// is kept beside it.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	d := newDB(path, o)
	if err := d.open(ctx, migrations); err != nil {
		return nil, failed(err, "open database %s", path)
	}
	go d.writeLoop()
	return d, nil
}

// newDB returns a database that is not open yet.
func newDB(path string, o Options) *DB {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // the default of an option
	}
	return &DB{
		path: path, log: o.Logger, clock: o.Clock, told: o.Observers,
		jobs: make(chan *job), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// New says whether the file was made when it was opened: nothing was ever in it.
func (d *DB) New() bool { return d.isNew }

// Close ends all writing and reading. What was handed over before is written
// first. A second Close does nothing and returns the same.
func (d *DB) Close() error {
	d.closing.Do(func() {
		close(d.stop)
		<-d.stopped
		d.closed = failed(d.abandon(), "close database %s", d.path)
	})
	return d.closed
}

// abandon closes all connections there are.
func (d *DB) abandon() error {
	var errs []error
	if d.readers != nil {
		errs = append(errs, d.readers.Close())
	}
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
	}
	if d.writing != nil {
		errs = append(errs, d.writing.Close())
	}
	return errors.Join(errs...)
}

// Ready says whether the database can be written at this moment, by writing.
func (d *DB) Ready(ctx context.Context) error {
	err := d.write(ctx, "", func(s *session) error {
		_, err := s.exec(`INSERT INTO pulse (one, at) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET at = ?1`, millis(d.clock()))
		return err
	})
	return failed(err, "write to database %s", d.path)
}

// millis is a time as it is kept; the zero time is NULL.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// moment is the inverse of millis.
func moment(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// orNull is a text as it is kept where empty means none.
func orNull[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}
