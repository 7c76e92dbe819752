package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

// oracle says what breaks a rule, from the words of the rules alone: without
// any of the shortcuts of the check, and with nothing in common with it. A
// finding is "code steps", with a mark behind it when it is a warning.
func oracle(p plan.Plan, r plan.Rules) []string {
	o := &judgement{plan: p, rules: r}
	o.size()
	for i, s := range p.Steps {
		o.step(i, s)
	}
	o.cycles()
	o.ends()
	o.deliverable()
	slices.Sort(o.found)
	return o.found
}

type judgement struct {
	plan  plan.Plan
	rules plan.Rules
	found []string
}

func (o *judgement) say(code plan.Code, steps ...string) {
	o.found = append(o.found, fmt.Sprintf("%s %q", code, steps))
}

// first is the index of the step that an id names, or -1.
func (o *judgement) first(id string) int {
	return slices.IndexFunc(o.plan.Steps, func(s plan.Step) bool { return s.ID == id })
}

func (o *judgement) size() {
	most := o.rules.MaxSteps
	if most == 0 {
		most = 6
	}
	left := 0 // to run; what is kept has been paid for
	for _, s := range o.plan.Steps {
		if !o.stays(s.ID) {
			left++
		}
	}
	if left == 0 {
		o.say(plan.CodeEmptyPlan)
	}
	if left > most {
		o.say(plan.CodeTooManySteps)
	}
}

// stays says whether a step is kept, with a result or without.
func (o *judgement) stays(id string) bool {
	return slices.Contains(slices.Collect(maps.Keys(o.rules.Kept)), id)
}

// apart says whether a step may not wait for another in a round: only what has
// a result can be needed, by what has not ended.
func (o *judgement) apart(id, need string) bool {
	result, stays := o.rules.Kept[need]
	return o.rules.Round && !o.stays(id) && (!stays || !result)
}

func (o *judgement) step(i int, s plan.Step) {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(s.ID) {
		o.say(plan.CodeBadID, s.ID)
	}
	if s.ID != "" && o.first(s.ID) < i {
		o.say(plan.CodeDuplicateID, s.ID)
	}
	if strings.TrimSpace(s.Instruction) == "" {
		o.say(plan.CodeEmptyInstruction, s.ID)
	}
	for k, id := range s.DependsOn {
		switch before := slices.Contains(s.DependsOn[:k], id); {
		case !before && id == s.ID:
			o.say(plan.CodeSelfDependency, s.ID)
		case !before && o.first(id) < 0:
			o.say(plan.CodeUnknownDependency, s.ID)
		case !before && o.apart(s.ID, id):
			o.say(plan.CodeNotIndependent, s.ID)
		}
		if slices.Index(s.DependsOn, id) == k && slices.Contains(s.DependsOn[k+1:], id) {
			o.found = append(o.found, fmt.Sprintf("%s %q warning", plan.CodeDuplicateDependency, []string{s.ID}))
		}
	}
	o.work(s)
}

func (o *judgement) work(s plan.Step) {
	refs := regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(string(s.Input), -1)
	told := []string{}
	for _, m := range refs {
		if !slices.Contains(told, m[1]) && !slices.Contains(s.DependsOn, m[1]) {
			o.say(plan.CodeBadReference, s.ID)
		}
		told = append(told, m[1])
	}
	switch known := slices.ContainsFunc(o.rules.Tools, func(t plan.ToolRule) bool { return t.Name == s.Tool }); {
	case s.Tool == "" && len(s.Input) > 0 && string(s.Input) != `{}`:
		o.say(plan.CodeBadToolInput, s.ID)
	case s.Tool != "" && !known:
		o.say(plan.CodeUnknownTool, s.ID)
	}
	if s.Strategy != "" && !slices.Contains(o.rules.Strategies, s.Strategy) {
		o.say(plan.CodeUnknownStrategy, s.ID)
	}
}

// needs says whether step i needs step k, directly or through others.
func (o *judgement) needs(i, k int, seen []int) bool {
	for _, id := range o.plan.Steps[i].DependsOn {
		d := o.first(id)
		if d < 0 || slices.Contains(seen, d) {
			continue
		}
		if d == k || o.needs(d, k, append(seen, d)) {
			return true
		}
	}
	return false
}

func (o *judgement) cycles() {
	in := make([]bool, len(o.plan.Steps))
	for i := range o.plan.Steps {
		group := []string{}
		for k := range o.plan.Steps {
			if !in[i] && (k == i || o.needs(i, k, nil) && o.needs(k, i, nil)) {
				group = append(group, o.plan.Steps[k].ID)
			}
		}
		if len(group) < 2 {
			continue
		}
		o.say(plan.CodeCycle, group...)
		for k := range o.plan.Steps {
			in[k] = in[k] || k == i || o.needs(i, k, nil) && o.needs(k, i, nil)
		}
	}
}

