package looseread

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bracket is one that was passed over, since it begins no JSON. It is prose, or
// the beginning of something broken: then a value inside of it is only a part
// of what was meant.
type bracket struct {
	at    int
	err   error // why it begins no JSON
	found int   // how many values were found before it
}

// pass notes the bracket that stands here. A square one before a word is prose.
func (s *search) pass(err error) {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(s.text[s.at+1:]))
	if s.text[s.at] == '[' && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		return
	}
	s.open = append(s.open, bracket{s.at, err, len(s.found)})
}

// close takes the bracket that is closed here, with those left open in it.
func (s *search) close() error {
	begin := byte('{')
	if s.text[s.at] == ']' {
		begin = '['
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if b := s.open[i]; s.text[b.at] == begin {
			s.open = s.open[:i]
			return s.broken(b, s.at)
		}
	}
	return nil
}

// unclosed looks at the braces that were never closed. A square bracket that is
// not is one of prose, as in [0, 1).
func (s *search) unclosed() error {
	for _, b := range s.open {
		if s.text[b.at] != '{' {
			continue
		}
		if err := s.broken(b, len(s.text)); err != nil {
			return err
		}
	}
	return nil
}

// broken is an error where values stand in a bracket, up to where it ends,
// beside something else.
func (s *search) broken(b bracket, end int) error {
	if len(s.found) <= b.found {
		return nil
	}
	first, last := s.found[b.found], s.found[len(s.found)-1]
	beside := s.text[b.at+1:first.from] + s.text[last.from+last.end:end]
	if strings.Trim(beside, " \t\r\n{}[]()") == "" {
		return nil // as in {{…}}
	}
	return b.err
}
