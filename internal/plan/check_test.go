package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// steps makes a plan of lines such as "c: a b", c needing a and b.
func steps(lines ...string) plan.Plan {
	var p plan.Plan
	for _, line := range lines {
		id, deps, _ := strings.Cut(line, ":")
		p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: "do " + id, DependsOn: strings.Fields(deps)})
	}
	return p
}

// with changes a plan.
func with(p plan.Plan, change func(*plan.Plan)) plan.Plan {
	change(&p)
	return p
}

func toolRules() plan.Rules {
	return plan.Rules{Tools: []plan.ToolRule{
		{Name: "search"},
		{Name: "calc", CheckInput: func(in json.RawMessage) []string {
			if strings.Contains(string(in), "expression") {
				return nil
			}
			return []string{`the key "expression" is missing`}
		}},
	}}
}

func codes(violations []plan.Violation) []plan.Code {
	out := []plan.Code{}
	for _, v := range violations {
		out = append(out, v.Code)
	}
	return out
}

func TestEveryRule(t *testing.T) { // BEHAVIOUR 1.3
	many := plan.Plan{}
	for i := range 7 {
		s := plan.Step{ID: fmt.Sprint("s", i), Instruction: "x"}
		if i > 0 {
			s.DependsOn = []string{fmt.Sprint("s", i-1)}
		}
		many.Steps = append(many.Steps, s)
	}
	input := func(tool, in string, deps ...string) plan.Plan {
		p := steps("s1", "s2:"+strings.Join(deps, " "))
		p.Steps[1].Tool, p.Steps[1].Input = tool, json.RawMessage(in)
		if len(deps) == 0 {
			p.Steps[0].DependsOn = []string{"s2"}
		}
		return p
	}
	tests := []struct {
		name  string
		plan  plan.Plan
		code  plan.Code
		steps []string
		says  []string // what is wrong, and what to change
		mends bool
	}{
		{"no steps", plan.Plan{}, plan.CodeEmptyPlan, []string{}, []string{"no steps", "Write at least one"}, false},
		{"too many", many, plan.CodeTooManySteps, []string{}, []string{"7 steps", "6 is the limit", "Join or drop"}, false},
		{"twice the same id", steps("a", "a", "b: a"), plan.CodeDuplicateID, []string{"a"}, []string{"1 and 2", "id of its own"}, false},
		{"spaces in an id", steps("a b"), plan.CodeBadID, []string{"a b"}, []string{`"a b"`, "1 to 64", "another one"}, false},
		{"empty id", steps(""), plan.CodeBadID, []string{""}, []string{"number 1", "id of its own"}, false},
		{"long id", steps(strings.Repeat("x", 65)), plan.CodeBadID, []string{strings.Repeat("x", 65)}, []string{"1 to 64"}, false},
		{"id in another alphabet", steps("étape"), plan.CodeBadID, []string{"étape"}, []string{"étape"}, false},
		{"no instruction", with(steps("a"), func(p *plan.Plan) { p.Steps[0].Instruction = " \n" }), plan.CodeEmptyInstruction, []string{"a"}, []string{"no instruction", "Say what"}, false},
		{"long instruction", with(steps("a"), func(p *plan.Plan) { p.Steps[0].Instruction = strings.Repeat("ä", 20_001) }), plan.CodeInstructionTooLong, []string{"a"}, []string{"20001 characters", "20000 is the limit", "Shorten"}, false},
		{"unknown dependency", steps("a", "b: a zz"), plan.CodeUnknownDependency, []string{"b"}, []string{"b", `"zz"`, "a, b", "Name one of them or remove it"}, true},
		{"unknown by case", steps("Alpha", "b: alpha"), plan.CodeUnknownDependency, []string{"b"}, []string{`"alpha"`, "Put Alpha in its depends_on"}, true},
		{"itself", steps("a: a"), plan.CodeSelfDependency, []string{"a"}, []string{"depends on itself", "Remove a"}, true},
		{"the same twice", steps("a", "b: a a"), plan.CodeDuplicateDependency, []string{"b"}, []string{"more than once"}, true},
		{"a cycle", steps("a: c", "b: a", "c: b", "d: c"), plan.CodeCycle, []string{"a", "b", "c"}, []string{"a → c → b → a", "Remove one"}, true},
		{"two ends", steps("a", "b: a", "c: a"), plan.CodeNoSingleFinalStep, []string{"b", "c"}, []string{"b, c", `Make c final: set its depends_on to ["a", "b"]`}, true},
		{"deliverable not there", with(steps("a"), func(p *plan.Plan) { p.Deliverable = "zz" }), plan.CodeDeliverableMissing, []string{}, []string{`"zz"`, "ids are a"}, true},
		{"deliverable is used", with(steps("a", "b: a"), func(p *plan.Plan) { p.Deliverable = "a" }), plan.CodeDeliverableNotTerminal, []string{"a"}, []string{"used by other steps (b)"}, true},
		{"unknown tool", input("hammer", `{}`, "s1"), plan.CodeUnknownTool, []string{"s2"}, []string{`"hammer"`, "search, calc", "leave tool out"}, true},
		{"bad input", input("calc", `{}`, "s1"), plan.CodeBadToolInput, []string{"s2"}, []string{"expression", "calc"}, false},
		{"input is no JSON", input("search", `{`, "s1"), plan.CodeBadToolInput, []string{"s2"}, []string{"cannot be read"}, false},
		{"input without tool", input("", `{"a":1}`, "s1"), plan.CodeBadToolInput, []string{"s2"}, []string{"an input and no tool"}, true},
		{"reference not needed", input("search", `{"q":"x ${s1.key}"}`), plan.CodeBadReference, []string{"s2"}, []string{"${s1.key}", "s1 is not in its depends_on"}, true},
		{"reference to nothing", input("search", `"${zz}"`, "s1"), plan.CodeBadReference, []string{"s2"}, []string{"${zz}", "not another step"}, false},
		{"reference of another form", input("search", `{"q":"Given #s1"}`), plan.CodeBadReference, []string{"s2"}, []string{"#s1", "${s1}"}, false},
		{"unknown strategy", with(steps("a"), func(p *plan.Plan) { p.Steps[0].Strategy = "react" }), plan.CodeUnknownStrategy, []string{"a"}, []string{`"react"`, "none"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := plan.Check(tt.plan, toolRules())
			at := slices.IndexFunc(found, func(v plan.Violation) bool { return v.Code == tt.code })
			if at < 0 {
				t.Fatalf("found %v, want %s", codes(found), tt.code)
			}
			v := found[at]
			if !slices.Equal(v.Steps, tt.steps) {
				t.Errorf("steps = %q, want %q", v.Steps, tt.steps)
			}
			for _, say := range tt.says {
				if !strings.Contains(v.Message, say) {
					t.Errorf("message %q does not say %q", v.Message, say)
				}
			}
			if (v.Mend != nil) != tt.mends {
				t.Fatalf("mend = %+v, want one: %v", v.Mend, tt.mends)
			}
			if v.Mend == nil {
				return
			}
			if v.Mend.Label == "" {
				t.Error("the mend has no label")
			}
			after := plan.Check(v.Mend.Apply(tt.plan), toolRules())
			if slices.Contains(codes(after), tt.code) {
				t.Errorf("the mend %+v leaves %v", v.Mend, codes(after))
			}
		})
	}
}

