package treesearch_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/treesearch"
)

// puzzle is a line of testdata/puzzles.csv.
type puzzle struct {
	rank          int
	numbers       string
	inPaperTest   bool // ranks 901 to 1000
	needsFraction bool // no solution has whole numbers only on the way
	solution      string
}

func puzzles(t testing.TB) []puzzle {
	t.Helper()
	data, err := os.ReadFile("testdata/puzzles.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	var all []puzzle
	for _, l := range lines[1:] {
		rank, err := strconv.Atoi(l[column["rank"]])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, puzzle{
			rank: rank, numbers: l[column["puzzle"]], inPaperTest: l[column["paper_test"]] == "True",
			needsFraction: l[column["needs_fraction"]] == "True", solution: l[column["one_solution"]],
		})
	}
	return all
}

// solve searches for a puzzle's solution with moves from code. It returns the
// expression found, or "" when there is none.
func solve(t testing.TB, numbers string, judge treesearch.Judge, breadth int) (string, treesearch.Result) {
	t.Helper()
	state, err := treesearch.ParseNumbers(numbers)
	if err != nil {
		t.Fatal(err)
	}
	r, err := treesearch.Search(t.Context(), state, treesearch.Options{
		Proposer: treesearch.CodeProposer{}, Judge: judge, Goal: treesearch.Is24, Breadth: breadth,
	})
	if errors.Is(err, treesearch.ErrNoGoal) {
		return "", r
	}
	if err != nil {
		t.Fatal(err)
	}
	expression, err := treesearch.Expression(r.Path(r.Goal.ID))
	if err != nil {
		t.Fatalf("%s: %v", numbers, err)
	}
	return expression, r
}

// TestFourNineTenThirteen holds the facts of section 10.2 of the behaviour.
func TestFourNineTenThirteen(t *testing.T) {
	const numbers = "4 9 10 13"
	found, r := solve(t, numbers, &treesearch.Lookahead{}, 1)
	if found != "(4 − 10) × (9 − 13)" {
		t.Errorf("look-ahead finds %q", found)
	}
	var steps []string
	for _, n := range r.Path(r.Goal.ID)[1:] {
		steps = append(steps, n.Step+" → "+n.State)
	}
	if got, want := strings.Join(steps, "; "), "4 − 10 = −6 → -6 9 13; 9 − 13 = −4 → -6 -4; −6 × −4 = 24 → 24"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, breadth := range []int{1, 5, 200} {
		if found, r := solve(t, numbers, treesearch.Closeness{}, breadth); found != "" {
			t.Errorf("closeness finds %s with breadth %d", found, breadth)
		} else if n := len(r.Levels[1].Nodes()); breadth == 200 && n != 36*18 {
			t.Errorf("%d states stand at depth 2, want all 648: none is left out as a duplicate", n)
		}
	}
}

func TestLookaheadSolvesEveryPuzzleWithBreadthOne(t *testing.T) {
	all := puzzles(t)
	if len(all) != 1362 {
		t.Fatalf("there are %d puzzles, want 1362", len(all))
	}
	judge := &treesearch.Lookahead{}
	fractions := 0
	for _, p := range all {
		found, r := solve(t, p.numbers, judge, 1)
		if found == "" {
			t.Errorf("%s is not solved", p.numbers)
			continue
		}
		onTheWay := false
		for _, n := range r.Path(r.Goal.ID) {
			onTheWay = onTheWay || strings.Contains(n.State, "/")
		}
		if p.needsFraction {
			fractions++
			if !onTheWay {
				t.Errorf("%s is solved by %s, with whole numbers only on the way", p.numbers, found)
			}
		}
	}
	if fractions != 16 {
		t.Errorf("%d puzzles need fractions, want 16", fractions)
	}
}

// TestLookaheadKnowsWhichNumbersAreAPuzzle compares all numbers from 1 to 13
// with the list of those that have a solution.
func TestLookaheadKnowsWhichNumbersAreAPuzzle(t *testing.T) {
	solvable := map[string]bool{}
	for _, p := range puzzles(t) {
		solvable[p.numbers] = true
	}
	judge := &treesearch.Lookahead{}
	asked := 0
	for a := 1; a <= 13; a++ {
		for b := a; b <= 13; b++ {
			for c := b; c <= 13; c++ {
				for d := c; d <= 13; d++ {
					asked++
					state := fmt.Sprint(a, b, c, d)
					v, err := judge.Judge(t.Context(), treesearch.Node{State: state})
					if err != nil || (v.Score == 1) != solvable[state] || v.Score != 0 && v.Score != 1 || v.Reason == "" {
						t.Errorf("%s: %+v, error %v; has a solution: %v", state, v, err, solvable[state])
					}
				}
			}
		}
	}
	if asked != 1820 {
		t.Errorf("%d were asked about, want 1820", asked)
	}
}

