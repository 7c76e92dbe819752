package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planwave/internal/plan"
)

const (
	killsVariable, seedVariable = "PLANWAVE_KILLS", "PLANWAVE_CRASH_SEED"
	// manyKills is how many kills find runs in every state.
	manyKills = 100
	// crashRuns is how many runs go on at once.
	crashRuns = 6
	// longest is how long nothing may come of anything before it is stuck.
	longest = 2 * time.Minute
)

// TestCrashHarness kills the real program at random moments, takes it up again
// on the same file, and holds what comes of it to what BEHAVIOUR 12.1 and 12.2
// promise. PLANWAVE_KILLS is how often, PLANWAVE_CRASH_SEED repeats the choices
// of a failure.
func TestCrashHarness(t *testing.T) {
	const usual = 25
	kills := int(numberIn(t, killsVariable, usual))
	h := newHarness(t, numberIn(t, seedVariable, rand.Uint64()))
	l := h.start(1)
	var actors sync.WaitGroup
	for n := range uint64(crashRuns) {
		actors.Go(func() { h.act(rand.New(rand.NewPCG(h.seed, n))) })
	}
	for n := 1; n <= kills && h.ctx.Err() == nil; n++ {
		l = h.killAndGoOn(l, n == kills)
	}
	h.finish(&actors)
	l.kill()
	h.lookAtEnd(l)
	h.report(kills)
}

func numberIn(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: it must be a number", variable, text)
	}
	return n
}

// happening is what moments are counted by.
type happening int

const (
	never        happening = iota
	beforeAnswer           // a model request is about to be answered
	afterAnswer            // a model request has been answered
	afterEvent             // an event was shown by a stream
	afterChange            // a change was answered with success
	whileWaiting           // a run was seen to wait for approval
	atStart                // the program has said its address
	whenIdle               // no run goes on, and everybody holds back
)

// moment is when a process is killed: when something happens for the count-th
// time since it started.
type moment struct {
	what  happening
	count int
}

// randomMoment spreads the kills over everything that can be cut in two.
func randomMoment(r *rand.Rand) moment {
	switch n := r.IntN(100); {
	case n < 30:
		return moment{beforeAnswer, 1 + r.IntN(25)}
	case n < 60:
		return moment{afterAnswer, 1 + r.IntN(25)}
	case n < 75:
		return moment{afterEvent, 1 + r.IntN(60)}
	case n < 85:
		return moment{afterChange, 1 + r.IntN(6)}
	case n < 90:
		return moment{whileWaiting, 1 + r.IntN(3)}
	case n < 95:
		return moment{atStart, 1}
	}
	return moment{whenIdle, crashRuns}
}

// life is one process, from its start to its kill.
type life struct {
	*program
	n    int // from 1
	when moment
	said *bytes.Buffer

	mu    sync.Mutex
	count int
	due   chan struct{} // closed at its moment
	over  chan struct{} // closed when the next process has taken over
}

// happened counts, and reports true at the moment of the kill itself.
func (l *life) happened(what happening) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.when.what != what {
		return false
	}
	l.count++
	if l.count == l.when.count {
		close(l.due)
		return true
	}
	return false
}

func (l *life) isDue() bool {
	select {
	case <-l.due:
		return true
	default:
		return false
	}
}

// harness is the whole of it: the program, one life after the other, the model
// server, and everybody's runs.
type harness struct {
	*testing.T
	seed      uint64
	random    *rand.Rand // of the kills
	file      string     // the database
	model     *scripted
	client    *http.Client
	ctx       context.Context // ends at the first problem
	stop      context.CancelFunc
	finishing atomic.Bool

	mu       sync.Mutex
	now      *life
	errands  map[string]*errand // by tag
	lost     []*errand          // of which nobody knows whether their runs were made
	books    map[string]*book   // by run
	problems []problem
	hit      map[plan.RunStatus]int // runs in this state at a kill
}

// problem is something that must not be, and the tag of the run, or "".
type problem struct{ tag, text string }

func newHarness(t *testing.T, seed uint64) *harness {
	h := &harness{
		T: t, seed: seed, random: rand.New(rand.NewPCG(seed, crashRuns)), file: filepath.Join(t.TempDir(), "p.db"),
		model: newScripted(t, seed), client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		errands: map[string]*errand{}, books: map[string]*book{}, hit: map[plan.RunStatus]int{},
	}
	h.ctx, h.stop = context.WithCancel(t.Context())
	t.Cleanup(h.stop)
	h.model.script = func(tag string) (script, bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		e, ok := h.errands[tag]
		if !ok {
			return script{}, false
		}
		return e.model, true
	}
	h.model.happened = func(n int, what happening) bool {
		l := h.life()
		return l.n == n && l.happened(what)
	}
	return h
}