func TestEverythingIsReportedAtOnce(t *testing.T) { // BEHAVIOUR 1.2
	p := steps("a: a zz", "b c", "d: e", "e: d", "f")
	p.Steps[4].Instruction = ""
	p.Steps[4].Tool = "hammer"
	p.Deliverable = "nope"
	got := codes(plan.Check(p, toolRules()))
	for _, want := range []plan.Code{
		plan.CodeSelfDependency, plan.CodeUnknownDependency, plan.CodeBadID, plan.CodeCycle, plan.CodeEmptyInstruction,
		plan.CodeUnknownTool, plan.CodeDeliverableMissing, plan.CodeNoSingleFinalStep,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not reported: %v", want, got)
		}
	}
}

func TestAForgottenComparison(t *testing.T) { // BEHAVIOUR 1.3, 13: s1…s4 all loose ends
	found := plan.Check(steps("s1", "s2", "s3", "s4"), plan.Rules{})
	if len(found) != 1 {
		t.Fatalf("found %v", codes(found))
	}
	want := `s1, s2, s3, s4 are all ends that no other step uses. Make s4 final: set its depends_on to ["s1", "s2", "s3"].`
	if !strings.HasSuffix(found[0].Message, want) {
		t.Errorf("message = %q", found[0].Message)
	}
	if found[0].Mend.Label != "Make s4 the final step" {
		t.Errorf("label = %q", found[0].Mend.Label)
	}
	if after := plan.Check(found[0].Mend.Apply(steps("s1", "s2", "s3", "s4")), plan.Rules{}); len(after) > 0 {
		t.Errorf("mended plan breaks %v", codes(after))
	}
}

