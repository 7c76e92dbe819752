package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

// sound draws a plan that keeps every rule: edges go backwards, and the last
// step needs whatever nothing else does.
func sound(t *rapid.T) plan.Plan {
	var p plan.Plan
	n := rapid.IntRange(1, 8).Draw(t, "steps")
	used := map[string]bool{}
	for i := range n {
		s := plan.Step{ID: fmt.Sprint("s", i+1), Instruction: fmt.Sprint("do ", i+1), DependsOn: []string{}}
		for _, before := range p.Steps {
			if rapid.Bool().Draw(t, "edge") || i == n-1 && !used[before.ID] {
				s.DependsOn = append(s.DependsOn, before.ID)
				used[before.ID] = true
			}
		}
		if len(s.DependsOn) > 0 && rapid.IntRange(0, 2).Draw(t, "tool") == 0 {
			s.Tool = "search"
			s.Input = json.RawMessage(fmt.Sprintf(`{"q":"${%s}","n":"${%s.n}"}`, s.DependsOn[0], s.DependsOn[0]))
		}
		p.Steps = append(p.Steps, s)
	}
	p.Deliverable = rapid.SampledFrom([]string{"", p.Steps[n-1].ID}).Draw(t, "deliverable")
	return p
}

func soundRules() plan.Rules {
	return plan.Rules{MaxSteps: 8, Tools: []plan.ToolRule{{Name: "search"}}, Strategies: []plan.Strategy{"react"}}
}

// mutation makes one mistake in a sound plan. It says which step has it, and
// false when the plan has no place for it.
type mutation struct {
	code  plan.Code
	apply func(t *rapid.T, p *plan.Plan) (at string, ok bool)
}

// anyStep draws a step of a plan.
func anyStep(t *rapid.T, p *plan.Plan) *plan.Step {
	return &p.Steps[rapid.IntRange(0, len(p.Steps)-1).Draw(t, "at")]
}

func mutations() []mutation {
	return []mutation{
		{plan.CodeTooManySteps, func(_ *rapid.T, p *plan.Plan) (string, bool) {
			for len(p.Steps) <= 8 {
				last := p.Steps[len(p.Steps)-1].ID
				p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprint("more", len(p.Steps)), Instruction: "x", DependsOn: []string{last}})
			}
			p.Deliverable = ""
			return "", true
		}},
		{plan.CodeEmptyInstruction, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Instruction = rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "blank")
			return s.ID, true
		}},
		{plan.CodeInstructionTooLong, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Instruction = strings.Repeat("é", 20_001)
			return s.ID, true
		}},
		{plan.CodeUnknownDependency, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			stranger := rapid.SampledFrom([]string{"zz", "", "s99", "${s1}", "S1 "}).Draw(t, "stranger")
			s.DependsOn = slices.Insert(s.DependsOn, rapid.IntRange(0, len(s.DependsOn)).Draw(t, "place"), stranger)
			return s.ID, true
		}},
		{plan.CodeSelfDependency, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.DependsOn = append(s.DependsOn, s.ID)
			return s.ID, true
		}},
		{plan.CodeDuplicateDependency, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			if len(s.DependsOn) == 0 {
				return "", false
			}
			s.DependsOn = append(s.DependsOn, rapid.SampledFrom(s.DependsOn).Draw(t, "again"))
			return s.ID, true
		}},
		{plan.CodeUnknownTool, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Tool = rapid.SampledFrom([]string{"hammer", "Search", "search ", "\x00"}).Draw(t, "tool")
			return s.ID, true
		}},
		{plan.CodeBadToolInput, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Tool, s.Input = "", json.RawMessage(rapid.SampledFrom([]string{`{"q":1}`, `"x"`, `[]`, `0`}).Draw(t, "input"))
			return s.ID, true
		}},
		{plan.CodeBadReference, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Tool, s.Input = "search", json.RawMessage(rapid.SampledFrom([]string{`"${zz}"`, `"${zz.k} x"`, `{"a":["${"]}`, `"${a b}"`}).Draw(t, "input"))
			return s.ID, true
		}},
		{plan.CodeUnknownStrategy, func(t *rapid.T, p *plan.Plan) (string, bool) {
			s := anyStep(t, p)
			s.Strategy = rapid.SampledFrom([]plan.Strategy{"tree", "REACT", " "}).Draw(t, "strategy")
			return s.ID, true
		}},
		{plan.CodeDeliverableMissing, func(t *rapid.T, p *plan.Plan) (string, bool) {
			p.Deliverable = rapid.SampledFrom([]string{"zz", "S1", " "}).Draw(t, "deliverable")
			return "", true
		}},
		{plan.CodeDeliverableNotTerminal, func(t *rapid.T, p *plan.Plan) (string, bool) {
			if len(p.Steps) < 2 {
				return "", false
			}
			p.Deliverable = p.Steps[rapid.IntRange(0, len(p.Steps)-2).Draw(t, "used")].ID
			return p.Deliverable, true
		}},
		{plan.CodeNoSingleFinalStep, func(_ *rapid.T, p *plan.Plan) (string, bool) {
			p.Steps = append([]plan.Step{{ID: "loose", Instruction: "x"}}, p.Steps...)
			return "loose", len(p.Steps) <= 8
		}},
	}
}