// The share of the paper's 100 test puzzles that closeness solves. It depends
// on nothing but the code, so that a change of it is a change of the search.
var closenessSolves = map[int]int{5: 14, 200: 77}

func solvedInPaperTest(t testing.TB, breadth int) (solved, of int) {
	for _, p := range puzzles(t) {
		if p.inPaperTest {
			of++
			if found, _ := solve(t, p.numbers, treesearch.Closeness{}, breadth); found != "" {
				solved++
			}
		}
	}
	return solved, of
}

func TestWhatClosenessSolves(t *testing.T) {
	for breadth, want := range closenessSolves {
		if solved, of := solvedInPaperTest(t, breadth); solved != want || of != 100 {
			t.Errorf("breadth %d solves %d of %d, want %d of 100", breadth, solved, of, want)
		}
	}
}

func BenchmarkCloseness(b *testing.B) {
	for _, breadth := range []int{5, 200} {
		b.Run(fmt.Sprintf("breadth=%d", breadth), func(b *testing.B) {
			for b.Loop() {
				solved, of := solvedInPaperTest(b, breadth)
				b.ReportMetric(100*float64(solved)/float64(of), "%solved")
			}
		})
	}
}

func BenchmarkLookahead(b *testing.B) {
	all := puzzles(b)
	b.ResetTimer()
	for b.Loop() {
		solved := 0
		for _, p := range all {
			if found, _ := solve(b, p.numbers, &treesearch.Lookahead{}, 1); found != "" {
				solved++
			}
		}
		b.ReportMetric(100*float64(solved)/float64(len(all)), "%solved")
	}
}

func TestParseNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"4 9 10 13":          "4 9 10 13",
		"13, 4,9 ;10":        "4 9 10 13",
		"[4,9,10,13]":        "4 9 10 13",
		"\n 1/2 -3\t−4 1.5 ": "-4 -3 1/2 3/2",
		"6/4 0 0 007":        "0 0 3/2 7",
	} {
		if got, err := treesearch.ParseNumbers(text); err != nil || got != want {
			t.Errorf("%q is read as %q, error %v, want %q", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"":                  "there are 0: give four",
		"4 9 10":            "there are 3: give four",
		"4 9 10 13 1":       "there are 5: give four",
		"4 9 10 x":          `"x" is not one: give integers`,
		"4 9 10 1e9":        `"1e9" is not one`,
		"4 9 10 1/0":        "divides by zero",
		"4 9 10 1/2/3":      `"1/2/3" is not one`,
		"4 9 10 --1":        `"--1" is not one`,
		"4 9 10 1000000000": "at most 9 digits",
		"4 9 10 NaN":        `"NaN" is not one`,
		"4 9 10 0x1F":       `"0x1F" is not one`,
		"4 9 10 1_000":      `"1_000" is not one`,
		"4 9 10 \xff":       "is not one",
	} {
		if _, err := treesearch.ParseNumbers(text); !errors.Is(err, treesearch.ErrNumbers) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want one that says %q", text, err, says)
		}
	}
}

