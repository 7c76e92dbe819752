package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"planwave/internal/plan"
)

func TestARunIsReadBackAsItWasWritten(t *testing.T) { // BEHAVIOUR 12.1
	d := openNew(t)
	s := whole(t, d, "r1", "Which city?", "Quillhaven", "It is Quillhaven.")
	got, err := d.Load(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	sameRun(t, got, s.run)
	events, err := d.Events(t.Context(), "r1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
		if want := epoch.Add(time.Duration(i) * time.Millisecond); !e.At.Equal(want) || e.At.Location() != time.UTC {
			t.Errorf("event %d is of %v, want %v", i+1, e.At, want)
		}
	}
}

func TestEventsAfterANumber(t *testing.T) {
	d := openNew(t)
	whole(t, d, "r1", "q", "r", "a") // of nine events
	tests := map[string]struct {
		after int64
		limit int
		want  []int64
	}{
		"from the beginning":      {0, 3, []int64{1, 2, 3}},
		"from the middle":         {4, 2, []int64{5, 6}},
		"the rest":                {7, 100, []int64{8, 9}},
		"nothing is after it yet": {9, 100, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			events, err := d.Events(t.Context(), "r1", tt.after, tt.limit)
			var got []int64
			for _, e := range events {
				got = append(got, e.Seq)
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("events %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestWhatIsNotThere(t *testing.T) {
	d := openNew(t)
	_, err := d.Load(t.Context(), "none")
	wantErr(t, err, ErrNotFound)
	_, err = d.Events(t.Context(), "none", 0, 10)
	wantErr(t, err, ErrNotFound)
	wantErr(t, d.Delete(t.Context(), "none"), ErrNotFound)
	_, err = d.PlanByHash(t.Context(), "sha256:none")
	wantErr(t, err, ErrNotFound)
	if calls, err := d.Trace(t.Context(), "none"); err != nil || len(calls) > 0 {
		t.Errorf("trace = %v, %v", calls, err)
	}
}

func TestTwoWritersOfOneRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	one, two := openFile(t, path), openFile(t, path)
	first := newStory(one, "r1")
	first.tell(t, asked("q"))
	state, err := two.Load(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	second := &story{d: two, run: state, at: epoch}
	first.tell(t, plan.PlanRequested{})

	b, err := second.batch(plan.PlanProposed{Version: chain(2)})
	if err != nil {
		t.Fatal(err)
	}
	b.Calls = []plan.Call{{ID: "c1", Agent: plan.RolePlanner, StartedAt: epoch}}
	wantErr(t, two.Append(t.Context(), b), ErrConflict)

	got, err := two.Load(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	sameRun(t, got, first.run)
	if calls, err := two.Trace(t.Context(), "r1"); err != nil || len(calls) > 0 {
		t.Errorf("the refused batch left calls: %v, %v", calls, err)
	}
	sound(t, one)
}

func TestBatchesThatAreRefused(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	created := plan.Event{Seq: 1, At: epoch, Data: asked("q")}
	again := &plan.Run{ID: "r1"}
	if err := again.Apply(created); err != nil {
		t.Fatal(err)
	}
	ahead := s.run.Clone()
	ahead.Seq = 3
	tests := map[string]struct {
		batch Batch
		want  error // nil: any
	}{
		"no state":                  {Batch{Events: []plan.Event{created}}, nil},
		"a run that exists already": {Batch{Run: again, Events: []plan.Event{created}}, ErrConflict},
		"a gap in the log":          {Batch{Run: ahead, Events: []plan.Event{{Seq: 3, At: epoch, Data: plan.PlanRequested{}}}}, ErrConflict},
		"events not of this state":  {Batch{Run: s.run, Events: []plan.Event{{Seq: 7, At: epoch, Data: plan.PlanRequested{}}}}, nil},
		"an event number of 0":      {Batch{Run: &plan.Run{ID: "r2"}, Events: []plan.Event{{Seq: 0, At: epoch, Data: plan.PlanRequested{}}}}, nil},
		"what JSON cannot say": {Batch{Run: ahead, Events: []plan.Event{
			{Seq: 3, At: epoch, Data: plan.AnswerWritten{Answer: plan.Answer{Value: new(math.NaN())}}},
		}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := d.Append(t.Context(), tt.batch)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
		})
	}
	if events, err := d.Events(t.Context(), "r1", 0, 10); err != nil || len(events) != 1 {
		t.Errorf("the log has %d events, %v", len(events), err)
	}
}

func TestUnfinished(t *testing.T) { // BEHAVIOUR 12.1
	d := openNew(t)
	whole(t, d, "done", "q", "r", "a")
	for i, id := range []string{"waits", "plans", "runs"} {
		s := newStory(d, id)
		s.at = epoch.Add(time.Duration(3-i) * time.Hour)
		s.tell(t, begin("q", 1)[:i+1]...)
	}
	s := newStory(d, "cancelled")
	s.tell(t, asked("q"), plan.RunCancelled{})
	got, err := d.Unfinished(t.Context())
	if err != nil || !slices.Equal(got, []string{"runs", "plans", "waits"}) {
		t.Errorf("unfinished, oldest first = %v, %v", got, err)
	}
}

// TestUnfinishedKnowsEveryStatus holds the words in SQL to those of the code.
func TestUnfinishedKnowsEveryStatus(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	for _, status := range plan.RunStatuses() {
		if err := d.write(t.Context(), "", func(s *session) error {
			_, err := s.exec(`UPDATE runs SET status = ?1`, string(status))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		got, err := d.Unfinished(t.Context())
		if err != nil || len(got) == 1 == status.Ended() {
			t.Errorf("%s: unfinished = %v, %v", status, got, err)
		}
	}
}

func TestPlanByHash(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "r1")
	edited := chain(3)
	edited.Number, edited.Author = 2, "ada"
	s.tell(t, asked("q"), plan.PlanProposed{Version: chain(2)})
	s.tell(t, plan.PlanEdited{Version: edited})
	for hash, want := range map[string]plan.Plan{chain(2).Hash: chain(2).Plan, chain(3).Hash: edited.Plan} {
		if got, err := d.PlanByHash(t.Context(), hash); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v", hash, got, err)
		}
	}
}

func TestAnEventOfAFormThatIsNotKnown(t *testing.T) {
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	tests := map[string]struct {
		change string
		want   error
	}{
		"a newer form":     {`UPDATE events SET v = 2`, ErrNewer},
		"a type of others": {`UPDATE events SET v = 1, type = 'run.sang'`, nil},
		"data in ruins":    {`UPDATE events SET type = 'run.created', data = '{'`, nil},
	}
	for _, name := range []string{"a newer form", "a type of others", "data in ruins"} {
		tt := tests[name]
		if err := d.write(t.Context(), "", func(s *session) error { _, err := s.exec(tt.change); return err }); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Load(t.Context(), "r1"); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestManyWritersManyReaders(t *testing.T) { // BEHAVIOUR 12.1: nothing is lost, nobody is told "busy"
	const writers, readers, steps = 24, 50, 12
	d := openNew(t)
	done := make(chan struct{})
	reading, writing := make(chan error, readers), make(chan error, writers)
	for i := range readers {
		go func() { reading <- readUntil(d, done, fmt.Sprintf("r%02d", i%writers)) }()
	}
	for i := range writers {
		go func() {
			s := newStory(d, fmt.Sprintf("r%02d", i))
			err := s.append(context.Background(), begin("q", steps)...)
			for n := 0; n < steps && err == nil; n++ {
				for _, p := range step(fmt.Sprintf("s%d", n+1), "r") {
					err = errors.Join(err, s.append(context.Background(), p))
				}
			}
			writing <- err
		}()
	}
	for range writers {
		if err := <-writing; err != nil {
			t.Error(err)
		}
	}
	close(done)
	for range readers {
		if err := <-reading; err != nil {
			t.Error(err)
		}
	}
	for i := range writers {
		r, err := d.Load(t.Context(), fmt.Sprintf("r%02d", i))
		if err != nil || r.Seq != 4+2*steps || len(r.WithStatus(plan.StepStatusSucceeded)) != steps {
			t.Errorf("run %d: %v, %+v", i, err, r)
		}
	}
	sound(t, d)
}

// readUntil reads in every way there is, and holds that a run's log is always whole.
func readUntil(d *DB, done <-chan struct{}, id string) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		r, err := d.Load(context.Background(), id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err == nil && r.Seq < 4 {
			return fmt.Errorf("run %s was seen at event %d: a batch of 4 came in parts", id, r.Seq)
		}
		if _, err := d.List(context.Background(), Filter{Query: "q", Limit: 10}); err != nil {
			return err
		}
		if _, err := d.Unfinished(context.Background()); err != nil {
			return err
		}
	}
}
