package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/planner"
)

// schemaOf is the schema that a planner with these tools is sent.
func schemaOf(t *testing.T, replan bool, tools ...planner.Tool) map[string]any {
	t.Helper()
	m := &scripted{answers: []string{good}}
	req := planner.Request{Question: "q", Tools: tools, Replan: replan, Rules: plan.Rules{MaxSteps: 7}}
	if _, _, err := m.plans(t, planner.Planner{}, req); err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(m.asked[0].Schema.Schema, &schema); err != nil || m.asked[0].Schema.Name == "" {
		t.Fatal(m.asked[0].Schema, err)
	}
	return schema
}

// in follows keys into nested objects.
func in(v any, path ...string) any {
	for _, key := range path {
		o, _ := v.(map[string]any)
		v = o[key]
	}
	return v
}

func tool(name, properties string) planner.Tool {
	return planner.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":` + properties + `}`)}
}

func TestTheSchemaCarriesLimitAndTools(t *testing.T) { // BEHAVIOUR 2.1
	s := schemaOf(t, false, tool("get_city", `{"name":{"type":"string"}}`), tool("repeat", `{"times":{"type":"integer"},"loud":{"type":"boolean"}}`))
	if got := fmt.Sprint(in(s, "properties", "steps", "maxItems"), in(s, "required")); got != "7 [steps]" {
		t.Errorf("limit and required: %s", got)
	}
	step := in(s, "properties", "steps", "items")
	if got := fmt.Sprint(in(step, "properties", "tool", "enum"), in(step, "required")); got != "[get_city repeat] [id instruction depends_on]" {
		t.Errorf("tools and required: %s", got)
	}
	args, _ := in(step, "properties", "input", "properties").(map[string]any)
	if names := slices.Sorted(maps.Keys(args)); !slices.Equal(names, []string{"loud", "name", "times"}) {
		t.Errorf("arguments %v", names)
	}
	for name, a := range args { // a reference is a text, whatever it refers to
		if in(a, "type") != "string" {
			t.Errorf("argument %s is %v", name, a)
		}
	}
}

func TestAnInputThatIsNoPlainValuesIsLeftOpen(t *testing.T) {
	for name, properties := range map[string]string{
		"a list": `{"x":{"type":"array"}}`, "an object": `{"x":{"type":"object"}}`, "any type": `{"x":{}}`,
		"several types": `{"x":{"type":["string","null"]}}`, "no arguments": `{}`, "no schema": `7`,
	} {
		s := schemaOf(t, false, tool("search", `{"q":{"type":"string"}}`), tool("other", properties))
		input := in(s, "properties", "steps", "items", "properties", "input")
		named := in(input, "properties") != nil
		if in(input, "type") != "object" || named != (name == "no arguments") {
			t.Errorf("%s: %v", name, input)
		}
	}
}

func TestTheSchemaHoldsNothingThatProvidersRefuse(t *testing.T) {
	for _, replan := range []bool{false, true} {
		b, err := json.Marshal(schemaOf(t, replan, tool("search", `{"q":{"type":"string","pattern":"x"}}`)))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"$ref", "$defs", "additionalProperties", "anyOf", "oneOf", "pattern", "null"} {
			if strings.Contains(string(b), word) {
				t.Errorf("%q is in %s", word, b)
			}
		}
	}
}
