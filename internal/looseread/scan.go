package looseread

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// scanner walks over one JSON value, copying it without trailing commas.
type scanner struct {
	text  string
	at    int
	out   []byte
	depth int
}

// scan reads the value at the start of text and returns it, with trailing
// commas taken out, and where it ends.
func scan(text string) (json.RawMessage, int, error) {
	s := scanner{text: text}
	if err := s.value(); err != nil {
		return nil, 0, err
	}
	return s.out, s.at, nil
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the next byte that is not space.
func (s *scanner) peek() (byte, error) {
	s.space()
	if s.at >= len(s.text) {
		return 0, ErrTruncated
	}
	return s.text[s.at], nil
}

func (s *scanner) wrong(want string) error {
	line, col := 1, 1
	for _, r := range s.text[:s.at] {
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Errorf("%w: at line %d, character %d stands %q where %s was expected; a quote inside a text is written \\\"",
		ErrSyntax, line, col, r, want)
}

func (s *scanner) value() error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	switch b {
	case '{':
		return s.list('}', s.member)
	case '[':
		return s.list(']', s.value)
	case '"':
		return s.str()
	}
	return s.word()
}

// list reads a list or an object: elements between commas up to end. A comma
// before end is left out.
func (s *scanner) list(end byte, element func() error) error {
	if s.depth++; s.depth > maxDepth {
		return fmt.Errorf("%w: it is nested more than %d deep", ErrSyntax, maxDepth)
	}
	defer func() { s.depth-- }()
	s.copy()
	for first := true; ; first = false {
		b, err := s.peek()
		if err != nil {
			return err
		}
		if !first && b == ',' {
			s.at++
			if b, err = s.peek(); err != nil {
				return err
			}
			if b != end {
				s.out = append(s.out, ',')
			}
		} else if !first && b != end {
			return s.wrong(fmt.Sprintf("a comma or %q", end))
		}
		if b == end {
			s.copy()
			return nil
		}
		if err := element(); err != nil {
			return err
		}
	}
}

func (s *scanner) member() error {
	if b, err := s.peek(); err != nil {
		return err
	} else if b != '"' {
		return s.wrong("a key in quotes")
	}
	if err := s.str(); err != nil {
		return err
	}
	if b, err := s.peek(); err != nil {
		return err
	} else if b != ':' {
		return s.wrong("a colon")
	}
	s.copy()
	return s.value()
}

// copy takes over one byte.
func (s *scanner) copy() {
	s.out = append(s.out, s.text[s.at])
	s.at++
}

// str reads a string in quotes. Line breaks in it, which JSON forbids and
// models write, are escaped.
func (s *scanner) str() error {
	s.copy()
	for s.at < len(s.text) {
		switch b := s.text[s.at]; {
		case b == '"':
			s.copy()
			return nil
		case b == '\\':
			s.copy()
			if s.at >= len(s.text) {
				return ErrTruncated
			}
			s.copy()
		case b < 0x20:
			s.out = fmt.Appendf(s.out, `\u%04x`, b)
			s.at++
		default:
			s.copy()
		}
	}
	return ErrTruncated
}

// word reads a number, true, false or null.
func (s *scanner) word() error {
	start := s.at
	for s.at < len(s.text) {
		b := s.text[s.at]
		if (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && b != '-' && b != '+' && b != '.' {
			break
		}
		s.at++
	}
	word := s.text[start:s.at]
	if s.at >= len(s.text) {
		return ErrTruncated // nothing stands alone: a word is inside a list or an object
	}
	if !json.Valid([]byte(word)) {
		s.at = start
		return s.wrong("a value")
	}
	s.out = append(s.out, word...)
	return nil
}
