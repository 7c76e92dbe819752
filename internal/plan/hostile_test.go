package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"planwave/internal/plan"
)

// weigh is how much a report holds: bytes of messages and labels, and ids.
func weigh(violations []plan.Violation) (bytes, ids int) {
	for _, v := range violations {
		bytes += len(v.Message)
		ids += len(v.Steps)
		if v.Mend == nil {
			continue
		}
		bytes += len(v.Mend.Label)
		if v.Mend.DependsOn != nil {
			ids += len(*v.Mend.DependsOn)
		}
	}
	return bytes, ids
}

// many joins n texts that hold their number.
func many(n int, format, between string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(i))
	}
	return strings.Join(parts, between)
}

func TestAReportIsNotMuchLargerThanItsPlan(t *testing.T) { // BEHAVIOUR 11
	const n = 20_000
	strangers := strings.Fields(many(n, "x%d", " "))
	cycle := make([]string, 400)
	for i := range cycle {
		cycle[i] = fmt.Sprintf("s%d: %s", i, many(len(cycle), "s%d", " "))
	}
	references := steps("a")
	references.Steps[0].Tool = "search"
	references.Steps[0].Input = json.RawMessage(`["` + many(n, "${x%d} ${", `","`) + `"]`)
	references.Steps[0].DependsOn = strangers
	for _, tt := range []struct {
		name string
		plan plan.Plan
		code plan.Code
		want int
	}{
		{"strangers", plan.Plan{Steps: []plan.Step{{ID: "a", Instruction: "x", DependsOn: strangers}}}, plan.CodeUnknownDependency, n},
		{"itself, over and over", steps("a: " + strings.Repeat("a ", n)), plan.CodeSelfDependency, 1},
		{"all twice", steps("a: " + many(n, "x%d x%d", " ")), plan.CodeDuplicateDependency, n},
		{"loose ends", steps(strings.Fields(many(n, "s%d", " "))...), plan.CodeNoSingleFinalStep, 1},
		{"one id", steps(strings.Fields(strings.Repeat("a ", n))...), plan.CodeDuplicateID, n - 1},
		{"everybody waits for everybody", steps(cycle...), plan.CodeCycle, 1},
		{"references", references, plan.CodeBadReference, n},
		{"a round behind one task", steps(append(strings.Split(many(n-1, "s%d: a", "\n"), "\n"), "a")...), plan.CodeNotIndependent, n - 1},
	} {
		found := plan.Check(tt.plan, plan.Rules{MaxSteps: n, Tools: []plan.ToolRule{{Name: "search"}}, Round: tt.code == plan.CodeNotIndependent})
		count := 0
		for _, v := range found {
			if v.Code == tt.code {
				count++
			}
		}
		if count != tt.want {
			t.Errorf("%s: %d × %s, want %d", tt.name, count, tt.code, tt.want)
		}
		bytes, ids := weigh(found)
		if most := 1_000*len(found) + 64*n; bytes > most {
			t.Errorf("%s: %d violations hold %d bytes of text", tt.name, len(found), bytes)
		}
		if most := 300_000 + 2*len(found); ids > most {
			t.Errorf("%s: %d violations hold %d ids", tt.name, len(found), ids)
		}
	}
}

func TestForeignTextIsCutAndQuoted(t *testing.T) { // BEHAVIOUR 11, text: unicode cut
	long := strings.Repeat("💰\n", 100_000)
	p := plan.Plan{Deliverable: long, Steps: []plan.Step{
		{ID: long, DependsOn: []string{long, long, "x" + long}, Tool: long, Strategy: plan.Strategy(long), Input: json.RawMessage(`"${a.` + strings.Repeat("ü", 9000) + `}"`)},
		{ID: long, Instruction: long, Input: json.RawMessage(`{"x":"${` + strings.Repeat("ü", 9000) + `"}`)},
		{ID: "a", Instruction: "x", Contract: &plan.Contract{}},
	}}
	found := plan.Check(p, plan.Rules{CheckContract: func(plan.Contract) []string { return []string{"no."} }})
	if len(found) < 10 {
		t.Fatalf("found %v", codes(found))
	}
	for _, v := range found {
		if len(v.Message) > 2_500 || !utf8.ValidString(v.Message) || strings.ContainsAny(v.Message, "\n\ufffd") {
			t.Errorf("%s: %d bytes: %.200q", v.Code, len(v.Message), v.Message)
		}
		if v.Mend != nil && (len(v.Mend.Label) > 1_000 || strings.Contains(v.Mend.Label, "\n")) {
			t.Errorf("%s has the label %.200q", v.Code, v.Mend.Label)
		}
	}
	if _, err := plan.Order(p); err == nil || len(err.Error()) > 1_000 {
		t.Errorf("order: %.200v", err)
	}
	if _, err := plan.Affected(p, []string{long + "x"}); err == nil || len(err.Error()) > 1_000 {
		t.Errorf("affected: %.200v", err)
	}
	if _, said := plan.Mended(p); len(said) != 1 || len(said[0]) > 2_000 {
		t.Errorf("mended: %.200q", said)
	}
}

func TestFillingInDoesNotBlowUp(t *testing.T) { // BEHAVIOUR 4.2, 11
	results := map[string]plan.Result{"s1": {Text: strings.Repeat("x", 1<<20)}}
	input := json.RawMessage(`["` + strings.Repeat("${s1}", 100) + `"]`)
	got, err := plan.Fill(input, results)
	if err == nil || got != nil || !strings.Contains(err.Error(), "8 MB") || len(err.Error()) > 300 {
		t.Errorf("%d bytes are filled in: %v", len(got), err)
	}
	results["s1"] = plan.Result{Text: "short"}
	if got, err := plan.Fill(input, results); err != nil || len(got) != len(`[""]`)+500 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"steps":[{"id":"a","instruction":"x","depends_on":["b","b"],"tool":"t","input":{"q":"${b.k} #b {{b}} ${"}},{"id":"b"}],"deliverable":"a"}`))
	f.Add([]byte(`{"steps":[{"id":"","depends_on":[""]},{"id":"a","depends_on":["a"],"contract":{"checks":["x"]},"strategy":"tree"},{"id":"a"}]}`))
	f.Add([]byte(`{"steps":[{"id":"a","depends_on":["c"]},{"id":"b","depends_on":["a"]},{"id":"c","depends_on":["b"],"input":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p plan.Plan
		if json.Unmarshal(b, &p) != nil {
			return
		}
		rules := plan.Rules{Tools: []plan.ToolRule{{Name: "t"}}, CheckContract: func(plan.Contract) []string { return nil }}
		found := plan.Check(p, rules)
		mended, _ := plan.Mended(p)
		order, err := plan.Order(mended)
		if plan.Valid(found) && (err != nil || len(order) != len(p.Steps)) {
			t.Fatalf("%s is valid and has the order %v, %v", b, order, err)
		}
		for _, v := range found {
			if v.Mend != nil {
				plan.Check(v.Mend.Apply(p), rules)
			}
		}
		canonical, err := plan.Canonical(p)
		if err != nil {
			t.Fatalf("%s has no canonical form: %v", b, err)
		}
		var back plan.Plan
		if err := json.Unmarshal(canonical, &back); err != nil {
			t.Fatalf("%s is no plan: %v", canonical, err)
		}
		if again, err := plan.Canonical(back); err != nil || string(again) != string(canonical) {
			t.Fatalf("the canonical form of\n%s is\n%s, %v", canonical, again, err)
		}
	})
}
