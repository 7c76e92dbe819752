package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// frame is one message of an event stream.
type frame struct{ id, event, data string }

// readFrames reads the stream to its end, calling each with every frame.
func readFrames(t testing.TB, r io.Reader, each func(frame)) {
	t.Helper()
	var f frame
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			if f.data != "" {
				value = f.data + "\n" + value
			}
			f.data = value
		case "":
			if f.event != "" {
				each(f)
			}
			f = frame{}
		}
	}
}

// follow opens a run's stream.
func (s *site) follow(id, query string, headers ...string) *http.Response {
	s.t.Helper()
	resp, err := s.client.Do(s.request("GET", "/api/v1/runs/"+id+"/events"+query, nil, headers...))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("the stream answered %d: %s", resp.StatusCode, b)
	}
	return resp
}

// whole reads an ended run's stream.
func (s *site) whole(id, query string, headers ...string) []frame {
	s.t.Helper()
	var frames []frame
	readFrames(s.t, s.follow(id, query, headers...).Body, func(f frame) { frames = append(frames, f) })
	return frames
}

// Every event comes once and in order, each with its number, type and data; then
// done without an id, and the stream closes.
func TestEventsOfAnEndedRun(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	run := s.until(id, plan.RunStatusSucceeded)
	resp := s.follow(id, "")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no", "Cache-Control": "no-cache, no-store",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(raw), "retry: 2000\n\n") {
		t.Errorf("the stream begins %.40q", raw)
	}
	var frames []frame
	readFrames(t, strings.NewReader(string(raw)), func(f frame) { frames = append(frames, f) })
	log, err := s.store.Events(t.Context(), id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) != len(log)+1 || int64(len(log)) != run.Seq {
		t.Fatalf("%d frames for %d events of a run at %d", len(frames), len(log), run.Seq)
	}
	for i, e := range log {
		f := frames[i]
		if f.id != strconv.FormatInt(e.Seq, 10) || f.event != string(e.Type()) || e.Seq != int64(i+1) {
			t.Errorf("frame %d is %+v for event %d %s", i, f, e.Seq, e.Type())
		}
		s.holdEvent(e, f.data)
	}
	if last := frames[len(log)]; last != (frame{event: "done", data: "{}"}) {
		t.Errorf("the last frame is %+v", last)
	}
}

// holdEvent compares an event's data with what is in the log.
func (s *site) holdEvent(e plan.Event, data string) {
	s.t.Helper()
	var head struct {
		Seq int64
		At  string
	}
	if err := json.Unmarshal([]byte(data), &head); err != nil {
		s.t.Fatalf("event %d: %v in %s", e.Seq, err, data)
	}
	if head.Seq != e.Seq || head.At != e.At.UTC().Format("2006-01-02T15:04:05.000Z") {
		s.t.Errorf("event %d at %v says %+v", e.Seq, e.At, head)
	}
	p, err := plan.Decode(e.Type(), []byte(data))
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := plan.Encode(p)
	if err != nil {
		s.t.Fatal(err)
	}
	want, err := plan.Encode(e.Data)
	if err != nil {
		s.t.Fatal(err)
	}
	if string(got) != string(want) {
		s.t.Errorf("event %d is %s, want %s", e.Seq, got, want)
	}
}

// A viewer that reconnects at any number gets exactly what is missing, and the
// larger of ?after= and Last-Event-ID wins.
func TestEventsReplayAtEveryNumber(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	run := s.until(id, plan.RunStatusSucceeded)
	all := s.whole(id, "")
	for after := int64(0); after <= run.Seq; after++ {
		n := strconv.FormatInt(after, 10)
		for name, got := range map[string][]frame{
			"after":         s.whole(id, "?after="+n),
			"Last-Event-ID": s.whole(id, "", "Last-Event-ID", n),
			"larger header": s.whole(id, "?after=0", "Last-Event-ID", n),
			"larger after":  s.whole(id, "?after="+n, "Last-Event-ID", "0"),
		} {
			if !slices.Equal(got, all[after:]) {
				t.Fatalf("%s %s: %v, want %v", name, n, got, all[after:])
			}
		}
	}
}

// A stream opened in the middle of a run, dropped and opened again after each
// event, shows what one whole stream shows.
func TestEventsLiveAndReconnected(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalAuto)
	var seen []frame
	after := "0"
	released := false
	for done := false; !done; {
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := s.client.Do(s.request("GET", "/api/v1/runs/"+id+"/events?after="+after, nil).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		first := true
		readFrames(t, resp.Body, func(f frame) {
			if !first {
				return
			}
			first = false
			seen = append(seen, f)
			after, done = f.id, f.event == "done"
			if f.event == string(plan.EventStepStarted) && !released {
				close(release)
				released = true
			}
			cancel()
		})
		cancel()
		_ = resp.Body.Close()
	}
	if all := s.whole(id, ""); !slices.Equal(seen, all) {
		t.Errorf("seen  %v\nwhole %v", seen, all)
	}
}

