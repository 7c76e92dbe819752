package plan_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func hash(t testing.TB, p plan.Plan) string {
	t.Helper()
	h, err := plan.Hash(p)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// full is a plan that uses every field.
func full() plan.Plan {
	return plan.Plan{Deliverable: "s2", Steps: []plan.Step{
		{ID: "s1", Instruction: "look <up> & tell", DependsOn: []string{}, Tool: "search", Input: json.RawMessage(`{"b":1,"a":[1.50,"x"]}`)},
		{
			ID: "s2", Instruction: "sum up", DependsOn: []string{"s1"}, Strategy: plan.StrategyReact,
			Contract: &plan.Contract{Required: []string{"n"}, Checks: []string{"n > 0"}},
		},
	}}
}

func TestTheCanonicalForm(t *testing.T) { // BEHAVIOUR 3.5
	got, err := plan.Canonical(full())
	want := `{"steps":[{"id":"s1","instruction":"look <up> & tell","depends_on":[],"tool":"search","input":{"a":[1.50,"x"],"b":1}},` +
		`{"id":"s2","instruction":"sum up","depends_on":["s1"],"contract":{"required":["n"],"checks":["n > 0"]},"strategy":"react"}],"deliverable":"s2"}`
	if err != nil || string(got) != want {
		t.Errorf("canonical form, %v:\n%s\n%s", err, got, want)
	}
	h := hash(t, full())
	if !strings.HasPrefix(h, "sha256:") || len(h) != len("sha256:")+64 {
		t.Errorf("hash = %q", h)
	}
	if h := hash(t, plan.Plan{}); h != hash(t, plan.Plan{Steps: []plan.Step{}}) {
		t.Error("no steps and an empty list of steps differ")
	}
}

func TestTheSamePlanHasTheSameHash(t *testing.T) { // BEHAVIOUR 3.5
	want := hash(t, full())
	for name, change := range map[string]func(*plan.Plan){
		"nothing":                       func(*plan.Plan) {},
		"order of keys in the input":    func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"a":[1.50,"x"],"b":1}`) },
		"white space in the input":      func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage("\n{ \"b\" : 1 , \"a\":[1.50, \"\\u0078\"]}\t") },
		"no dependencies, null":         func(p *plan.Plan) { p.Steps[0].DependsOn = nil },
		"no input, null":                func(p *plan.Plan) { p.Steps[1].Input = json.RawMessage(" null ") },
		"no input, empty":               func(p *plan.Plan) { p.Steps[1].Input = json.RawMessage{} },
		"empty contract":                func(p *plan.Plan) { p.Steps[0].Contract = &plan.Contract{} },
		"empty lists in the contract":   func(p *plan.Plan) { p.Steps[0].Contract = &plan.Contract{Required: []string{}, Checks: []string{}} },
		"a list of another capacity":    func(p *plan.Plan) { p.Steps = append(make([]plan.Step, 0, 9), p.Steps...) },
		"a contract that is not shared": func(p *plan.Plan) { *p = p.Clone() },
	} {
		p := full()
		change(&p)
		if got := hash(t, p); got != want {
			b, _ := plan.Canonical(p)
			t.Errorf("%s changes the hash: %s", name, b)
		}
	}
}

func TestEveryChangeChangesTheHash(t *testing.T) { // BEHAVIOUR 3.5
	seen := map[string]string{hash(t, full()): "the plan itself"}
	for name, change := range map[string]func(*plan.Plan){
		"an id":              func(p *plan.Plan) { p.Steps[0].ID = "s3" },
		"an instruction":     func(p *plan.Plan) { p.Steps[0].Instruction += " " },
		"html":               func(p *plan.Plan) { p.Steps[0].Instruction = "look &lt;up> & tell" },
		"a dependency less":  func(p *plan.Plan) { p.Steps[1].DependsOn = []string{} },
		"a dependency more":  func(p *plan.Plan) { p.Steps[1].DependsOn = []string{"s1", "s1"} },
		"a dependency split": func(p *plan.Plan) { p.Steps[1].DependsOn = []string{"s", "1"} },
		"a tool":             func(p *plan.Plan) { p.Steps[0].Tool = "" },
		"a value":            func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"b":2,"a":[1.50,"x"]}`) },
		"a type":             func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"b":"1","a":[1.50,"x"]}`) },
		"a number's writing": func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"b":1,"a":[1.5,"x"]}`) },
		"order in a list":    func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"b":1,"a":["x",1.50]}`) },
		"a null in an input": func(p *plan.Plan) { p.Steps[0].Input = json.RawMessage(`{"b":1,"a":[1.50,"x"],"c":null}`) },
		"no input":           func(p *plan.Plan) { p.Steps[0].Input = nil },
		"a strategy":         func(p *plan.Plan) { p.Steps[1].Strategy = plan.StrategyTree },
		"a required key":     func(p *plan.Plan) { p.Steps[1].Contract.Required = nil },
		"a check":            func(p *plan.Plan) { p.Steps[1].Contract.Checks[0] = "n > 1" },
		"no contract":        func(p *plan.Plan) { p.Steps[1].Contract = nil },
		"a deliverable":      func(p *plan.Plan) { p.Deliverable = "" },
		"order of steps":     func(p *plan.Plan) { slices.Reverse(p.Steps) },
		"a step less":        func(p *plan.Plan) { p.Steps = p.Steps[:1] },
		"a step more":        func(p *plan.Plan) { p.Steps = append(p.Steps, plan.Step{ID: "s3"}) },
	} {
		p := full().Clone()
		change(&p)
		h := hash(t, p)
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
}

// anyPlan draws a plan, whether it keeps the rules or not.
func anyPlan(t *rapid.T) plan.Plan {
	text := rapid.StringMatching(`[a-zA-Z<>&"\\é終\n ]{0,6}`)
	var p plan.Plan
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		s := plan.Step{
			ID: text.Draw(t, "id"), Instruction: text.Draw(t, "instruction"), Tool: text.Draw(t, "tool"),
			DependsOn: rapid.SliceOfN(text, 0, 3).Draw(t, "depends_on"), Strategy: plan.Strategy(text.Draw(t, "strategy")),
		}
		if rapid.Bool().Draw(t, "input") {
			values := rapid.MapOfN(text, rapid.OneOf(text.AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.SliceOfN(text, 0, 2).AsAny()), 0, 3)
			s.Input, _ = json.Marshal(values.Draw(t, "values"))
		}
		if rapid.Bool().Draw(t, "contract") {
			s.Contract = &plan.Contract{Required: rapid.SliceOfN(text, 0, 2).Draw(t, "required"), Checks: rapid.SliceOfN(text, 0, 2).Draw(t, "checks")}
		}
		p.Steps = append(p.Steps, s)
	}
	p.Deliverable = text.Draw(t, "deliverable")
	return p
}

