package model

import (
	"bufio"
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
