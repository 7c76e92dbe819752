package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// MostStream is the most that is read of a stream, in bytes: a piece of an
// answer comes with many times its length around it. No event, and no answer
// that is put together, is longer than [MostAnswer].
const MostStream = 16 * MostAnswer

// Waits for what a server says last.
const (
	// lastWords is how long a finished answer may go on to tell what it used, on
	// a connection that the server does not close.
	lastWords = 2 * time.Second
	// goodbye is how long the end of the connection is waited for when the
	// server has said that it is done, so that the connection is used again.
	goodbye = 100 * time.Millisecond
)

// ErrNoStream is a body in which there is no event of a stream.
var ErrNoStream = errors.New("there is no event in the stream")

// Errors inside a stream.
var (
	errEvent = errors.New("an event is not JSON")
	errDone  = errors.New("the server said that it is done")
)

// Stream is an answer that comes in pieces.
type Stream struct {
	Body io.Reader
	// Stop breaks off the connection, so that a read of Body ends. It is safe
	// for concurrent use.
	Stop func()
	// Each takes an event, a JSON object, and says whether the answer is
	// finished with it; what still comes tells what it used and the like.
	Each func(event json.RawMessage) (finished bool, err error)
}

// ReadStream reads a stream to its end in whatever form it comes: server-sent
// events with or without their blank lines, comments and last word, a JSON
// list, or objects one after the other. It says whether the server said that it
// was done. An error of Each ends it and is returned; a connection that breaks
// is an error only as long as the answer is not finished. A body that is no
// stream is [ErrNoStream].
func (s Server) ReadStream(ctx context.Context, from Stream) (done bool, err error) {
	r := &streamReader{each: from.Each, stop: from.Stop, left: &allowance{from: from.Body, event: MostAnswer, total: MostStream}}
	defer r.rest()
	in := bufio.NewReader(r.left)
	switch startOf(in) {
	case '{', '[':
		err = r.values(in)
	default:
		err = r.lines(in)
	}
	if errors.Is(err, errDone) {
		r.wait(goodbye)
		_, _ = io.CopyN(io.Discard, in, 1<<10) // what comes after the end means nothing
		return true, nil
	}
	return false, s.endOf(ctx, r, err)
}

// endOf is what the end of a stream without a last word is.
func (s Server) endOf(ctx context.Context, r *streamReader, err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	unreadable := syntax || errors.Is(err, errEvent)
	switch {
	case r.refused != nil:
		return r.refused
	case errors.Is(err, errTooLong):
		return s.TooLong()
	case ctx.Err() != nil:
		return FromContext(ctx)
	case r.finished:
		return nil
	case r.events == 0 && (unreadable || err == nil && r.left.read > 0 && !r.known):
		return ErrNoStream
	case unreadable:
		e := s.Bad("sent a stream that cannot be read. Try again.")
		e.Cause = err
		return e
	case err != nil:
		return s.Cut(err)
	}
	return nil
}

// Cut is the failure of a stream that ended before its answer was whole.
func (s Server) Cut(cause error) *Error {
	e := &Error{Kind: Unreachable, Message: fmt.Sprintf("%s at %s broke off in the middle of its answer (the stream was cut). Try again.", s.Name, s.Address)}
	if cause != nil {
		e.Cause = errors.New(s.Scrub(cause.Error()))
	}
	return e
}

// TooLong is the failure of an answer over [MostAnswer].
func (s Server) TooLong() *Error {
	e := s.Bad("sent an answer of more than %d MB, which is not read. Ask for less.", MostAnswer>>20)
	e.Cause = errTooLong
	return e
}

// allowance reads no more than is allowed for an event and for all of them.
type allowance struct {
	from         io.Reader
	event, total int
	used, read   int // of the event, of all
}

// Read reads, as long as it is allowed to.
func (a *allowance) Read(p []byte) (int, error) {
	if a.used > a.event || a.read > a.total {
		return 0, errTooLong
	}
	n, err := a.from.Read(p)
	a.used += n
	a.read += n
	return n, err //nolint:wrapcheck // it is the reader's own
}

// streamReader finds the events of a stream.
type streamReader struct {
	each     func(json.RawMessage) (bool, error)
	stop     func()
	left     *allowance
	waiting  *time.Timer
	pending  bytes.Buffer // lines of an event that is not whole
	failing  bool         // the event is called an error
	known    bool         // there was something that only such streams have
	events   int
	finished bool
	refused  error // of each
}

// wait breaks the connection off if it has not ended by then.
func (r *streamReader) wait(d time.Duration) {
	r.rest()
	r.waiting = time.AfterFunc(d, r.stop)
}

// rest ends the wait.
func (r *streamReader) rest() {
	if r.waiting != nil {
		r.waiting.Stop()
	}
}