func TestStoringAPlanKeepsItsHash(t *testing.T) { // BEHAVIOUR 3.5
	rapid.Check(t, func(rt *rapid.T) {
		p := anyPlan(rt)
		canonical, err := plan.Canonical(p)
		if err != nil {
			rt.Fatal(err)
		}
		stored, err := json.Marshal(p) // as events are, with HTML escaped
		if err != nil {
			rt.Fatal(err)
		}
		for name, written := range map[string][]byte{"stored": stored, "canonical": canonical} {
			var back plan.Plan
			if err := json.Unmarshal(written, &back); err != nil {
				rt.Fatal(err)
			}
			if again, err := plan.Canonical(back); err != nil || string(again) != string(canonical) {
				rt.Fatalf("%s, %v:\n%s\n%s", name, err, again, canonical)
			}
		}
	})
}

func TestNoChangeIsHidden(t *testing.T) { // BEHAVIOUR 3.5
	rapid.Check(t, func(rt *rapid.T) {
		p := anyPlan(rt)
		p.Steps = append(p.Steps, plan.Step{ID: "last"})
		q := p.Clone()
		s := &q.Steps[rapid.IntRange(0, len(q.Steps)-1).Draw(rt, "which")]
		switch rapid.IntRange(0, 8).Draw(rt, "field") {
		case 0:
			s.ID += "x"
		case 1:
			s.Instruction += "x"
		case 2:
			s.DependsOn = append(s.DependsOn, "")
		case 3:
			s.Tool += "x"
		case 4:
			s.Input = json.RawMessage(`{"another":"input"}`)
		case 5:
			s.Strategy += "x"
		case 6:
			s.Contract = &plan.Contract{Checks: []string{"another"}}
		case 7:
			q.Deliverable += "x"
		case 8:
			q.Steps = q.Steps[1:]
		}
		if hash(t, p) == hash(t, q) {
			rt.Fatalf("%+v and %+v have one hash", p, q)
		}
	})
}