// used says whether another step names this one.
func (o *judgement) used(i int) bool {
	return slices.ContainsFunc(o.plan.Steps, func(s plan.Step) bool {
		return s.ID != o.plan.Steps[i].ID && slices.Contains(s.DependsOn, o.plan.Steps[i].ID)
	})
}

func (o *judgement) ends() {
	ends := []string{}
	for i, s := range o.plan.Steps {
		if o.first(s.ID) == i && !o.used(i) && !o.stays(s.ID) {
			ends = append(ends, s.ID)
		}
	}
	if o.rules.Round || len(ends) < 2 {
		return
	}
	if o.rules.OtherEnds && o.plan.Deliverable != "" {
		o.found = append(o.found, fmt.Sprintf("%s %q warning", plan.CodeNoSingleFinalStep, ends))
		return
	}
	o.say(plan.CodeNoSingleFinalStep, ends...)
}

func (o *judgement) deliverable() {
	switch d := o.plan.Deliverable; {
	case d == "":
	case o.first(d) < 0:
		o.say(plan.CodeDeliverableMissing)
	case o.used(o.first(d)) && !o.rules.Round:
		o.say(plan.CodeDeliverableNotTerminal, d)
	}
}

// wild draws a plan that may break every rule. Ids stand twice seldom, since a
// plan with such ids has other rules hidden behind them.
func wild(t *rapid.T) plan.Plan {
	pool := []string{"a", "b", "c", "d", "e", "B", "", "x y", "é"}
	if !rapid.Bool().Draw(t, "odd ids") {
		pool = pool[:6]
	}
	ids := rapid.Permutation(pool).Draw(t, "ids")[:rapid.IntRange(0, len(pool)).Draw(t, "n")]
	if len(ids) > 0 && rapid.IntRange(0, 9).Draw(t, "twice") == 0 {
		ids = append(ids, rapid.SampledFrom(ids).Draw(t, "again"))
	}
	var p plan.Plan
	for _, id := range ids {
		p.Steps = append(p.Steps, plan.Step{
			ID:          id,
			Instruction: rapid.SampledFrom([]string{"look up", "sum", "sum", " "}).Draw(t, "instruction"),
			DependsOn:   rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(ids), "zz", "A")), 0, 4).Draw(t, "deps"),
			Tool:        rapid.SampledFrom([]string{"", "", "search", "hammer", "Search"}).Draw(t, "tool"),
			Strategy:    rapid.SampledFrom([]plan.Strategy{"", "", "react", "tree"}).Draw(t, "strategy"),
			Input: json.RawMessage(rapid.SampledFrom([]string{
				"", "", `{}`, `{"q":"${a}"}`, `{"q":["${zz} and ${b.key}","${b}"]}`, `{"n":1.50}`,
			}).Draw(t, "input")),
		})
	}
	p.Deliverable = rapid.SampledFrom(append(slices.Clone(ids), "", "", "zz")).Draw(t, "deliverable")
	return p
}

func wildRules(t *rapid.T) plan.Rules {
	return plan.Rules{
		MaxSteps:   rapid.SampledFrom([]int{0, 1, 20}).Draw(t, "limit"),
		Tools:      []plan.ToolRule{{Name: "search"}, {Name: "calc"}},
		Strategies: rapid.SampledFrom([][]plan.Strategy{nil, {"react"}}).Draw(t, "strategies"),
		OtherEnds:  rapid.Bool().Draw(t, "other ends"),
		Round:      rapid.IntRange(0, 4).Draw(t, "round") == 0,
		Kept:       rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "zz"}), rapid.Bool(), 0, 3).Draw(t, "kept"),
	}
}

