package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// unstarted is an open database whose writer does not run, so that a test
// decides what is written together.
func unstarted(t *testing.T) *DB {
	t.Helper()
	return unstartedAt(t, filepath.Join(t.TempDir(), "runs.db"))
}

func unstartedAt(t *testing.T, path string) *DB {
	t.Helper()
	d := newDB(path, Options{})
	if err := d.open(t.Context(), migrations); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.abandon(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// jobOf is a batch as it waits for the writer.
func jobOf(t *testing.T, b Batch) *job {
	t.Helper()
	records, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return &job{
		do:   func(s *session) error { return s.append(b, records, epoch) },
		wake: b.Run.ID, done: make(chan error, 1),
	}
}

// created is a batch that makes a run with a question.
func created(t *testing.T, d *DB, id, question string) Batch {
	t.Helper()
	b, err := newStory(d, id).batch(asked(question))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABadBatchOfAGroupFailsAlone(t *testing.T) {
	d := unstarted(t)
	d.commit([]*job{jobOf(t, created(t, d, "twin", "q"))})
	group := []*job{
		jobOf(t, created(t, d, "a", "q")),
		jobOf(t, created(t, d, "twin", "again")),
		jobOf(t, created(t, d, "b", "q")),
	}
	wake, stop := d.Watch("twin")
	defer stop()
	d.commit(group)
	for i, want := range []error{nil, ErrConflict, nil} {
		if err := <-group[i].done; !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	for _, id := range []string{"a", "b", "twin"} {
		if r, err := d.Load(t.Context(), id); err != nil || r.Question != "q" {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	select {
	case <-wake:
		t.Error("a batch that failed woke the watchers of its run")
	default:
	}
}

func TestAGroupWhoseTransactionIsLostIsTriedOneByOne(t *testing.T) { // BEHAVIOUR 11: a full disk
	d := unstarted(t)
	s := &session{conn: d.writer}
	var pages int
	if err := s.row(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	var most int
	if err := s.row(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+20)).Scan(&most); err != nil || most != pages+20 {
		t.Fatalf("the file may have %d pages, %v", most, err)
	}
	huge := created(t, d, "huge", strings.Repeat("long ", 100_000))
	group := []*job{
		jobOf(t, created(t, d, "a", "q")),
		jobOf(t, huge),
		jobOf(t, created(t, d, "b", "q")),
	}
	d.commit(group)
	for i, want := range []error{nil, ErrFull, nil} {
		if err := failed(<-group[i].done, "append"); !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	for _, id := range []string{"a", "b"} {
		if _, err := d.Load(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	_, err := d.Load(t.Context(), "huge")
	wantErr(t, err, ErrNotFound)
}

func TestADiskThatIsFullAndThenIsNot(t *testing.T) { // BEHAVIOUR 11
	d := openNew(t)
	limit := func(pages int) {
		err := d.write(t.Context(), "", func(s *session) error {
			var now int
			return s.row(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)).Scan(&now)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite takes the present size for it
	s := newStory(d, "r1")
	long := strings.Repeat("long ", 20_000)
	err := s.append(t.Context(), asked(long))
	wantErr(t, err, ErrFull)
	if !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), "r1") {
		t.Errorf("the error does not say what to do, and to what: %v", err)
	}
	limit(1_000_000)
	s = newStory(d, "r1")
	s.tell(t, asked(long))
	sound(t, d)
}

func TestADatabaseThatAnotherProgramKeepsLocked(t *testing.T) { // BEHAVIOUR 11
	path := filepath.Join(t.TempDir(), "runs.db")
	d, other := openFile(t, path), openFile(t, path)
	err := d.write(t.Context(), "", func(s *session) error { _, err := s.exec(`PRAGMA busy_timeout = 1`); return err })
	if err != nil {
		t.Fatal(err)
	}
	held, free := make(chan struct{}), make(chan struct{})
	released := make(chan error, 1)
	go func() {
		released <- other.write(context.Background(), "", func(*session) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	wantErr(t, d.Ready(t.Context()), ErrBusy)
	if _, err := d.List(t.Context(), Filter{}); err != nil {
		t.Errorf("reading goes on while somebody writes: %v", err)
	}
	close(free)
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestACallerWhoGaveUpBeforeTheHandOver(t *testing.T) {
	d := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	blocked, free := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- d.write(context.Background(), "", func(*session) error {
			close(blocked)
			<-free
			return nil
		})
	}()
	<-blocked
	err := newStory(d, "r1").append(ctx, asked("q"))
	wantErr(t, err, context.Canceled)
	close(free)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	_, err = d.Load(t.Context(), "r1")
	wantErr(t, err, ErrNotFound)
}

func TestACallerWhoGaveUpAfterTheHandOverLearnsTheOutcome(t *testing.T) {
	d := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := d.write(ctx, "", func(s *session) error {
		cancel()
		_, err := s.exec(`INSERT INTO pulse (one, at) VALUES (1, 42)`)
		return err
	})
	if err != nil {
		t.Fatalf("what was committed was reported as %v", err)
	}
	var at int
	if err := d.readers.QueryRowContext(t.Context(), `SELECT at FROM pulse`).Scan(&at); err != nil || at != 42 {
		t.Errorf("at = %d, %v", at, err)
	}
}

func TestClosing(t *testing.T) {
	d := openNew(t)
	blocked, free := make(chan struct{}), make(chan struct{})
	handedOver := make(chan error, 1)
	b := created(t, d, "r1", "q")
	records, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		handedOver <- d.write(context.Background(), "", func(s *session) error {
			close(blocked)
			<-free
			return s.append(b, records, epoch)
		})
	}()
	<-blocked
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- d.Close() }()
	}
	<-d.stop
	wantErr(t, d.Ready(t.Context()), ErrClosed)
	close(free)
	for range 2 {
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	if err := <-handedOver; err != nil {
		t.Errorf("what was handed over before is written: %v", err)
	}
	again := openFile(t, d.path)
	if _, err := again.Load(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
}

func TestTheWriteAheadLogIsFoldedBack(t *testing.T) {
	d := unstarted(t)
	d.commit([]*job{jobOf(t, created(t, d, "r1", "q"))})
	size := fileSize(t, d.path+"-wal")
	if size == 0 {
		t.Fatal("nothing is in the write-ahead log")
	}
	d.checkpoint(size + 1)
	if got := fileSize(t, d.path+"-wal"); got != size {
		t.Errorf("a small log was folded back, to %d bytes", got)
	}
	d.checkpoint(size)
	if got := fileSize(t, d.path+"-wal"); got != 0 {
		t.Errorf("the log has %d bytes left", got)
	}
	if _, err := d.Load(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
}
