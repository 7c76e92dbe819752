package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"planwave/internal/tools"
)

func TestSchemasAreInlined(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"nothing":      {`null`, `{"type":"object"}`},
		"anything":     {`true`, `{"type":"object"}`},
		"without type": {`{"properties":{}}`, `{"properties":{},"type":"object"}`},
		"a reference": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","type":"object","properties":{"at":{"$ref":"#/$defs/point"}},
				"$defs":{"point":{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"type":"number"}}}`,
			`{"properties":{"at":{"properties":{"x":{"type":"number"}},"type":"object"}},"type":"object"}`,
		},
		"with words of its own": {
			`{"properties":{"a":{"$ref":"#/definitions/d","description":"mine","minLength":2}},"definitions":{"d":{"type":"string","description":"its"}}}`,
			`{"properties":{"a":{"description":"mine","minLength":2,"type":"string"}},"type":"object"}`,
		},
		"with a second opinion": {
			`{"properties":{"a":{"$ref":"#/$defs/d","type":"integer"}},"$defs":{"d":{"type":"number"}}}`,
			`{"properties":{"a":{"allOf":[{"type":"number"},{"type":"integer"}]}},"type":"object"}`,
		},
		"in lists and branches": {
			`{"properties":{"a":{"items":{"$ref":"#/$defs/d"}},"b":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]},
				"c":{"additionalProperties":{"$ref":"#/$defs/d"}}},"$defs":{"d":{"type":"string"}}}`,
			`{"properties":{"a":{"items":{"type":"string"}},"b":{"anyOf":[{"type":"string"},{"type":"null"}]},` +
				`"c":{"additionalProperties":{"type":"string"}}},"type":"object"}`,
		},
		"that holds itself": {
			`{"properties":{"tree":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node","description":"more"}}}}}`,
			`{"properties":{"tree":{"properties":{"next":{"description":"more"}},"type":"object"}},"type":"object"}`,
		},
		"that is itself":       {`{"type":"object","properties":{"me":{"$ref":"#"}}}`, `{"properties":{"me":{}},"type":"object"}`},
		"to nowhere":           {`{"properties":{"a":{"$ref":"#/$defs/gone"},"b":{"$ref":"https://example.com/x","title":"b"}}}`, `{"properties":{"a":{},"b":{"title":"b"}},"type":"object"}`},
		"by a name":            {`{"properties":{"a":{"$ref":"#spot"}},"$defs":{"x":{"$anchor":"spot","type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		"by an escaped name":   {`{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		"into a list":          {`{"properties":{"a":{"$ref":"#/anyOf/0"}},"anyOf":[{"minProperties":1}]}`, `{"anyOf":[{"minProperties":1}],"properties":{"a":{"minProperties":1}},"type":"object"}`},
		"names that are words": {`{"properties":{"$ref":{"type":"string"},"definitions":{"type":"string"},"items":{"type":"array"}}}`, `{"properties":{"$ref":{"type":"string"},"definitions":{"type":"string"},"items":{"type":"array"}},"type":"object"}`},
		"values that are none": {`{"properties":{"a":{"enum":[{"$ref":"#/x"}],"default":{"$id":"y"}}}}`, `{"properties":{"a":{"default":{"$id":"y"},"enum":[{"$ref":"#/x"}]}},"type":"object"}`},
		"older words": {
			`{"properties":{"pair":{"items":[{"type":"string"}],"additionalItems":false},"n":{"minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`,
			`{"properties":{"n":{"exclusiveMinimum":1,"maximum":9},"pair":{"items":false,"prefixItems":[{"type":"string"}]}},"type":"object"}`,
		},
		"patterns of other languages": {
			`{"properties":{"a":{"type":"string","pattern":"^(?!x)"},"b":{"type":"string","pattern":"^x"}},"patternProperties":{"(?=y)":{}},"additionalProperties":false}`,
			`{"properties":{"a":{"type":"string"},"b":{"pattern":"^x","type":"string"}},"type":"object"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var schema any
			if err := json.Unmarshal([]byte(test.schema), &schema); err != nil {
				t.Fatal(err)
			}
			got, err := inline(schema)
			if err != nil || string(got) != test.want {
				t.Errorf("it is\n%s (%v), not\n%s", got, err, test.want)
			}
			if _, err := tools.New(tool{info: tools.Info{Name: "x", Schema: got}}); err != nil {
				t.Errorf("it cannot be used: %v", err)
			}
		})
	}
}

func TestSchemasThatGrowWithoutEndAreCut(t *testing.T) {
	var defs []string
	for _, pair := range strings.Fields("ab bc cd de ef fg gh hi ij jk kl lm mn no op pq qr rs st tu uv vw wx xy yz") {
		one, next := pair[:1], pair[1:]
		defs = append(defs, `"`+one+`":{"type":"object","properties":{"l":{"$ref":"#/$defs/`+next+`"},"r":{"$ref":"#/$defs/`+next+`"}}}`)
	}
	var schema any
	text := `{"$ref":"#/$defs/a","$defs":{` + strings.Join(defs, ",") + `,"z":{"type":"string"}}}`
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	got, err := inline(schema)
	if err != nil || len(got) > 2*mostSchema {
		t.Errorf("it has %d bytes (%v)", len(got), err)
	}
}

func TestSchemasOfNoObjectAreRefused(t *testing.T) {
	for _, schema := range []any{"text", 5.0, false, []any{}, func() {}} {
		if got, err := inline(schema); err == nil {
			t.Errorf("%v becomes %s", schema, got)
		}
	}
}
