package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"planwave/internal/plan"
)

// schema is the compiled JSON Schema of a tool's arguments.
type schema struct {
	compiled *jsonschema.Schema
	// text is the argument that a plain text is meant for, or "".
	text string
}

// compileSchema compiles a schema of an object. Nothing is loaded from
// anywhere: a $ref can only point inside.
func compileSchema(raw json.RawMessage) (*schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("tool.json", doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile("tool.json")
	if err != nil {
		return nil, err
	}
	if t := compiled.Types; t != nil && !slices.Contains(t.ToStrings(), "object") {
		return nil, fmt.Errorf("it is of %s; arguments are an object", t)
	}
	return &schema{compiled: compiled, text: textField(compiled)}, nil
}

// textField finds the argument that a plain text is meant for: the only one
// that takes text, else the first required one that does, else "".
func textField(s *jsonschema.Schema) string {
	var texts []string
	for name, p := range s.Properties {
		if takesText(p) {
			texts = append(texts, name)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for _, name := range s.Required {
		if slices.Contains(texts, name) {
			return name
		}
	}
	return ""
}

// takesText says whether a schema names text as one of its types.
func takesText(s *jsonschema.Schema) bool {
	s = behind(s)
	if s.Types != nil {
		return slices.Contains(s.Types.ToStrings(), "string")
	}
	return slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), takesText)
}

// mostReferences bounds how far a chain of $ref is followed.
const mostReferences = 20

// behind follows $ref to the schema that says something.
func behind(s *jsonschema.Schema) *jsonschema.Schema {
	for range mostReferences {
		if s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return s
}

// validate checks a value, and is an error also where checking it crashes, as
// it does for numbers beyond all measure.
func validate(s *jsonschema.Schema, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it holds a value that cannot be checked")
		}
	}()
	return s.Validate(v)
}

const (
	// mostProblems is how many places are told to whoever is to mend them.
	mostProblems = 10
	// mostProblem is how long, in characters, one of them may be.
	mostProblem = 300
)

// problems returns what is wrong with arguments, one text a place, in the order
// of the places. A place whose value free accepts is passed over; nil accepts
// none.
func (s *schema) problems(args map[string]any, free func(any) bool) []string {
	err := validate(s.compiled, args)
	if err == nil {
		return nil
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var found []string
	say := message.NewPrinter(language.English)
	for _, leaf := range leaves(v) {
		if free != nil && free(valueAt(args, leaf.InstanceLocation)) {
			continue
		}
		where := strings.Join(leaf.InstanceLocation, ".")
		if where != "" {
			where += ": "
		}
		found = append(found, plan.Short(where+leaf.ErrorKind.LocalizedString(say), mostProblem))
	}
	slices.Sort(found)
	if n := len(found) - mostProblems; n > 0 {
		found = append(found[:mostProblems], fmt.Sprintf("and %d more", n))
	}
	return found
}

func leaves(v *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(v.Causes) == 0 {
		return []*jsonschema.ValidationError{v}
	}
	var all []*jsonschema.ValidationError
	for _, c := range v.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

func valueAt(v any, path []string) any {
	for _, key := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// coerce puts right what models often write and can only mean one thing: a
// number, a list or an object in quotes where only the bare value fits, a bare
// number where only a text fits, and null for an argument that may be left out.
// What fits as it is stays as it is. v is changed in place.
func coerce(s *jsonschema.Schema, v any) any {
	if validate(s, v) == nil {
		return v
	}
	s = behind(s)
	switch v := v.(type) {
	case string:
		if parsed, err := decode([]byte(v)); err == nil {
			if parsed = coerce(s, parsed); validate(s, parsed) == nil {
				return parsed
			}
		}
	case json.Number:
		if validate(s, v.String()) == nil {
			return v.String()
		}
	case []any:
		if of := itemsOf(s); of != nil {
			for i := range v {
				v[i] = coerce(of, v[i])
			}
		}
	case map[string]any:
		coerceObject(s, v)
	}
	return v
}

func coerceObject(s *jsonschema.Schema, object map[string]any) {
	for name, p := range s.Properties {
		v, there := object[name]
		switch {
		case !there:
		case v == nil && !slices.Contains(s.Required, name) && validate(p, nil) != nil:
			delete(object, name)
		default:
			object[name] = coerce(p, v)
		}
	}
}

// itemsOf is the schema of every element of a list, or nil.
func itemsOf(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Items2020 != nil {
		return s.Items2020
	}
	of, _ := s.Items.(*jsonschema.Schema)
	return of
}

// decode reads exactly one JSON value, numbers as they are written.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}
