package modeltest

import (
	"sync"
	"time"
)

// Clock is a [model.Clock] that moves when it is told to.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[chan time.Time]time.Time
}

// NewClock returns a clock that stands still.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), timers: map[chan time.Time]time.Time{}}
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At returns a channel that is sent the time when the clock was moved to t.
func (c *Clock) At(t time.Time) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	timer := make(chan time.Time, 1)
	c.timers[timer] = t
	c.ring()
	return timer
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.ring()
}

func (c *Clock) ring() {
	for timer, at := range c.timers {
		if !at.After(c.now) {
			timer <- c.now
			delete(c.timers, timer)
		}
	}
}
