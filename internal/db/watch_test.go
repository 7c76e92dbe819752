package db

import (
	"context"
	"testing"

	"planwave/internal/plan"
)

// woken says whether a wake-up waits.
func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWatch(t *testing.T) {
	d := openNew(t)
	one, stopOne := d.Watch("r1")
	defer stopOne()
	all, stopAll := d.Watch("")
	defer stopAll()
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	if !woken(one) || !woken(all) {
		t.Error("a commit woke nobody")
	}
	newStory(d, "r2").tell(t, asked("q"))
	if woken(one) || !woken(all) {
		t.Error("a commit of another run woke the wrong ones")
	}
	if err := d.Ready(t.Context()); err != nil || woken(one) || woken(all) {
		t.Errorf("what is of no run woke somebody, %v", err)
	}
	s.tell(t, plan.PlanRequested{})
	s.tell(t, plan.PlanRequested{})
	if !woken(one) || woken(one) {
		t.Error("wake-ups that nobody took do not become one")
	}
	if err := d.Delete(t.Context(), "r1"); err != nil || !woken(one) {
		t.Errorf("the deletion woke nobody, %v", err)
	}
}

func TestAWatcherThatStoppedIsForgotten(t *testing.T) {
	d := openNew(t)
	c, stop := d.Watch("r1")
	stop()
	stop()
	newStory(d, "r1").tell(t, asked("q"))
	if woken(c) || len(d.hub.watches) > 0 {
		t.Errorf("it is still known: %v", d.hub.watches)
	}
}

// TestAFollowerMissesNothing follows a log as viewers do: watch, read, wait.
func TestAFollowerMissesNothing(t *testing.T) { // BEHAVIOUR 12.1
	const rounds = 200
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, asked("q"))
	written := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < rounds && err == nil; i++ {
			err = s.append(context.Background(), plan.PlanRequested{})
		}
		written <- err
	}()
	wake, stop := d.Watch("r1")
	defer stop()
	var seen int64
	for seen < rounds+1 {
		events, err := d.Events(t.Context(), "r1", seen, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Seq != seen+1 {
				t.Fatalf("event %d after %d", e.Seq, seen)
			}
			seen = e.Seq
		}
		if len(events) == 0 {
			<-wake
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
