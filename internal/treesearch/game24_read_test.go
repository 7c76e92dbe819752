package treesearch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planwave/internal/treesearch"
)

// read writes what was made of a model's text: the children, then the reasons
// of what was dropped.
func read(t testing.TB, state, text string) []string {
	t.Helper()
	p, err := treesearch.ReadProposals(state, text)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range p.Children {
		all = append(all, c.Step+" → "+c.State)
	}
	for _, d := range p.Dropped {
		all = append(all, d.Reason)
	}
	return all
}

func TestReadProposals(t *testing.T) {
	const sum = "4 + 9 = 13 → 10 13 13"
	for _, c := range []struct {
		state, text string
		want        []string
	}{
		{"4 9 10 13", "4 + 9 = 13 (left: 10 13 13)", []string{sum}},
		{"4 9 10 13", "Possible next steps:\n\n- 4 + 9 = 13 (left: 10 13 13)\n2. 13-9=4 (left: 4, 4, 10)\nThat is all.", []string{sum, "13 − 9 = 4 → 4 4 10"}},
		{"4 9 10 13", "**`4 + 9 = 13 (Left: 13 10 13)`** (a note)", []string{sum}},
		{"4 9 10 13", "4 × 9 = 36 (left: 10 13 36)\r\n9*4=36 (left: 10 13 36)", []string{"4 × 9 = 36 → 10 13 36", "9 × 4 = 36 → 10 13 36"}},
		{"4 9 10 13", "4 − 10 = −6 (left: −6 9 13)", []string{"4 − 10 = −6 → -6 9 13"}},
		{"-6 9 13", "-6 - 9 = -15 (left: -15 13)\n9 - (-6) = 15 (left: 13 15)", []string{"−6 − 9 = −15 → -15 13", "9 − −6 = 15 → 13 15"}},
		{"4 6 10", "6 / 4 = 1.5 (left: 1.5 10)\n4 ÷ 6 = 2/3 (left: 2/3 10)", []string{"6 ÷ 4 = 3/2 → 3/2 10", "4 ÷ 6 = 2/3 → 2/3 10"}},
		{"3/2 10", "10 * 3/2 = 15 (left: 15)\n1.5 x 10 = 15 (left: 15)", []string{"10 × 3/2 = 15 → 15", "3/2 × 10 = 15 → 15"}},
		{"3 8", "8 / 3 = 2.67 (left: 2.67)\n8 / 3 = 2.66 (left: 2.66)\n8 / 3 = 2.6 (left: 2.6)\n8 / 3 = 2.8 (left: 2.8)", []string{"rounded", "rounded", "rounded", "wrong_arithmetic"}},
		{"3 8", "8 / 3 = 3 (left: 3)", []string{"wrong_arithmetic"}},
		{"3 8", "3 * 8 = 25 (left: 25)", []string{"wrong_arithmetic"}},
		{"3 8", "3 * 8 = 24 (left: 25)\n3 * 8 = 24 (left: 24 8)\n3 * 8 = 24 (left: )\n3 * 8 = 24 (left: 1 2 3 4 5)", []string{"wrong_left", "wrong_left", "wrong_left", "unreadable"}},
		{"3 8", "4 * 6 = 24 (left: 24)\n8 * 8 = 64 (left: 3 64)", []string{"number_not_there", "number_not_there"}},
		{"0 8", "8 / 0 = 24 (left: 24)", []string{"division_by_zero"}},
		{"3 8", "3 * 8 = 24\n3 * 8 is 24 (left: 24)\n3 % 8 = 3 (left: 3)\n3 ** 8 = 24 (left: 24)", []string{"unreadable", "unreadable", "unreadable", "unreadable"}},
		{"3 8", "3 * 8 = 24 (left: 24)\n3 × 8 = 24 (left: 24)", []string{"3 × 8 = 24 → 24", "repeated"}},
		{"3 8", "3 * 8 = 1e1000000000 (left: 24)\n3 * 8 = 24 (left: 1/0)", []string{"unreadable", "unreadable"}},
		{"3 8", "Nothing comes to mind.", nil},
		{"3 8", "", nil},
		{"3 8", "3 * 8 = 24 (left: +24)", []string{"unreadable"}},
		{"24", "24 + 24 = 48 (left: 48)", []string{"number_not_there"}},
		// JSON
		{"4 9 10 13", `["4 + 9 = 13 (left: 10 13 13)", "4 + 9 = 13"]`, []string{sum, "unreadable"}},
		{"4 9 10 13", "Here:\n```json\n{\"proposals\": [{\"a\": 4, \"op\": \"+\", \"b\": 9, \"result\": 13, \"left\": [10, 13, 13]}]}\n```", []string{sum}},
		{"4 9 10 13", `[{"a": "4", "op": "+", "b": "9"}, {"a": 13, "op": "-", "b": 9, "result": "4", "left": "4 4 10"}]`, []string{sum, "13 − 9 = 4 → 4 4 10"}},
		{"4 9 10 13", `[{"step": "4 + 9 = 13"}, {"step": "13 - 9 = 4", "left": ["4", 4, 10]}]`, []string{sum, "13 − 9 = 4 → 4 4 10"}},
		{"-6 3/2", `[{"a": -6, "op": "-", "b": 1.5}, {"a": "3/2", "op": "/", "b": "-6"}]`, []string{"−6 − 3/2 = −15/2 → -15/2", "3/2 ÷ −6 = −1/4 → -1/4"}},
		{"3 8", `[{"a": 3, "op": "*", "b": 8, "result": 25}, {"a": 3, "op": "*", "b": 8, "left": [25]}, {"a": 3, "op": "*", "b": 8, "left": []}, {"step": "3 * 8 = 25"}]`, []string{"wrong_arithmetic", "wrong_left", "wrong_left", "wrong_arithmetic"}},
		{"3 8", `[{"a": 8, "op": "/", "b": 3, "result": 2.67}, {"a": 4, "op": "*", "b": 6}, {"a": 3, "op": "*", "b": 8, "result": true}]`, []string{"rounded", "number_not_there", "unreadable"}},
		{"3 8", `[{"a": 3, "op": "^", "b": 8}, {"a": [3], "op": "*", "b": 8}, {"op": "*"}, {}, 7, null, {"a": 3, "op": "* 8 = 24 (", "b": 8}, {"step": " "}]`, slices.Repeat([]string{"unreadable"}, 8)},
		{"3 8", `{"proposals": []}`, nil},
		{"3 8", `{"proposals": [{"a": 3, "op": "*", "b": 8`, []string{"unreadable"}}, // cut off
		{"3 8", `{"answer": 24}`, []string{"unreadable"}},
		{"3 8", "[the steps]\n3 * 8 = 24 (left: 24)", []string{"3 × 8 = 24 → 24"}},
	} {
		if got := read(t, c.state, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\ngot  %q\nwant %q", c.state, c.text, got, c.want)
		}
	}
}

