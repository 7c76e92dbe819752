package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"

	"planwave/internal/model"
)

// complete writes into a request what the library cannot: the arguments of
// calls as they are (it makes all numbers floats) with the signatures that
// Gemini wants back, and the types of schemas as names.
func complete(body []byte, calls []model.ToolCall) ([]byte, error) {
	var req map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&req); err != nil {
		return nil, fmt.Errorf("read the library's request: %w", err)
	}
	next := 0
	for content := range objects(req["contents"]) {
		for part := range objects(content["parts"]) {
			call, ok := part["functionCall"].(map[string]any)
			if !ok || next >= len(calls) {
				continue
			}
			call["args"] = objectOf(calls[next].Arguments)
			if s := calls[next].Signature; s != "" {
				part["thoughtSignature"] = s
			}
			next++
		}
	}
	for tool := range objects(req["tools"]) {
		for f := range objects(tool["functionDeclarations"]) {
			nameTypes(f["parameters"])
		}
	}
	if c, ok := req["generationConfig"].(map[string]any); ok {
		nameTypes(c["responseSchema"])
	}
	return json.Marshal(req)
}

// objects goes through the objects of a JSON list.
func objects(list any) func(yield func(map[string]any) bool) {
	items, _ := list.([]any)
	return func(yield func(map[string]any) bool) {
		for _, item := range items {
			if o, ok := item.(map[string]any); ok && !yield(o) {
				return
			}
		}
	}
}

// nameTypes turns the numbers that the library writes for types into names.
func nameTypes(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	names := []string{"TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}
	if n, ok := s["type"].(json.Number); ok {
		if i, err := n.Int64(); err == nil && i >= 0 && int(i) < len(names) {
			s["type"] = names[i]
		}
	}
	nameTypes(s["items"])
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		nameTypes(p)
	}
}
