package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"planwave/internal/plan"
)

// dataVersion is the version of the form of an event's data.
const dataVersion = 1

// mostEvents is the largest number that an event may have: the numbers of
// searchable texts are made of it.
const mostEvents = 1<<24 - 1

// Batch is what is appended to a run's log at once.
type Batch struct {
	// Run is the state after the events: their fold. It must not change while
	// Append is at work.
	Run    *plan.Run
	Events []plan.Event
	// Calls and ToolCalls are written to the trace. One with an id that is
	// there already is brought up to date.
	Calls     []plan.Call
	ToolCalls []plan.ToolCall
	// Key names the request that this batch carries out. When that request
	// has been carried out already, nothing is written ([ErrInFlight]).
	Key *Key
}

// record is an event as it is kept.
type record struct {
	seq, at    int64
	kind, data string
}

// Append commits a batch and everything that follows from it, or nothing. It
// returns [ErrConflict] when the events do not follow what is in the log, and
// [ErrNotFound] when the run was deleted.
func (d *DB) Append(ctx context.Context, b Batch) error {
	if b.Run == nil {
		return errors.New("append to a run: the batch has no state")
	}
	records, err := encode(b)
	if err != nil {
		return fmt.Errorf("append to run %s: %w", b.Run.ID, err)
	}
	now := d.clock()
	err = d.write(ctx, b.Run.ID, func(s *session) error { return s.append(b, records, now) })
	if err != nil {
		return failed(err, "append to run %s", b.Run.ID)
	}
	d.observed(b, d.clock().Sub(now))
	return nil
}

// observed tells the observers of a batch that is in the file. One that breaks
// takes nothing with it: what was committed is committed.
func (d *DB) observed(b Batch, took time.Duration) {
	for _, tell := range d.told {
		func() {
			defer func() {
				if p := recover(); p != nil {
					d.log.Error("an observer of commits broke", "run", b.Run.ID, "panic", p)
				}
			}()
			tell(b, took)
		}()
	}
}

// append writes a batch inside a transaction.
func (s *session) append(b Batch, records []record, now time.Time) error {
	run, err := s.project(b)
	if err != nil {
		return err
	}
	if err := s.log(run, records); err != nil {
		return err
	}
	if err := s.index(run, b.Events); err != nil {
		return err
	}
	if err := s.trace(run, b); err != nil {
		return err
	}
	return s.carryOut(run, b.Key, now)
}

// encode checks that the events lead up to the state and writes them as JSON,
// before the writer is bothered with them.
func encode(b Batch) ([]record, error) {
	first := b.Run.Seq - int64(len(b.Events)) + 1
	records := make([]record, len(b.Events))
	for i, e := range b.Events {
		if e.Seq != first+int64(i) || e.Seq < 1 || e.Seq > mostEvents {
			return nil, fmt.Errorf("event %d does not lead up to the state after event %d", e.Seq, b.Run.Seq)
		}
		data, err := plan.Encode(e.Data)
		if err != nil {
			return nil, err
		}
		records[i] = record{seq: e.Seq, at: e.At.UnixMilli(), kind: string(e.Type()), data: string(data)}
	}
	return records, nil
}

// log appends events to the run with the given number.
func (s *session) log(run int64, records []record) error {
	for _, r := range records {
		_, err := s.exec(`
			INSERT INTO events (run, seq, type, at, v, data)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			run, r.seq, r.kind, r.at, dataVersion, r.data)
		if taken(err) {
			return ErrConflict
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// index puts the texts of events that are searched into the index, as the log
// has them.
func (s *session) index(run int64, events []plan.Event) error {
	for _, e := range events {
		switch e.Data.(type) {
		case plan.RunCreated, plan.StepSucceeded, plan.AnswerWritten:
		default:
			continue
		}
		// One row of values, and not INSERT … SELECT: for that SQLite makes a
		// point to go back to, and at each such point FTS5 writes out a segment.
		_, err := s.exec(`
			INSERT INTO search (rowid, text)
			VALUES (?1 << 24 | ?2, (SELECT text FROM searchable WHERE run = ?1 AND seq = ?2))`, run, e.Seq)
		if err != nil {
			return err
		}
	}
	return nil
}

// at returns the number of the run with the given id and that of its last
// event.
func (s *session) at(id string) (run, seq int64, err error) {
	err = s.row(`SELECT n, seq FROM runs WHERE id = ?1`, id).Scan(&run, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return run, seq, err
}