// findings are violations in the oracle's words.
func findings(violations []plan.Violation) []string {
	found := make([]string, 0, len(violations))
	for _, v := range violations {
		text := fmt.Sprintf("%s %q", v.Code, v.Steps)
		if v.Warning {
			text += " warning"
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

func TestTheCheckAgreesWithTheRules(t *testing.T) { // BEHAVIOUR 1.2, 1.3, 7.2, 7.4
	rapid.Check(t, func(rt *rapid.T) {
		p, r := wild(rt), wildRules(rt)
		before := p.Clone()
		got := plan.Check(p, r)
		if want := oracle(p, r); !slices.Equal(findings(got), want) {
			b, _ := json.Marshal(p)
			rt.Fatalf("%s\nfound %s\n want %s", b, findings(got), want)
		}
		if again := plan.Check(p, r); !reflect.DeepEqual(again, got) {
			rt.Fatalf("twice checked, twice different:\n%v\n%v", got, again)
		}
		if !reflect.DeepEqual(p.Clone(), before) {
			rt.Fatal("the check changes the plan")
		}
	})
}

func TestEveryViolationSaysWhatToDo(t *testing.T) { // BEHAVIOUR 1.2
	rapid.Check(t, func(rt *rapid.T) {
		for _, v := range plan.Check(wild(rt), wildRules(rt)) {
			if v.Steps == nil || !strings.HasSuffix(v.Message, ".") || strings.Count(v.Message, ". ") < 1 && !strings.Contains(v.Message, ": ") {
				rt.Fatalf("%+v", v)
			}
			if v.Mend == nil {
				continue
			}
			set := 0
			for _, given := range []bool{v.Mend.DependsOn != nil, v.Mend.Deliverable != nil, v.Mend.Tool != nil} {
				if given {
					set++
				}
			}
			if set != 1 || v.Mend.Label == "" || (v.Mend.Step == "") != (v.Mend.Deliverable != nil) {
				rt.Fatalf("the mend %+v of %+v is not one edit", v.Mend, v)
			}
		}
	})
}

func TestAMendTakesItsViolationAway(t *testing.T) { // BEHAVIOUR 1.2
	rapid.Check(t, func(rt *rapid.T) {
		p, r := wild(rt), wildRules(rt)
		found := plan.Check(p, r)
		for _, v := range found {
			if v.Mend == nil {
				continue
			}
			this := fmt.Sprintf("%s %q", v.Code, v.Steps)
			count := func(all []plan.Violation) (n int) {
				for _, f := range findings(all) {
					if strings.HasPrefix(f, this) {
						n++
					}
				}
				return n
			}
			if after := plan.Check(v.Mend.Apply(p), r); count(after) >= count(found) {
				b, _ := json.Marshal(p)
				rt.Fatalf("%s\n%s\nis still there after %+v: %s", b, v.Message, *v.Mend, findings(after))
			}
		}
	})
}

func TestOnlyWhatAnIDNamesAloneIsMended(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := wild(rt)
		for _, v := range plan.Check(p, wildRules(rt)) {
			if v.Mend == nil || v.Mend.Step == "" {
				continue
			}
			named := 0
			for _, s := range p.Steps {
				if s.ID == v.Mend.Step {
					named++
				}
			}
			if named != 1 {
				rt.Fatalf("the mend %+v edits %d steps", v.Mend, named)
			}
		}
	})
}

func TestWhatTheCheckPassesCanRun(t *testing.T) { // BEHAVIOUR 1.4
	rapid.Check(t, func(rt *rapid.T) {
		p, r := wild(rt), wildRules(rt)
		p, _ = plan.Mended(p)
		if !plan.Valid(plan.Check(p, r)) {
			return
		}
		order, err := plan.Order(p)
		if err != nil || len(order) != len(p.Steps) {
			rt.Fatalf("a valid plan has the order %v, %v", order, err)
		}
		if _, err := plan.Hash(p); err != nil {
			rt.Fatalf("a valid plan has no hash: %v", err)
		}
		for _, s := range p.Steps {
			results := map[string]plan.Result{}
			for _, id := range s.DependsOn {
				results[id] = plan.Result{Text: "x", Data: json.RawMessage(`{"key":1}`)}
			}
			if _, err := plan.Fill(s.Input, results); err != nil {
				rt.Fatalf("the input of a valid plan cannot be filled in: %v", err)
			}
		}
	})
}

func TestMendedMeansNoRepeatedDependency(t *testing.T) { // BEHAVIOUR 1.3, 3.5
	rapid.Check(t, func(rt *rapid.T) {
		p, r := wild(rt), wildRules(rt)
		mended, said := plan.Mended(p)
		repeated, others := 0, []string{}
		for _, v := range plan.Check(p, r) {
			if v.Code == plan.CodeDuplicateDependency {
				repeated++
			} else {
				others = append(others, fmt.Sprint(v.Code, v.Steps))
			}
		}
		after := []string{}
		for _, v := range plan.Check(mended, r) {
			after = append(after, fmt.Sprint(v.Code, v.Steps))
		}
		if len(said) != repeated || !slices.Equal(after, others) {
			rt.Fatalf("%d sentences for %d repeated dependencies; %v became %v", len(said), repeated, others, after)
		}
	})
}
