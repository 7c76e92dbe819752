package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	var out strings.Builder
	at := 0
	for {
		ref, start, end, ok := nextReference(text, at)
		switch {
		case !ok && at == 0:
			return text, nil
		case !ok:
			out.WriteString(text[at:])
			return out.String(), nil
		}
		value, err := f.value(ref)
		if err != nil || start == 0 && end == len(text) {
			return value, err
		}
		written, err := writtenOut(value)
		if err != nil {
			return nil, err
		}
		out.WriteString(text[at:start])
		out.WriteString(written)
		at = end
	}
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