// newErrand registers a run, whose question carries its tag.
func (h *harness) newErrand(name string, s story) *errand {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := &errand{story: s, name: name, tag: strconv.Itoa(len(h.errands) + 1), run: &plan.Run{}}
	e.body = maps.Clone(s.body)
	e.body["question"] = fmt.Sprintf("[crash run %s] What is there?", e.tag)
	h.errands[e.tag] = e
	return e
}

func (h *harness) life() *life {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// wait waits for ch, unless the harness stops.
func (h *harness) wait(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-h.ctx.Done():
	}
}

// problem notes what must not be and stops everything.
func (h *harness) problem(tag, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, problem{tag, fmt.Sprintf(format, args...)})
	h.stop()
}

// start starts the n-th process and puts it in charge.
func (h *harness) start(n int) *life {
	l := &life{n: n, said: &bytes.Buffer{}, due: make(chan struct{}), over: make(chan struct{})}
	if !h.finishing.Load() {
		l.when = randomMoment(h.random)
	}
	p, err := launch(h.file, h.model.URL, fmt.Sprintf("life-%d", n), l.said)
	if err != nil {
		h.Fatalf("seed %d: start process %d: %v; it said:\n%s", h.seed, n, err, l.said)
	}
	h.Cleanup(p.kill)
	l.program = p
	l.happened(atStart)
	h.mu.Lock()
	h.now = l
	h.mu.Unlock()
	return l
}

// killAndGoOn waits for the process's moment, kills it, looks at what it left,
// and starts the next one.
func (h *harness) killAndGoOn(l *life, last bool) *life {
	stuck := time.NewTimer(longest)
	defer stuck.Stop()
	select {
	case <-l.due:
	case <-stuck.C:
		h.problem("", "process %d is stuck: in %s it did not come to %+v; going on: %v", l.n, longest, l.when, h.goingOn())
	case <-h.ctx.Done():
	}
	l.kill()
	h.lookAfter(l)
	defer func(t2 time.Time) {
	}(time.Now())
	h.finishing.Store(last)
	next := h.start(l.n + 1)
	close(l.over)
	return next
}

// finish lets every run come to its end.
func (h *harness) finish(actors *sync.WaitGroup) {
	h.finishing.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		actors.Wait()
		h.carryLost()
	}()
	stuck := time.NewTimer(longest)
	defer stuck.Stop()
	select {
	case <-ended:
	case <-stuck.C:
		h.problem("", "these runs did not end in %s: %v", longest, h.goingOn())
		<-ended
	}
}

// goingOn lists the tags of the runs that have not ended, and what was refused
// in them last.
func (h *harness) goingOn() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]string{}
	for tag, e := range h.errands {
		e.mu.Lock()
		if !e.done {
			out[tag] = fmt.Sprintf("%s after event %d %s", e.run.Status, e.run.Seq, e.refused)
		}
		e.mu.Unlock()
	}
	return out
}

// report tells of every problem, with all that is known of its run.
func (h *harness) report(kills int) {
	log, wrong := h.model.requests()
	for _, w := range wrong {
		h.problem("", "a request that belongs to no run: %s", w)
	}
	h.Logf("seed %d: %d kills, %d runs, %d model requests; runs at the kills by state: %v",
		h.seed, kills, len(h.books), len(log), h.hit)
	for _, s := range []plan.RunStatus{plan.RunStatusPlanning, plan.RunStatusAwaitingApproval, plan.RunStatusRunning, plan.RunStatusSynthesizing} {
		if kills >= manyKills && h.hit[s] == 0 {
			h.problem("", "no run was %s at any of %d kills", s, kills)
		}
	}
	told := map[string]bool{}
	for _, p := range h.problems {
		h.Errorf("seed %d, run %s: %s", h.seed, p.tag, p.text)
		if told[p.tag] {
			continue
		}
		told[p.tag] = true
		h.Log(h.tell(p.tag, log))
	}
}

// tell is the story of a run, event by event, and what was asked for it.
func (h *harness) tell(tag string, log []asked) string {
	var b strings.Builder
	for _, k := range h.books {
		if e := h.errands[k.tag]; e != nil && (k.tag == tag || tag == "" && !k.closed) {
			fmt.Fprintf(&b, "run %s, %s, %s; last event at each kill: %v\n%s\n", k.tag, e.name, k.id, k.ends, strings.Join(k.lines, "\n"))
		}
	}
	for _, a := range log {
		if tag != "" && a.tag == tag {
			fmt.Fprintf(&b, "  asked in process %d: %s, turn %d, %x\n", a.life, a.agentOf, a.turn, a.body[:4])
		}
	}
	return b.String()
}
