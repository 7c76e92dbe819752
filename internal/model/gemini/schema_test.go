package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
)

// sent returns the parameters of a tool with the schema as Gemini gets them, or
// "" for none. The server refuses what Gemini refuses.
func sent(t *testing.T, schema string) string {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("ok"))
	req := question()
	req.Tools = []model.Tool{{Name: "f", Schema: json.RawMessage(schema)}}
	if _, e := generate(t, newClient(t, server.URL, "k"), req); e != nil {
		t.Fatalf("%s: %v", schema, e)
	}
	return string(server.Asked()[0].Tools[0].Schema)
}

func TestSchemasAreTrimmedToWhatGeminiAccepts(t *testing.T) {
	object := func(of string) string { return `{"type":"object","properties":{"a":` + of + `}}` }
	for name, c := range map[string]struct{ schema, want string }{
		"text":             {`{"type":"string","minLength":1,"pattern":"x","default":"y"}`, `{"type":"STRING"}`},
		"date":             {`{"type":"string","format":"date-time"}`, `{"format":"date-time","type":"STRING"}`},
		"address":          {`{"type":"string","format":"uri"}`, `{"type":"STRING"}`},
		"choice":           {`{"type":"string","enum":["x","y",""]}`, `{"enum":["x","y"],"format":"enum","type":"STRING"}`},
		"choice untyped":   {`{"enum":["x"]}`, `{"enum":["x"],"format":"enum","type":"STRING"}`},
		"constant":         {`{"const":"x"}`, `{"enum":["x"],"format":"enum","type":"STRING"}`},
		"number choice":    {`{"type":"integer","enum":[1,2]}`, `{"type":"INTEGER"}`},
		"number":           {`{"type":"number","minimum":1,"format":"double"}`, `{"format":"double","type":"NUMBER"}`},
		"truth":            {`{"type":"boolean","description":"d"}`, `{"description":"d","type":"BOOLEAN"}`},
		"or null":          {`{"type":["string","null"]}`, `{"nullable":true,"type":"STRING"}`},
		"either or null":   {`{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"d"}`, `{"description":"d","nullable":true,"type":"INTEGER"}`},
		"list":             {`{"type":"array","items":{"type":"string"},"maxItems":3,"uniqueItems":true}`, `{"items":{"type":"STRING"},"type":"ARRAY"}`},
		"list of object":   {`{"items":{"type":"object","properties":{"b":{"type":"string"}},"required":["b","c","b"],"additionalProperties":false}}`, `{"items":{"properties":{"b":{"type":"STRING"}},"required":["b"],"type":"OBJECT"},"type":"ARRAY"}`},
		"together":         {`{"allOf":[{"properties":{"b":{"type":"string"}}},{"properties":{"c":{"type":"number"}},"required":["c"]}]}`, `{"properties":{"b":{"type":"STRING"},"c":{"type":"NUMBER"}},"required":["c"],"type":"OBJECT"}`},
		"any object":       {`{"type":"object","description":"d"}`, `{"description":"d (any JSON value, written as text)","type":"STRING"}`},
		"anything":         {`{}`, `{"description":"(any JSON value, written as text)","type":"STRING"}`},
		"true":             {`true`, `{"description":"(any JSON value, written as text)","type":"STRING"}`},
		"several types":    {`{"type":["string","integer","null"]}`, `{"description":"(any JSON value, written as text)","nullable":true,"type":"STRING"}`},
		"list of anything": {`{"type":"array"}`, `{"items":{"description":"(any JSON value, written as text)","type":"STRING"},"type":"ARRAY"}`},
		"no such ref":      {`{"$ref":"#/$defs/none"}`, `{"description":"(any JSON value, written as text)","type":"STRING"}`},
	} {
		if got, want := sent(t, object(c.schema)), `{"properties":{"a":`+c.want+`},"type":"OBJECT"}`; got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestReferencesAreWrittenOut(t *testing.T) {
	got := sent(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/s","description":"here"},"b":{"$ref":"#/definitions/n"}},
		"$defs":{"s":{"type":"string","description":"there"}},"definitions":{"n":{"type":"integer"}}}`)
	if want := `{"properties":{"a":{"description":"here","type":"STRING"},"b":{"type":"INTEGER"}},"type":"OBJECT"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got = sent(t, `{"type":"object","properties":{"me":{"$ref":"#"},"loop":{"$ref":"#/$defs/l"}},"$defs":{"l":{"$ref":"#/$defs/l"}}}`)
	if !strings.Contains(got, "any JSON value") || len(got) > 20_000 {
		t.Errorf("a schema in itself became %d bytes", len(got))
	}
}

func TestAToolWithoutArgumentsHasNoSchema(t *testing.T) {
	for _, schema := range []string{``, `{}`, `{"type":"object"}`, `{"type":"object","properties":{}}`, `true`, `{"type":"string"}`, `[1]`, `null`} {
		if got := sent(t, schema); got != "" {
			t.Errorf("%s became %s", schema, got)
		}
	}
}

func TestWhatASchemaCannotTellIsToldInWords(t *testing.T) {
	for schema, form := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`: "json_schema",
		`{"type":"object","properties":{"a":{"type":"object"}}}`: "words",
		`{"type":"object","properties":{"a":{}}}`:                "words",
		`{"type":"object"}`:                          "words",
		`{"type":["object","null"],"properties":{}}`: "words",
	} {
		server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("{}"))
		req := question()
		req.System, req.Schema = "You plan.", &model.Schema{Name: "plan", Schema: json.RawMessage(schema)}
		if _, e := generate(t, newClient(t, server.URL, "k"), req); e != nil {
			t.Fatal(e)
		}
		got := server.Asked()[0]
		inWords := strings.Contains(got.System, schema) && got.Schema.Schema == nil
		if inWords != (form == "words") || got.Form != "json_schema" || !strings.HasPrefix(got.System, "You plan.") {
			t.Errorf("%s: form %q, schema %s, system %q", schema, got.Form, got.Schema.Schema, got.System)
		}
	}
}

func TestToolsAndASchemaDoNotGoTogether(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("{}"))
	req := question()
	req.Schema = &model.Schema{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
	req.Tools = []model.Tool{{Name: "now"}}
	if _, e := generate(t, newClient(t, server.URL, "k"), req); e != nil {
		t.Fatal(e)
	}
	if got := server.Asked()[0]; got.Form != "" || !strings.Contains(got.System, "JSON Schema") {
		t.Errorf("form %q, system %q", got.Form, got.System)
	}
}

func TestTheLadderIsClimbedDownOnce(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Accepting(func(a modeltest.Asked) bool { return a.Form == "" },
		`{"error":{"code":400,"message":"JSON mode is not enabled for models/m","status":"INVALID_ARGUMENT"}}`))
	c := newClient(t, server.URL, "k")
	req := question()
	req.Schema = &model.Schema{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
	for range 2 {
		if resp, e := generate(t, c, req); e != nil || resp.Text != "{}" {
			t.Fatalf("%+v, %v", resp, e)
		}
	}
	if n := len(server.Asked()); n != 4 { // schema, JSON mode, words; words
		t.Errorf("%d requests, want four", n)
	}
}

// TestNoSchemaIsRefused holds that whatever a tool's schema is, what is sent
// has the form that Gemini accepts.
func TestNoSchemaIsRefused(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("ok"))
	c := newClient(t, server.URL, "k")
	rapid.Check(t, func(rt *rapid.T) {
		schema := anySchema(3).Draw(rt, "schema")
		schema["$defs"] = map[string]any{"d": anySchema(1).Draw(rt, "definition")}
		raw, err := json.Marshal(schema)
		if err != nil {
			rt.Fatal(err)
		}
		req := question()
		req.Tools = []model.Tool{{Name: "f", Schema: raw}}
		if _, err := c.Generate(t.Context(), req); err != nil {
			rt.Fatalf("%s: %v", raw, err)
		}
		req.Tools, req.Schema = nil, &model.Schema{Name: "s", Schema: raw}
		if _, err := c.Generate(t.Context(), req); err != nil {
			rt.Fatalf("%s as output: %v", raw, err)
		}
	})
}

// anySchema draws schemas with all keywords, in and out of place.
func anySchema(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		may := func(key string, value func() any) {
			if rapid.Bool().Draw(t, key) {
				s[key] = value()
			}
		}
		kinds := []any{"object", "array", "string", "number", "integer", "boolean", "null", []string{"string", "null"}, []string{"object", "array"}, []string{}, 7}
		may("type", func() any { return rapid.SampledFrom(kinds).Draw(t, "kind") })
		may("description", func() any { return rapid.SampledFrom([]string{"", "d"}).Draw(t, "description") })
		may("format", func() any { return rapid.SampledFrom([]string{"int32", "date-time", "uri"}).Draw(t, "format") })
		may("enum", func() any { return rapid.SampledFrom([][]any{{"a", "b"}, {1, nil}, {}, {""}}).Draw(t, "values") })
		may("additionalProperties", func() any { return false })
		may("required", func() any { return []string{"a", "z"} })
		if rapid.IntRange(0, 5).Draw(t, "ref") == 0 {
			s["$ref"] = rapid.SampledFrom([]string{"#/$defs/d", "#", "#/nowhere"}).Draw(t, "to")
		}
		if depth == 0 {
			return s
		}
		sub := func() any { return anySchema(depth-1).Draw(t, "sub") }
		may("items", sub)
		may("properties", func() any { return map[string]any{"a": sub(), "b": sub()} })
		may("anyOf", func() any { return []any{sub(), map[string]any{"type": "null"}} })
		may("allOf", func() any { return []any{sub()} })
		return s
	})
}
