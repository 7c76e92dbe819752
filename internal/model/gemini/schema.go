package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/generative-ai-go/genai"
)

// mostNested is how deep a schema may go; references to itself end there.
const mostNested = 12

// schema is what Gemini can be told of a JSON Schema. Everything else is left
// out of it.
type schema struct {
	Ref         string                     `json:"$ref"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
	Type        json.RawMessage            `json:"type"`
	Format      string                     `json:"format"`
	Description string                     `json:"description"`
	Nullable    bool                       `json:"nullable"`
	Enum        []any                      `json:"enum"`
	Const       any                        `json:"const"`
	Items       json.RawMessage            `json:"items"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	AllOf       []json.RawMessage          `json:"allOf"`
}

// convert turns a JSON Schema into what Gemini accepts: references are written
// out, and keywords that it refuses are left out. The second result is false
// when a value of any form would have to become something narrower, such as an
// object with no named properties; then the schema is better told in words.
func convert(raw json.RawMessage) (*genai.Schema, bool) {
	if len(raw) == 0 {
		return nil, true
	}
	var root schema
	if json.Unmarshal(raw, &root) != nil {
		return nil, false
	}
	c := &converter{defs: map[string]json.RawMessage{"#": raw}, whole: true}
	for prefix, defs := range map[string]map[string]json.RawMessage{"#/$defs/": root.Defs, "#/definitions/": root.Definitions} {
		for name, d := range defs {
			c.defs[prefix+name] = d
		}
	}
	return c.convert(raw, 0), c.whole
}

type converter struct {
	defs  map[string]json.RawMessage
	whole bool
}

// convert turns one schema into Gemini's. It never returns nil.
func (c *converter) convert(raw json.RawMessage, depth int) *genai.Schema {
	s, ok := c.resolve(raw, depth)
	if !ok || depth > mostNested {
		return c.anything("")
	}
	types, nullable := typesOf(s)
	out := &genai.Schema{Description: s.Description, Nullable: s.Nullable || nullable}
	switch {
	case len(types) == 1 && types[0] == "object":
		return c.object(out, s, depth)
	case len(types) == 1 && types[0] == "array":
		out.Type = genai.TypeArray
		out.Items = c.convert(s.Items, depth+1)
	case len(types) == 1:
		return c.plain(out, s, types[0])
	default: // any of several types, or none named
		out = c.anything(s.Description)
		out.Nullable = nullable
	}
	return out
}

// anything stands for a value whose form cannot be told.
func (c *converter) anything(description string) *genai.Schema {
	c.whole = false
	return &genai.Schema{Type: genai.TypeString, Description: strings.TrimSpace(description + " (any JSON value, written as text)")}
}

func (c *converter) object(out *genai.Schema, s schema, depth int) *genai.Schema {
	if len(s.Properties) == 0 && depth > 0 {
		free := c.anything(s.Description)
		free.Nullable = out.Nullable
		return free
	}
	out.Type = genai.TypeObject
	out.Properties = map[string]*genai.Schema{}
	for name, p := range s.Properties {
		out.Properties[name] = c.convert(p, depth+1)
	}
	for _, name := range s.Required {
		if _, ok := out.Properties[name]; ok && !slices.Contains(out.Required, name) {
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// plain is a text, number or truth value.
func (c *converter) plain(out *genai.Schema, s schema, kind string) *genai.Schema {
	formats := map[genai.Type][]string{genai.TypeNumber: {"float", "double"}, genai.TypeInteger: {"int32", "int64"}, genai.TypeString: {"date-time"}}
	switch kind {
	case "number":
		out.Type = genai.TypeNumber
	case "integer":
		out.Type = genai.TypeInteger
	case "boolean":
		out.Type = genai.TypeBoolean
	default:
		out.Type = genai.TypeString
		for _, v := range s.Enum {
			if text, ok := v.(string); ok && text != "" {
				out.Enum = append(out.Enum, text)
			}
		}
	}
	if slices.Contains(formats[out.Type], s.Format) {
		out.Format = s.Format
	}
	if len(out.Enum) > 0 {
		out.Format = "enum"
	}
	return out
}

// resolve follows references and puts combined schemas together.
func (c *converter) resolve(raw json.RawMessage, depth int) (schema, bool) {
	var s schema
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return s, false // true, false or nothing: any value
	}
	if depth > mostNested {
		return s, false
	}
	if s.Const != nil {
		s.Enum = []any{s.Const}
	}
	if s.Ref != "" {
		to, ok := c.defs[s.Ref]
		if !ok {
			return s, false
		}
		r, ok := c.resolve(to, depth+1)
		if s.Description != "" {
			r.Description = s.Description
		}
		return r, ok
	}
	for _, part := range s.AllOf {
		if p, ok := c.resolve(part, depth+1); ok {
			s = merged(s, p)
		}
	}
	return c.alternatives(s, depth), true
}

// alternatives takes the one form that is not null. Of several forms none is
// taken.
func (c *converter) alternatives(s schema, depth int) schema {
	var forms []schema
	for _, raw := range slices.Concat(s.AnyOf, s.OneOf) {
		p, ok := c.resolve(raw, depth+1)
		if ok && string(p.Type) == `"null"` {
			s.Nullable = true
			continue
		}
		forms = append(forms, p)
	}
	if len(forms) == 1 {
		return merged(s, forms[0])
	}
	return s
}

// merged adds to a what b says beyond it.
func merged(a, b schema) schema {
	if len(a.Type) == 0 {
		a.Type = b.Type
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	if len(a.Items) == 0 {
		a.Items = b.Items
	}
	if a.Enum == nil {
		a.Enum = b.Enum
	}
	properties := maps.Clone(b.Properties)
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	maps.Copy(properties, a.Properties)
	a.Properties = properties
	a.Required = slices.Concat(a.Required, b.Required)
	a.Nullable = a.Nullable || b.Nullable
	return a
}

// typesOf returns the types other than null that a schema allows, and whether
// it allows null. Where none is named they follow from what else is there.
func typesOf(s schema) (types []string, nullable bool) {
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		types = []string{one}
	} else if json.Unmarshal(s.Type, &types) != nil {
		types = nil
	}
	named := len(types)
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	nullable = len(types) < named
	switch {
	case len(types) > 0:
	case len(s.Properties) > 0:
		types = []string{"object"}
	case len(s.Items) > 0:
		types = []string{"array"}
	case len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool { _, text := v.(string); return !text }):
		types = []string{"string"}
	}
	return types, nullable
}
