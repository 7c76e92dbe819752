package runs

import (
	"context"
	"slices"
	"strings"
	"sync"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// Now is a call that is being made: what a model has written so far, how far a
// tool has got, or what is waited for. No event says so and nothing keeps it,
// since the finished call is kept.
type Now struct {
	Call    string // its id in the trace; "" between a failed call and the next try
	Agent   plan.Role
	Step    string // "" outside a step
	Attempt int
	Model   string // provider:model
	Text    string
	// Void counts how often what was written was taken back, because the
	// provider was asked again.
	Void int
	// Progress is that of a tool call, which names its tool; it is the zero value
	// for a call of a model.
	Progress tools.Progress
	// Waiting is the zero value for a call that waits for nothing but the model.
	Waiting model.Waiting
}

// board holds the calls of all runs that are being made. Its zero value is
// ready.
type board struct {
	hub  db.Hub
	mu   sync.Mutex
	runs map[string][]*posted // guarded by mu; in order of start
}

// posted is a call on the board.
type posted struct {
	now  Now // but its text; guarded by the board's mu
	text strings.Builder
}

// Now lists the calls of a run that are being made, in order of start.
func (s *Service) Now(runID string) []Now {
	b := &s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Now
	for _, p := range b.runs[runID] {
		n := p.now
		n.Text = p.text.String()
		all = append(all, n)
	}
	return all
}

// WatchNow returns a channel that receives when [Service.Now] may have changed,
// and a function that ends it. A call that begins while someone watches is
// streamed.
func (s *Service) WatchNow(runID string) (changed <-chan struct{}, stop func()) {
	return s.board.hub.Watch(runID)
}

// post puts a call on the board. It returns the context to make the call with,
// who is to be told what is written, nil where nobody watches, and what takes
// the call off again.
func (b *board) post(ctx context.Context, runID string, n Now) (context.Context, func(string), func()) {
	p := &posted{now: n}
	b.change(runID, func() { b.put(runID, p) })
	ctx = model.OnWaiting(ctx, func(w model.Waiting) { b.change(runID, func() { p.now.Waiting = w }) })
	var onText func(string)
	if b.hub.Watched(runID) {
		onText = func(piece string) { b.change(runID, func() { p.write(piece) }) }
	}
	return ctx, onText, func() { b.change(runID, func() { b.drop(runID, p) }) }
}

// tool puts a tool call on the board. It returns the context to make the call
// with, and what takes the call off again.
func (b *board) tool(ctx context.Context, runID string, n Now) (context.Context, func()) {
	p := &posted{now: n}
	b.change(runID, func() { b.put(runID, p) })
	ctx = tools.OnProgress(ctx, func(t tools.Progress) { b.change(runID, func() { p.now.Progress = t }) })
	return ctx, func() { b.change(runID, func() { b.drop(runID, p) }) }
}

// waits returns a context whose waits between two calls are on the board.
func (b *board) waits(ctx context.Context, runID string, n Now) context.Context {
	p := &posted{now: n}
	return model.OnWaiting(ctx, func(w model.Waiting) {
		b.change(runID, func() {
			b.drop(runID, p)
			if p.now.Waiting = w; w != (model.Waiting{}) {
				b.put(runID, p)
			}
		})
	})
}

// put adds to the board. b.mu is held.
func (b *board) put(runID string, p *posted) {
	if b.runs == nil {
		b.runs = map[string][]*posted{}
	}
	b.runs[runID] = append(b.runs[runID], p)
}

// drop takes off the board. b.mu is held.
func (b *board) drop(runID string, p *posted) {
	b.runs[runID] = slices.DeleteFunc(b.runs[runID], func(o *posted) bool { return o == p })
	if len(b.runs[runID]) == 0 {
		delete(b.runs, runID)
	}
}

// change changes the board and wakes those who look at the run's part of it.
func (b *board) change(runID string, do func()) {
	b.mu.Lock()
	do()
	b.mu.Unlock()
	b.hub.Wake(runID)
}

// write takes a piece of the text in; an empty one takes all of it back.
func (p *posted) write(piece string) {
	if piece != "" {
		p.text.WriteString(piece)
		return
	}
	if p.text.Len() > 0 {
		p.now.Void++
		p.text.Reset()
	}
}
