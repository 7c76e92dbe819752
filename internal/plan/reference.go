package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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

// referencePattern is what a reference looks like. An id holds no dot, so the
// first dot ends it. #E1 and $1 are the forms of other planners (ReWOO,
// LLMCompiler) and are plain text here.
var referencePattern = regexp.MustCompile(`\$\{([A-Za-z0-9_-]{1,64})((?:\.[^.{}\s]+)*)\}`)

// References lists the references in every text of a tool's input, in the
// order they are written in sorted keys. The error is of input that is no JSON.
func References(input json.RawMessage) ([]Reference, error) {
	if len(input) == 0 {
		return nil, nil
	}
	v, err := decodeValue(input)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	var refs []Reference
	_, err = mapTexts(v, func(text string) (any, error) {
		for _, m := range referencePattern.FindAllStringSubmatch(text, -1) {
			refs = append(refs, referenceOf(m))
		}
		return text, nil
	})
	return refs, err
}

func referenceOf(match []string) Reference {
	r := Reference{Step: match[1]}
	if match[2] != "" {
		r.Path = strings.Split(match[2][1:], ".")
	}
	return r
}

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
	filled, err := mapTexts(v, func(text string) (any, error) { return fillText(text, results) })
	if err != nil {
		return nil, err
	}
	return encode(filled)
}

func fillText(text string, results map[string]Result) (any, error) {
	found := referencePattern.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text, nil
	}
	var out strings.Builder
	at := 0
	for _, loc := range found {
		ref := referenceOf(referencePattern.FindStringSubmatch(text[loc[0]:loc[1]]))
		value, err := ref.lookUp(results)
		if err != nil {
			return nil, err
		}
		if loc[0] == 0 && loc[1] == len(text) {
			return value, nil
		}
		out.WriteString(text[at:loc[0]])
		written, err := writtenOut(value)
		if err != nil {
			return nil, err
		}
		out.WriteString(written)
		at = loc[1]
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// lookUp finds the value that a reference names.
func (r Reference) lookUp(results map[string]Result) (any, error) {
	res, ok := results[r.Step]
	if !ok {
		return nil, fmt.Errorf("%s refers to step %s, whose result this step is not given", r, r.Step)
	}
	if len(r.Path) == 0 {
		return res.Text, nil
	}
	if len(res.Data) == 0 {
		return nil, fmt.Errorf("%s refers to a key, but the result of step %s is plain text", r, r.Step)
	}
	v, err := decodeValue(res.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: the result of step %s cannot be read: %w", r, r.Step, err)
	}
	for _, key := range r.Path {
		next, ok := inside(v, key)
		if !ok {
			return nil, fmt.Errorf("%s: the result of step %s has no %q there", r, r.Step, Short(key, 80))
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
