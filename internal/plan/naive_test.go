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

// naiveOrder takes again and again the first step of the plan whose
// dependencies have all been taken.
func naiveOrder(p plan.Plan) []string {
	var order []string
	for len(order) < len(p.Steps) {
		at := slices.IndexFunc(p.Steps, func(s plan.Step) bool {
			return !slices.Contains(order, s.ID) &&
				!slices.ContainsFunc(s.DependsOn, func(d string) bool { return !slices.Contains(order, d) })
		})
		if at < 0 {
			return nil
		}
		order = append(order, p.Steps[at].ID)
	}
	return order
}

func TestTiesAreBrokenInPlanOrder(t *testing.T) { // BEHAVIOUR 1.5
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, rapid.IntRange(0, 3).Draw(rt, "kind") > 0)
		got, err := plan.Order(p)
		want := naiveOrder(p)
		if (err == nil) != (want != nil || len(p.Steps) == 0) || !slices.Equal(got, want) {
			rt.Fatalf("order %v, %v, want %v", got, err, want)
		}
	})
}

// heaviest is the weight of the heaviest chain that ends in a step.
func heaviest(p plan.Plan, weight map[string]float64, id string) float64 {
	s, _ := p.Step(id)
	most := 0.0
	for _, d := range s.DependsOn {
		most = max(most, heaviest(p, weight, d))
	}
	return weight[id] + most
}

func TestTheHeaviestChainByTryingAll(t *testing.T) { // BEHAVIOUR 1.5, 3.6
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, true)
		weight := map[string]float64{}
		for _, s := range p.Steps {
			weight[s.ID] = float64(rapid.IntRange(0, 9).Draw(rt, "weight"))
		}
		path, err := plan.CriticalPath(p, func(id string) float64 { return weight[id] })
		if err != nil || (len(path) == 0) != (len(p.Steps) == 0) {
			rt.Fatalf("%v, %v", path, err)
		}
		got, want := 0.0, 0.0
		for i, id := range path {
			got += weight[id]
			if s, _ := p.Step(id); i > 0 && !slices.Contains(s.DependsOn, path[i-1]) {
				rt.Fatalf("%v is no chain", path)
			}
		}
		for _, s := range p.Steps {
			want = max(want, heaviest(p, weight, s.ID))
		}
		if got != want {
			rt.Fatalf("%v weighs %v, and the heaviest chain %v", path, got, want)
		}
	})
}

func TestTheWavesAreAsEarlyAsTheyCanBe(t *testing.T) { // BEHAVIOUR 1.5, 5.1
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, true)
		waves, err := plan.Waves(p)
		if err != nil {
			rt.Fatal(err)
		}
		var done []string
		for n, wave := range waves { // each wave is exactly who is ready, in plan order
			var ready []string
			for _, s := range p.Steps {
				if !slices.Contains(done, s.ID) && !slices.ContainsFunc(s.DependsOn, func(d string) bool { return !slices.Contains(done, d) }) {
					ready = append(ready, s.ID)
				}
			}
			if !slices.Equal(wave, ready) {
				rt.Fatalf("wave %d is %v, and ready are %v", n+1, wave, ready)
			}
			done = append(done, wave...)
		}
		if len(done) != len(p.Steps) {
			rt.Fatalf("waves %v hold %d of %d steps", waves, len(done), len(p.Steps))
		}
	})
}

func TestTheEndsAreWhoNobodyNeeds(t *testing.T) { // BEHAVIOUR 1.5
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		needed := map[string]bool{}
		for _, s := range p.Steps {
			for _, d := range s.DependsOn {
				needed[d] = needed[d] || d != s.ID
			}
		}
		want := slices.DeleteFunc(p.IDs(), func(id string) bool { return needed[id] })
		if got := plan.Terminals(p); !slices.Equal(got, want) {
			rt.Fatalf("ends %v, want %v", got, want)
		}
	})
}

func TestAffectedOfSeveralIsAllOfEach(t *testing.T) { // BEHAVIOUR 1.5, 5.8
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, false)
		if len(p.Steps) == 0 {
			return
		}
		of := rapid.SliceOf(rapid.SampledFrom(p.IDs())).Draw(rt, "of")
		together, err := plan.Affected(p, of)
		if err != nil {
			rt.Fatal(err)
		}
		each := map[string]bool{}
		for _, id := range of {
			one, err := plan.Affected(p, []string{id})
			if err != nil {
				rt.Fatal(err)
			}
			for _, a := range one {
				each[a] = true
			}
		}
		want := slices.DeleteFunc(p.IDs(), func(id string) bool { return !each[id] })
		if !slices.Equal(together, want) {
			rt.Fatalf("affected %v, want %v", together, want)
		}
		again, err := plan.Affected(p, together)
		if err != nil || !slices.Equal(again, together) {
			rt.Fatalf("what is affected by the affected is %v, %v, want %v", again, err, together)
		}
	})
}

// naiveFill fills in a text by looking for each reference in turn, without a
// pattern: it splits at "${", takes what stands before "}", and puts the
// result there.
func naiveFill(text string, results map[string]plan.Result) string {
	parts := strings.Split(text, "${")
	out := parts[0]
	for _, part := range parts[1:] {
		inside, rest, closed := strings.Cut(part, "}")
		result, known := results[inside]
		if !closed || !known {
			out += "${" + part
			continue
		}
		out += result.Text + rest
	}
	return out
}

func TestFillingInAgainstSplitting(t *testing.T) { // BEHAVIOUR 4.2, 5.11
	results := map[string]plan.Result{
		"a": {Text: "A"}, "b": {Text: "${a} and $a"}, "a1": {Text: ""}, "10": {Text: "ten $1 #E1"}, "x-y_z": {Text: `"quoted" <b>\n`},
	}
	piece := rapid.SampledFrom([]string{"${a}", "${b}", "${a1}", "${10}", "${x-y_z}", "$", "{", "}", "a", " ", "#a", "\"", "\\", "é🎉", "$1"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(rt, "pieces"), "")
		input, err := json.Marshal(map[string]any{"q": text, "list": []any{text + ".", 1, nil}, "in": map[string]any{"k": text}})
		if err != nil {
			rt.Fatal(err)
		}
		filled, err := plan.Fill(input, results)
		if err != nil {
			rt.Fatalf("%s: %v", input, err)
		}
		var got struct {
			Q    string
			List []any
			In   map[string]string
		}
		if err := json.Unmarshal(filled, &got); err != nil {
			rt.Fatalf("%s: %v", filled, err)
		}
		want := naiveFill(text, results)
		if got.Q != want || got.In["k"] != want || fmt.Sprint(got.List) != fmt.Sprint([]any{want + ".", 1.0, nil}) {
			rt.Fatalf("%q is filled in as %s, want %q", text, filled, want)
		}
	})
}
