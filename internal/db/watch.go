package db

import "sync"

// hub wakes those who wait for a run to change. It is told by the writer
// after each commit.
type hub struct {
	mu      sync.Mutex
	watches map[string]map[chan struct{}]bool // guarded by mu; by run, "" is any
}

// Watch returns a channel that receives after commits to the run, any run for
// "", and a function that ends it. Wake-ups that nobody took yet become one, so
// that the writer never waits. Who watches first and reads the log then, misses
// nothing.
func (d *DB) Watch(runID string) (wake <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	h := &d.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watches == nil {
		h.watches = map[string]map[chan struct{}]bool{}
	}
	if h.watches[runID] == nil {
		h.watches[runID] = map[chan struct{}]bool{}
	}
	h.watches[runID][c] = true
	return c, func() { h.drop(runID, c) }
}

func (h *hub) drop(runID string, c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches[runID], c)
	if len(h.watches[runID]) == 0 {
		delete(h.watches, runID)
	}
}

// wake tells those who watch the run that it changed.
func (h *hub) wake(runID string) {
	if runID == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range []string{runID, ""} {
		for c := range h.watches[id] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}
