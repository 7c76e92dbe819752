package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

const (
	// heartbeatEvery is how long a stream is silent at most, so that proxies
	// and browsers know it is alive.
	heartbeatEvery = 15 * time.Second
	// frameDeadline is how long a viewer may take to receive a frame. A slower
	// one is dropped and catches up by reconnecting.
	frameDeadline = 30 * time.Second
	// retryMillis is how long a browser waits before it reconnects.
	retryMillis = 2_000
	// nowEvery is how often, at most, a viewer is told what is being written while
	// nothing else happens.
	nowEvery = 200 * time.Millisecond
	// eventPage is how many events are read from the log at once.
	eventPage = 200
)

// stream writes server-sent events to one viewer. What is sent is buffered
// until it is flushed. One goroutine uses it.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	clock   func() time.Time
	buf     bytes.Buffer
}

// openStream answers 200 and sends the headers at once. Every error must have
// been decided before, since none can be shown after it.
func (s *server) openStream(c echo.Context) (*stream, error) {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
	h.Set(echo.HeaderCacheControl, "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	st := &stream{w: c.Response(), control: http.NewResponseController(c.Response()), clock: s.Clock}
	fmt.Fprintf(&st.buf, "retry: %d\n\n", retryMillis)
	return st, st.flush()
}

// send adds an event. An empty id leaves the viewer's last id as it is. Name
// and id hold no line breaks; data may.
func (st *stream) send(event, id, data string) {
	if id != "" {
		st.buf.WriteString("id: " + id + "\n")
	}
	st.buf.WriteString("event: " + event + "\n")
	for line := range strings.SplitSeq(lineBreaks.Replace(data), "\n") {
		st.buf.WriteString("data: " + line + "\n")
	}
	st.buf.WriteByte('\n')
}

// lineBreaks makes every line break that ends a line of an event stream the
// same.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// heartbeat adds a comment, which viewers ignore.
func (st *stream) heartbeat() { st.buf.WriteString(":\n\n") }

// flush sends what was added. A stream has no write deadline but while a frame
// is being written.
func (st *stream) flush() error {
	if st.buf.Len() == 0 {
		return nil
	}
	if err := st.deadline(st.clock().Add(frameDeadline)); err != nil {
		return err
	}
	if _, err := st.w.Write(st.buf.Bytes()); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	st.buf.Reset()
	if err := st.control.Flush(); err != nil {
		return fmt.Errorf("flush a stream: %w", err)
	}
	return st.deadline(time.Time{})
}

func (st *stream) deadline(t time.Time) error {
	if err := st.control.SetWriteDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("set the write deadline of a stream: %w", err)
	}
	return nil
}

// eventLog is what a stream reads: the committed events of runs.
type eventLog interface {
	// Events returns at most limit events of the run after a number, in order.
	Events(ctx context.Context, runID string, after int64, limit int) ([]plan.Event, error)
	// Watch returns a channel that has a value whenever events of the run may
	// have been committed since it was last received from, until stop.
	Watch(runID string) (changed <-chan struct{}, stop func())
}

// follow hands the events of a run after a number to deliver, a page at a
// time, and goes on with each that is committed, until the run has ended, the
// viewer has gone or the server stops. f.deliver adds to the stream, and follow
// flushes it. After an ended run's last event the viewer is sent "done".
//
// In between, f.tell adds what models are writing, which is in no log.
//
// run is the state of the run at any moment before the call. No transaction
// stays open while follow waits.
func (s *server) follow(ctx context.Context, run *plan.Run, after int64, f follower) {
	defer s.Metrics.StreamOpened()()
	f.log, f.now, f.quit = s.Store, s.Runs, s.Quit
	err := f.run(ctx, run.ID, after, run.Status.Ended() && after >= run.Seq)
	if err != nil && ctx.Err() == nil && f.deleted(ctx, run.ID) { // which is why
		err = f.over(f.gone(true))
	}
	if err != nil && ctx.Err() == nil {
		s.Logger.WarnContext(ctx, "stream broke off; the viewer reconnects", "run", run.ID, "error", err)
	}
}

// nowBoard is what a stream reads of the calls that are being made.
type nowBoard interface {
	Now(runID string) []runs.Now
	WatchNow(runID string) (changed <-chan struct{}, stop func())
	Deleting(runID string) bool
}

