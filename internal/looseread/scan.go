package looseread

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// value is what a text begins with.
type value struct {
	json  json.RawMessage // without white space and trailing commas
	from  int             // where it begins in what was searched
	end   int             // how much of the text was read
	err   error
	meant bool   // whether broken text was meant as JSON: a key or a part of it is whole
	twice string // a key that stands twice in one object, in quotes
}

// unique returns the value, unless an object in it names a key twice, since
// either could be meant.
func (v value) unique() (json.RawMessage, error) {
	if v.twice != "" {
		return nil, fmt.Errorf("%w: the key %s stands twice in one object", ErrAmbiguous, v.twice)
	}
	return v.json, nil
}

// scan reads the object or list at the start of text.
func scan(text string) value {
	s := scanner{text: text}
	s.v.err = s.value()
	s.v.json, s.v.end = s.out, s.at
	return s.v
}

// scanner walks over one JSON value, copying it without trailing commas.
type scanner struct {
	text  string
	at    int
	out   []byte
	depth int
	v     value
}

// space passes over what separates: also the spaces of typesetters and byte order
// marks, which mean nothing else here.
func (s *scanner) space() {
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if !unicode.IsSpace(r) && r != '\ufeff' {
			return
		}
		s.at += size
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

// wrong is the error of what stands here. The end of a fence cuts off.
func (s *scanner) wrong(want string) error {
	if strings.TrimSpace(s.text[s.at:]) == "```" {
		return ErrTruncated
	}
	before := s.text[:s.at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Errorf("%w: at line %d, character %d stands %q where %s was expected; a quote inside a text is written \\\"",
		ErrSyntax, line, column, r, want)
}

func (s *scanner) value() error {
	b, err := s.peek()
	if err != nil {
		return err
	}
	switch b {
	case '{':
		return s.object()
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
			s.depth--
			s.v.meant = true
			return nil
		}
		if err := element(); err != nil {
			return err
		}
	}
}

func (s *scanner) object() error {
	keys := map[string]bool{}
	return s.list('}', func() error { return s.member(keys) })
}

// foreignKey is how keys are written in other languages: after a comment, in
// other quotes, or in none before a text, a list or an object.
var foreignKey = regexp.MustCompile("^(?:['‘’“”„«`]|//|/\\*|" + `\w+\s*:\s*["'\[{])`)

func (s *scanner) member(keys map[string]bool) error {
	if b, err := s.peek(); err != nil {
		return err
	} else if b != '"' {
		s.v.meant = s.v.meant || foreignKey.MatchString(s.text[s.at:])
		return s.wrong("a key in quotes")
	}
	start := len(s.out)
	if err := s.str(); err != nil {
		return err
	}
	s.once(s.out[start:], keys)
	if b, err := s.peek(); err != nil {
		return err
	} else if b != ':' {
		return s.wrong("a colon")
	}
	s.copy()
	s.v.meant = true
	return s.value()
}

// once notes a key, and that it stands there twice.
func (s *scanner) once(quoted []byte, keys map[string]bool) {
	var key string
	if err := json.Unmarshal(quoted, &key); err != nil {
		key = string(quoted)
	}
	if keys[key] && s.v.twice == "" {
		s.v.twice = string(quoted)
	}
	keys[key] = true
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
		plain := s.at
		for s.at < len(s.text) && s.text[s.at] >= ' ' && s.text[s.at] != '"' && s.text[s.at] != '\\' {
			s.at++
		}
		s.out = append(s.out, s.text[plain:s.at]...)
		if s.at == len(s.text) {
			break
		}
		switch b := s.text[s.at]; b {
		case '"':
			s.copy()
			return nil
		case '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			s.out = fmt.Appendf(s.out, `\u%04x`, b)
			s.at++
		}
	}
	return ErrTruncated
}

// escape reads a backslash and what it stands before. \' is a plain quote,
// which needs no backslash and means nothing else.
func (s *scanner) escape() error {
	rest := s.text[s.at+1:]
	if rest == "" {
		return ErrTruncated
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.copy()
		s.copy()
		return nil
	case '\'':
		s.at++
		s.copy()
		return nil
	case 'u':
		return s.unicode(rest[1:])
	}
	s.at++
	return s.wrong(`an escaped character (a backslash itself is written \\)`)
}

// unicode reads the four hexadecimal digits of an escape.
func (s *scanner) unicode(digits string) error {
	for i := range 4 {
		if i >= len(digits) {
			return ErrTruncated
		}
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(digits[i])) {
			s.at += len(`\u`) + i
			return s.wrong("a hexadecimal digit")
		}
	}
	s.out = append(s.out, s.text[s.at:s.at+len(`\uXXXX`)]...)
	s.at += len(`\uXXXX`)
	return nil
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
		return ErrTruncated // a word stands inside an object or a list
	}
	if !json.Valid([]byte(word)) {
		s.at = start
		return s.wrong("a value")
	}
	s.out = append(s.out, word...)
	return nil
}
