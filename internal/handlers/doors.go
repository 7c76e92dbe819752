package handlers

import (
	"context"
	"sync"

	"planwave/internal/people"
)

// doors are the streams that people hold open, so that they end when the
// person may not see them any more. It is safe for concurrent use; its zero
// value is ready.
type doors struct {
	mu   sync.Mutex
	open map[*door]bool // guarded by mu
}

// door is one stream.
type door struct {
	person person
	shut   context.CancelFunc
}

// enter returns the context of a stream, which ends when its door is shut.
func (d *doors) enter(ctx context.Context, p person) (inside context.Context, leave func()) {
	inside, cancel := context.WithCancel(ctx)
	one := &door{person: p, shut: cancel}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[*door]bool{}
	}
	d.open[one] = true
	return inside, func() {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, one)
	}
}

// shut ends the streams of the people that are meant.
func (d *doors) shut(meant func(person) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for one := range d.open {
		if meant(one.person) {
			one.shut()
		}
	}
}

// shutPerson ends all streams of a person, except those of one session.
func (d *doors) shutPerson(id string, keep people.Hash) {
	d.shut(func(p person) bool { return p.ID == id && (keep == "" || p.session != keep) })
}
