package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// book is the log of one run as the kills left it.
type book struct {
	id, tag string
	events  []plan.Event
	lines   []string
	run     *plan.Run // the fold
	// ends are the numbers of the last event at each kill, by process from 1;
	// flying are the agents that were at work then.
	ends   map[int]int64
	flying map[int][]agentOf
	closed bool // it was found ended, and nobody goes on with it
}

// lookAfter looks at what a killed process left, on a copy, so that the next
// process finds the file as it was left.
func (h *harness) lookAfter(l *life) {
	h.listen(l)
	file := filepath.Join(h.TempDir(), "copy.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(h.file + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			h.Fatal(err)
		}
		if err := os.WriteFile(file+end, b, 0o600); err != nil {
			h.Fatal(err)
		}
	}
	h.look(file, l.n, func(d *db.DB) ([]string, error) { return d.Unfinished(context.Background()) })
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		h.Fatal(err)
	}
}

// lookAtEnd looks at every run that there is, when all is done, and holds each
// to everything that must be true of it.
func (h *harness) lookAtEnd(l *life) {
	h.listen(l)
	for _, k := range h.books {
		k.closed = false
	}
	h.look(h.file, l.n, everyRun)
	log, _ := h.model.requests()
	asked := map[string][]asked{}
	for _, a := range log {
		asked[a.tag] = append(asked[a.tag], a)
	}
	made := map[string]string{}
	for _, k := range h.books {
		if other, ok := made[k.tag]; ok {
			h.problem(k.tag, "one request made two runs, %s and %s", other, k.id)
		}
		made[k.tag] = k.id
		if e := h.errands[k.tag]; e != nil && h.ctx.Err() == nil {
			h.judge(k, e, asked[k.tag])
		}
	}
}

// listen holds that a process said nothing that it should not.
func (h *harness) listen(l *life) {
	for line := range strings.Lines(l.said.String()) {
		for _, bad := range []string{"level=ERROR", "panic", "DATA RACE"} {
			if strings.Contains(line, bad) {
				h.problem("", "process %d said:\n%s", l.n, l.said)
				return
			}
		}
	}
}

func everyRun(d *db.DB) ([]string, error) {
	var ids []string
	for f := (db.Filter{Limit: db.MostLimit}); ; {
		page, err := d.List(context.Background(), f)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Runs {
			ids = append(ids, r.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return ids, nil
		}
	}
}

// look reads the logs of the runs that are listed, and of those that are known
// and not closed, after the kill of the n-th process.
func (h *harness) look(file string, n int, list func(*db.DB) ([]string, error)) {
	d, err := db.Open(context.Background(), file, db.Options{})
	if err != nil {
		h.Fatalf("seed %d: the database that process %d left: %v", h.seed, n, err)
	}
	defer func() { _ = d.Close() }()
	ids, err := list(d)
	if err != nil {
		h.Fatalf("seed %d: the runs that process %d left: %v", h.seed, n, err)
	}
	for _, id := range ids {
		h.open(id)
	}
	byID := map[string]*errand{}
	for _, e := range h.everyErrand() {
		if id, _, _, _ := e.known(); id != "" {
			byID[id] = e
			h.open(id).tag = e.tag
		}
	}
	for _, k := range h.books {
		if !k.closed {
			h.read(d, k, n, byID[k.id])
		}
	}
}

func (h *harness) everyErrand() []*errand {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.errands))
}

// open returns the book of a run.
func (h *harness) open(id string) *book {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.books[id] == nil {
		h.books[id] = &book{id: id, ends: map[int]int64{}, flying: map[int][]agentOf{}}
	}
	return h.books[id]
}

// read brings a book up to date and holds that nothing which was shown or
// answered is lost or changed. The errand is nil for a run whose id nobody got.
func (h *harness) read(d *db.DB, k *book, n int, e *errand) {
	var seen []string
	var acks []ack
	if e != nil {
		_, seen, acks, k.closed = e.known()
	}
	const all = 1 << 20
	events, err := d.Events(context.Background(), k.id, 0, all)
	if err != nil {
		h.problem(k.tag, "after process %d the run %s cannot be read: %v", n, k.id, err)
		return
	}
	before := k.lines
	k.events, k.lines = events, nil
	for i, ev := range events {
		k.lines = append(k.lines, lineOf(ev))
		if ev.Seq != int64(i+1) {
			h.problem(k.tag, "after process %d there is a gap: event %d has the number %d", n, i+1, ev.Seq)
		}
	}
	h.holdPrefix(k, fmt.Sprintf("was in the log before process %d", n), before)
	h.holdPrefix(k, fmt.Sprintf("was shown by process %d or before", n), seen)
	if k.run, err = plan.Fold(k.id, events); err != nil {
		h.problem(k.tag, "after process %d the log is no history: %v", n, err)
		return
	}
	k.tag = found(tagged, k.run.Question)
	k.ends[n], k.flying[n] = k.run.Seq, atWork(k.run)
	if k.run.Status.Ended() {
		k.closed = k.closed || e == nil // nobody knows of it
	} else {
		h.hit[k.run.Status]++
	}
	for _, a := range acks {
		if !slices.ContainsFunc(events, func(ev plan.Event) bool {
			return ev.Type() == a.event && ev.Seq > a.after && ev.Seq <= a.upTo
		}) {
			h.problem(k.tag, "after process %d a change is lost that was answered with success: %s, which is not among events %d to %d",
				n, a.event, a.after+1, a.upTo)
		}
	}
}

// holdPrefix holds that the log begins as it was.
func (h *harness) holdPrefix(k *book, what string, lines []string) {
	for i, line := range lines {
		if i >= len(k.lines) {
			h.problem(k.tag, "an event is gone that %s: %s", what, line)
			return
		}
		if k.lines[i] != line {
			h.problem(k.tag, "an event is another than %s: %s\nand now: %s", what, line, k.lines[i])
			return
		}
	}
}

// atWork are the agents that a process leaves in the middle of their work.
func atWork(r *plan.Run) []agentOf {
	switch r.Status {
	case plan.RunStatusPlanning:
		return []agentOf{{role: plan.RolePlanner}}
	case plan.RunStatusSynthesizing:
		return []agentOf{{role: plan.RoleSynthesizer}}
	case plan.RunStatusRunning:
		var out []agentOf
		for _, id := range r.WithStatus(plan.StepStatusRunning) {
			out = append(out, agentOf{plan.RoleExecutor, id})
		}
		return out
	default:
		return nil
	}
}
