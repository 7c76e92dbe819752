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

	"planwave/internal/agent"
	"planwave/internal/db"
	"planwave/internal/plan"
)

// What the program does not hold yet. Each is to become true, and to go then.
const (
	// journalled: a step that was in flight when the process died goes on from
	// its recorded calls, so that it repeats one of them at most. While this is
	// false it may repeat each of them once a kill.
	journalled = false
	// claimsEnd: a request that was not carried out when the process died can
	// be repeated under its Idempotency-Key at once. While this is false the
	// dead hold the key for minutes, and people go on without one.
	claimsEnd = false
	// cancelsUnderKey: a repeated cancel finds that it was carried out only
	// when it was. While this is false no cancel has an Idempotency-Key.
	cancelsUnderKey = false
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
		if h.books[id] == nil {
			h.open(&book{id: id, ends: map[int]int64{}, flying: map[int][]agentOf{}})
		}
	}
	h.mu.Lock()
	errands := slices.Collect(maps.Values(h.errands))
	h.mu.Unlock()
	byID := map[string]*errand{}
	for _, e := range errands {
		if id, _, _, _ := e.known(); id != "" {
			byID[id] = e
			if h.books[id] == nil {
				h.open(&book{id: id, tag: e.tag, ends: map[int]int64{}, flying: map[int][]agentOf{}})
			}
		}
	}
	for _, k := range h.books {
		if !k.closed {
			h.read(d, k, n, byID[k.id])
		}
	}
}

func (h *harness) open(k *book) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.books[k.id] = k
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
	if !k.closed {
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

// judge holds a run that is over to everything that must be true of it.
func (h *harness) judge(k *book, e *errand, log []asked) {
	wrong := func(format string, args ...any) { h.problem(k.tag, format, args...) }
	if !slices.Contains(e.ends, k.run.Status) {
		wrong("the run is %s (%v), and it should have ended as one of %v", k.run.Status, k.run.Error, e.ends)
	}
	if e.rejected >= 0 && len(k.run.Rejections) != e.rejected {
		wrong("%d plans were rejected, and the model wrote %d that had to be", len(k.run.Rejections), e.rejected)
	}
	if used := k.run.Used().Requests; e.budget > 0 && max(used, len(log)) > e.budget {
		wrong("%d requests were charged and %d made with a budget of %d", used, len(log), e.budget)
	}
	if len(k.run.Open) > 0 {
		wrong("these calls are over and were not settled: %v", k.run.Open)
	}
	for _, p := range []string{callsInTurn(k), onlyWhatIsNeeded(k, log), reservedFirst(k, log)} {
		if p != "" {
			wrong("%s", p)
		}
	}
	for _, p := range repeatedOnce(k, log) {
		wrong("%s", p)
	}
}

// callsInTurn holds that at most one call of an agent lies between two commits
// (BEHAVIOUR 12.2), that none is made for a step that has succeeded, and that
// no version is approved twice.
func callsInTurn(k *book) string {
	open, succeeded, approved := map[agentOf]string{}, map[string]bool{}, map[int]bool{}
	for _, ev := range k.events {
		switch p := ev.Data.(type) {
		case plan.UsageReserved:
			a := agentOf{p.Agent, p.Step}
			if open[a] != "" || succeeded[p.Step] {
				return fmt.Sprintf("event %d reserves a call of the %s, with call %q open; its step succeeded: %t", ev.Seq, a, open[a], succeeded[p.Step])
			}
			open[a] = p.Call
		case plan.UsageSettled:
			delete(open, agentOf{p.Agent, p.Step})
		case plan.RunResumed:
			clear(open)
		case plan.StepSucceeded:
			succeeded[p.Step] = true
		case plan.PlanApproved:
			if approved[p.Version] {
				return fmt.Sprintf("event %d approves version %d again", ev.Seq, p.Version)
			}
			approved[p.Version] = true
		default:
			for _, id := range resetBy(ev) {
				delete(succeeded, id)
			}
		}
	}
	return ""
}

// resetBy are the steps that an event lets run again.
func resetBy(ev plan.Event) []string {
	if p, ok := ev.Data.(plan.StepReset); ok {
		return p.Steps
	}
	return nil
}

// resets counts how often a step was reset after one event, up to another.
func (k *book) resets(step string, after, upTo int64) int {
	n := 0
	for _, ev := range k.events {
		if ev.Seq > after && ev.Seq <= upTo && slices.Contains(resetBy(ev), step) {
			n++
		}
	}
	return n
}

// onlyWhatIsNeeded holds that no process asked for a step that had succeeded
// when it took over.
func onlyWhatIsNeeded(k *book, log []asked) string {
	for _, ev := range k.events {
		p, ok := ev.Data.(plan.StepSucceeded)
		if !ok || k.resets(p.Step, ev.Seq, k.run.Seq) > 0 {
			continue
		}
		for _, a := range log {
			if before, ok := k.ends[a.life-1]; ok && a.step == p.Step && ev.Seq <= before {
				return fmt.Sprintf("process %d asked for step %s, which had succeeded with event %d", a.life, p.Step, ev.Seq)
			}
		}
	}
	return ""
}

// reservedFirst holds that every request was charged before it was made.
func reservedFirst(k *book, log []asked) string {
	made, reserved := map[agentOf]int{}, map[agentOf]int{}
	for _, a := range log {
		made[a.agentOf]++
	}
	for _, ev := range k.events {
		if p, ok := ev.Data.(plan.UsageReserved); ok {
			reserved[agentOf{p.Agent, p.Step}]++
		}
	}
	for a, n := range made {
		if n > reserved[a] {
			return fmt.Sprintf("%d requests of the %s were made and %d of them reserved", n, a, reserved[a])
		}
	}
	return ""
}

// repeatedOnce holds that a kill makes an agent repeat one request at most, and
// only one that was at work when a process died. A request is a repeat when
// the same was asked before.
func repeatedOnce(k *book, log []asked) []string {
	type group struct {
		agentOf
		body [32]byte // of all requests of the agent alike, where they count together
	}
	groupOf := func(a asked) group {
		if journalled || a.role == plan.RolePlanner {
			return group{agentOf: a.agentOf}
		}
		return group{a.agentOf, a.body}
	}
	before := map[group]bool{}
	again := map[group]map[int]int{} // by process
	for _, a := range log {
		g := group{a.agentOf, a.body}
		if before[g] {
			if again[groupOf(a)] == nil {
				again[groupOf(a)] = map[int]int{}
			}
			again[groupOf(a)][a.life]++
		}
		before[g] = true
	}
	var wrong []string
	for g, lives := range again {
		total := 0
		for n, times := range lives {
			total += times
			if most := 1 + agent.DefaultTurns*k.resets(g.step, k.ends[n-1], k.ends[n]); times > most {
				wrong = append(wrong, fmt.Sprintf("process %d repeated %d requests of the %s; %d is the most", n, times, g.agentOf, most))
			}
		}
		flew := 0
		for n := range k.flying {
			if slices.Contains(k.flying[n], g.agentOf) {
				flew++
			}
		}
		if most := flew + agent.DefaultTurns*k.resets(g.step, 0, k.run.Seq); total > most {
			wrong = append(wrong, fmt.Sprintf("%d requests of the %s were repeated, and it was at work at %d kills", total, g.agentOf, flew))
		}
	}
	return wrong
}
