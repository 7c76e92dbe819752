package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

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
