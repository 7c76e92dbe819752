package agent

import (
	"strings"
	"testing"

	"planwave/internal/plan"
)

// API, "What the models answer"; BEHAVIOUR 2.2
func TestWhatExecutorsWriteIsReadLeniently(t *testing.T) {
	tests := map[string]struct{ text, result, data string }{
		"plain text":                  {" Tarnby has 39,000 people.\n", "Tarnby has 39,000 people.", ""},
		"an object":                   {`{"result":"x","n":1}`, "x", `{"result":"x","n":1}`},
		"in a fence":                  {"```json\n{\"result\":\"x\"}\n```", "x", `{"result":"x"}`},
		"between prose":               {"Here is it:\n{\"result\":\"x\"}\nHope it helps.", "x", `{"result":"x"}`},
		"after thoughts":              {"<think>{\"result\":\"no\"}</think>{\"result\":\"x\"}", "x", `{"result":"x"}`},
		"a trailing comma":            {`{"result":"x",}`, "x", `{"result":"x"}`},
		"beside another object":       {`From {"city":"Tarnby"} follows {"result":"x"}`, "x", `{"result":"x"}`},
		"text after thoughts":         {"<thinking>Hm.</thinking>\nTarnby", "Tarnby", ""},
		"after thoughts begun before": {"The user wants a town.\n</think>\n\nTarnby", "Tarnby", ""},
		"text after a channel":        {"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Tarnby", "Tarnby", ""},
		"text after [THINK]":          {"[THINK]Hm.[/THINK]Tarnby", "Tarnby", ""},
		"thoughts as a subject":       {"The tags <think> and </think> are names.", "The tags <think> and </think> are names.", ""},
		"thoughts inside a result":    {`{"result":"the <think> tag and </think>"}`, "the <think> tag and </think>", `{"result":"the <think> tag and </think>"}`},
		"a number as the result":      {`{"result":1200.0}`, "1200.0", `{"result":1200.0}`},
		"a list as the result":        {`{"result":["a","b"]}`, `["a","b"]`, `{"result":["a","b"]}`},
		"an object as the result":     {`{"result":{"a":1}}`, `{"a":1}`, `{"result":{"a":1}}`},
		"no result":                   {`{"n":1}`, `{"n":1}`, `{"n":1}`},
		"no result in a fence":        {"```\n{\"n\":1}\n```", `{"n":1}`, `{"n":1}`},
		"null as the result":          {`{"result":null,"n":1}`, `{"result":null,"n":1}`, `{"result":null,"n":1}`},
		"a blank result":              {`{"result":" ","n":1}`, `{"result":" ","n":1}`, `{"result":" ","n":1}`},
		"another case is no result":   {`{"Result":"x"}`, `{"Result":"x"}`, `{"Result":"x"}`},
		"a list":                      {`[1,2]`, `[1,2]`, ""},
		"an example in prose":         {`It answers {"status":"ok"} when well.`, `It answers {"status":"ok"} when well.`, ""},
		"two examples in prose":       {`Either {"a":1} or {"a":2}.`, `Either {"a":1} or {"a":2}.`, ""},
		"a broken example in prose":   {`Not {"a":1,,} please.`, `Not {"a":1,,} please.`, ""},
		"braces of mathematics":       {`{2, 3} are the primes below 5.`, `{2, 3} are the primes below 5.`, ""},
		"code and what it is for":     {"```json\n{\"n\":1}\n```\nis the setting.", "```json\n{\"n\":1}\n```\nis the setting.", ""},
		"a quoted text is just text":  {`"Tarnby"`, `"Tarnby"`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, wrong := readResult(tt.text, nil)
			if wrong != nil {
				t.Fatalf("it cannot be read: %v", wrong.final)
			}
			if got.Text != tt.result || string(got.Data) != tt.data {
				t.Errorf("it is read as %q with the data %s", got.Text, got.Data)
			}
		})
	}
}

// BEHAVIOUR 6.1: with a contract only an object will do, wherever it stands.
func TestWithAContractTheObjectIsLookedForInProse(t *testing.T) {
	c := &plan.Contract{Required: []string{"status"}}
	for _, text := range []string{`It answers {"status":"ok"} when well.`, `{"status":"ok"}`, "```\n{\"status\":\"ok\"}\n```\nas asked"} {
		got, wrong := readResult(text, c)
		if wrong != nil || string(got.Data) != `{"status":"ok"}` {
			t.Errorf("%q is read as %+v, %+v", text, got, wrong)
		}
	}
	for _, text := range []string{"ok", `["status"]`, `"status"`, `{"status":"ok"} or {"status":"no"}`} {
		if _, wrong := readResult(text, c); wrong == nil || !strings.Contains(wrong.told, "not a JSON object") {
			t.Errorf("%q is read, or refused as %+v", text, wrong)
		}
	}
}

// FuzzReadResult holds that whatever a model writes is a result, or is refused
// with a reason.
func FuzzReadResult(f *testing.F) {
	for _, seed := range []string{"", "x", `{"result":"x"}`, "```\n{}\n```", "<think>", `{"result":`, `[{]}`, `{"a":1}{"a":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, wrong := readResult(text, nil)
		if wrong == nil && strings.TrimSpace(got.Text) == "" {
			t.Fatalf("%q is read as nothing", text)
		}
		if wrong != nil && wrong.final == nil {
			t.Fatalf("%q is refused without a reason", text)
		}
		if _, wrong := readAnswer(text, []string{"s1"}); wrong != nil && (wrong.final == nil || wrong.told == "") {
			t.Fatalf("%q is refused as an answer without a reason", text)
		}
	})
}
