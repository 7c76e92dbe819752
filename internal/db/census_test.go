package db

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"planwave/internal/plan"
)

func TestCensusCountsRunsByStatusAndStrategy(t *testing.T) {
	d := openNew(t)
	if all, err := d.Census(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("of nothing: %v, %v", all, err)
	}
	whole(t, d, "r1", "q", "r", "a")
	whole(t, d, "r2", "q", "r", "a")
	newStory(d, "r3").tell(t, begin("q", 1)...)
	want := []Census{
		{plan.RunStatusRunning, plan.StrategyPlan, 1},
		{plan.RunStatusSucceeded, plan.StrategyPlan, 2},
	}
	if all, err := d.Census(t.Context()); err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%v, %v; want %v", all, err, want)
	}
}

func TestSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	whole(t, d, "r1", "q", "r", "a")
	file, log, err := d.Sizes()
	if err != nil || file != fileSize(t, path) || log != fileSize(t, path+"-wal") || log == 0 {
		t.Errorf("%d, %d, %v", file, log, err)
	}
	if err := d.Close(); err != nil { // the log is folded back and gone
		t.Fatal(err)
	}
	if file, log, err := d.Sizes(); err != nil || file == 0 || log != 0 {
		t.Errorf("%d, %d, %v", file, log, err)
	}
}

func TestObserversAreToldAfterTheCommit(t *testing.T) {
	now := epoch
	var d *DB
	var told []plan.EventType
	observers := []Observer{
		func(Batch, time.Duration) { panic("broken") },
		func(b Batch, took time.Duration) {
			if n, err := d.Events(t.Context(), b.Run.ID, 0, 100); err != nil || int64(len(n)) != b.Run.Seq {
				t.Errorf("told of event %d, and in the file are %d, %v", b.Run.Seq, len(n), err)
			}
			if took != time.Second {
				t.Errorf("took %s", took)
			}
			for _, e := range b.Events {
				told = append(told, e.Type())
			}
		},
	}
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{Observers: observers, Clock: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	s.tell(t, plan.RunCancelled{})
	b, err := newStory(d, "r1").batch(asked("q"))
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, d.Append(t.Context(), b), ErrConflict) // nothing is told of what is not in the file
	if want := []plan.EventType{plan.EventRunCreated, plan.EventRunCancelled}; !reflect.DeepEqual(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
