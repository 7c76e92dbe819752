package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"planwave/internal/planner"
)

func TestEdgesUnderAnyKeyAreSeen(t *testing.T) { // BEHAVIOUR 2.2: an edge is never dropped in silence
	first := `{"id":"a","instruction":"x"},{"id":"1","instruction":"x"}`
	for _, tt := range []struct {
		more string
		bad  bool
	}{
		{`"inputs_from":"a"`, true},
		{`"uses":["a"]`, true},
		{`"uses":["a",1]`, true},
		{`"uses":[{"step":"a"}]`, true},
		{`"parent":"a"`, true},
		{`"NEEDS":["Look up the city"]`, true},
		{`"blockedBy":["s9"]`, true},
		{`"prerequisites":"everything before"`, true},
		{`"uses":[]`, false},
		{`"uses":["a","the net"]`, false}, // not a list of steps
		{`"uses":["b"]`, false},           // its own id
		{`"agent":"b"`, false},
		{`"priority":1`, false}, // a number alone is no edge
		{`"parent":"nobody"`, false},
		{`"requires":null,"needs":[],"deps":"","after":{}`, false},
		{`"thought":"a is first","status":"pending","tags":["x"]`, false},
		{`"cost":{"usd":1}`, false},
	} {
		got := planner.Read(`[` + first + `,{"id":"b","instruction":"y","depends_on":["a","1"],` + tt.more + `}]`)
		if (len(got.Violations) > 0) != tt.bad || len(got.Plan.Steps) != 3 {
			t.Errorf("%s: %+v", tt.more, got.Violations)
		}
		for _, v := range got.Violations {
			if !slices.Equal(v.Steps, []string{"b"}) || !strings.Contains(v.Message, "in depends_on") {
				t.Errorf("%s: %+v", tt.more, v)
			}
		}
	}
	got := planner.Read(`[{"id":"a","instruction":"x"},{"instruction":"y","deps":["a"]}]`)
	if len(got.Violations) != 1 || len(got.Violations[0].Steps) != 0 {
		t.Errorf("a step without an id: %+v", got.Violations)
	}
}

func TestSpellingsOfKeys(t *testing.T) { // BEHAVIOUR 2.2
	for _, text := range []string{
		`[{"ID":"a","Instruction":"x"},{"Id":"b","INSTRUCTION":"y","dependsOn":["a"]}]`,
		`{"Steps":[{"id":"a","instruction":"x"},{"id":"b","instruction":"y","depends-on":["a"]}]}`,
		`{"STEPS":[{"id":"a","instruction":"x"},{"id":"b","instruction":"y","Depends On":"a"}]}`,
	} {
		if got := planner.Read(text); outline(got.Plan) != "a; b: a" || len(got.Violations) > 0 {
			t.Errorf("%s is read as %s, %+v", text, outline(got.Plan), got.Violations)
		}
	}
	for text, says := range map[string]string{
		`[{"id":"a","ID":"b","instruction":"x"}]`:                                      `"ID", "id"`,
		`{"steps":[{"id":"a","instruction":"x"}],"Steps":[]}`:                          "more than one",
		`{"steps":[{"id":"a","instruction":"x"}],"deliverable":"a","Deliverable":"a"}`: `"Deliverable", "deliverable"`,
	} {
		got := planner.Read(text)
		said := fmt.Sprint(got.Violations)
		if len(got.Violations) == 0 || !strings.Contains(said, says) && !strings.Contains(said, "mean the same") {
			t.Errorf("%s: %s", text, said)
		}
	}
}

func TestWrappers(t *testing.T) { // BEHAVIOUR 2.2: wrapped in one object
	const list = `[{"id":"a","instruction":"x"},{"id":"b","instruction":"y","depends_on":["a"]}]`
	for _, tt := range []struct{ text, deliverable, says string }{
		{`{"plan":` + list + `}`, "", ""},
		{`{"my_answer":{"steps":` + list + `}}`, "", ""},
		{`{"thought":"ok","plan":{"title":"t","steps":` + list + `,"deliverable":"b"},"n":[1,2]}`, "b", ""},
		{`{"plan":` + list + `,"deliverable":"b"}`, "b", ""},
		{`{"plan":{"steps":` + list + `},"deliverable":"b","finalize":false}`, "b", ""},
		{`{"plan":{"steps":` + list + `,"deliverable":"b"},"deliverable":"b"}`, "b", ""},
		{`{"plan":{"steps":` + list + `,"deliverable":"b"},"deliverable":"a"}`, "b", "differs"},
		{`{"plan":{"steps":` + list + `,"finalize":false},"finalize":true}`, "", "differs"},
		{`{"plan":{"steps":` + list + `,"again":` + list + `}}`, "", "more than one"},
		{`{"steps":` + list + `,"alternative":{"steps":[]}}`, "", "more than one"},
	} {
		got := planner.Read(tt.text)
		if outline(got.Plan) != "a; b: a" || got.Plan.Deliverable != tt.deliverable {
			t.Errorf("%s is read as %s, %q", tt.text, outline(got.Plan), got.Plan.Deliverable)
		}
		if said := fmt.Sprint(got.Violations); (tt.says == "") != (len(got.Violations) == 0) || !strings.Contains(said, tt.says) {
			t.Errorf("%s: %s", tt.text, said)
		}
	}
	for text, says := range map[string]string{
		`{"one":` + list + `,"two":` + list + `}`:    `"one", "two"`,    // which of them?
		`{"outer":{"inner":{"steps":` + list + `}}}`: `without "steps"`, // in one object, not in two
		`{"plan":{"finalize":true}}`:                 "",
	} {
		got := planner.Read(text)
		if said := fmt.Sprint(got.Violations); len(got.Plan.Steps) > 0 || (says == "") != (len(got.Violations) == 0) || !strings.Contains(said, says) {
			t.Errorf("%s: %s, %s", text, outline(got.Plan), said)
		}
	}
}

func TestFieldsOfTheWrongKind(t *testing.T) { // BEHAVIOUR 2.2
	for more, says := range map[string]string{
		`"id":{"n":1},"instruction":"x"`:                      "neither a text nor a number",
		`"id":true,"instruction":"x"`:                         "neither a text nor a number",
		`"id":"a","instruction":7`:                            "Step a has an instruction that is not a text",
		`"id":"a","instruction":"x","tool":[]`:                "Step a has a tool that is not a text",
		`"id":"a","instruction":"x","contract":[1]`:           "Step a has a contract that cannot be read",
		`"id":"a","instruction":"x","steps":"first this"`:     "steps of its own",
		`"id":"a","instruction":"x","plan":{"steps":[]}`:      `steps of its own under "plan"`,
		`"id":"a","instruction":"x","depends_on":{"s1":true}`: `{"s1":true} in depends_on`,
	} {
		got := planner.Read(`{"steps":[{` + more + `}]}`)
		if len(got.Violations) != 1 || !strings.Contains(got.Violations[0].Message, says) || len(got.Plan.Steps) != 1 {
			t.Errorf("%s: %+v", more, got)
		}
	}
}