// Many viewers of one run that goes on all see the same.
func TestEventsManyViewers(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalManual)
	const n = 20
	got := make(chan []frame, n)
	for range n {
		body := s.follow(id, "").Body
		go func() {
			var frames []frame
			readFrames(t, body, func(f frame) { frames = append(frames, f) })
			got <- frames
		}()
	}
	s.want(202, "POST", "/api/v1/runs/"+id+"/approve", `{"version":1}`)
	close(release)
	s.until(id, plan.RunStatusSucceeded)
	all := s.whole(id, "")
	for range n {
		if frames := <-got; !slices.Equal(frames, all) {
			t.Errorf("a viewer saw %v\nwant %v", frames, all)
		}
	}
}

// What cannot be followed is refused before the stream begins.
func TestEventsRefused(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	for _, c := range []struct{ name, query, header string }{
		{"negative", "?after=-1", ""},
		{"words", "?after=last", ""},
		{"a fraction", "?after=1.5", ""},
		{"beyond counting", "?after=99999999999999999999", ""},
		{"beyond the run", "?after=3", ""},
		{"a header of words", "?after=1", "x"},
		{"a negative header", "", "-7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.want(400, "GET", "/api/v1/runs/"+id+"/events"+c.query, "", "Last-Event-ID", c.header)
			p := problemIn(t, a)
			if p.Code != codeMalformed || len(p.Errors) != 1 || p.Errors[0].Field == "" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// Streams end when the server stops, without done, so that viewers reconnect.
func TestEventsEndWhenTheServerStops(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	body := s.follow(id, "").Body
	var types []string
	readFrames(t, body, func(f frame) {
		types = append(types, f.event)
		if len(types) == 2 {
			s.stop()
		}
	})
	if !slices.Equal(types, []string{"run.created", "plan.proposed"}) {
		t.Errorf("the viewer saw %v", types)
	}
}

// A stream outlives the time that the server gives other answers.
func TestEventsOutliveTheWriteTimeout(t *testing.T) {
	s := newSite(t, &scriptedModel{}, func(srv *http.Server) { srv.WriteTimeout = time.Millisecond })
	p := diamond()
	r, err := s.runs.Ask(t.Context(), runs.Ask{Question: "q", Options: plan.DefaultOptions(), Plan: &p, By: "local"})
	if err != nil {
		t.Fatal(err)
	}
	body := s.follow(r.ID, "").Body
	if _, err := s.runs.Approve(t.Context(), r.ID, 1, "local"); err != nil {
		t.Fatal(err)
	}
	s.until(r.ID, plan.RunStatusSucceeded)
	last := frame{}
	readFrames(t, body, func(f frame) { last = f })
	if last.event != "done" {
		t.Errorf("the stream ended with %+v", last)
	}
}

// fakeLog is a log that tests wake by hand.
type fakeLog struct {
	events  []plan.Event
	changed chan struct{}
	stopped bool
	err     error
}

func (l *fakeLog) Events(_ context.Context, _ string, after int64, limit int) ([]plan.Event, error) {
	rest := l.events[min(after, int64(len(l.events))):]
	return rest[:min(limit, len(rest))], l.err
}

func (l *fakeLog) Watch(string) (<-chan struct{}, func()) {
	return l.changed, func() { l.stopped = true }
}

// viewer is a connection that remembers what was written and with what
// deadline.
type viewer struct {
	header   http.Header
	written  strings.Builder
	deadline time.Time
	flushed  int
	fail     error
}

func (v *viewer) Header() http.Header { return v.header }
func (v *viewer) WriteHeader(int)     {}
func (v *viewer) Flush()              { v.flushed++ }
func (v *viewer) SetWriteDeadline(t time.Time) error {
	v.deadline = t
	return nil
}

func (v *viewer) Write(p []byte) (int, error) {
	if v.deadline.IsZero() {
		return 0, fmt.Errorf("written without a deadline")
	}
	if v.fail != nil {
		return 0, v.fail
	}
	return v.written.Write(p)
}

func numbered(n int, last plan.Payload) []plan.Event {
	out := make([]plan.Event, n)
	for i := range out {
		out[i] = plan.Event{Seq: int64(i + 1), Data: plan.WaveFinished{Wave: i}}
	}
	if last != nil {
		out[n-1].Data = last
	}
	return out
}

// newFollower follows a fake log into a viewer; its frames are the numbers.
func newFollower(log eventLog, v *viewer, quit <-chan struct{}) *follower {
	st := &stream{w: v, control: http.NewResponseController(v), clock: time.Now}
	deliver := func(events []plan.Event) error {
		for _, e := range events {
			st.send("e", "", strconv.FormatInt(e.Seq, 10))
		}
		return nil
	}
	return &follower{log: log, now: silent{}, st: st, quit: quit, deliver: deliver, tell: func([]runs.Now) error { return nil }}
}

// silent is a board that nothing is written on.
type silent struct{}

func (silent) Now(string) []runs.Now                     { return nil }
func (silent) Deleting(string) bool                      { return false }
func (silent) WatchNow(string) (<-chan struct{}, func()) { return nil, func() {} }

// A silent stream is kept alive, and holds no write deadline while it waits.
func TestFollowHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, v, quit := &fakeLog{changed: make(chan struct{}, 1)}, &viewer{header: http.Header{}}, make(chan struct{})
		done := make(chan error)
		go func() { done <- newFollower(log, v, quit).run(t.Context(), "r", 0, false) }()
		<-time.After(4*heartbeatEvery + time.Second) // in the clock of the bubble
		synctest.Wait()
		if got := v.written.String(); got != ":\n\n:\n\n:\n\n:\n\n" || v.flushed != 4 || !v.deadline.IsZero() {
			t.Errorf("written %q, flushed %d times, deadline %v", got, v.flushed, v.deadline)
		}
		close(quit)
		if err := <-done; err != nil || !log.stopped {
			t.Errorf("ended with %v, watching stopped: %v", err, log.stopped)
		}
	})
}