// follower is one viewer's way through the log of one run.
type follower struct {
	log     eventLog
	now     nowBoard
	st      *stream
	quit    <-chan struct{}
	deliver func([]plan.Event) error
	tell    func([]runs.Now) error
	// open says whether the viewer may still see the run, and gone tells one who
	// may not, or whose run was deleted.
	open func() (bool, error)
	gone func(deleted bool) error
	once bool // ends with what is there
}

// run is the loop of [server.follow]. It watches before it reads, so that no
// event falls in between.
func (f *follower) run(ctx context.Context, id string, after int64, ended bool) error {
	changed, stop := f.log.Watch(id)
	defer stop()
	written, stop := f.now.WatchNow(id)
	defer stop()
	w := waiter{quit: f.quit, changed: changed, written: written, beat: time.NewTicker(heartbeatEvery)}
	defer w.beat.Stop()
	for {
		events, gone, err := f.read(ctx, id, after)
		if err != nil {
			return err
		}
		if gone {
			return f.over(nil)
		}
		if n := len(events); n > 0 {
			after, ended = events[n-1].Seq, ends(events[n-1].Type())
			if err := f.deliver(events); err != nil {
				return err
			}
		}
		if ended && len(events) < eventPage && !f.now.Deleting(id) {
			// Where the last event came of a deletion, that is over by now.
			_, _, err := f.read(ctx, id, after)
			return f.over(err)
		}
		if len(events) < eventPage {
			if err := f.tell(f.now.Now(id)); err != nil {
				return err
			}
		}
		if err := f.st.flush(); err != nil {
			return err
		}
		if len(events) < eventPage && (f.once || !w.wait(ctx, f.st)) {
			return f.st.flush()
		}
	}
}

// deleted says whether the run is not there any more.
func (f *follower) deleted(ctx context.Context, id string) bool {
	_, err := f.log.Events(ctx, id, 0, 1)
	return errors.Is(err, db.ErrNotFound)
}

// over tells a viewer that nothing follows, unless telling what came last failed.
func (f *follower) over(err error) error {
	if err != nil {
		return err
	}
	f.st.send("done", "", "{}")
	return f.st.flush()
}

// read reads the next events, unless there is nothing to be seen any more, which
// the viewer is told.
func (f *follower) read(ctx context.Context, id string, after int64) (events []plan.Event, gone bool, err error) {
	events, err = f.log.Events(ctx, id, after, eventPage)
	if errors.Is(err, db.ErrNotFound) {
		return nil, true, f.gone(true)
	}
	if err != nil || f.open == nil {
		return events, false, err
	}
	if open, err := f.open(); err != nil || open {
		return events, false, err
	}
	return nil, true, f.gone(f.deleted(ctx, id)) // a link goes with its run
}

// waiter waits for news of one run.
type waiter struct {
	quit             <-chan struct{}
	changed, written <-chan struct{}
	beat             *time.Ticker
	pause            <-chan time.Time // until a viewer may be told again what is being written; nil when it may
}

// wait returns true when there may be news, and false when the stream is to
// end. Meanwhile it keeps the viewer's connection alive.
func (w *waiter) wait(ctx context.Context, st *stream) bool {
	for {
		written := w.written
		if w.pause != nil {
			written = nil
		}
		select {
		case <-w.changed:
			return true
		case <-written:
			w.pause = time.After(nowEvery)
			return true
		case <-w.pause:
			w.pause = nil
		case <-w.beat.C:
			st.heartbeat()
			if st.flush() != nil {
				return false
			}
		case <-w.quit:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// ends says whether nothing follows an event of this type by itself.
func ends(t plan.EventType) bool {
	switch t {
	case plan.EventRunSucceeded, plan.EventRunPartial, plan.EventRunFailed, plan.EventRunCancelled:
		return true
	default:
		return false
	}
}

// readAfter returns the number after which a viewer wants events: the larger
// of ?after= and Last-Event-ID, since a browser that reconnects may send an
// older number in the address than it has seen.
func readAfter(r *http.Request) (int64, error) {
	var after int64
	for _, from := range []struct{ name, text string }{
		{"after", r.URL.Query().Get("after")}, {"Last-Event-ID", r.Header.Get("Last-Event-ID")},
	} {
		if from.text == "" {
			continue
		}
		n, err := strconv.ParseInt(from.text, 10, 64)
		if err != nil || n < 0 {
			return 0, badRequest(from.name, fmt.Sprintf(
				"%s is %q; it is the number of the last event seen, or 0 for all.", from.name, plan.Short(from.text, 40)))
		}
		after = max(after, n)
	}
	return after, nil
}
