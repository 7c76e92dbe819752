package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema is a tool's JSON Schema, compiled, and the little of it that is read
// to put texts and numbers where they belong.
type schema struct {
	compiled   *jsonschema.Schema
	properties map[string]property
	order      []string // properties in sorted order
	required   []string
}

type property struct {
	Type any `json:"type"` // a name, or a list of names
}

// is says whether the property may be of a type.
func (p property) is(name string) bool {
	switch t := p.Type.(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
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
	var shape struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return nil, err
	}
	s := &schema{compiled: compiled, properties: shape.Properties, required: shape.Required}
	for name := range shape.Properties {
		s.order = append(s.order, name)
	}
	slices.Sort(s.order)
	return s, nil
}

// textField is the argument that a plain text is meant for: the only one that
// takes text, else the first required one that does, else "".
func (s *schema) textField() string {
	var texts []string
	for _, name := range s.order {
		if s.properties[name].is("string") {
			texts = append(texts, name)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for _, name := range s.required {
		if slices.Contains(texts, name) {
			return name
		}
	}
	return ""
}

// problems returns what is wrong with arguments, one text a place. A place
// whose value is a text that free accepts is passed over.
func (s *schema) problems(args map[string]any, free func(string) bool) []string {
	err := s.compiled.Validate(args)
	if err == nil {
		return nil
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var found []string
	for _, leaf := range leaves(v) {
		if text, ok := valueAt(args, leaf.InstanceLocation).(string); ok && free != nil && free(text) {
			continue
		}
		where := strings.Join(leaf.InstanceLocation, ".")
		if where != "" {
			where += ": "
		}
		found = append(found, where+leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
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
			var i int
			if _, err := fmt.Sscanf(key, "%d", &i); err != nil || i < 0 || i >= len(in) {
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
// number or a list in quotes where the schema wants it bare, and null for an
// argument that may be left out.
func (s *schema) coerce(args map[string]any) {
	for name, v := range args {
		p, known := s.properties[name]
		if !known {
			continue
		}
		if v == nil && !slices.Contains(s.required, name) && !p.is("null") {
			delete(args, name)
			continue
		}
		text, ok := v.(string)
		if !ok || p.is("string") {
			continue
		}
		if parsed, err := decode([]byte(text)); err == nil && p.fits(parsed) {
			args[name] = parsed
		}
	}
}

// fits says whether a parsed value is of a type that the property wants.
func (p property) fits(v any) bool {
	switch v := v.(type) {
	case json.Number:
		_, err := v.Int64()
		return p.is("number") || p.is("integer") && err == nil
	case bool:
		return p.is("boolean")
	case []any:
		return p.is("array")
	case map[string]any:
		return p.is("object")
	}
	return false
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