// A log longer than a page is read page by page, and its end is the end even
// where a page ends with it.
func TestFollowReadsInPages(t *testing.T) {
	for _, n := range []int{1, eventPage - 1, eventPage, eventPage + 1, 3 * eventPage} {
		log, v := &fakeLog{events: numbered(n, plan.RunSucceeded{})}, &viewer{header: http.Header{}}
		if err := newFollower(log, v, nil).run(t.Context(), "r", 0, false); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(v.written.String(), "event: e\n"); got != n || !strings.HasSuffix(v.written.String(), "event: done\ndata: {}\n\n") {
			t.Errorf("%d of %d events, then %q", got, n, v.written.String()[max(0, v.written.Len()-40):])
		}
	}
}

// A run that was ended and goes on again is followed to its next end, also
// where a page ends with the earlier one.
func TestFollowGoesOnPastAnEarlierEnd(t *testing.T) {
	for _, n := range []int{4, eventPage + 3} {
		events := numbered(n, plan.RunSucceeded{})
		events[min(2, n-1)].Data, events[min(eventPage-1, n-2)].Data = plan.RunFailed{}, plan.RunFailed{}
		v := &viewer{header: http.Header{}}
		if err := newFollower(&fakeLog{events: events}, v, nil).run(t.Context(), "r", 0, false); err != nil {
			t.Fatal(err)
		}
		if got := v.written.String(); strings.Count(got, "event: e\n") != n || strings.Count(got, "event: done\n") != 1 {
			t.Errorf("%d events: written %q", n, got)
		}
	}
}

// A viewer who cannot be written to, and a log that cannot be read, end the
// stream with the reason.
func TestFollowEndsWithTheReason(t *testing.T) {
	gone, full := fmt.Errorf("gone"), fmt.Errorf("no log")
	for _, c := range []struct {
		log  *fakeLog
		v    *viewer
		want error
	}{
		{&fakeLog{events: numbered(1, nil)}, &viewer{fail: gone}, gone},
		{&fakeLog{err: full}, &viewer{}, full},
	} {
		if err := newFollower(c.log, c.v, nil).run(t.Context(), "r", 0, false); err == nil || !strings.Contains(err.Error(), c.want.Error()) {
			t.Errorf("ended with %v, want %v", err, c.want)
		}
	}
}

// Data is sent line by line, whatever breaks its lines, so that no text can
// forge a field of the stream.
func TestStreamSendsOneLineOfDataPerLine(t *testing.T) {
	v := &viewer{header: http.Header{}}
	st := &stream{w: v, control: http.NewResponseController(v), clock: time.Now}
	st.send("text", "7", "a\nb\r\nid: 9\rc")
	st.send("text", "", "")
	if err := st.flush(); err != nil {
		t.Fatal(err)
	}
	want := "id: 7\nevent: text\ndata: a\ndata: b\ndata: id: 9\ndata: c\n\nevent: text\ndata: \n\n"
	if got := v.written.String(); got != want {
		t.Errorf("got %q want %q", got, want)
	}
	if err := st.flush(); err != nil || v.flushed != 1 {
		t.Errorf("an empty flush: %v, %d flushes", err, v.flushed)
	}
}

// Every type of event is written with its fields, its number and its time.
func TestEventData(t *testing.T) {
	at := time.Date(2026, 1, 2, 4, 4, 5, 60_000_000, time.FixedZone("CET", 3600))
	for _, c := range []struct {
		data plan.Payload
		want string
	}{
		{plan.RunStarted{}, `{"seq":3,"at":"2026-01-02T03:04:05.060Z"}`},
		{plan.WaveFinished{Wave: 2}, `{"seq":3,"at":"2026-01-02T03:04:05.060Z","wave":2}`},
		{plan.StepSkipped{Step: "s", Cause: "}"}, `{"seq":3,"at":"2026-01-02T03:04:05.060Z","step":"s","cause":"}"}`},
	} {
		got, err := eventData(plan.Event{Seq: 3, At: at, Data: c.data})
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v want %s", got, err, c.want)
		}
	}
	for _, typ := range plan.EventTypes() {
		p, err := plan.Decode(typ, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := eventData(plan.Event{Seq: 1, Data: p})
		if err != nil || !json.Valid(got) || strings.Count(string(got), `"seq":`) != 1 {
			t.Errorf("%s: %s, %v", typ, got, err)
		}
	}
}