func TestNumbersAreKeptAsWritten(t *testing.T) {
	for _, n := range []string{"12345678901234567890123456789", "0.1000", "1e400", "-0", "9007199254740993"} {
		p := full()
		p.Steps[0].Input = json.RawMessage(`{"n":` + n + `}`)
		got, err := plan.Canonical(p)
		if err != nil || !strings.Contains(string(got), `"input":{"n":`+n+`}`) {
			t.Errorf("%s: %s, %v", n, got, err)
		}
	}
}

func TestInputThatIsNoJSONHasNoCanonicalForm(t *testing.T) {
	for _, input := range []string{`{`, `{} {}`, `nope`, `{"a":1,}`, `1 2`} {
		p := full()
		p.Steps[0].Input = json.RawMessage(input)
		if b, err := plan.Canonical(p); err == nil || b != nil || !strings.Contains(err.Error(), `"s1"`) {
			t.Errorf("%s: %s, %v", input, b, err)
		}
		if h, err := plan.Hash(p); err == nil || h != "" {
			t.Errorf("%s: %s, %v", input, h, err)
		}
	}
}

func TestCanonicalLeavesThePlanAlone(t *testing.T) {
	p := full()
	p.Steps[0].DependsOn = nil
	p.Steps[1].Input = json.RawMessage(`null`)
	before := p.Clone()
	hash(t, p)
	if !reflect.DeepEqual(p, before) {
		t.Errorf("the plan is now %+v", p)
	}
}

func TestClonesShareNothing(t *testing.T) {
	p := full()
	c := p.Clone()
	if !reflect.DeepEqual(p, c) {
		t.Fatalf("the clone is %+v", c)
	}
	c.Steps[0].ID, c.Steps[0].Input[2], c.Steps[1].DependsOn[0] = "x", 'z', "x"
	c.Steps[1].Contract.Required[0], c.Steps[1].Contract.Checks[0] = "x", "x"
	if !reflect.DeepEqual(p, full()) {
		t.Errorf("changing the clone changed the plan: %+v", p)
	}
}

func TestFindingSteps(t *testing.T) {
	p := full()
	if s, ok := p.Step("s2"); !ok || s.Instruction != "sum up" {
		t.Errorf("s2 is %+v, %v", s, ok)
	}
	if _, ok := p.Step("S2"); ok {
		t.Error("ids are found in other case")
	}
	if got := p.IDs(); !slices.Equal(got, []string{"s1", "s2"}) {
		t.Errorf("ids %v", got)
	}
}

func TestShortCutsBetweenCharacters(t *testing.T) { // text: unicode cut
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 4, "abc"},
		{"abc", 2, "ab…"},
		{"abc", 0, "…"},
		{"é終🎉x", 3, "é終🎉…"},
		{"é終🎉x", 4, "é終🎉x"},
		{strings.Repeat("x", 199) + "🎉🎉", 200, strings.Repeat("x", 199) + "🎉…"},
	} {
		if got := plan.Short(tt.text, tt.n); got != tt.want {
			t.Errorf("Short(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 10).Draw(t, "n")
		short := plan.Short(text, n)
		kept, cut := strings.CutSuffix(short, "…")
		if !cut || short == text {
			kept = short
		}
		if !strings.HasPrefix(text, kept) || len([]rune(short)) > n+1 || len([]rune(text)) <= n && short != text {
			t.Fatalf("Short(%q, %d) = %q", text, n, short)
		}
	})
}
