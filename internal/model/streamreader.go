package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

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
