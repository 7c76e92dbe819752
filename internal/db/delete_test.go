package db

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"planwave/internal/plan"
)

// filled holds one run that has something in every table.
func filled(t *testing.T, d *DB) {
	t.Helper()
	traced(t, d)
	k := Key{Scope: "ada POST /runs", Key: "k", Fingerprint: "f"}
	if _, err := d.Claim(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := d.Keep(t.Context(), k, Answer{RunID: "r1", Status: 201, Body: []byte("zanzibar")}); err != nil {
		t.Fatal(err)
	}
	if err := d.AddShare(t.Context(), Share{ID: "l1", RunID: "r1", By: "ada", CreatedAt: epoch}, []byte("hash")); err != nil {
		t.Fatal(err)
	}
	s := &story{d: d, at: epoch}
	var err error
	if s.run, err = d.Load(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	s.tell(t, plan.StepSucceeded{Step: "s2", Attempt: 1, Result: plan.Result{Text: "zanzibar"}})
	s.tell(t, answer(plan.Answer{Result: "zanzibar"})...)
}

// rowsOf counts the rows of every table that there is, but those about people,
// who belong to no run.
func rowsOf(t *testing.T, d *DB) map[string]int {
	t.Helper()
	names, err := readAll(t.Context(), d.readers, scanText, `
		SELECT name
		FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'search%' AND name NOT IN ('schema_versions', 'pulse', 'users', 'invites', 'sessions', 'api_tokens')`)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{"terms in the search index": terms(t, d)}
	for _, name := range names {
		var n int
		if err := d.readers.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT count(*) FROM %q`, name)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[name] = n
	}
	return rows
}

// terms counts the words in the search index.
func terms(t *testing.T, d *DB) int {
	t.Helper()
	var n int
	err := d.write(context.Background(), "", func(s *session) error {
		if _, err := s.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, search, row)`); err != nil {
			return err
		}
		return s.row(`SELECT count(*) FROM temp.terms`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeleteLeavesNothing(t *testing.T) { // BEHAVIOUR 12.3
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	filled(t, d)
	for table, n := range rowsOf(t, d) {
		if n == 0 {
			t.Errorf("%s is empty before the deletion: the test would show nothing", table)
		}
	}
	if err := d.Delete(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	for table, n := range rowsOf(t, d) {
		if n != 0 {
			t.Errorf("%s has %d rows left", table, n)
		}
	}
	sound(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(readFile(t, path), []byte("zanzibar")) {
		t.Error("the file still holds a text of the run")
	}
}

func TestDeleteLeavesOthersAlone(t *testing.T) {
	d := openNew(t)
	filled(t, d)
	other := whole(t, d, "r2", "zanzibar", "zanzibar", "zanzibar")
	if err := d.Delete(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	sameRows(t, d, other.run)
	if p, err := d.List(t.Context(), Filter{Query: "zanzibar"}); err != nil || len(p.Runs) != 1 {
		t.Errorf("%v, %v", idsOf(p), err)
	}
	sound(t, d)
}

func TestADeletedRunTakesNoMoreEvents(t *testing.T) { // a deleted run stops first
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	if err := d.Delete(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.append(t.Context(), plan.PlanRequested{}), ErrNotFound)
	if p, err := d.List(t.Context(), Filter{}); err != nil || len(p.Runs) > 0 {
		t.Errorf("%v, %v", idsOf(p), err)
	}
}

// endedAt makes a run of one event after the other that ended at a time.
func endedAt(t *testing.T, d *DB, id string, at time.Time) *story {
	t.Helper()
	s := newStory(d, id)
	s.at = at.Add(-5 * time.Millisecond)
	s.tell(t, asked("zanzibar"))
	s.at = at
	s.tell(t, plan.RunCancelled{By: "ada"})
	return s
}

func TestRunsThatEndedLongAgoAreDeleted(t *testing.T) {
	d := openNew(t)
	day := 24 * time.Hour
	limit := epoch.Add(-90 * day)
	endedAt(t, d, "oldest", epoch.Add(-200*day))
	endedAt(t, d, "old", limit.Add(-time.Millisecond))
	endedAt(t, d, "older", epoch.Add(-100*day))
	goesOn := newStory(d, "goes on")
	goesOn.at = epoch.Add(-300 * day)
	goesOn.tell(t, begin("q", 1)...)
	lately := newStory(d, "asked long ago, ended lately")
	lately.at = epoch.Add(-300 * day)
	lately.tell(t, asked("q"))
	lately.at = limit
	lately.tell(t, plan.RunCancelled{})
	recorded := newStory(d, "recorded")
	recorded.at = epoch.Add(-300 * day)
	created := asked("q")
	created.Recorded = true
	recorded.tell(t, created, plan.RunFailed{})
	again := endedAt(t, d, "set going again", epoch.Add(-300*day))
	again.tell(t, plan.RunContinued{Status: plan.RunStatusPlanning, Reason: "again"})

	for _, want := range []int{2, 1, 0} {
		if n, err := d.DeleteEnded(t.Context(), limit, 2); err != nil || n != want {
			t.Fatalf("%d were deleted, %v; want %d", n, err, want)
		}
		if want == 2 { // the oldest first
			_, err := d.Load(t.Context(), "oldest")
			wantErr(t, err, ErrNotFound)
			if _, err := d.Load(t.Context(), "old"); err != nil {
				t.Error(err)
			}
		}
	}
	for _, s := range []*story{goesOn, lately, again} {
		sameRows(t, d, s.run)
	}
	if _, err := d.Load(t.Context(), "recorded"); err != nil {
		t.Error(err)
	}
	if rows := rowsOf(t, d); rows["runs"] != 4 {
		t.Errorf("left are %v", rows)
	}
	if p, err := d.List(t.Context(), Filter{Query: "zanzibar"}); err != nil || len(p.Runs) != 1 {
		t.Errorf("found are %v, %v", idsOf(p), err)
	}
	sound(t, d)
}

func TestWhoWatchesADeletedRunIsWoken(t *testing.T) {
	d := openNew(t)
	endedAt(t, d, "old", epoch.Add(-time.Hour))
	changed, stop := d.Watch("old")
	defer stop()
	if n, err := d.DeleteEnded(t.Context(), epoch, 10); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	<-changed
}
