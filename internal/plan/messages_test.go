package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// TestMessages holds the words that people and planners read: what is wrong
// and what to change, and the edit that a button makes. BEHAVIOUR 1.2, 1.3.
func TestMessages(t *testing.T) {
	tool := func(p plan.Plan, i int, name, input string) plan.Plan {
		p.Steps[i].Tool, p.Steps[i].Input = name, json.RawMessage(input)
		return p
	}
	deliverable := func(p plan.Plan, id string) plan.Plan {
		p.Deliverable = id
		return p
	}
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		rules plan.Rules
		want  string // each violation on a line: message => edit
	}{
		{name: "no steps", want: "The plan has no steps. Write at least one step."},
		{
			name: "too many steps", plan: steps("a", "b: a", "c: b"), rules: plan.Rules{MaxSteps: 2},
			want: "The plan has 3 steps and 2 is the limit. Join or drop steps until there are at most 2.",
		},
		{
			name: "nothing left to run", plan: steps("a"), rules: plan.Rules{Kept: map[string]bool{"a": true}},
			want: "The plan has no step left to run. Write at least one.",
		},
		{
			name: "too many steps left", plan: steps("a", "b: a", "c: b"), rules: plan.Rules{MaxSteps: 1, Kept: map[string]bool{"a": true}},
			want: "The plan has 2 steps and 1 is the limit. Join or drop steps until there are at most 1.",
		},
		{
			name: "a round whose tasks wait for each other", plan: steps("a", "b: a"), rules: plan.Rules{Round: true},
			want: "Step b needs a, which has no result yet. The tasks of a round run side by side: remove a from its depends_on, or leave the step to a later round." +
				" => Remove a from what b depends on: b []",
		},
		{
			name: "a round that waits for what failed", plan: steps("a", "b", "c: b a"), rules: plan.Rules{Round: true, Kept: map[string]bool{"a": false, "b": true}},
			want: "Step c needs a, which has no result yet. The tasks of a round run side by side: remove a from its depends_on, or leave the step to a later round." +
				" => Remove a from what c depends on: c [b]",
		},
		{
			name: "no ids", plan: steps("", ""),
			want: "Step number 1 has no id. Give it an id of its own; the ids there are: none.\n" +
				"Step number 2 has no id. Give it an id of its own; the ids there are: none.",
		},
		{
			name: "an id with a line in it", plan: steps("a\nb"),
			want: `Step number 1 has the id "a\nb". An id is 1 to 64 of the characters A-Z, a-z, 0-9, _ and -; give the step another one and use it in depends_on.`,
		},
		{
			name: "one id twice", plan: steps("a", "b: a", "a: b"),
			want: "Steps number 1 and 3 have the same id a. Give each step an id of its own, and name the right one in depends_on.",
		},
		{name: "a dependency twice", plan: steps("a", "b: a a"), want: "warning: Step b names a more than once in depends_on. Once is enough; the others are dropped. => Name a once in what b depends on: b [a]"},
		{name: "itself", plan: steps("a", "b: b a"), want: "Step b depends on itself. Remove b from its depends_on. => Remove b from what b depends on: b [a]"},
		{
			name: "a stranger", plan: steps("a", "b: a zz"),
			want: `Step b depends on "zz", which is not in the plan. The ids are a, b. Name one of them or remove it. => Remove zz from what b depends on: b [a]`,
		},
		{
			name: "another case", plan: steps("S1", "s2: s1 S1"),
			want: `Step s2 depends on "s1", which is not in the plan, but S1 is. The ids are S1, s2. Put S1 in its depends_on instead. => Make s2 depend on S1: s2 [S1]`,
		},
		{
			name: "the words of the other step", plan: with(steps("a", "b: x"), func(p *plan.Plan) { p.Steps[1].DependsOn[0] = " Do A" }),
			want: `Step b depends on " Do A", which is not in the plan, but a is. The ids are a, b. Put a in its depends_on instead. => Make b depend on a: b [a]` + "\n" +
				`A plan comes to one final step, and here a, b are all ends that no other step uses. Make b final: set its depends_on to [" Do A", "a"]. => Make b the final step: b [ Do A a]`,
		},
		{
			name: "two steps of these words", plan: steps("A", "a", "c: A a á"),
			want: `Step c depends on "á", which is not in the plan. The ids are A, a, c. Name one of them or remove it. => Remove "á" from what c depends on: c [A a]`,
		},
		{
			name: "a cycle with one behind it", plan: steps("a: c", "b: a", "c: b", "d: c"),
			want: "a, b, c wait on each other and none of them can start: a → c → b → a (each needs the next). Remove one dependency of the cycle, as c from the depends_on of a." +
				" => Remove c from what a depends on: a []",
		},
		{
			name: "a knot that one cut does not untie", plan: steps("a: b c", "b: a", "c: a", "d: a b c"),
			want: "a, b, c wait on each other and none of them can start: a → b → a (each needs the next). Remove one dependency of the cycle, as b from the depends_on of a.",
		},
		{
			name: "a cut that would leave a loose end", plan: steps("a: b", "b: a", "c: a"),
			want: "a, b wait on each other and none of them can start: a → b → a (each needs the next). Remove one dependency of the cycle, as b from the depends_on of a.",
		},
		{
			name: "two cycles", plan: steps("a: b", "b: a", "c: d", "d: c b"),
			want: "a, b wait on each other and none of them can start: a → b → a (each needs the next). Remove one dependency of the cycle, as b from the depends_on of a. => Remove b from what a depends on: a []\n" +
				"c, d wait on each other and none of them can start: c → d → c (each needs the next). Remove one dependency of the cycle, as d from the depends_on of c. => Remove d from what c depends on: c []",
		},
		{
			name: "loose ends", plan: steps("a", "b: a", "c"),
			want: `A plan comes to one final step, and here b, c are all ends that no other step uses. Make c final: set its depends_on to ["b"]. => Make c the final step: c [b]`,
		},
		{
			name: "loose ends of a person's plan", plan: steps("a", "b"), rules: plan.Rules{OtherEnds: true},
			want: `A plan comes to one final step, and here a, b are all ends that no other step uses. Make b final: set its depends_on to ["a"]. Or name one of them as the deliverable. => Make b the final step: b [a]`,
		},
		{
			name: "loose ends beside a deliverable", plan: deliverable(steps("a", "b", "c"), "b"), rules: plan.Rules{OtherEnds: true},
			want: "warning: a, b, c are all ends that no other step uses. The answer rests on the deliverable b alone; what it is to use belongs in its depends_on. => Make b the final step: b [a c]",
		},
		{
			name: "a planner that names the first end", plan: deliverable(steps("a", "b"), "a"),
			want: `A plan comes to one final step, and here a, b are all ends that no other step uses. Make a final: set its depends_on to ["b"]. => Make a the final step: a [b]`,
		},
		{
			name: "no such deliverable", plan: deliverable(steps("a", "b: a"), "zz"),
			want: `The deliverable is "zz", which is not in the plan. The ids are a, b. Name the final step or leave deliverable out. => Make b the deliverable: deliverable "b"`,
		},
		{
			name: "a deliverable in another case", plan: deliverable(steps("Sum", "b", "c: b"), "sum"), rules: plan.Rules{OtherEnds: true},
			want: "warning: Sum, c are all ends that no other step uses. The answer rests on the deliverable sum alone; what it is to use belongs in its depends_on.\n" +
				`The deliverable is "sum", which is not in the plan. The ids are Sum, b, c. Name the final step or leave deliverable out. => Make Sum the deliverable: deliverable "Sum"`,
		},
		{
			name: "a deliverable in a cycle of all", plan: deliverable(steps("a: b", "b: a"), "zz"),
			want: "a, b wait on each other and none of them can start: a → b → a (each needs the next). Remove one dependency of the cycle, as b from the depends_on of a. => Remove b from what a depends on: a []\n" +
				`The deliverable is "zz", which is not in the plan. The ids are a, b. Name the final step or leave deliverable out. => Leave the deliverable to the final step: deliverable ""`,
		},
		{
			name: "a deliverable that is used", plan: deliverable(steps("a", "b: a", "c: a b"), "a"),
			want: `The deliverable a is used by other steps (b, c). Name a step that no other step depends on, or leave deliverable out. => Make c the deliverable: deliverable "c"`,
		},
		{
			name: "an unknown tool", plan: tool(steps("a"), 0, "hammer", `{}`), rules: toolRules(),
			want: `Step a uses the tool "hammer", which is not there. The tools are: search, calc. Use one of them, or leave tool out so that an agent carries the step out. => Let an agent carry out a: a tool ""`,
		},
		{
			name: "no tools at all", plan: tool(steps("a"), 0, "hammer", ``),
			want: `Step a uses the tool "hammer", which is not there. The tools are: none. Use one of them, or leave tool out so that an agent carries the step out. => Let an agent carry out a: a tool ""`,
		},
		{
			name: "a tool in another spelling", plan: tool(steps("a"), 0, "SEARCH ", `{}`), rules: toolRules(),
			want: `Step a uses the tool "SEARCH ", which is not there. The tools are: search, calc. Write search. => Use search in a: a tool "search"`,
		},
		{
			name: "a tool in a spelling of two", plan: tool(steps("a"), 0, "GETIT", `{}`), rules: plan.Rules{Tools: []plan.ToolRule{{Name: "get_it"}, {Name: "get-it"}}},
			want: `Step a uses the tool "GETIT", which is not there. The tools are: get_it, get-it. Use one of them, or leave tool out so that an agent carries the step out. => Let an agent carry out a: a tool ""`,
		},
		{
			name: "a bad input", plan: tool(steps("a"), 0, "calc", `{}`), rules: toolRules(),
			want: `The input of step a does not fit the tool calc: the key "expression" is missing.`,
		},
		{
			name: "an input of nobody", plan: tool(steps("a"), 0, "", `{"q":1}`),
			want: `Step a has an input and no tool. Name the tool that the input is for, or leave input out. => Leave out the input of a: a tool ""`,
		},
		{
			name: "an input that says nothing", plan: tool(tool(steps("a", "b: a"), 0, "", ` { } `), 1, "", `null`),
		},
		{
			name: "an input that is no JSON", plan: tool(steps("a"), 0, "search", `{"q":`), rules: toolRules(),
			want: "The input of step a cannot be read: it is not JSON: unexpected EOF.",
		},
		{
			name: "a reference to no dependency", plan: tool(steps("a", "b: c", "c: a"), 1, "search", `{"q":"${a.k} ${a} ${c}"}`), rules: toolRules(),
			want: "The input of step b refers to ${a.k}, but a is not in its depends_on. Add it there. => Make b depend on a: b [c a]",
		},
		{
			name: "references to nothing and to itself", plan: tool(steps("a"), 0, "search", `["${zz}","${a}"]`), rules: toolRules(),
			want: "The input of step a refers to ${zz}, and \"zz\" is not another step of the plan. The ids are a.\n" +
				"The input of step a refers to ${a}, and \"a\" is not another step of the plan. The ids are a.",
		},
		{
			name: "what is no reference", plan: tool(steps("a", "b: a"), 1, "search", `["${a[0]}"]`), rules: toolRules(),
			want: "The input of step b has \"${a[0]}\", which cannot be read as a reference. Write ${step} for a result, or ${step.key} for a value in it.",
		},
		{
			name: "the reference of another planner", plan: tool(steps("E1", "b: E1"), 1, "search", `{"q":"Given #E1 and #E1"}`), rules: toolRules(),
			want: "The input of step b has #E1, which would be sent as it stands. Write ${E1} for the result of step E1, and name E1 in depends_on.",
		},
		{
			name: "an unknown strategy", plan: plan.Plan{Steps: []plan.Step{{ID: "a", Instruction: "x", Strategy: "magic"}}}, rules: plan.Rules{Strategies: []plan.Strategy{"react", "tree"}},
			want: `Step a asks for the strategy "magic"; a step can use: react, tree. Leave strategy out or use one of those.`,
		},
		{
			name: "a contract", plan: plan.Plan{Steps: []plan.Step{{ID: "a", Instruction: "x", Contract: &plan.Contract{Checks: []string{"y >"}}}}},
			rules: plan.Rules{CheckContract: func(c plan.Contract) []string { return []string{fmt.Sprintf("%q ends too soon.", c.Checks[0]), "no"} }},
			want: `The contract of step a cannot be held: "y >" ends too soon. Mend it or leave it out.` + "\n" +
				"The contract of step a cannot be held: no. Mend it or leave it out.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			for _, v := range plan.Check(tt.plan, tt.rules) {
				said = append(said, written(v))
			}
			if got := strings.Join(said, "\n"); got != tt.want {
				t.Errorf("said\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// written is a violation as one line: its message and the edit that mends it.
func written(v plan.Violation) string {
	text := v.Message
	if v.Warning {
		text = "warning: " + text
	}
	switch m := v.Mend; {
	case m == nil:
	case m.DependsOn != nil:
		text += fmt.Sprintf(" => %s: %s %v", m.Label, m.Step, *m.DependsOn)
	case m.Deliverable != nil:
		text += fmt.Sprintf(" => %s: deliverable %q", m.Label, *m.Deliverable)
	case m.Tool != nil:
		text += fmt.Sprintf(" => %s: %s tool %q", m.Label, m.Step, *m.Tool)
	}
	return text
}

func TestLimits(t *testing.T) { // BEHAVIOUR 1.3
	step := func(id, instruction string) plan.Plan {
		return plan.Plan{Steps: []plan.Step{{ID: id, Instruction: instruction}}}
	}
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		rules plan.Rules
		code  plan.Code // "" keeps the rules
	}{
		{"six steps", steps("a", "b: a", "c: b", "d: c", "e: d", "f: e"), plan.Rules{}, ""},
		{"seven steps", steps("a", "b: a", "c: b", "d: c", "e: d", "f: e", "g: f"), plan.Rules{}, plan.CodeTooManySteps},
		{"seven of seven", steps("a", "b: a", "c: b", "d: c", "e: d", "f: e", "g: f"), plan.Rules{MaxSteps: 7}, ""},
		{"one of one", steps("a"), plan.Rules{MaxSteps: 1}, ""},
		{"two of one", steps("a", "b: a"), plan.Rules{MaxSteps: 1}, plan.CodeTooManySteps},
		{"an id of 64", step(strings.Repeat("x", 64), "x"), plan.Rules{}, ""},
		{"an id of 65", step(strings.Repeat("x", 65), "x"), plan.Rules{}, plan.CodeBadID},
		{"an id of every kind", step("aZ09_-", "x"), plan.Rules{}, ""},
		{"an id that is a number", step("1", "x"), plan.Rules{}, ""},
		{"an id with a dot", step("a.b", "x"), plan.Rules{}, plan.CodeBadID},
		{"an id with a space", step("a ", "x"), plan.Rules{}, plan.CodeBadID},
		{"an id of markup", step(`a"><img src=x onerror=alert(1)>`, "x"), plan.Rules{}, plan.CodeBadID},
		{"an instruction of one character", step("a", "x"), plan.Rules{}, ""},
		{"an instruction of white space", step("a", "\t\u00a0\n"), plan.Rules{}, plan.CodeEmptyInstruction},
		{"an instruction of 20,000", step("a", strings.Repeat("ä", 20_000)), plan.Rules{}, ""},
		{"an instruction of 20,001", step("a", strings.Repeat("ä", 20_001)), plan.Rules{}, plan.CodeInstructionTooLong},
		{"an instruction of many bytes", step("a", strings.Repeat("💰", 20_000)), plan.Rules{}, ""},
	} {
		got := codes(plan.Check(tt.plan, tt.rules))
		if (tt.code == "") != (len(got) == 0) || tt.code != "" && got[0] != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.code)
		}
	}
}

