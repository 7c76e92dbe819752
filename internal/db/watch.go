package db

import "sync"

// Hub wakes those who wait for a run to change. The zero value is ready.
type Hub struct {
	mu      sync.Mutex
	watches map[string]map[chan struct{}]bool // guarded by mu; by run, "" is any
}

// Watch returns a channel that receives after commits to the run, any run for
// "", and a function that ends it. Who watches first and reads the log then,
// misses nothing.
func (d *DB) Watch(runID string) (wake <-chan struct{}, stop func()) { return d.hub.Watch(runID) }

// Watch returns a channel that receives when the run changes, any run for "",
// and a function that ends it. Wake-ups that nobody took yet become one, so that
// nobody waits for those who watch.
func (h *Hub) Watch(runID string) (wake <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
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

func (h *Hub) drop(runID string, c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches[runID], c)
	if len(h.watches[runID]) == 0 {
		delete(h.watches, runID)
	}
}

// Watched says whether anyone watches the run itself.
func (h *Hub) Watched(runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watches[runID]) > 0
}

// Wake tells those who watch the run that it changed.
func (h *Hub) Wake(runID string) {
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
