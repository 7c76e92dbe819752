package looseread_test

import (
	"errors"
	"strings"
	"testing"

	"planwave/internal/looseread"
)

// What stands in something broken is a part of what was meant, and never taken
// for the whole of it.
func TestAPartOfSomethingBrokenIsNotTheWhole(t *testing.T) { // BEHAVIOUR 2.2
	for name, text := range map[string]string{
		"a comment":                "{ // the plan\n\"deliverable\":\"a\",\"steps\":[1]}",
		"a comment in a list":      "[\n# first\n{\"id\":\"a\"},\n{\"id\":\"b\"}]",
		"a comment of C":           `{ /* the plan */ "edges":[["a","b"]],"steps":[["a","b"]]}`,
		"an equals sign":           `{"steps" = [1], "deliverable" = "a"}`,
		"an arrow of Ruby":         `{"steps" => [1], "deliverable" => "a"}`,
		"a comma first":            `{,"deliverable":"a","steps":[1]}`,
		"a comma first in a list":  `[,{"id":"a"}]`,
		"no colon":                 `{"steps" [1], "deliverable":"a"}`,
		"dots":                     `{..., "steps":[1]}`,
		"backticks":                "{`steps`: [1], `deliverable`: \"a\"}",
		"escaped quotes":           `{\"steps\": [1], \"deliverable\": \"a\"}`,
		"quotes of France":         `{«steps»: [1]}`,
		"quotes of Germany":        `{„steps“: [1]}`,
		"quotes of typesetters":    `{”steps”: [1], ”deliverable”: ”a”}`,
		"entities":                 `{&quot;steps&quot;: [1]}`,
		"never closed":             "{, \"steps\":[1]",
		"prose around":             `Plan: {, "steps":[1]} Good?`,
		"an escaped text in quote": "```json\n\"{\\\"steps\\\":[1]}\"\n```",
	} {
		if got, err := looseread.Find(text, nil); !errors.Is(err, looseread.ErrSyntax) || !strings.Contains(err.Error(), "character") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// Brackets around a value that hold nothing else say nothing.
func TestBracketsInProseAreNoPart(t *testing.T) { // BEHAVIOUR 2.2
	for _, text := range []string{
		`{{"a":1}}`, `({"a":1})`, `[Here is it: {"a":1}]`, `On [0, 1) it is {"a":1}`, `f{x} and {y: z} with {"a":1}`, `{"a":1}} ]`, `const x = {"a":1};`,
	} {
		if got, err := looseread.Find(text, isObject); err != nil || string(got) != `{"a":1}` {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

func TestJSONOnceMoreInQuotes(t *testing.T) { // BEHAVIOUR 2.2
	for text, want := range map[string]string{
		`"{\"a\":[1,2,]}"`: `{"a":[1,2]}`, "\"\\n[1]\\n\"\n": `[1]`, `"So: {\"a\":1}"`: `{"a":1}`,
	} {
		if got, err := looseread.Find(text, nil); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if got, err := looseread.Find(`"{\"a\":[1,"`, nil); !errors.Is(err, looseread.ErrTruncated) {
		t.Errorf("cut off in quotes: %s, %v", got, err)
	}
}

func TestWhatAFenceCutsOff(t *testing.T) { // BEHAVIOUR 2.2
	for _, text := range []string{
		"```json\n{\"steps\":[{\"id\":\"a\"},\n```", "```json\n{\"steps\":[{\"id\":\"a\"\n```\n", "```\n{\"steps\"\n```", "```json\n[{\"id\":\"a\",\"x\":\n```",
	} {
		if got, err := looseread.Find(text, nil); !errors.Is(err, looseread.ErrTruncated) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// Models mark their thoughts in many ways.
func TestThoughtsUnderEveryName(t *testing.T) { // BEHAVIOUR 2.2
	for _, mark := range [][2]string{
		{"<think>", "</think>"},
		{"<THINK>", "</THINK>"},
		{"<Thinking>", "</thinking>"},
		{"<thought>", "</thought>"},
		{"<thoughts>", "</thoughts>"},
		{"<reasoning>", "</reasoning>"},
		{"<reflection>", "</reflection>"},
		{"<analysis>", "</analysis>"},
		{"<scratchpad>", "</scratchpad>"},
		{"<seed:think>", "</seed:think>"},
		{"[THINK]", "[/THINK]"},
		{"◁think▷", "◁/think▷"},
		{"<|begin_of_thought|>", "<|end_of_thought|>"},
		{"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
	} {
		for _, draft := range []string{`{"steps":[]}`, `{"steps": [ no`, `{'a'`, "[1] or [2]"} {
			text := mark[0] + "Perhaps " + draft + "?" + mark[1] + "\n" + planText
			if got, err := looseread.Find(text, nil); err != nil || !same(t, got, []byte(planText)) {
				t.Errorf("%s: %s, %v", text, got, err)
			}
		}
		if got, err := looseread.Find(mark[0]+"Perhaps "+planText, nil); !errors.Is(err, looseread.ErrThoughts) || !errors.Is(err, looseread.ErrTruncated) {
			t.Errorf("%s without an end: %s, %v", mark[0], got, err)
		}
	}
	if got, err := looseread.Find(planText+"<|end|>", nil); err != nil || !same(t, got, []byte(planText)) {
		t.Errorf("the mark of an end: %s, %v", got, err)
	}
}
