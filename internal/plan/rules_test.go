package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"planwave/internal/plan"
)

func TestRulesOfPlansThatGoOn(t *testing.T) { // BEHAVIOUR 1.3, 7.2, 7.4
	kept := func(ids ...string) map[string]bool {
		m := map[string]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	failed := func(ids ...string) map[string]bool { // kept without a result
		m := map[string]bool{}
		for _, id := range ids {
			m[id] = false
		}
		return m
	}
	named := func(deliverable string, lines ...string) plan.Plan {
		p := steps(lines...)
		p.Deliverable = deliverable
		return p
	}
	none := []plan.Code{}
	apart := []plan.Code{plan.CodeNotIndependent}
	ends := []plan.Code{plan.CodeNoSingleFinalStep}
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		rules plan.Rules
		want  []plan.Code
	}{
		{"a kept step beside the final one", steps("old", "new"), plan.Rules{Kept: kept("old")}, none},
		{"two new ends beside a kept one", steps("old", "x", "y"), plan.Rules{Kept: kept("old")}, ends},
		{"only kept steps are ends", steps("old", "older", "new: older", "end: new"), plan.Rules{Kept: kept("old", "older")}, none},
		{"only kept steps", steps("old", "older"), plan.Rules{Kept: kept("old", "older")}, []plan.Code{plan.CodeEmptyPlan}},
		{"kept steps do not count", steps("old", "older: old", "new: older"), plan.Rules{Kept: kept("old", "older"), MaxSteps: 1}, none},
		{"only new steps count", steps("old", "x: old", "y: x"), plan.Rules{Kept: kept("old"), MaxSteps: 1}, []plan.Code{plan.CodeTooManySteps}},
		{"steps kept without a result do not count", steps("old", "new"), plan.Rules{Kept: failed("old"), MaxSteps: 1}, none},
		{"an end kept without a result", steps("old", "new"), plan.Rules{Kept: failed("old")}, none},
		{"a kept step that is used", steps("old", "new: old"), plan.Rules{Kept: kept("old")}, none},
		{"a kept step that is not there", steps("new"), plan.Rules{Kept: kept("old")}, none},
		{"kept steps keep every other rule", steps("old: zz", "new: old"), plan.Rules{Kept: kept("old")}, []plan.Code{plan.CodeUnknownDependency}},
		{"a round of independent tasks", steps("a", "b", "c"), plan.Rules{Round: true}, none},
		{"a round that needs a round before", steps("old", "a: old", "b: old"), plan.Rules{Round: true, Kept: kept("old")}, none},
		{"a round that needs what failed", steps("old", "a: old", "b"), plan.Rules{Round: true, Kept: failed("old")}, apart},
		{"what failed needed what failed", steps("x", "old: x", "a"), plan.Rules{Round: true, Kept: failed("old", "x")}, none},
		{"a round that needs itself", steps("a", "b: a", "c: a b"), plan.Rules{Round: true}, slices.Repeat(apart, 3)},
		{"a round that needs a task twice", steps("a", "b: a a"), plan.Rules{Round: true}, append(slices.Clone(apart), plan.CodeDuplicateDependency)},
		{"a task that needs itself", steps("a: a"), plan.Rules{Round: true}, []plan.Code{plan.CodeSelfDependency}},
		{"a task that needs a stranger", steps("a: zz"), plan.Rules{Round: true, Kept: kept("zz")}, []plan.Code{plan.CodeUnknownDependency}},
		{"what is needed without a round", steps("old", "a: old"), plan.Rules{Kept: kept("old")}, none},
		{"a round with its cycles", steps("a: b", "b: a"), plan.Rules{Round: true}, []plan.Code{plan.CodeNotIndependent, plan.CodeNotIndependent, plan.CodeCycle}},
		{"a round of too many", steps("a", "b"), plan.Rules{Round: true, MaxSteps: 1}, []plan.Code{plan.CodeTooManySteps}},
		{"a round of none", plan.Plan{}, plan.Rules{Round: true}, []plan.Code{plan.CodeEmptyPlan}},
		{"a deliverable in a round", named("a", "a", "b: a"), plan.Rules{Round: true, Kept: kept("a")}, none},
		{"no such deliverable in a round", named("zz", "a"), plan.Rules{Round: true}, []plan.Code{plan.CodeDeliverableMissing}},
		{"the final step as deliverable", named("b", "a", "b: a"), plan.Rules{}, none},
		{"a deliverable that only it uses itself", named("b", "a", "b: a b"), plan.Rules{}, []plan.Code{plan.CodeSelfDependency}},
		{"a person's other ends", named("b", "a", "b", "c"), plan.Rules{OtherEnds: true}, ends},
		{"a person's plan without a deliverable", steps("a", "b"), plan.Rules{OtherEnds: true}, ends},
		{"a person's deliverable that is used", named("a", "a", "b: a", "c"), plan.Rules{OtherEnds: true}, []plan.Code{plan.CodeNoSingleFinalStep, plan.CodeDeliverableNotTerminal}},
	} {
		if got := codes(plan.Check(tt.plan, tt.rules)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWarningsDoNotKeepAPlanFromRunning(t *testing.T) { // BEHAVIOUR 1.3
	warning, wrong := plan.Violation{Warning: true}, plan.Violation{}
	for _, tt := range []struct {
		found []plan.Violation
		want  bool
	}{
		{nil, true},
		{[]plan.Violation{warning, warning}, true},
		{[]plan.Violation{wrong}, false},
		{[]plan.Violation{warning, wrong, warning}, false},
	} {
		if plan.Valid(tt.found) != tt.want {
			t.Errorf("%+v is valid: %v", tt.found, !tt.want)
		}
	}
}

func TestToolsAreAskedAboutTheInputAsItIsWritten(t *testing.T) { // BEHAVIOUR 1.2, 1.3
	var seen []string
	rules := plan.Rules{MaxSteps: 9, Tools: []plan.ToolRule{
		{Name: "search", CheckInput: func(in json.RawMessage) []string {
			seen = append(seen, string(in))
			return nil
		}},
		{Name: "strict", CheckInput: func(json.RawMessage) []string { return []string{"one is wrong.", "two is wrong"} }},
		{Name: "easy"},
	}}
	p := steps("a", "b: a", "c: b", "d: c", "e: d")
	p.Steps[0].Tool, p.Steps[0].Input = "search", json.RawMessage(`{"q": "x"}`)
	p.Steps[1].Tool, p.Steps[1].Input = "search", json.RawMessage(`{"q":"${a.k}"}`)
	p.Steps[2].Tool = "search"
	p.Steps[3].Tool, p.Steps[3].Input = "strict", json.RawMessage(`"text"`)
	p.Steps[4].Tool, p.Steps[4].Input = "easy", json.RawMessage(`[1]`)
	found := plan.Check(p, rules)
	if want := []string{`{"q": "x"}`, `{"q":"${a.k}"}`, ""}; !slices.Equal(seen, want) {
		t.Errorf("asked about %q, want %q", seen, want)
	}
	if got := fmt.Sprint(codes(found)); got != "[bad_tool_input bad_tool_input]" {
		t.Errorf("found %s", got)
	}
}

func TestViolationsComeInTheOrderOfTheRules(t *testing.T) { // BEHAVIOUR 1.2: the same every time
	p := steps("a b: zz", "c: c c", "d: e", "e: d", "f")
	p.Steps[0].Instruction, p.Steps[4].Strategy, p.Deliverable = "", "magic", "nobody"
	p.Steps[1].Tool, p.Steps[4].Tool, p.Steps[4].Input = "hammer", "calc", json.RawMessage(`{"q":"${zz}"}`)
	rules := toolRules()
	rules.MaxSteps = 4
	want := []plan.Code{
		plan.CodeTooManySteps, plan.CodeBadID, plan.CodeEmptyInstruction,
		plan.CodeUnknownDependency, plan.CodeSelfDependency, plan.CodeDuplicateDependency, plan.CodeCycle,
		plan.CodeNoSingleFinalStep, plan.CodeDeliverableMissing,
		plan.CodeUnknownTool, plan.CodeBadReference, plan.CodeBadToolInput, plan.CodeUnknownStrategy,
	}
	for range 20 {
		if got := codes(plan.Check(p, rules)); !slices.Equal(got, want) {
			t.Fatalf("found\n%v, want\n%v", got, want)
		}
	}
}

// working is a plan whose steps use tools and results, as large plans do.
func working(n int) (plan.Plan, plan.Rules) {
	p := benchmarkPlan(n)
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Tool, s.Input = "search", json.RawMessage(`{"query":"population of Brindlemoor","limit":5}`)
		if i > 0 {
			s.Input = json.RawMessage(fmt.Sprintf(`{"query":"more about ${%s.city}","limit":5}`, s.DependsOn[0]))
		}
	}
	check := func(in json.RawMessage) []string {
		if !json.Valid(in) {
			return []string{"it is no JSON"}
		}
		return nil
	}
	return p, plan.Rules{MaxSteps: n, Tools: []plan.ToolRule{{Name: "calc"}, {Name: "search", CheckInput: check}}}
}

func BenchmarkCheckTools(b *testing.B) {
	for _, n := range []int{6, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, rules := working(n)
			b.ReportAllocs()
			for b.Loop() {
				if found := plan.Check(p, rules); len(found) > 0 {
					b.Fatal(found[0].Message)
				}
			}
		})
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{6, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, _ := working(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plan.Hash(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
