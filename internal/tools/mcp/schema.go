package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// mostNodes is how many schemas an inlined schema has; mostDepth is how
	// deep they stand in one another. What goes beyond is left open.
	mostNodes = 2_000
	mostDepth = 24
)

// inline returns the schema of a tool's arguments in the form that providers
// take: an object, in the words of JSON Schema 2020-12, every $ref replaced by
// what it points to. Where a schema holds itself, and where a $ref points
// nowhere, anything is accepted: the server checks its arguments itself.
func inline(schema any) (json.RawMessage, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("its schema cannot be written: %w", err)
	}
	if len(raw) > mostSchema {
		return nil, fmt.Errorf("its schema has %d bytes, more than %d", len(raw), mostSchema)
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	in := inliner{root: root, open: map[string]bool{"#": true}}
	object, ok := in.schema(root, 0).(map[string]any)
	if !ok {
		if root != nil && root != true {
			return nil, fmt.Errorf("its schema is %s, not an object", raw)
		}
		object = map[string]any{}
	}
	if object["type"] == nil {
		object["type"] = "object"
	}
	return json.Marshal(object)
}

// inliner replaces the references in one schema.
type inliner struct {
	root  any
	open  map[string]bool // the references that are being replaced
	nodes int
}

// schema returns a schema without references. It never changes what it is given.
func (in *inliner) schema(v any, depth int) any {
	written, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if in.nodes++; in.nodes > mostNodes || depth > mostDepth {
		return map[string]any{}
	}
	own := modern(written)
	ref, refers := own["$ref"].(string)
	delete(own, "$ref")
	for key, value := range own {
		own[key] = in.inside(key, value, depth+1)
	}
	if !refers || in.open[ref] {
		return own
	}
	target, found := in.find(ref)
	if !found {
		return own
	}
	in.open[ref] = true
	defer delete(in.open, ref)
	return both(in.schema(target, depth+1), own)
}

// inside returns what a keyword holds, with the schemas in it inlined.
func (in *inliner) inside(key string, value any, depth int) any {
	switch key {
	case "properties", "patternProperties", "dependentSchemas":
		if named, ok := value.(map[string]any); ok {
			out := make(map[string]any, len(named))
			for name, v := range named {
				out[name] = in.schema(v, depth)
			}
			return out
		}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		if list, ok := value.([]any); ok {
			out := make([]any, len(list))
			for i, v := range list {
				out[i] = in.schema(v, depth)
			}
			return out
		}
	case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties":
		return in.schema(value, depth)
	}
	return value
}

// modern returns the keywords of a schema as JSON Schema 2020-12 has them,
// without those that only serve references. A pattern that cannot be checked
// here is left to the server.
func modern(written map[string]any) map[string]any {
	own := maps.Clone(written)
	for _, key := range []string{
		"$schema", "$id", "$anchor", "$defs", "definitions", "$comment", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary",
	} {
		delete(own, key)
	}
	if tuple, ok := own["items"].([]any); ok {
		own["prefixItems"] = tuple
		delete(own, "items")
		if more, ok := own["additionalItems"]; ok {
			own["items"] = more
		}
	}
	delete(own, "additionalItems")
	exclusive(own, "minimum", "exclusiveMinimum")
	exclusive(own, "maximum", "exclusiveMaximum")
	if p, ok := own["pattern"].(string); ok && !checkable(p) {
		delete(own, "pattern")
	}
	if named, ok := own["patternProperties"].(map[string]any); ok && !allCheckable(named) {
		delete(own, "patternProperties")
		delete(own, "additionalProperties") // it speaks of what no pattern matches
	}
	return own
}

// exclusive turns a bound that is switched to exclusive, as the oldest drafts
// have it, into an exclusive bound.
func exclusive(own map[string]any, bound, key string) {
	on, ok := own[key].(bool)
	if !ok {
		return
	}
	delete(own, key)
	if limit, there := own[bound]; on && there {
		own[key] = limit
		delete(own, bound)
	}
}

func checkable(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

func allCheckable(named map[string]any) bool {
	for pattern := range named {
		if !checkable(pattern) {
			return false
		}
	}
	return true
}

// both returns a schema that asks for what target and own ask for. What own
// says about the same, as a description, goes before.
func both(target, own any) any {
	of, ok := target.(map[string]any)
	mine, own2 := own.(map[string]any)
	switch {
	case !own2 || len(mine) == 0:
		return target
	case !ok:
		return map[string]any{"allOf": []any{target, own}}
	}
	merged := maps.Clone(of)
	for _, key := range slices.Sorted(maps.Keys(mine)) {
		_, taken := merged[key]
		switch key {
		case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly":
			taken = false
		}
		if taken {
			return map[string]any{"allOf": []any{target, own}}
		}
		merged[key] = mine[key]
	}
	return merged
}

// find returns what a reference inside the schema points to.
func (in *inliner) find(ref string) (any, bool) {
	pointer, inside := strings.CutPrefix(ref, "#")
	if !inside {
		return in.named(ref)
	}
	if pointer, err := url.PathUnescape(pointer); err == nil && strings.HasPrefix(pointer, "/") {
		return at(in.root, strings.Split(pointer[1:], "/"))
	}
	if pointer == "" {
		return in.root, true
	}
	return in.named(pointer)
}

// named returns the definition that has a name of its own.
func (in *inliner) named(name string) (any, bool) {
	root, _ := in.root.(map[string]any)
	for _, key := range []string{"$defs", "definitions"} {
		named, _ := root[key].(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(named)) {
			if d, ok := named[k].(map[string]any); ok && (d["$anchor"] == name || d["$id"] == name) {
				return d, true
			}
		}
	}
	return nil, false
}

// at follows a JSON pointer.
func at(v any, path []string) (any, bool) {
	for _, key := range path {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}
