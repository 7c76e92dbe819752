package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// References lists the references in every text of a tool's input, but for
// keys, in the order they are written. The error is of input that is no JSON.
func References(input json.RawMessage) ([]Reference, error) {
	found, err := mentions(input)
	return found.refs, err
}

// mention is what is found in the texts of an input.
type mention struct {
	refs    []Reference
	broken  []string  // what begins as a reference and is none
	foreign []foreign // what refers to a step in a form that is not filled in
}

// foreign is a reference in the form of another planner, if its step is one:
// #E1 (ReWOO), $1 (LLMCompiler), {{s1}} (templates). Here these are plain text.
type foreign struct{ text, step string }

// unmistakable says whether the form is one that prose has no other use for,
// unlike $sum and #paris.
func (f foreign) unmistakable() bool {
	return f.text[:2] == open || f.text[:2] == "{{" || f.text[0] == '#' && strings.Trim(f.step, "0123456789") == "E" && f.step != "E"
}

// mentions finds the references in an input, and what is meant as one.
func mentions(input json.RawMessage) (mention, error) {
	var m mention
	if len(input) == 0 {
		return m, nil
	}
	if !json.Valid(input) {
		_, err := decodeValue(input)
		return m, fmt.Errorf("it is not JSON: %w", err)
	}
	if bytes.ContainsAny(input, `\$#`) || bytes.Contains(input, []byte("{{")) {
		eachText(input, m.add)
	}
	return m, nil
}

// eachText calls f with every text in a valid JSON value, but for keys.
func eachText(valid []byte, f func(string)) {
	for {
		start := bytes.IndexByte(valid, '"')
		if start < 0 {
			return
		}
		end := start + 1
		for valid[end] != '"' {
			if valid[end] == '\\' {
				end++
			}
			end++
		}
		literal := valid[start : end+1]
		valid = valid[end+1:]
		if rest := bytes.TrimLeft(valid, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			continue
		}
		if bytes.IndexByte(literal, '\\') < 0 {
			f(string(literal[1 : len(literal)-1]))
			continue
		}
		var text string
		if json.Unmarshal(literal, &text) == nil { // always, since the whole is valid
			f(text)
		}
	}
}

// add takes in the references of one text.
func (m *mention) add(text string) {
	for at := 0; at < len(text); {
		next := strings.IndexAny(text[at:], "$#{")
		if next < 0 {
			return
		}
		at += next
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, open):
			ref, n, ok := parseReference(rest)
			if ok {
				m.refs = append(m.refs, ref)
			} else {
				m.broken = append(m.broken, Short(rest, mostQuoted/2))
			}
			at += n
		case strings.HasPrefix(rest, "{{"):
			at += m.template(rest)
		default:
			at += m.marked(text, at)
		}
	}
}

// open begins a reference.
const open = "${"

// nextReference returns the first reference in a text from an index on, and
// where it begins and ends.
func nextReference(text string, from int) (ref Reference, start, end int, ok bool) {
	for {
		next := strings.Index(text[from:], open)
		if next < 0 {
			return Reference{}, 0, 0, false
		}
		start = from + next
		ref, n, ok := parseReference(text[start:])
		if ok {
			return ref, start, start + n, true
		}
		from = start + n
	}
}

// parseReference reads the reference that a text begins with, and how long it
// is. It looks like ${id} or ${id.key.key}; an id holds no dot, so the first
// dot ends it. Without one only the beginning is passed over.
func parseReference(text string) (ref Reference, n int, ok bool) {
	at := len(open)
	id := idAt(text[at:])
	at += len(id)
	ref.Step = id
	for id != "" && at < len(text) && text[at] == '.' {
		key := text[at+1:]
		if end := strings.IndexAny(key, ".{} \t\n\f\r"); end >= 0 {
			key = key[:end]
		}
		if key == "" {
			break
		}
		ref.Path = append(ref.Path, key)
		at += 1 + len(key)
	}
	if id == "" || at >= len(text) || text[at] != '}' {
		return Reference{}, len(open), false
	}
	return ref, at + 1, true
}

// idAt is the id that a text begins with, or "".
func idAt(text string) string {
	n := 0
	for n < len(text) && n <= mostID && validID(text[n:n+1]) {
		n++
	}
	if n > mostID {
		return ""
	}
	return text[:n]
}

// template takes in {{id …}} and {{steps.id …}} at the start of a text, and
// returns how much of it was read.
func (m *mention) template(text string) int {
	inside, _, closed := strings.Cut(text[len("{{"):], "}}")
	if !closed || strings.ContainsAny(inside, "{}") {
		return 1
	}
	path := strings.TrimLeft(inside, " ")
	id := idAt(path)
	if id == "" {
		return 1
	}
	whole := Short("{{"+inside+"}}", mostQuoted)
	m.foreign = append(m.foreign, foreign{text: whole, step: id})
	if next := idAt(strings.TrimPrefix(path[len(id):], ".")); next != "" && path[len(id)] == '.' {
		m.foreign = append(m.foreign, foreign{text: whole, step: next})
	}
	return len("{{") + len(inside) + len("}}")
}

// marked takes in #id or $id at an index of a text, and returns how much was
// read. A number, as in "$1" or "#1", is one only where it is the whole text,
// and a mark inside a word is none.
func (m *mention) marked(text string, at int) int {
	id := idAt(text[at+1:])
	if text[at] == '{' || id == "" {
		return 1
	}
	f := foreign{text: text[at : at+1+len(id)], step: id}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	inWord := unicode.IsLetter(before) || unicode.IsDigit(before) || before == '&'
	number := strings.Trim(id, "0123456789") == ""
	if !inWord && (!number || strings.TrimSpace(text) == f.text) {
		m.foreign = append(m.foreign, f)
	}
	return len(f.text)
}
