package planner_test

import (
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/planner"
)

// The plans below are of the kinds of the wild ones, in other words.

const (
	stepA = `{"id":"a","instruction":"x","depends_on":[]}`
	stepB = `{"id":"b","instruction":"y","depends_on":["a"]}`
	listA = "[" + stepA + "]"
	both  = "[" + stepA + "," + stepB + "]"
)

func TestPlansInOtherForms(t *testing.T) { // BEHAVIOUR 2.2
	inText := func(json string) string { return `"` + strings.ReplaceAll(json, `"`, `\"`) + `"` }
	for name, text := range map[string]string{
		"a fence in capitals":          "```JSON\n" + both + "\n```",
		"a fence of another language":  "~~~json5\n" + both + "\n~~~",
		"the second fence":             "```bash\nif [ -f x ]; then echo ${x}; fi\n```\n```json\n" + both + "\n```",
		"a tag":                        "<plan>\n" + both + "\n</plan>",
		"a tool call":                  "<tool_call>\n{\"name\":\"plan\",\"arguments\":{\"steps\":" + both + "}}\n</tool_call>",
		"the last word of a ReAct":     "Thought: so\nAction: search\nAction Input: {\"q\":\"x\"}\nFinal Answer: " + both,
		"twice":                        both + "\n\nOnce more: " + strings.ReplaceAll(both, ",", ", "),
		"a channel":                    "<|channel|>analysis<|message|>Only " + listA + "?<|end|><|start|>assistant<|channel|>final<|message|>" + both,
		"reasoning":                    "<reasoning>\nOnly " + listA + "?\n</reasoning>\n" + both,
		"in quotes":                    inText(both),
		"an object in quotes":          inText(`{"steps":` + both + `}`),
		"steps in quotes":              `{"steps":` + inText(both) + `}`,
		"a wrapper with it in quotes":  `{"plan":` + inText(`{"steps":`+both+`}`) + `}`,
		"arguments in quotes":          `{"name":"plan","arguments":` + inText(`{"steps":`+both+`}`) + `}`,
		"a list of one plan":           `[{"steps":` + both + `}]`,
		"nothing as an empty text":     `[{"id":"a","instruction":"x","depends_on":""},` + stepB + `]`,
		"nothing as an empty object":   `[{"id":"a","instruction":"x","depends_on":{}},` + stepB + `]`,
		"a list in a text":             `[` + stepA + `,{"id":"b","instruction":"y","depends_on":"[\"a\"]"}]`,
		"keys in capitals":             `[{"ID":"a","Instruction":"x"},{"ID":"b","Instruction":"y","DEPENDS_ON":["a"]}]`,
		"a space that is not broken":   `[{"id":"a\u00a0","instruction":"x"},` + stepB + `]`,
		"other words for nothing":      `[{"id":"a","instruction":"x","dependencies":[],"args":{},"tools":[],"inputs":null},` + stepB + `]`,
		"keys that say nothing of it":  `{"steps":` + both + `,"notes":["x"],"risks":[{"risk":"y"}],"final":"b","title":"t"}`,
		"braces of a template":         `{{"steps":` + both + `}}`,
		"a constant of another tongue": "const plan = {\"steps\":" + both + "};",
	} {
		if got := judgedOf(text, rules()); got.outline != "a; b: a" || len(got.codes) > 0 {
			t.Errorf("%s: %q, %v, %s", name, got.outline, got.codes, got.said)
		}
	}
	for text, want := range map[string]string{
		`[{"id":1.0,"instruction":"x"},{"id":2.0,"instruction":"y","depends_on":[1]}]`:                                      "1; 2: 1",
		`[{"id":1e2,"instruction":"x"},{"id":2,"instruction":"y","depends_on":["100"]}]`:                                    "100; 2: 100",
		`[{"id":12345678901234567890,"instruction":"x"},{"id":-0,"instruction":"y","depends_on":["12345678901234567890"]}]`: "12345678901234567890; 0: 12345678901234567890",
		`[` + stepA + `,{"id":"b","instruction":"y"},{"id":"c","instruction":"z","depends_on":"a, b"}]`:                     "a; b; c: a b",
		`[` + stepA + `,{"id":"b","instruction":"y"},{"id":"c","instruction":"z","depends_on":["a,b"]}]`:                    "a; b; c: a b",
	} {
		if got := judgedOf(text, rules()); got.outline != want || len(got.codes) > 0 {
			t.Errorf("%s: %q, %v, %s", text, got.outline, got.codes, got.said)
		}
	}
}