// startOf skips what has no meaning and returns what comes first, 0 at the end.
func startOf(in *bufio.Reader) byte {
	for {
		if _, err := in.Peek(1); err != nil {
			return 0
		}
		here, _ := in.Peek(in.Buffered())
		rest := bytes.TrimLeft(here, " \t\r\n")
		_, _ = in.Discard(len(here) - len(rest)) // they are there
		switch {
		case len(rest) == 0:
		case rest[0] == byteOrder[0]:
			if mark, _ := in.Peek(len(byteOrder)); string(mark) != byteOrder {
				return rest[0]
			}
			_, _ = in.Discard(len(byteOrder))
		default:
			return rest[0]
		}
	}
}

// byteOrder is the mark that some texts begin with.
const byteOrder = "\ufeff"

// values reads the objects of a list, or those that come one after the other.
func (r *streamReader) values(in *bufio.Reader) error {
	d := json.NewDecoder(in)
	first, err := in.Peek(1)
	if err != nil {
		return fmt.Errorf("read a stream: %w", err)
	}
	list := first[0] == '['
	if list {
		if _, err = d.Token(); err != nil {
			return err //nolint:wrapcheck // it is looked into
		}
	}
	for !list || d.More() {
		var v json.RawMessage
		switch err = d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err //nolint:wrapcheck // it is looked into
		}
		if err = r.take(v); err != nil {
			return err
		}
	}
	if _, err = d.Token(); errors.Is(err, io.EOF) {
		return nil // a list that is not closed
	}
	return err //nolint:wrapcheck // it is looked into
}

// lines reads server-sent events.
func (r *streamReader) lines(in *bufio.Reader) error {
	for {
		text, err := in.ReadBytes('\n')
		if len(text) > 0 {
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
			for line := range bytes.SplitSeq(text, []byte("\r")) {
				if err := r.line(line); err != nil {
					return err
				}
			}
			r.left.used = 0
		}
		if err != nil {
			return r.last(err)
		}
	}
}

// last takes the event that no blank line came after, if it is whole.
func (r *streamReader) last(err error) error {
	if json.Valid(r.pending.Bytes()) {
		if err := r.end(); err != nil {
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// line reads a line. Unknown fields mean nothing, but for JSON that forgot what
// it is.
func (r *streamReader) line(line []byte) error {
	if len(line) == 0 {
		return r.end()
	}
	if line[0] == '{' {
		return r.data(line)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		r.known = true
		return r.data(bytes.TrimSpace(value))
	case "event":
		r.failing = string(bytes.TrimSpace(value)) == "error"
		r.known = true
	case "", "id", "retry":
		r.known = true
	}
	return nil
}

// data reads the data of an event. Data that is whole with its first line is
// taken at once, since not every server sends the blank line.
func (r *streamReader) data(text []byte) error {
	if r.pending.Len() == 0 {
		switch {
		case bytes.EqualFold(text, []byte("[DONE]")):
			return errDone
		case !likeJSON(text):
			return nil // a sign of life
		case json.Valid(text):
			return r.whole(text)
		}
	}
	if r.pending.Len()+len(text) > MostAnswer {
		return errTooLong
	}
	r.pending.Write(text)
	r.pending.WriteByte('\n')
	return nil
}

// likeJSON says whether a text begins as an object or a list of them does.
func likeJSON(text []byte) bool {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	rest := bytes.TrimSpace(text[1:])
	return text[0] == '{' || len(rest) == 0 || bytes.IndexByte([]byte("{[]"), rest[0]) >= 0
}

// end is a blank line: the event is whole.
func (r *streamReader) end() error {
	defer func() { r.failing = false }()
	if r.pending.Len() == 0 {
		return nil
	}
	text := bytes.TrimSpace(bytes.Clone(r.pending.Bytes()))
	r.pending.Reset()
	if !json.Valid(text) {
		return errEvent
	}
	return r.whole(text)
}

// whole takes an event, or a list of them.
func (r *streamReader) whole(text []byte) error {
	if text[0] != '[' {
		return r.take(text)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return errEvent
	}
	for _, v := range list {
		if err := r.take(v); err != nil {
			return err
		}
	}
	return nil
}

// take hands an event on.
func (r *streamReader) take(v json.RawMessage) error {
	r.left.used = 0
	if v = bytes.TrimSpace(v); len(v) == 0 || v[0] != '{' {
		return nil
	}
	if r.failing && !bytes.Contains(v, []byte(`"error"`)) {
		v = fmt.Appendf(nil, `{"error":%s}`, v)
	}
	r.events++
	finished, err := r.each(v)
	if finished && !r.finished {
		r.finished = true
		r.wait(lastWords)
	}
	r.refused = err
	return err
}
