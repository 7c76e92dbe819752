package planner_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/planner"
)

// rules are those of the cases: three tools, and room for every plan in them.
func rules() plan.Rules {
	return plan.Rules{Tools: []plan.ToolRule{{Name: "search"}, {Name: "calc"}, {Name: "answer"}}}
}

// wild is a plan text from a bug report.
type wild struct {
	N      int    `json:"n"`
	Kind   string `json:"kind"`
	Input  string `json:"input"`
	Expect string `json:"expect"`
}

func wilds(t testing.TB) []wild {
	t.Helper()
	b, err := os.ReadFile("testdata/plan_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []wild
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// outline is a plan as "a; b: a; final: a b".
func outline(p plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		line := s.ID
		if len(s.DependsOn) > 0 {
			line += ": " + strings.Join(s.DependsOn, " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// judged is what reading and checking come to.
type judged struct {
	outline string
	codes   []plan.Code
	said    string // all messages
	reading planner.Reading
}

func judgedOf(text string, r plan.Rules) judged {
	reading := planner.Read(text)
	found := slices.Clone(reading.Violations)
	if len(reading.Violations) == 0 || len(reading.Plan.Steps) > 0 {
		found = append(found, plan.Check(reading.Plan, r)...)
	}
	j := judged{outline: outline(reading.Plan), reading: reading}
	for _, v := range found {
		j.codes = append(j.codes, v.Code)
		j.said += v.Message + "\n"
	}
	return j
}

func TestPlansFromTheWild(t *testing.T) { // BEHAVIOUR 2.2
	const whole = "a; b: a; final: a b"
	want := map[int]struct {
		outline string
		codes   []plan.Code
		says    []string
	}{
		1: {whole, nil, nil}, 3: {whole, nil, nil}, 41: {whole, nil, nil},
		5: {"a; final: a", nil, nil}, 9: {"a; final: a", nil, nil}, 23: {"a; final: a", nil, nil}, 27: {"a; final: a", nil, nil},
		51: {"a; final: a", nil, nil}, 55: {"a; final: a", nil, nil},
		7:  {"", []plan.Code{plan.CodeUnreadable}, []string{"line 1, character 37"}},
		11: {"1; 2: 1; 3: 1 2", nil, nil},
		13: {"t1; t2: t1", nil, nil},
		15: {"05C-01; 05C-02: 05C-01", nil, nil},
		17: {"étape-1; שלב-2: e\u0301tape-1; 終わり🎉: שלב-2", []plan.Code{plan.CodeBadID, plan.CodeUnknownDependency, plan.CodeNoSingleFinalStep}, []string{"étape-1", "שלב-2", "終わり🎉"}},
		19: {"a; a; final: a", []plan.Code{plan.CodeDuplicateID}, []string{"1 and 2"}},
		21: {"; : task-0", []plan.Code{plan.CodeBadID, plan.CodeUnknownDependency}, []string{"task-0"}},
		25: {"task-a; final: task-a", nil, nil},
		29: {"1; 2: 4.4; final: 1 2", []plan.Code{plan.CodeUnknownDependency}, []string{"Step 2", "4.4", "1, 2, final"}},
		31: {"a: a; final: a", []plan.Code{plan.CodeSelfDependency}, []string{"depends on itself"}},
		33: {"A: B; B: A; final: B", []plan.Code{plan.CodeCycle}, []string{"A → B → A"}},
		35: {"0; 1: 1; 2: 3", []plan.Code{plan.CodeSelfDependency, plan.CodeUnknownDependency, plan.CodeNoSingleFinalStep}, []string{"3", "0, 1, 2"}},
		37: {"1; 2; 3: 1 2", nil, nil},
		39: {"E1; E2", []plan.Code{plan.CodeNoSingleFinalStep, plan.CodeBadReference}, []string{"#E1", "${E1}"}},
		43: {"a; final: a", []plan.Code{plan.CodeUnreadable}, []string{"a has steps of its own"}},
		45: {"", []plan.Code{plan.CodeEmptyPlan}, []string{"no steps"}},
		47: {"a; b: a; c: a", []plan.Code{plan.CodeNoSingleFinalStep}, []string{"b, c"}},
		49: {"a; final: a", []plan.Code{plan.CodeUnknownTool}, []string{"execute_python", "search, calc, answer"}},
		53: {`a"><img src=x onerror=alert(1)>; final: a"><img src=x onerror=alert(1)>`, []plan.Code{plan.CodeBadID}, nil},
	}
	cases := wilds(t)
	if len(cases) != len(want) {
		t.Fatalf("%d cases and %d expectations", len(cases), len(want))
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d %s", c.N, c.Kind), func(t *testing.T) {
			w, ok := want[c.N]
			if !ok {
				t.Fatalf("nothing is expected of it; it should: %s", c.Expect)
			}
			got := judgedOf(c.Input, rules())
			if got.outline != w.outline {
				t.Errorf("read as %q, want %q", got.outline, w.outline)
			}
			for _, code := range w.codes {
				if !slices.Contains(got.codes, code) {
					t.Errorf("%s is not reported: %v\n%s", code, got.codes, got.said)
				}
			}
			for _, code := range got.codes {
				if !slices.Contains(w.codes, code) {
					t.Errorf("%s is reported: %s", code, got.said)
				}
			}
			for _, says := range w.says {
				if !strings.Contains(got.said, says) {
					t.Errorf("nothing says %q: %s", says, got.said)
				}
			}
		})
	}
}

func TestWhatTheWildPlansSayIsKept(t *testing.T) { // BEHAVIOUR 2.2
	texts := map[int]func(p plan.Plan) bool{
		9: func(p plan.Plan) bool {
			return p.Steps[0].Instruction == "explain the <think> tag and </think> in HTML"
		},
		37: func(p plan.Plan) bool {
			return strings.Contains(string(p.Steps[2].Input), `${1}+${2}`) && p.Steps[0].Tool == "calc"
		},
		51: func(p plan.Plan) bool { return strings.Contains(string(p.Steps[0].Input), `"limit":"5"`) },
		53: func(p plan.Plan) bool {
			return strings.HasPrefix(p.Steps[0].Instruction, "<script>alert(1)</script> & \"quotes\"")
		},
		55: func(p plan.Plan) bool { return strings.HasSuffix(p.Steps[0].Instruction, "x💰💰💰") },
	}
	for _, c := range wilds(t) {
		if holds, ok := texts[c.N]; ok && !holds(planner.Read(c.Input).Plan) {
			t.Errorf("%d %s: %+v", c.N, c.Kind, planner.Read(c.Input).Plan)
		}
	}
}

func TestHugePlansFromTheWild(t *testing.T) {
	long := `[{"id":"s1","instruction":"` + strings.Repeat("x", 200_000) + `","depends_on":[]},{"id":"s2","instruction":"y","depends_on":["s1"]}]`
	if got := judgedOf(long, rules()); !slices.Equal(got.codes, []plan.Code{plan.CodeInstructionTooLong}) || len(got.said) > 1_000 {
		t.Errorf("200 kB: %v", got.codes)
	}
	var chain, fan []string
	for i := range 1_000 {
		dep := ""
		if i > 0 {
			dep = fmt.Sprintf("%q", fmt.Sprint("s", i-1))
		}
		chain = append(chain, fmt.Sprintf(`{"id":"s%d","instruction":"x","depends_on":[%s]}`, i, dep))
		fan = append(fan, fmt.Sprintf(`{"id":"f%d","instruction":"y"}`, i))
	}
	wide := plan.Rules{MaxSteps: 2_000}
	for name, text := range map[string]string{"chain": "[" + strings.Join(chain, ",") + "]", "fan": "[" + strings.Join(fan, ",") + "]"} {
		if got := judgedOf(text, rules()); !slices.Contains(got.codes, plan.CodeTooManySteps) || len(got.said) > 20_000 {
			t.Errorf("%s: %v, %d characters are said", name, got.codes, len(got.said))
		}
		got := judgedOf(text, wide)
		if name == "chain" && len(got.codes) > 0 || len(got.reading.Plan.Steps) != 1_000 {
			t.Errorf("%s within the limit: %v", name, got.codes)
		}
	}
}

func TestReadingSteps(t *testing.T) { // BEHAVIOUR 2.2
	list := func(second string) string { return `[{"id":"a","instruction":"x","depends_on":[]},` + second + `]` }
	for _, tt := range []struct{ name, text, want string }{
		{"an object", `{"steps":` + list(`{"id":"b","instruction":"y","depends_on":["a"]}`) + `}`, "a; b: a"},
		{"a wrapper around a list", `{"plan":` + list(`{"id":"b","instruction":"y","depends_on":["a"]}`) + `}`, "a; b: a"},
		{"numbers", `[{"id":1,"instruction":"x"},{"id":2,"instruction":"y","depends_on":1}]`, "1; 2: 1"},
		{"numbers and texts", `[{"id":1,"instruction":"x"},{"id":"2","instruction":"y","depends_on":["1"]}]`, "1; 2: 1"},
		{"space around ids", list(`{"id":" b ","instruction":"y","depends_on":[" a"]}`), "a; b: a"},
		{"objects with a step", list(`{"id":"b","instruction":"y","depends_on":[{"step":"a"}]}`), "a; b: a"},
		{"one object", list(`{"id":"b","instruction":"y","depends_on":{"id":"a"}}`), "a; b: a"},
		{"by instruction", list(`{"id":"b","instruction":"y","depends_on":["X "]}`), "a; b: a"},
		{"another spelling of the key", list(`{"id":"b","instruction":"y","dependsOn":["a"]}`), "a; b: a"},
		{"other keys", list(`{"id":"b","instruction":"y","depends_on":["a"],"status":"pending","substeps":[],"note":"then a"}`), "a; b: a"},
		{"nulls", list(`{"id":"b","instruction":"y","depends_on":["a"],"tool":null,"input":null,"contract":null,"strategy":null,"title":null}`), "a; b: a"},
		{"an empty input without a tool", list(`{"id":"b","instruction":"y","depends_on":["a"],"input":{}}`), "a; b: a"},
	} {
		got := judgedOf(tt.text, rules())
		if got.outline != tt.want || len(got.codes) > 0 {
			t.Errorf("%s: %q, %v, %s", tt.name, got.outline, got.codes, got.said)
		}
	}
}

func TestNothingIsDroppedInSilence(t *testing.T) { // BEHAVIOUR 2.2
	step := `{"id":"a","instruction":"x","depends_on":[]}`
	second := func(more string) string { return `[` + step + `,{"id":"b","instruction":"y",` + more + `}]` }
	for _, tt := range []struct{ name, text, says string }{
		{"an edge under another key", second(`"depends_on":[],"dependencies":["a"]`), "dependencies"},
		{"an edge under another key, alone", second(`"requires":"a"`), "requires"},
		{"edges beside the steps", `{"nodes":[` + step + `],"edges":[["a","b"]]}`, "edges"},
		{"edges beside the steps, by name", `{"steps":[` + step + `],"dependencies":{"b":["a"]}}`, "dependencies"},
		{"two spellings that differ", second(`"depends_on":[],"dependsOn":["a"]`), "depends"},
		{"an edge that is no id", second(`"depends_on":["a",true]`), "true"},
		{"an edge to nothing", second(`"depends_on":["a",null]`), "null"},
		{"an edge in a list in a list", second(`"depends_on":[["a"]]`), "a"},
		{"an empty edge", second(`"depends_on":["a",""]`), "depends_on"},
		{"an object that names two", second(`"depends_on":[{"id":"a","step":"c"}]`), "depends_on"},
		{"steps of its own", second(`"depends_on":["a"],"substeps":[{"id":"c","instruction":"z"}]`), "substeps"},
		{"a step that is a text", `[` + step + `,"then sum up"]`, "Step 2"},
		{"a step that is null", `[` + step + `,null]`, "Step 2"},
		{"an instruction that is a list", second(`"instruction":["y"],"depends_on":["a"]`), ""},
		{"a tool that is an object", second(`"depends_on":["a"],"tool":{"name":"calc"}`), "tool"},
		{"a contract that is a text", second(`"depends_on":["a"],"contract":"x > 0"`), "contract"},
		{"a contract of other keys", second(`"depends_on":["a"],"contract":{"must":["x"]}`), "contract"},
		{"a strategy that is a number", second(`"depends_on":["a"],"strategy":3`), "strategy"},
		{"a deliverable that is a list", `{"steps":[` + step + `],"deliverable":["a"]}`, "deliverable"},
		{"steps that are a text", `{"steps":"first a, then b"}`, "steps"},
		{"steps by name", `{"steps":{"a":` + step + `}}`, "steps"},
		{"steps that are null", `{"steps":null}`, "steps"},
		{"another object", `{"answer":42}`, "steps"},
		{"another object in prose", `Here: {"answer":42}. Done.`, "steps"},
		{"two plans", `[` + step + `] or [{"id":"z","instruction":"x","depends_on":[]}]`, "2 different"},
		{"two lists of steps", `{"steps":[` + step + `],"plan":[{"id":"z","instruction":"x","depends_on":[]}]}`, "more than one"},
		{"a name for two", `[{"id":"a","title":"Look","instruction":"x"},{"id":"b","title":"look","instruction":"y"},{"id":"c","instruction":"z","depends_on":["LOOK"]}]`, `"a" or "b"`},
		{"an end and steps", `{"finalize":true,"steps":[` + step + `]}`, "finalize"},
		{"an end that is a word", `{"finalize":"yes"}`, "finalize"},
		{"a key twice", `[{"id":"a","instruction":"x","depends_on":[],"depends_on":["b"]},{"id":"b","instruction":"y"}]`, "twice"},
		{"cut off", `[` + step + `,{"id":"b","instr`, "cut off"},
		{"a bad escape", `So: {"steps":[{"id":"a","instruction":"open C:\windows","depends_on":[]}]} OK?`, "cannot be read"},
		{"Python", `[{'id': 'a', 'instruction': 'x', 'depends_on': []}]`, "cannot be read"},
	} {
		got := planner.Read(tt.text)
		if len(got.Violations) == 0 {
			t.Errorf("%s: read as %+v", tt.name, got)
			continue
		}
		said := ""
		for _, v := range got.Violations {
			said += v.Message + "\n"
			if v.Code != plan.CodeUnreadable || v.Steps == nil {
				t.Errorf("%s: %+v", tt.name, v)
			}
		}
		if !strings.Contains(said, tt.says) || got.NoJSON {
			t.Errorf("%s: %q does not say %q; no JSON: %v", tt.name, said, tt.says, got.NoJSON)
		}
	}
}

func TestWhatIsNoJSON(t *testing.T) { // BEHAVIOUR 2.4
	for _, text := range []string{"", " \n", "I cannot plan this.", "See [the docs] and [1], {x}.", `<think>{"steps":[]}</think>`, `"steps"`, "42"} {
		got := planner.Read(text)
		if !got.NoJSON || len(got.Violations) != 1 || len(got.Plan.Steps) > 0 || got.Finalize {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestFinalizing(t *testing.T) { // BEHAVIOUR 7.2
	for text, want := range map[string]bool{
		`{"finalize": true}`: true, "```json\n{\"finalize\":true}\n```": true, `{"finalize":true,"steps":[]}`: true, `{"finalize":true,"steps":null}`: true,
		`{"finalize":false,"steps":[{"id":"a","instruction":"x"}]}`: false, `{"finalize":null,"steps":[{"id":"a","instruction":"x"}]}`: false,
	} {
		if got := planner.Read(text); got.Finalize != want || len(got.Violations) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	text := `{"deliverable":"b","steps":[
		{"id":"a","instruction":"look <up>","depends_on":[],"tool":"search","input":{"q":"${b.x}","n":1.50}},
		{"id":"b","instruction":"sum up","depends_on":["a"],"contract":{"required":["n"],"checks":["n > 0"]},"strategy":"react"},
		{"id":"c","instruction":"ask","depends_on":["a"],"tool":"search","input":"the text"}]}`
	want := plan.Plan{Deliverable: "b", Steps: []plan.Step{
		{ID: "a", Instruction: "look <up>", DependsOn: []string{}, Tool: "search", Input: json.RawMessage(`{"q":"${b.x}","n":1.50}`)},
		{ID: "b", Instruction: "sum up", DependsOn: []string{"a"}, Strategy: plan.StrategyReact, Contract: &plan.Contract{Required: []string{"n"}, Checks: []string{"n > 0"}}},
		{ID: "c", Instruction: "ask", DependsOn: []string{"a"}, Tool: "search", Input: json.RawMessage(`"the text"`)},
	}}
	for _, text := range []string{text, `{"plan":` + text + `}`, "Here:\n" + text + "\nOK?", strings.Replace(text, `"deliverable":"b"`, `"deliverable":"B"`, 1)} {
		got := planner.Read(text)
		if !reflect.DeepEqual(got.Plan, want) || len(got.Violations) > 0 {
			t.Errorf("read as %+v, %v", got.Plan, got.Violations)
		}
	}
	if got := planner.Read(`{"steps":[{"id":7,"instruction":"x"}],"deliverable":7}`); got.Plan.Deliverable != "7" {
		t.Errorf("a deliverable that is a number: %+v", got)
	}
}

func TestMendsAreTold(t *testing.T) { // BEHAVIOUR 2.2, 3.5
	got := planner.Read(`[{"id":"A1","title":"Find it","instruction":"x"},{"id":"b","instruction":"y","depends_on":["a1"]},{"id":"c","instruction":"z","depends_on":["find it","b"]}]`)
	if outline(got.Plan) != "A1; b: A1; c: A1 b" || len(got.Mends) != 2 {
		t.Fatalf("%s, %q", outline(got.Plan), got.Mends)
	}
	for i, says := range [][]string{{"b", `"a1"`, "A1"}, {"c", `"find it"`, "A1"}} {
		for _, s := range says {
			if !strings.Contains(got.Mends[i], s) {
				t.Errorf("%q does not say %s", got.Mends[i], s)
			}
		}
	}
	// A step is never made to depend on itself, and an id that is there is never read as another.
	got = planner.Read(`[{"id":"a","instruction":"b"},{"id":"b","instruction":"y","depends_on":["B","a"]}]`)
	if outline(got.Plan) == "a; b: b a" || len(plan.Check(got.Plan, rules())) == 0 && len(got.Violations) == 0 {
		t.Errorf("%s, %v", outline(got.Plan), got.Mends)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range wilds(f) {
		f.Add(c.Input)
	}
	f.Add(`{"finalize":true}`)
	f.Add(`{"plan":{"steps":[{"id":1,"instruction":"x","depends_on":{"id":"1"},"contract":{"required":["a"]}}]},"deliverable":1}`)
	f.Add(`[{"ID":"a","Depends-On":["a"],"title":"t","input":"${a.b}","tool":"calc"},{}]`)
	f.Fuzz(func(t *testing.T, text string) {
		r := planner.Read(text)
		found := plan.Check(r.Plan, rules())
		if len(r.Violations) > 0 {
			for _, v := range r.Violations {
				if v.Message == "" || v.Code == "" {
					t.Fatalf("%q: %+v", text, v)
				}
			}
			return
		}
		if r.NoJSON || r.Finalize {
			if r.NoJSON || len(r.Plan.Steps) > 0 {
				t.Fatalf("%q: %+v", text, r)
			}
			return
		}
		if !plan.Valid(found) {
			return
		}
		mended, _ := plan.Mended(r.Plan)
		for _, v := range plan.Check(mended, rules()) {
			if !v.Warning || v.Code == plan.CodeDuplicateDependency {
				t.Fatalf("%q: mended, it breaks %+v", text, v)
			}
		}
		b, err := json.Marshal(mended)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again := planner.Read(string(b))
		if len(again.Violations) > 0 || len(again.Mends) > 0 {
			t.Fatalf("%q is written %s and read with %+v, %q", text, b, again.Violations, again.Mends)
		}
		x, err1 := plan.Hash(mended)
		y, err2 := plan.Hash(again.Plan)
		if err1 != nil || err2 != nil || x != y {
			t.Fatalf("%q is written %s and read as %+v", text, b, again.Plan)
		}
	})
}
