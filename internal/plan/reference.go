package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reference is a mention of a step's result in a tool's input: ${s1}, or
// ${s1.key} for a value inside its data.
type Reference struct {
	Step string
	Path []string // keys, or indexes of lists; empty for the whole result
}

// String returns the reference as it is written.
func (r Reference) String() string {
	return "${" + strings.Join(append([]string{r.Step}, r.Path...), ".") + "}"
}

var (
	// referencePattern is what a reference looks like. An id holds no dot, so
	// the first dot ends it.
	referencePattern = regexp.MustCompile(`\$\{([A-Za-z0-9_-]{1,64})((?:\.[^.{}\s]+)*)\}`)
	// referenceStart is a reference that a text begins with.
	referenceStart = regexp.MustCompile(`^` + referencePattern.String())
	// foreignPattern is how other planners refer to results: #E1 (ReWOO), $1
	// (LLMCompiler), {{s1}} (templates). Here these are plain text.
	foreignPattern = regexp.MustCompile(`[#$]([A-Za-z0-9_-]{1,64})|\{\{\s*([A-Za-z0-9_-]{1,64})[^{}]*\}\}`)
)

// References lists the references in every text of a tool's input, in the
// order they are written in sorted keys. The error is of input that is no JSON.
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

// foreign is a reference in the form of another planner, if its step is one.
type foreign struct{ text, step string }

// mentions finds the references in an input, and what is meant as one.
func mentions(input json.RawMessage) (mention, error) {
	var m mention
	if len(input) == 0 {
		return m, nil
	}
	if !bytes.ContainsAny(input, `\$#`) && !bytes.Contains(input, []byte("{{")) && json.Valid(input) {
		return m, nil
	}
	v, err := decodeValue(input)
	if err != nil {
		return m, fmt.Errorf("it is not JSON: %w", err)
	}
	_, err = mapTexts(v, func(text string) (any, error) {
		m.add(text)
		return text, nil
	})
	return m, err
}

// add takes in the references of one text.
func (m *mention) add(text string) {
	rest := text
	for {
		at := strings.Index(rest, "${")
		if at < 0 {
			break
		}
		rest = rest[at:]
		loc := referenceStart.FindStringSubmatchIndex(rest)
		if loc == nil {
			m.broken = append(m.broken, Short(rest, 40))
			rest = rest[len("${"):]
			continue
		}
		m.refs = append(m.refs, referenceIn(rest, loc))
		rest = rest[loc[1]:]
	}
	for _, loc := range foreignPattern.FindAllStringSubmatchIndex(text, -1) {
		m.addForeign(text, loc)
	}
}

// addForeign takes in what may be another planner's reference. A number, as in
// "$1" or "#1", is one only where it is the whole text, and a mark inside a
// word is none.
func (m *mention) addForeign(text string, loc []int) {
	f := foreign{text: text[loc[0]:loc[1]]}
	if loc[2] < 0 {
		f.step = text[loc[4]:loc[5]]
		m.foreign = append(m.foreign, f)
		return
	}
	f.step = text[loc[2]:loc[3]]
	before, _ := utf8.DecodeLastRuneInString(text[:loc[0]])
	if unicode.IsLetter(before) || unicode.IsDigit(before) || before == '&' {
		return
	}
	if strings.Trim(f.step, "0123456789") == "" && strings.TrimSpace(text) != f.text {
		return
	}
	m.foreign = append(m.foreign, f)
}

// referenceIn makes the reference of a match in a text.
func referenceIn(text string, loc []int) Reference {
	r := Reference{Step: text[loc[2]:loc[3]]}
	if path := text[loc[4]:loc[5]]; path != "" {
		r.Path = strings.Split(path[1:], ".")
	}
	return r
}

// mostFilled is how large an input may become by what is filled in, in bytes.
const mostFilled = 8 << 20

// Fill replaces every reference in a tool's input by the result it names,
// once: what is put in is data and is not looked at again. A text that is
// exactly one reference becomes the value itself, of whatever type; inside a
// longer text the value is written out.
func Fill(input json.RawMessage, results map[string]Result) (json.RawMessage, error) {
	if len(input) == 0 {
		return nil, nil
	}
	v, err := decodeValue(input)
	if err != nil {
		return nil, fmt.Errorf("fill in an input: it is not JSON: %w", err)
	}
	f := filler{results: results, room: mostFilled}
	filled, err := mapTexts(v, f.fill)
	if err != nil {
		return nil, fmt.Errorf("fill in an input: %w", err)
	}
	return encode(filled)
}

// filler fills in the texts of one input.
type filler struct {
	results map[string]Result
	room    int // bytes that may still be filled in
}

func (f *filler) fill(text string) (any, error) {
	found := referencePattern.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text, nil
	}
	var out strings.Builder
	at := 0
	for _, loc := range found {
		value, err := f.value(referenceIn(text, loc))
		if err != nil {
			return nil, err
		}
		if loc[0] == 0 && loc[1] == len(text) {
			return value, nil
		}
		written, err := writtenOut(value)
		if err != nil {
			return nil, err
		}
		out.WriteString(text[at:loc[0]])
		out.WriteString(written)
		at = loc[1]
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// value is what a reference names.
func (f *filler) value(r Reference) (any, error) {
	written := Short(r.String(), mostQuoted)
	res, ok := f.results[r.Step]
	if !ok {
		return nil, fmt.Errorf("%s refers to step %s, whose result this step is not given", written, r.Step)
	}
	if f.room -= len(res.Text) + len(res.Data); f.room < 0 {
		return nil, fmt.Errorf("with %s it grows over %d MB; refer to less", written, mostFilled>>20)
	}
	if len(r.Path) == 0 {
		return res.Text, nil
	}
	v, err := r.within(res.Data)
	if err != nil && len(r.Path) == 1 && r.Path[0] == "result" {
		return res.Text, nil // an output that has no such key of its own
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the result of step %s %w", written, r.Step, err)
	}
	return v, nil
}

// within follows the path of a reference into a result's data. The error says
// what is the matter with the result.
func (r Reference) within(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, errors.New("is plain text and has no keys")
	}
	v, err := decodeValue(data)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	for _, key := range r.Path {
		next, ok := inside(v, key)
		if !ok {
			return nil, fmt.Errorf("has no %q there", Short(key, mostQuoted))
		}
		v = next
	}
	return v, nil
}

func inside(v any, key string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[key]
		return next, ok
	case []any:
		if n, err := strconv.Atoi(key); err == nil && n >= 0 && n < len(v) {
			return v[n], true
		}
	}
	return nil, false
}

// writtenOut returns a value as text: a text as it is, anything else as JSON.
func writtenOut(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	b, err := encode(v)
	return string(b), err
}

// mapTexts returns v with every text in it, but for keys, replaced by what f
// makes of it. Keys are visited in sorted order, so that errors are the same
// every time.
func mapTexts(v any, f func(string) (any, error)) (any, error) {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = mapTexts(e, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var err error
			if out[k], err = mapTexts(v[k], f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