func TestIs24(t *testing.T) {
	for state, want := range map[string]bool{"24": true, "48/2": true, "24 24": false, "-24": false, "23": false, "": false, "x": false} {
		if got := treesearch.Is24(state); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
}

func TestMovesFromCode(t *testing.T) {
	for state, want := range map[string][]string{
		"2 3": {
			"2 + 3 = 5 → 5", "2 × 3 = 6 → 6", "2 − 3 = −1 → -1", "3 − 2 = 1 → 1", "2 ÷ 3 = 2/3 → 2/3", "3 ÷ 2 = 3/2 → 3/2",
		},
		"0 5": {"0 + 5 = 5 → 5", "0 × 5 = 0 → 0", "0 − 5 = −5 → -5", "5 − 0 = 5 → 5", "0 ÷ 5 = 0 → 0"},
		"0 0": {"0 + 0 = 0 → 0", "0 × 0 = 0 → 0", "0 − 0 = 0 → 0", "0 − 0 = 0 → 0"},
		"7":   nil,
	} {
		p, err := treesearch.CodeProposer{}.Propose(t.Context(), treesearch.Node{State: state})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range p.Children {
			got = append(got, c.Step+" → "+c.State)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(p.Dropped) > 0 {
			t.Errorf("%s\ngot  %q\nwant %q", state, got, want)
		}
	}
	p, err := treesearch.CodeProposer{}.Propose(t.Context(), treesearch.Node{State: "4 9 10 13"})
	if err != nil || len(p.Children) != 36 {
		t.Fatalf("4 9 10 13 has %d moves, error %v, want 36", len(p.Children), err)
	}
	if c := p.Children[6]; c.Step != "4 + 10 = 14" || c.State != "9 13 14" {
		t.Errorf("the second pair begins with %+v", c)
	}
}

func TestClosenessJudgesByTheNearestNumber(t *testing.T) {
	for state, want := range map[string]treesearch.Verdict{
		"24":         {Score: 1, Reason: "the nearest number, 24, is 0 from 24"},
		"4 9 10 23":  {Score: 0.5, Reason: "the nearest number, 23, is 1 from 24"},
		"-2 100":     {Score: 1 / 27.0, Reason: "the nearest number, −2, is 26 from 24"},
		"45/2 51/2":  {Score: 0.4, Reason: "the nearest number, 45/2, is 3/2 from 24"},
		"0 0 27 100": {Score: 0.25, Reason: "the nearest number, 27, is 3 from 24"},
	} {
		if got, err := (treesearch.Closeness{}).Judge(t.Context(), treesearch.Node{State: state}); err != nil || got != want {
			t.Errorf("%s: %+v, error %v, want %+v", state, got, err, want)
		}
	}
}

func TestLookaheadTriesEveryOperationOnTwoNumbers(t *testing.T) {
	for state, want := range map[string]float64{
		"11 13": 1, "1/2 47/2": 1, // +
		"-6 -4": 1, "3/2 16": 1, // ×
		"-1 -25": 1, "1 25": 1, "1/2 49/2": 1, "-1/2 47/2": 1, // −
		"-48 -2": 1, "2 48": 1, "-12 -1/2": 1, "1/2 12": 1, // ÷
		"0 24": 1, "0 23": 0, "0 0": 0, "0 1/2": 0, "7 13": 0, "1/3 1/3": 0,
		"4294967296 103079215104": 1,
		"8 2305843009213693955":   0, // the product is 24 beyond 2⁶⁴
	} {
		v, err := (&treesearch.Lookahead{}).Judge(t.Context(), treesearch.Node{State: state})
		if err != nil || v.Score != want {
			t.Errorf("%s: %+v, error %v, want %v", state, v, err, want)
		}
	}
}

func TestNoStateIsAnError(t *testing.T) {
	for _, state := range []string{"", "x", "1 2 3 4 5", "1/0", strings.Repeat("9", 300)} {
		n := treesearch.Node{State: state}
		_, propose := treesearch.CodeProposer{}.Propose(t.Context(), n)
		_, closeness := treesearch.Closeness{}.Judge(t.Context(), n)
		_, lookahead := (&treesearch.Lookahead{}).Judge(t.Context(), n)
		_, read := treesearch.ReadProposals(state, "1 + 1 = 2 (left: 2)")
		for of, err := range map[string]error{
			"CodeProposer": propose, "Closeness": closeness, "Lookahead": lookahead, "ReadProposals": read,
			"CheckExpression": treesearch.CheckExpression(state, "1"),
		} {
			if !errors.Is(err, treesearch.ErrNumbers) {
				t.Errorf("%s of %.20q: error %v", of, state, err)
			}
		}
	}
}

// TestLargeNumbersStayInside holds that no puzzle that is read leads to a state
// that is not, however large its numbers.
func TestLargeNumbersStayInside(t *testing.T) {
	const digits = "999999999"
	for _, numbers := range []string{
		strings.Repeat(digits+" ", 4),
		"999999999/999999998 999999997/999999996 999999995/999999994 999999993/999999992",
		"999999999.999999998 -999999999.999999997 999999999.999999996 999999999.999999995",
	} {
		solve(t, numbers, treesearch.Closeness{}, 50)
		solve(t, numbers, &treesearch.Lookahead{}, 1)
	}
}

// TestWhatLookaheadSaysHolds searches random puzzles, with fractions and
// negative numbers, and compares what is found with what was foretold.
func TestWhatLookaheadSaysHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var numbers []string
		for range treesearch.PuzzleSize {
			n := strconv.Itoa(rapid.IntRange(-9, 13).Draw(rt, "n"))
			if rapid.IntRange(0, 3).Draw(rt, "fraction") == 0 {
				n += "/" + strconv.Itoa(rapid.IntRange(1, 6).Draw(rt, "d"))
			}
			numbers = append(numbers, n)
		}
		state, err := treesearch.ParseNumbers(strings.Join(numbers, " "))
		if err != nil {
			rt.Fatal(err)
		}
		judge := &treesearch.Lookahead{}
		v, err := judge.Judge(t.Context(), treesearch.Node{State: state})
		if err != nil {
			rt.Fatal(err)
		}
		found, _ := solve(t, state, judge, 1)
		if (found != "") != (v.Score == 1) {
			rt.Fatalf("%s: foretold %v, found %q", state, v, found)
		}
		if near, _ := solve(t, state, treesearch.Closeness{}, 20); near != "" && found == "" {
			rt.Fatalf("%s: closeness finds %s, look-ahead nothing", state, near)
		}
	})
}