func TestOneMistakeIsOneViolation(t *testing.T) { // BEHAVIOUR 1.2, 1.3: all that is wrong, and nothing else
	for _, m := range mutations() {
		t.Run(string(m.code), func(t *testing.T) {
			made := 0
			rapid.Check(t, func(rt *rapid.T) {
				p := sound(rt)
				if found := plan.Check(p, soundRules()); len(found) > 0 {
					rt.Fatalf("a sound plan breaks %v", codes(found))
				}
				at, ok := m.apply(rt, &p)
				if !ok {
					return
				}
				made++
				found := plan.Check(p, soundRules())
				if len(found) != 1 || found[0].Code != m.code {
					b, _ := json.Marshal(p)
					rt.Fatalf("%s\nfound %v", plan.Short(string(b), 2000), codes(found))
				}
				if at != "" && !slices.Contains(found[0].Steps, at) {
					rt.Fatalf("%s is at fault, and blamed are %v", at, found[0].Steps)
				}
				if found[0].Mend == nil {
					return
				}
				if left := plan.Check(found[0].Mend.Apply(p), soundRules()); len(left) > 0 {
					rt.Fatalf("%s leaves %v", found[0].Mend.Label, codes(left))
				}
			})
			if made == 0 {
				t.Error("the mistake is never made")
			}
		})
	}
}

func TestEveryRuleHasItsMistake(t *testing.T) {
	rules := []plan.Code{ // of BEHAVIOUR 1.3; what is not here needs another kind of plan
		plan.CodeTooManySteps, plan.CodeEmptyInstruction, plan.CodeInstructionTooLong, plan.CodeUnknownDependency,
		plan.CodeSelfDependency, plan.CodeDuplicateDependency, plan.CodeNoSingleFinalStep, plan.CodeDeliverableMissing,
		plan.CodeDeliverableNotTerminal, plan.CodeUnknownTool, plan.CodeBadToolInput, plan.CodeBadReference, plan.CodeUnknownStrategy,
	}
	for _, code := range rules {
		if !slices.ContainsFunc(mutations(), func(m mutation) bool { return m.code == code }) {
			t.Errorf("no mistake breaks %s", code)
		}
	}
}

// plainly writes a plan as its canonical form is described, one key after the
// other by hand.
func plainly(p plan.Plan) string {
	quote := func(text string) string {
		b := new(strings.Builder)
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if e.Encode(text) != nil {
			return ""
		}
		return strings.TrimSpace(b.String())
	}
	list := func(texts []string) string {
		quoted := make([]string, len(texts))
		for i, t := range texts {
			quoted[i] = quote(t)
		}
		return "[" + strings.Join(quoted, ",") + "]"
	}
	steps := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = `{"id":` + quote(s.ID) + `,"instruction":` + quote(s.Instruction) + `,"depends_on":` + list(s.DependsOn)
		if s.Tool != "" {
			steps[i] += `,"tool":` + quote(s.Tool)
		}
		if len(s.Input) > 0 {
			steps[i] += `,"input":` + string(s.Input)
		}
		if c := s.Contract; c != nil && len(c.Required)+len(c.Checks) > 0 {
			var parts []string
			if len(c.Required) > 0 {
				parts = append(parts, `"required":`+list(c.Required))
			}
			if len(c.Checks) > 0 {
				parts = append(parts, `"checks":`+list(c.Checks))
			}
			steps[i] += `,"contract":{` + strings.Join(parts, ",") + "}"
		}
		if s.Strategy != "" {
			steps[i] += `,"strategy":` + quote(string(s.Strategy))
		}
		steps[i] += "}"
	}
	text := `{"steps":[` + strings.Join(steps, ",") + "]"
	if p.Deliverable != "" {
		text += `,"deliverable":` + quote(p.Deliverable)
	}
	return text + "}"
}

func TestTheCanonicalFormWrittenByHand(t *testing.T) { // BEHAVIOUR 3.5
	texts := rapid.SampledFrom([]string{"", "x", "<b>&", "é🎉", "\"\\/", "\n\t\x01", "${s1}", "\u2028"})
	rapid.Check(t, func(rt *rapid.T) {
		p := sound(rt)
		for i := range p.Steps {
			s := &p.Steps[i]
			s.Instruction = texts.Draw(rt, "instruction")
			s.Strategy = plan.Strategy(texts.Draw(rt, "strategy"))
			s.Input = json.RawMessage(rapid.SampledFrom([]string{"", `{}`, `{"a":1.50,"b":[true,null]}`, `"x"`, `-0`}).Draw(rt, "input"))
			if rapid.Bool().Draw(rt, "contract") {
				s.Contract = &plan.Contract{Required: rapid.SliceOfN(texts, 0, 2).Draw(rt, "required"), Checks: rapid.SliceOfN(texts, 0, 2).Draw(rt, "checks")}
			}
		}
		got, err := plan.Canonical(p)
		if want := plainly(p); err != nil || string(got) != want {
			rt.Fatalf("canonical form, %v\n%s\nwant\n%s", err, got, want)
		}
	})
}
