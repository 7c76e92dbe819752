package db

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"
)

// clocked is a database whose time a test sets.
func clocked(t *testing.T) (d *DB, pass func(time.Duration)) {
	t.Helper()
	var now atomic.Int64
	now.Store(epoch.UnixNano())
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{Clock: func() time.Time { return time.Unix(0, now.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, func(by time.Duration) { now.Add(int64(by)) }
}

var post = Key{Scope: "ada POST /api/v1/runs", Key: "k1", Fingerprint: "body one"}

// claimed claims a key that is free.
func claimed(t *testing.T, d *DB, k Key) {
	t.Helper()
	if a, err := d.Claim(t.Context(), k); a != nil || err != nil {
		t.Fatalf("the key is not free: %+v, %v", a, err)
	}
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	d, pass := clocked(t)
	claimed(t, d, post)
	_, err := d.Claim(t.Context(), post)
	wantErr(t, err, ErrInFlight)
	newStory(d, "r1").tell(t, asked("q"))
	first := Answer{RunID: "r1", Status: 201, Header: map[string][]string{"Location": {"/runs/r1"}}, Body: []byte(`{"id":"r1"}`)}
	if err := d.Keep(t.Context(), post, first); err != nil {
		t.Fatal(err)
	}
	if err := d.Keep(t.Context(), post, Answer{Status: 500}); err != nil {
		t.Fatal(err)
	}
	pass(24*time.Hour - time.Second)
	got, err := d.Claim(t.Context(), post)
	if err != nil || !reflect.DeepEqual(*got, first) {
		t.Errorf("answer %+v, %v", got, err)
	}
	pass(time.Second)
	claimed(t, d, post) // it is kept for 24 hours
}

func TestKeysAreOfTheirScopeAndOfOneRequest(t *testing.T) {
	d, _ := clocked(t)
	claimed(t, d, post)
	other := post
	other.Scope = "ben POST /api/v1/runs"
	claimed(t, d, other)
	changed := post
	changed.Fingerprint = "body two"
	_, err := d.Claim(t.Context(), changed)
	wantErr(t, err, ErrKeyReused)
	if err := d.Keep(t.Context(), post, Answer{Status: 204}); err != nil {
		t.Fatal(err)
	}
	_, err = d.Claim(t.Context(), changed)
	wantErr(t, err, ErrKeyReused)
}

func TestAClaimThatIsGivenUp(t *testing.T) {
	d, pass := clocked(t)
	claimed(t, d, post)
	if err := d.Release(t.Context(), post); err != nil {
		t.Fatal(err)
	}
	claimed(t, d, post)
	pass(2*time.Minute - time.Second)
	_, err := d.Claim(t.Context(), post)
	wantErr(t, err, ErrInFlight)
	pass(time.Second)
	claimed(t, d, post) // its claimer died
}

func TestOfManyAtOnceOneIsToCarryItOut(t *testing.T) {
	d, _ := clocked(t)
	var free, inFlight atomic.Int32
	together(20, func(int) {
		a, err := d.Claim(context.Background(), post)
		switch {
		case a == nil && err == nil:
			free.Add(1)
		case errors.Is(err, ErrInFlight):
			inFlight.Add(1)
		}
	})
	if free.Load() != 1 || inFlight.Load() != 19 {
		t.Errorf("%d may carry it out, %d are told to wait", free.Load(), inFlight.Load())
	}
}

// keyed is a batch that makes a run for a request.
func keyed(t *testing.T, d *DB, id string, k Key) Batch {
	t.Helper()
	b := created(t, d, id, "q")
	b.Key = &k
	return b
}

func TestARunIsMadeOnceForItsKey(t *testing.T) {
	d, _ := clocked(t)
	claimed(t, d, post)
	if err := d.Append(t.Context(), keyed(t, d, "r1", post)); err != nil {
		t.Fatal(err)
	}
	wantErr(t, d.Append(t.Context(), keyed(t, d, "r2", post)), ErrInFlight)
	_, err := d.Load(t.Context(), "r2")
	wantErr(t, err, ErrNotFound)
	if err := d.Release(t.Context(), post); err != nil {
		t.Fatal(err)
	}
	// The process may have died before it answered: the repeat learns what was made.
	got, err := d.Claim(t.Context(), post)
	if err != nil || got == nil || got.RunID != "r1" || got.Status != 0 {
		t.Errorf("answer %+v, %v", got, err)
	}
}

func TestAKeyNeedsNoClaimToBeCarriedOut(t *testing.T) {
	d, _ := clocked(t)
	var made atomic.Int32
	together(8, func(i int) {
		s := newStory(d, string(rune('a'+i)))
		b, err := s.batch(asked("q"))
		if err != nil {
			t.Error(err)
			return
		}
		b.Key = &post
		if err := d.Append(context.Background(), b); err == nil {
			made.Add(1)
		} else if !errors.Is(err, ErrInFlight) {
			t.Error(err)
		}
	})
	if p, err := d.List(t.Context(), Filter{}); err != nil || len(p.Runs) != 1 || made.Load() != 1 {
		t.Errorf("%d runs were made, %v are there, %v", made.Load(), idsOf(p), err)
	}
}

func TestTheAnswerGoesWithItsRun(t *testing.T) {
	d, _ := clocked(t)
	if err := d.Append(t.Context(), keyed(t, d, "r1", post)); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	claimed(t, d, post)
	if err := d.Keep(t.Context(), post, Answer{RunID: "r1", Status: 201}); err != nil {
		t.Fatal(err)
	}
	claimed(t, d, post) // the run of the answer was deleted while it was made
}

func TestAnAnswerAboutNoRun(t *testing.T) {
	d, _ := clocked(t)
	claimed(t, d, post)
	if err := d.Keep(t.Context(), post, Answer{Status: 422}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Claim(t.Context(), post)
	if err != nil || got.Status != 422 || got.RunID != "" || len(got.Body) > 0 {
		t.Errorf("answer %+v, %v", got, err)
	}
	if _, err := d.Load(t.Context(), ""); err == nil {
		t.Error("there is a run without an id")
	}
}
