package model_test

import (
	"strings"
	"testing"

	"planwave/internal/model"
)

func TestLadders(t *testing.T) {
	var l model.Ladder
	l.Keep("a", 0)
	l.Keep("a", 2)
	l.Keep("a", 1) // a slower request that began higher up
	if l.At("a") != 2 || l.At("b") != 0 {
		t.Errorf("a is at %d, b at %d", l.At("a"), l.At("b"))
	}
}

func TestRefusalsOfTheForm(t *testing.T) {
	for _, c := range []struct {
		status int
		detail string
		want   bool
	}{
		{400, "Unsupported response_format", true},
		{400, "JSON mode is not enabled for models/gemma", true},
		{422, "extra fields not permitted: json_schema", true},
		{404, "No endpoints found that support tool use", true},
		{500, "tools param requires --jinja flag", true},
		{501, "", true},
		{400, "", true},
		{400, "bad request", true},
		{404, "", false},
		{404, "model not found", false},
		{400, "This model's maximum context length is 8192 tokens", false},
		{400, "unknown role", false},
		{401, "no tools with this key", false},
		{402, "pay for tools", false},
		{403, "tools are forbidden", false},
		{429, "too many tools", false},
		{500, "out of memory", false},
		{503, "the tool server is away", false},
		{200, "schema", false},
	} {
		if got := model.RefusesForm(c.status, c.detail); got != c.want {
			t.Errorf("%d %q: %v, want %v", c.status, c.detail, got, c.want)
		}
	}
}

func TestASchemaInWords(t *testing.T) {
	s := model.Schema{Name: "plan", Schema: []byte(`{"type":"object"}`)}
	for system, begins := range map[string]string{"": "Answer with one JSON object", "Be brief.": "Be brief.\n\nAnswer with one JSON object"} {
		if got := s.InPrompt(system); !strings.HasPrefix(got, begins) || !strings.HasSuffix(got, `{"type":"object"}`) {
			t.Errorf("%q became %q", system, got)
		}
	}
}