func TestExemptions(t *testing.T) { // BEHAVIOUR 1.3
	two := steps("a", "b")
	named := with(steps("a", "b"), func(p *plan.Plan) { p.Deliverable = "b" })
	if found := plan.Check(two, plan.Rules{Round: true}); len(found) > 0 {
		t.Errorf("a round: %v", codes(found))
	}
	if found := plan.Check(two, plan.Rules{Kept: map[string]bool{"a": true}}); len(found) > 0 {
		t.Errorf("a kept step: %v", codes(found))
	}
	if found := plan.Check(named, plan.Rules{OtherEnds: true}); len(found) != 1 || !found[0].Warning || !plan.Valid(found) {
		t.Errorf("a person's plan with a deliverable: %+v", found)
	}
	if found := plan.Check(named, plan.Rules{}); plan.Valid(found) {
		t.Error("a planner's plan with other ends is valid")
	}
	if found := plan.Check(two, plan.Rules{OtherEnds: true}); plan.Valid(found) {
		t.Error("a person's plan with two ends and no deliverable is valid")
	}
	if found := plan.Check(with(steps("a"), func(p *plan.Plan) { p.Steps[0].Strategy = plan.StrategyReact }),
		plan.Rules{Strategies: []plan.Strategy{plan.StrategyReact}}); len(found) > 0 {
		t.Errorf("an allowed strategy: %v", codes(found))
	}
	contract := with(steps("a"), func(p *plan.Plan) { p.Steps[0].Contract = &plan.Contract{Checks: []string{"x >"}} })
	rules := plan.Rules{CheckContract: func(c plan.Contract) []string { return c.Checks }}
	if found := plan.Check(contract, rules); len(found) != 1 || found[0].Code != plan.CodeBadContract || !strings.Contains(found[0].Message, "x >") {
		t.Errorf("a bad contract: %+v", found)
	}
}

func TestMendedSaysWhatItDid(t *testing.T) { // BEHAVIOUR 1.3, 3.5
	p := steps("a", "b: a a a")
	mended, said := plan.Mended(p)
	if !slices.Equal(mended.Steps[1].DependsOn, []string{"a"}) || len(said) != 1 {
		t.Errorf("mended %+v, said %q", mended, said)
	}
	if len(p.Steps[1].DependsOn) != 3 {
		t.Error("the plan that was given is changed")
	}
}

func TestLongListsAreCountedNotSpilled(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{{ID: "x", Instruction: "x", DependsOn: []string{strings.Repeat("y", 5000)}}}}
	for i := range 500 {
		p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprint("s", i), Instruction: "x"})
	}
	for _, v := range plan.Check(p, plan.Rules{MaxSteps: 2000}) {
		if len(v.Message) > 20_000 {
			t.Errorf("%s has a message of %d bytes", v.Code, len(v.Message))
		}
	}
}

func benchmarkPlan(n int) plan.Plan {
	var p plan.Plan
	for i := range n {
		s := plan.Step{ID: fmt.Sprint("step-", i), Instruction: "Look something up and report it in two sentences.", DependsOn: []string{}}
		for d := max(0, i-3); d < i; d++ {
			s.DependsOn = append(s.DependsOn, fmt.Sprint("step-", d))
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{6, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := benchmarkPlan(n)
			b.ReportAllocs()
			for b.Loop() {
				if found := plan.Check(p, plan.Rules{MaxSteps: n}); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}
