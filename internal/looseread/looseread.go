// Package looseread finds the JSON in what a language model wrote: alone, in a
// fence, after thoughts, or between prose. It is lenient about what surrounds
// the value and about trailing commas, and never about the value itself:
// nothing is dropped, closed or guessed, so that a cut-off answer is an error
// and never a shorter one.
package looseread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Errors of reading.
var (
	// ErrNoJSON is text without any JSON object or list.
	ErrNoJSON = errors.New("there is no JSON in it")
	// ErrTruncated is JSON that ends before it is complete, and thoughts that
	// never end.
	ErrTruncated = errors.New("the JSON ends before it is complete")
	// ErrThoughts is a text that begins with thoughts and has no end of them.
	ErrThoughts = fmt.Errorf("%w: there are thoughts in it and no end of them", ErrTruncated)
	// ErrSyntax is JSON with a mistake in it.
	ErrSyntax = errors.New("the JSON has a mistake")
	// ErrAmbiguous is text that holds several values, or a key twice.
	ErrAmbiguous = errors.New("it is not clear which value is meant")
)

const (
	// MaxBytes is the longest text that is looked at.
	MaxBytes = 8 << 20
	// maxDepth is how deep a value may be nested.
	maxDepth = 200
	// effort bounds the work on brackets that turn out to be no JSON: so many
	// times the length of the text is read in all.
	effort = 16
	// leastEffort is the work that any text is worth, in bytes.
	leastEffort = 1 << 16
)

// Find returns the one JSON object or list in text, with trailing commas taken
// out. Text that is JSON as a whole is that, also once more in quotes; otherwise
// thoughts, as in <think>, are left out and the outermost objects and lists are
// looked for. When there are several different ones, wanted decides which can be
// meant; nil means all. One that stands inside of something broken is not taken
// for the whole.
func Find(text string, wanted func(json.RawMessage) bool) (json.RawMessage, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, %d is the limit", ErrSyntax, len(text), MaxBytes)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if quoted := ""; strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &quoted) == nil {
		text = strings.TrimSpace(quoted)
	}
	if text != "" && (text[0] == '{' || text[0] == '[') {
		if v := scan(text); v.err == nil && strings.TrimSpace(text[v.end:]) == "" {
			return v.unique()
		}
	}
	s := search{text: text, wanted: wanted, room: effort*len(text) + leastEffort}
	if err := s.run(); err != nil {
		return nil, err
	}
	return s.one()
}

// search looks for outermost values between prose and thoughts.
type search struct {
	text   string
	wanted func(json.RawMessage) bool
	room   int // bytes that may still be read
	at     int
	found  []value
	marks  []thought // of thoughts
	open   []bracket // passed over and not closed so far
	ends   []int     // where thoughts end whose beginning is not there, from at on
}

func (s *search) run() error {
	s.ends = strayEnds(s.text)
	for s.at < len(s.text) {
		next := strings.IndexAny(s.text[s.at:], "{[<}]◁")
		if next < 0 {
			break
		}
		s.at += next
		if skipped, err := s.skipThought(); err != nil {
			return err
		} else if skipped {
			continue
		}
		if err := s.bracket(); err != nil {
			return err
		}
	}
	return s.unclosed()
}

// bracket reads what stands here, if it is a bracket.
func (s *search) bracket() error {
	switch s.text[s.at] {
	case '{', '[':
		return s.value()
	case '}', ']':
		err := s.close()
		s.at++
		return err
	}
	s.at++
	return nil
}

// value reads what begins with a bracket here. Brackets that are no JSON are
// passed over, unless they were meant as JSON.
func (s *search) value() error {
	v := scan(s.text[s.at:])
	if s.room -= v.end; s.room < 0 {
		return fmt.Errorf("%w: too many brackets in it are not closed", ErrSyntax)
	}
	for len(s.ends) > 0 && s.ends[0] < s.at {
		s.ends = s.ends[1:]
	}
	switch {
	case v.err == nil:
		if s.wanted == nil || s.wanted(v.json) {
			v.from = s.at
			s.found = append(s.found, v)
		}
		s.at += v.end
	case len(s.ends) > 0:
		s.at = s.ends[0] // it stands in thoughts
	case errors.Is(v.err, ErrTruncated) && !strings.Contains(s.text[s.at:], "{"):
		s.at = len(s.text) // a bracket in prose; all that follows would be inside it
	case errors.Is(v.err, ErrTruncated), v.meant:
		return v.err
	default:
		s.pass(v.err)
		s.at++
	}
	return nil
}

// one returns what was found, if it is one thing.
func (s *search) one() (json.RawMessage, error) {
	if len(s.found) == 0 {
		return nil, ErrNoJSON
	}
	for _, v := range s.found[1:] {
		if !bytes.Equal(s.found[0].json, v.json) {
			return nil, fmt.Errorf("%w: %d different values stand in it; write one", ErrAmbiguous, len(s.found))
		}
	}
	return s.found[0].unique()
}