func TestPlansThatAreNotHalfRead(t *testing.T) { // BEHAVIOUR 2.2
	second := func(more string) string { return `[` + stepA + `,{"id":"b","instruction":"y",` + more + `}]` }
	for name, tt := range map[string]struct{ text, says string }{
		"a comment before the steps":  {"{ // the plan\n\"edges\":[[\"a\",\"b\"]],\"steps\":" + both + "}", "line 1, character 3"},
		"equals signs":                {`{"steps" = ` + both + `, "deliverable" = "a"}`, "a colon"},
		"a comma first":               {`{,"deliverable":"a","steps":` + both + `}`, "a key in quotes"},
		"backticks":                   {"{`steps`: " + both + ", `deliverable`: \"a\"}", "a key in quotes"},
		"typesetters' quotes":         {strings.ReplaceAll(both, `"`, "”"), "a key in quotes"},
		"comments in the list":        {"[\n# first\n" + stepA + ",\n" + stepB + "]", "line 2"},
		"a fence that cuts off":       {"```json\n{\"steps\":[" + stepA + ",\n```", "cut off"},
		"a draft and a better one":    {"```json\n" + listA + "\n```\nBetter:\n```json\n" + both + "\n```", "2 different"},
		"one step a line":             {stepA + "\n" + stepB, "2 different"},
		"thoughts that never end":     {"<think>So\n" + both, "no end of them"},
		"the final step beside":       {`{"steps":` + listA + `,"final_step":{"instruction":"sum up","depends_on":["a"]}}`, `a step under "final_step"`},
		"waves":                       {`[` + listA + `,[` + stepB + `]]`, "Step 1 is not an object"},
		"phases":                      {`[{"name":"p1","steps":` + listA + `},{"name":"p2","steps":[` + stepB + `]}]`, "steps of its own"},
		"steps of words":              {`{"steps":["find it","sum up"]}`, "Step 1 is not an object"},
		"a comma and a stranger":      {second(`"depends_on":"a, zz"`), `"a, zz", which is not in the plan`},
		"a comma and itself":          {second(`"depends_on":"a, b"`), `"a, b", which is not in the plan`},
		"none as a word":              {second(`"depends_on":["none"]`), `"none", which is not in the plan. The ids are a, b`},
		"a reference":                 {second(`"depends_on":["${a}"]`), `"${a}", which is not in the plan`},
		"an index":                    {second(`"depends_on":[0]`), `"0", which is not in the plan`},
		"a map":                       {second(`"depends_on":{"a":true}`), `{"a":true} in depends_on`},
		"a condition":                 {second(`"depends_on":{"any_of":["a"]}`), `any_of`},
		"a number and a text":         {`[{"id":1,"instruction":"x"},{"id":"1","instruction":"y"}]`, "1 and 2 have the same id 1"},
		"the next step":               {`[{"id":"a","instruction":"x","next":"b"},{"id":"b","instruction":"y"}]`, `under "next"`},
		"a tool under another name":   {second(`"depends_on":["a"],"tool_name":"calc"`), `"tool_name"`},
		"tools":                       {second(`"depends_on":["a"],"tools":["calc"]`), `"tools"`},
		"an input under another name": {second(`"depends_on":["a"],"tool":"calc","parameters":{"e":"1"}`), "Write that in input"},
		"arguments":                   {second(`"depends_on":["a"],"tool":"calc","toolArgs":"1"`), "Write that in input"},
		"a template":                  {second(`"depends_on":["a"],"tool":"calc","input":{"e":"{{steps.a.output}}"}`), "Write ${a}"},
		"an instruction's reference":  {`[` + stepA + `,{"id":"b","instruction":"use #E1 and ${a}","depends_on":[]},{"id":"c","instruction":"z","depends_on":["a","b"]}]`, "a is not in its depends_on"},
	} {
		got := judgedOf(tt.text, rules())
		if len(got.codes) == 0 || !strings.Contains(got.said, tt.says) || got.reading.NoJSON {
			t.Errorf("%s: %q, %v, %q does not say %q", name, got.outline, got.codes, got.said, tt.says)
		}
	}
}

// A plan in another language is asked for as JSON: its empty lists are no plan.
func TestPlansInOtherLanguages(t *testing.T) { // BEHAVIOUR 2.4
	for _, text := range []string{
		"- id: a\n  input: {}\n  depends_on: []\n- id: b\n  depends_on: [a]\n", "1. **a**: look up (depends_on: [])\n2. **b**: sum up (depends_on: [\"a\"])",
		"Plan: find\n#E1 = search[x]\nPlan: sum\n#E2 = LLM[#E1]", "1. search(\"a\")\n2. join($1)<END_OF_PLAN>", "Thought: so\nAction: search\nAction Input: x",
	} {
		if got := planner.Read(text); !got.NoJSON || len(got.Violations) != 1 || got.Violations[0].Code != plan.CodeUnreadable {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