func TestALongAnswerIsReadInPart(t *testing.T) {
	got := read(t, "3 8", strings.Repeat("3 * 9 = 27 (left: 27)\n", 1000))
	if len(got) != 101 || got[99] != treesearch.DropNumberNotThere || got[100] != treesearch.DropTooMany {
		t.Errorf("%d came of it, the last %q", len(got), got[len(got)-1])
	}
	p, err := treesearch.ReadProposals("3 8", strings.Repeat("1\xff", 1000))
	if err != nil || len(p.Dropped) != 1 || len([]rune(p.Dropped[0].Text)) != 120 || !strings.HasSuffix(p.Dropped[0].Text, "…") {
		t.Errorf("got %+v, error %v", p, err)
	}
}

func TestReadVerdict(t *testing.T) {
	for text, want := range map[string]treesearch.Verdict{
		"sure":                                {Score: treesearch.ScoreSure, Reason: "sure"},
		"10 + 14 = 24\nsure\n":                {Score: treesearch.ScoreSure, Reason: "sure"},
		"4 4 10 is within reach\n**Likely.**": {Score: treesearch.ScoreLikely, Reason: "likely"},
		"Judge: impossible":                   {Score: treesearch.ScoreImpossible, Reason: "impossible"},
		"It is sure.\r\nVerdict = likely":     {Score: treesearch.ScoreLikely, Reason: "likely"},
		`{"score": 0.25}`:                     {Score: 0.25},
		"So:\n```json\n{\"score\": 1, \"reason\": \"6 × 4\"}\n```": {Score: 1, Reason: "6 × 4"},
		`{"verdict": "Impossible", "reason": "too big"}`:           {Score: treesearch.ScoreImpossible, Reason: "too big"},
		`{"score": 0}`: {},
	} {
		if got, err := treesearch.ReadVerdict(text); err != nil || got != want {
			t.Errorf("%q is read as %+v, error %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "maybe", "not sure", "unlikely", "likely or impossible", "surely", "sure\nnot at all", "it is not impossible",
		`{"score": 1.5}`, `{"score": -0.1}`, `{"score": "high"}`, `{"score": null}`, `{"score": 1e999}`, `{}`, `{"verdict": "maybe"}`,
		`{"score": 1, "verdict": "impossible"}`, `{"score": 0.5`, "[0.5]", "\xff",
	} {
		if got, err := treesearch.ReadVerdict(text); !errors.Is(err, treesearch.ErrUnreadable) || got != (treesearch.Verdict{}) {
			t.Errorf("%q is read as %+v, error %v", text, got, err)
		}
	}
}

// TestJudgesWordsAddUpAsInThePaper holds the proportions 20 to 1 to 0.001.
func TestJudgesWordsAddUpAsInThePaper(t *testing.T) {
	got := fmt.Sprintf("%.4g %.4g", treesearch.ScoreSure/treesearch.ScoreLikely, treesearch.ScoreLikely/treesearch.ScoreImpossible)
	if got != "20 1000" {
		t.Errorf("the proportions are %s", got)
	}
}

// TestAModelsWordsLeadToAGoal searches with what a model could have written.
func TestAModelsWordsLeadToAGoal(t *testing.T) {
	says := map[string]string{
		"4 9 10 13": "4 + 9 = 13 (left: 10 13 13)\n4 - 10 = -6 (left: -6 9 13)\n9 + 13 = 24 (left: 4 10 24)\n24 = 24 (left: 24)",
		"-6 9 13":   `{"proposals": [{"a": 9, "op": "-", "b": 13, "result": -4, "left": [-6, -4]}, {"a": 9, "op": "-", "b": 13, "result": 24, "left": [24]}]}`,
		"-6 -4":     "-6 * -4 = 24 (left: 24)",
	}
	thinks := map[string]string{"10 13 13": "10 13 13 is too far off\nimpossible", "-6 9 13": "likely", "-6 -4": `{"score": 1}`}
	r, err := treesearch.Search(t.Context(), "4 9 10 13", treesearch.Options{
		Goal: treesearch.Is24, Breadth: 1, Parallel: 4,
		Proposer: treesearch.ProposerFunc(func(_ context.Context, n treesearch.Node) (treesearch.Proposals, error) {
			return treesearch.ReadProposals(n.State, says[n.State])
		}),
		Judge: treesearch.JudgeFunc(func(_ context.Context, n treesearch.Node) (treesearch.Verdict, error) {
			return treesearch.ReadVerdict(thinks[n.State])
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := treesearch.Expression(r.Path(r.Goal.ID)); err != nil || got != "(4 − 10) × (9 − 13)" {
		t.Errorf("got %q, error %v", got, err)
	}
	var dropped []string
	for _, l := range r.Levels {
		for _, d := range l.Dropped {
			dropped = append(dropped, d.ParentID+" "+d.Reason)
		}
	}
	if want := []string{"0.0 wrong_arithmetic", "0.0 unreadable", "1.1 wrong_left"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped are %q, want %q", dropped, want)
	}
}

// FuzzReadProposals holds that whatever a model writes, what comes of it are
// moves that code makes too, each once, and a reason for the rest.
func FuzzReadProposals(f *testing.F) {
	for _, text := range []string{
		"4 + 9 = 13 (left: 10 13 13)", `[{"a": 4, "op": "+", "b": 9}]`, `{"proposals": ["4 - 9 = -5 (left: -5 10 13)"]}`,
		"4 / 9 = 0.44 (left: 0.44 10 13)", `[{"step": "13 / 4 = 13/4", "left": "9 10 3.25"}]`, "4 ÷ 9 = 4/9 (left: 4/9 10 13)",
	} {
		f.Add(text)
	}
	const state = "4 9 10 13"
	code, err := treesearch.CodeProposer{}.Propose(f.Context(), treesearch.Node{State: state})
	if err != nil {
		f.Fatal(err)
	}
	legal := map[string]bool{}
	for _, c := range code.Children {
		legal[c.State] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := treesearch.ReadProposals(state, text)
		if err != nil {
			t.Fatal(err)
		}
		steps := map[string]bool{}
		for _, c := range p.Children {
			if !legal[c.State] || steps[c.Step] {
				t.Errorf("%q makes %+v", text, c)
			}
			steps[c.Step] = true
		}
		for _, d := range p.Dropped {
			if d.Reason == "" {
				t.Errorf("%q drops %+v without a reason", text, d)
			}
		}
	})
}
