package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"planwave/internal/plan"
)

// epoch is when tests take place.
var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// openFile opens the database at path and closes it with the test.
func openFile(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(t.Context(), path, Options{Clock: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func openNew(t testing.TB) *DB {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "runs.db"))
}

// story is a run that is being written, one batch after the other.
type story struct {
	d   *DB
	run *plan.Run
	at  time.Time
}

func newStory(d *DB, id string) *story {
	return &story{d: d, run: &plan.Run{ID: id}, at: epoch}
}

// batch applies payloads and returns them as a batch, which is not written.
func (s *story) batch(payloads ...plan.Payload) (Batch, error) {
	b := Batch{Run: s.run}
	for _, p := range payloads {
		e := plan.Event{Seq: s.run.Seq + 1, At: s.at, Data: p}
		if err := s.run.Apply(e); err != nil {
			return b, err
		}
		s.at = s.at.Add(time.Millisecond)
		b.Events = append(b.Events, e)
	}
	return b, nil
}

func (s *story) append(ctx context.Context, payloads ...plan.Payload) error {
	b, err := s.batch(payloads...)
	if err != nil {
		return err
	}
	return s.d.Append(ctx, b)
}

// tell appends payloads as one batch.
func (s *story) tell(t testing.TB, payloads ...plan.Payload) {
	t.Helper()
	if err := s.append(context.Background(), payloads...); err != nil {
		t.Fatal(err)
	}
}

func asked(question string) plan.RunCreated {
	return plan.RunCreated{Question: question, Options: plan.DefaultOptions(), By: "ada"}
}

// chain is a plan of n steps, each needing the one before.
func chain(n int) plan.Version {
	p := plan.Plan{}
	for i := range n {
		s := plan.Step{ID: fmt.Sprintf("s%d", i+1), Instruction: "do it"}
		if i > 0 {
			s.DependsOn = []string{fmt.Sprintf("s%d", i)}
		}
		p.Steps = append(p.Steps, s)
	}
	return plan.Version{Number: 1, Plan: p, Hash: fmt.Sprintf("sha256:chain-%d", n), Author: "planner"}
}

// begin is the beginning of a run that executes n steps.
func begin(question string, n int) []plan.Payload {
	return []plan.Payload{
		asked(question),
		plan.PlanProposed{Version: chain(n)},
		plan.PlanApproved{Version: 1, Hash: chain(n).Hash, By: "ada"},
		plan.RunStarted{},
	}
}

// step is a step that runs and succeeds.
func step(id, result string) []plan.Payload {
	return []plan.Payload{
		plan.StepStarted{Step: id, Attempt: 1, Wave: 1},
		plan.StepSucceeded{Step: id, Attempt: 1, Result: plan.Result{Text: result}},
	}
}

// answer ends a run with an answer.
func answer(a plan.Answer) []plan.Payload {
	return []plan.Payload{plan.AnswerStarted{Attempt: 1}, plan.AnswerWritten{Answer: a}, plan.RunSucceeded{}}
}

// whole is a run of one step from the question to the answer.
func whole(t testing.TB, d *DB, id, question, result, text string) *story {
	t.Helper()
	s := newStory(d, id)
	s.tell(t, begin(question, 1)...)
	s.tell(t, step("s1", result)...)
	s.tell(t, answer(plan.Answer{Result: text, RestsOn: []string{"s1"}})...)
	return s
}

// wantErr fails unless err is, by errors.Is, want.
func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("err = %v, want %v", err, want)
	}
}

// sameRun fails unless both states are the same in everything.
func sameRun(t *testing.T, got, want *plan.Run) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read\n%+v\nwant\n%+v", got, want)
	}
}

// sound fails unless SQLite finds file, references and search index in order.
func sound(t testing.TB, d *DB) {
	t.Helper()
	for _, pragma := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		found, err := readAll(context.Background(), d.readers, scanText, pragma)
		if err != nil || len(found) > 1 || len(found) == 1 && found[0] != "ok" {
			t.Fatalf("%s: %v, %v", pragma, found, err)
		}
	}
	err := d.write(context.Background(), "", func(s *session) error {
		_, err := s.exec(`INSERT INTO search (search, rank) VALUES ('integrity-check', 1)`)
		return err
	})
	if err != nil {
		t.Fatalf("the search index is not what the log says: %v", err)
	}
}

// together runs n functions at once and waits for them.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
