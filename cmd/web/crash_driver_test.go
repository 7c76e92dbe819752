package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"planwave/internal/plan"
)

// errand is one run as the person who asked for it knows it: by what the API
// answered and what the stream showed.
type errand struct {
	story
	name string // of the kind of story
	tag  string // in the question, so that every prompt has it

	mu      sync.Mutex // guards what follows; the harness looks at it at a kill
	id      string     // "" until the request that makes the run is answered
	run     *plan.Run  // the fold of what the stream showed
	seen    []string   // the same, event by event
	acks    []ack
	again   *move // to be repeated under its key, since its answer was lost
	must    int64 // the stream must show this event before the next move
	refused string
	done    bool
}

// ack is a change that was answered with success: the log has its event after
// the one that was the last when it was asked for, and up to number upTo.
type ack struct {
	event       plan.EventType
	after, upTo int64
}

// act carries out one run after the other, until the harness finishes.
func (h *harness) act(r *rand.Rand) {
	kinds := stories()
	for !h.finishing.Load() && h.ctx.Err() == nil {
		k := kinds[r.IntN(len(kinds))]
		h.carry(h.newErrand(k.name, k.story(r)), r)
	}
}

// carry takes a run from the question to its end, through as many processes as
// it takes. What breaks off because the process dies is taken up in the next.
func (h *harness) carry(e *errand, r *rand.Rand) {
	for l := h.life(); h.ctx.Err() == nil; l = h.life() {
		m, over := e.decide()
		if over {
			return
		}
		var err error
		if m != nil {
			if m.key == "" && m.canRepeat() && r.IntN(2) == 0 {
				m.key = fmt.Sprintf("%s%s-%d", e.tag, m.path, r.Uint64())
			}
			err = h.send(l, e, *m)
		} else {
			err = h.follow(l, e)
		}
		if err == nil {
			continue
		}
		if !l.isDue() && h.ctx.Err() == nil {
			h.problem(e.tag, "process %d was not killed, and yet: %v", l.n, err)
			return
		}
		h.wait(l.over)
		if e.id == "" && e.again == nil {
			h.lose(e)
			return
		}
	}
}

// lose sets a run aside of which nobody knows whether it was made.
func (h *harness) lose(e *errand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = append(h.lost, e)
}

// carryLost finds the runs that were made and whose ids were lost, and takes
// them to their ends.
func (h *harness) carryLost() {
	var all sync.WaitGroup
	for n, e := range h.lost {
		for _, k := range h.books {
			if k.tag == e.tag {
				e.id, e.run = k.id, &plan.Run{ID: k.id}
				all.Go(func() { h.carry(e, rand.New(rand.NewPCG(h.seed, uint64(crashRuns+1+n)))) })
			}
		}
	}
	all.Wait()
}

// decide says what the person does now: a move, nothing but to look on, or
// nothing any more.
func (e *errand) decide() (m *move, over bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.again != nil:
		return e.again, false
	case e.id == "":
		return &move{method: http.MethodPost, body: e.body, event: plan.EventRunCreated}, false
	case e.run.Seq < e.must:
		return nil, false
	}
	m = e.next(e.run)
	e.done = m == nil && e.run.Status.Ended()
	return m, e.done
}

// send makes one request that changes something. The error is of a connection
// that broke, after which nobody knows whether it was carried out.
func (h *harness) send(l *life, e *errand, m move) error {
	if l.when.what == whenIdle {
		l.happened(whenIdle)
		h.wait(l.over)
		return errIdle
	}
	e.mu.Lock()
	path, after := "/api/v1/runs", int64(0)
	if e.id != "" {
		path, after = path+"/"+e.id+m.path, e.run.Seq
	}
	e.again = nil
	if m.key != "" {
		e.again = &m
	}
	e.mu.Unlock()
	status, answer, err := h.request(l, m, path)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.again = nil
	var doc struct {
		ID   string    `json:"id"`
		Seq  int64     `json:"seq"`
		Code plan.Code `json:"code"`
	}
	bad := json.Unmarshal(answer, &doc)
	switch {
	case status == http.StatusConflict: // it came too late; something happened
		e.must, e.refused = e.run.Seq+1, fmt.Sprintf("%s %s: %s", m.method, path, answer)
		return nil
	case status >= http.StatusBadRequest || bad != nil:
		h.problem(e.tag, "%s %s was answered %d %s", m.method, path, status, answer)
		return nil
	case e.id == "":
		e.id, e.run = doc.ID, &plan.Run{ID: doc.ID}
	}
	e.acks = append(e.acks, ack{event: m.event, after: after, upTo: doc.Seq})
	e.must = doc.Seq
	l.happened(afterChange)
	return nil
}

// errIdle is the end of a move that was held back until the process was dead.
var errIdle = errors.New("held back while everything waits to be killed")

func (h *harness) request(l *life, m move, path string) (status int, answer []byte, err error) {
	body, err := json.Marshal(m.body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(h.ctx, m.method, l.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		req.Header.Set("Idempotency-Key", m.key)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// follow reads the run's stream from where it broke off until the person has
// something to do. The error is of a stream that broke.
func (h *harness) follow(l *life, e *errand) error {
	req, err := http.NewRequestWithContext(h.ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/runs/%s/events?after=%d", l.url, e.id, e.run.Seq), nil)
	if err != nil {
		return err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(resp.Body)
		h.problem(e.tag, "the stream after event %d, which was seen, was answered %d %s", e.run.Seq, resp.StatusCode, said)
		return nil
	}
	in := bufio.NewReader(resp.Body)
	for kind := ""; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			kind = name
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if kind == "done" {
			return h.streamDone(e)
		}
		if kind == "text" {
			continue // what is being written is not kept
		}
		if err := e.show(plan.EventType(kind), data); err != nil {
			h.problem(e.tag, "the stream shows what cannot be: %v", err)
			return nil
		}
		l.happened(afterEvent)
		if e.run.Status == plan.RunStatusAwaitingApproval && l.happened(whileWaiting) {
			continue
		}
		if m, over := e.decide(); m != nil || over {
			return nil
		}
	}
}

// streamDone is the end of a stream, which only a run that has ended has.
func (h *harness) streamDone(e *errand) error {
	if _, over := e.decide(); !over && e.run.Seq < e.must {
		h.problem(e.tag, "the run ended with event %d, and event %d was to come: %s", e.run.Seq, e.must, e.refused)
	}
	return nil
}

// show adds an event of the stream. One that leaves a gap or does not fit is
// an error.
func (e *errand) show(kind plan.EventType, data string) error {
	var head struct {
		Seq int64     `json:"seq"`
		At  time.Time `json:"at"`
	}
	if err := json.Unmarshal([]byte(data), &head); err != nil {
		return err
	}
	p, err := plan.Decode(kind, []byte(data))
	if err != nil {
		return err
	}
	ev := plan.Event{Seq: head.Seq, At: head.At, Data: p}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.run.Apply(ev); err != nil {
		return err
	}
	e.seen = append(e.seen, lineOf(ev))
	return nil
}

// lineOf is an event in one line, by which logs are compared.
func lineOf(e plan.Event) string {
	data, err := plan.Encode(e.Data)
	if err != nil {
		panic(err) // it was just decoded
	}
	return fmt.Sprintf("%4d %s %-17s %s", e.Seq, e.At.UTC().Format("05.000"), e.Type(), data)
}

// known is what the person knows of the run at this moment.
func (e *errand) known() (id string, seen []string, acks []ack, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.id, slices.Clone(e.seen), slices.Clone(e.acks), e.done
}
