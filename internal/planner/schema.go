package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"planwave/internal/model"
)

// planSchema is the form of a plan, with the step limit and the tools' names.
// It holds nothing that a provider refuses: no references, no keywords about
// further keys, and no object without named keys where that can be helped.
func planSchema(req Request) (*model.Schema, error) {
	text := map[string]any{"type": "string"}
	step := map[string]any{
		"id":          text,
		"instruction": text,
		"depends_on":  map[string]any{"type": "array", "items": text},
		"contract": map[string]any{"type": "object", "properties": map[string]any{
			"required": map[string]any{"type": "array", "items": text},
			"checks":   map[string]any{"type": "array", "items": text},
		}},
	}
	if len(req.Tools) > 0 {
		names := make([]string, len(req.Tools))
		for i, t := range req.Tools {
			names[i] = t.Name
		}
		step["tool"] = map[string]any{"type": "string", "enum": names}
		step["input"] = inputSchema(req.Tools)
	}
	properties := map[string]any{"steps": map[string]any{
		"type": "array", "maxItems": maxSteps(req.Rules),
		"items": map[string]any{"type": "object", "properties": step, "required": []string{"id", "instruction", "depends_on"}},
	}}
	schema := map[string]any{"type": "object", "properties": properties}
	if req.Replan {
		properties["finalize"] = map[string]any{"type": "boolean"}
	} else {
		schema["required"] = []string{"steps"}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("write the schema of a plan: %w", err)
	}
	return &model.Schema{Name: "plan", Schema: raw}, nil
}

// inputSchema names the arguments of all tools together. Each is a text, since
// it may be a reference to a result; a number in a text is read as a number
// when the tool is called. Where a tool takes more than plain values nothing
// is said about what an input holds.
func inputSchema(tools []Tool) map[string]any {
	open := map[string]any{"type": "object"}
	properties := map[string]any{}
	for _, t := range tools {
		var s struct {
			Properties map[string]struct {
				Type any `json:"type"`
			} `json:"properties"`
		}
		if json.Unmarshal(t.Schema, &s) != nil {
			return open
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			kind, _ := s.Properties[name].Type.(string)
			if !slices.Contains([]string{"string", "number", "integer", "boolean"}, kind) {
				return open
			}
			properties[name] = map[string]any{"type": "string"}
		}
	}
	if len(properties) == 0 {
		return open
	}
	return map[string]any{"type": "object", "properties": properties}
}