func TestWhatLooksLikeAReference(t *testing.T) { // BEHAVIOUR 1.3, 5.11
	p := steps("s1", "E1", "1", "final", "x: s1 E1 1 final")
	for _, tt := range []struct {
		text string
		bad  string // what is refused, "" for nothing
	}{
		{"${s1}", ""},
		{"${s1.key.sub.0} and ${E1}${1}", ""},
		{"no reference at all", ""},
		{"Given #E1, tell", "#E1"},
		{"(#E1)", "#E1"},
		{"#E1.", "#E1"},
		{"$E1", "$E1"},
		{"{{s1}}", "{{s1}}"},
		{"{{ s1.result }} please", "{{ s1.result }}"},
		{"#final", "#final"},
		{"#1", "#1"},
		{" $1 ", "$1"},
		{"It costs $1 or $10, they are #1", ""}, // a number in a text is a number
		{"#E12", ""},                            // no step is called that
		{"page#E1", ""},                         // a place on a page
		{"&#1;", ""},                            // a character of HTML
		{"{s1}", ""},
		{"s1", ""},
		{"{{steps.s1.output}}", "{{steps.s1.output}}"},
		{"{{ nobody }}", ""},
		{"${", "${"},
		{"${}", "${}"},
		{"${ s1 }", "${ s1 }"},
		{"${s1", "${s1"},
		{"${s1.}", "${s1.}"},
		{"${s1.a b}", "${s1.a b}"},
		{"${s1['key']}", "${s1['key']}"},
		{"$${s1}", ""},
		{"${s1}${", "${"},
	} {
		input, err := json.Marshal(map[string]any{"q": []string{tt.text}})
		if err != nil {
			t.Fatal(err)
		}
		q := p.Clone()
		q.Steps[4].Tool, q.Steps[4].Input = "search", input
		found := plan.Check(q, toolRules())
		switch {
		case tt.bad == "" && len(found) > 0:
			t.Errorf("%s: %s", tt.text, found[0].Message)
		case tt.bad == "":
		case len(found) != 1 || found[0].Code != plan.CodeBadReference || !strings.Contains(found[0].Message, tt.bad):
			t.Errorf("%s: %+v, want %s refused", tt.text, found, tt.bad)
		}
		if escaped := strings.ReplaceAll(string(input), "$", `\u0024`); escaped != string(input) {
			q.Steps[4].Input = json.RawMessage(escaped)
			if again := plan.Check(q, toolRules()); len(again) != len(found) {
				t.Errorf("%s, written with an escape: %+v", tt.text, again)
			}
		}
	}
}
