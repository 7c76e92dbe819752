package treesearch_test

import (
	"errors"
	"strings"
	"testing"

	"planwave/internal/treesearch"
)

func TestTheListedSolutionsAreSolutions(t *testing.T) {
	for _, p := range puzzles(t) {
		if err := treesearch.CheckExpression(p.numbers, p.solution); err != nil {
			t.Errorf("%s: %s: %v", p.numbers, p.solution, err)
		}
	}
}

func TestCheckExpression(t *testing.T) {
	for _, c := range []struct{ state, expression, says string }{
		{"4 9 10 13", "(4 − 10) × (9 − 13)", ""},
		{"4 9 10 13", "(4-10)*(9-13)", ""},
		{"4 9 10 13", " ( 13-9 )·( (10)-4 ) ", ""},
		{"1 3 4 6", "6 ÷ (1 − 3 ÷ 4)", ""},
		{"1 3 4 6", "6/(1-3/4)", ""}, // 3/4 is a division here
		{"3/4 1 6", "6/(1-3/4)", ""}, // and a number here
		{"-6 -4", "(−6) × (−4)", ""},
		{"-6 -4", "-6*-4", ""},
		{"3/2 16", "1.5 x 16", ""},
		{"2 3 4", "2*3*4", ""},
		{"1 2 3 4", "1*2*3*4", ""},
		{"2 2 96", "96/2/2", ""}, // from the left
		{"3 5 22", "22 − 3 + 5", ""},
		{"4 9 10 13", "4 + 9 + 10 + 13", "it is 36"},
		{"4 9 10 13", "4 × (10 − 4)", "it uses 4 4 10, and the numbers are 4 9 10 13"},
		{"4 6 6 6", "4 × 6", "it uses 4 6,"},
		{"4 6", "24", "it uses 24,"},
		{"4 6", "4 6", `"6" is in the way`},
		{"4 6", "4 × (6", "is not closed"},
		{"4 6", "4 × 6)", "is in the way"},
		{"4 6", "4 × 6 = 24", "is in the way"},
		{"4 6", "4 × ", "a number is missing"},
		{"4 6", "", "a number is missing"},
		{"4 6", "-(4 × 6)", "a number is missing"},
		{"4 6", "4 × 6e0", "is in the way"},
		{"0 4 6", "6 ÷ 0 × 4", "divides by zero"},
		{"1/2 48", "48 × 1/2", ""},
		{"1 2 48", "48 × 1/0", "divides by zero"},
		{"4 6", strings.Repeat("(", 3000), "more than 2000"},
		{"4 6", strings.Repeat("(", 2000), "a number is missing"},
		{"4 6", "4 × 6\xff", "is in the way"},
	} {
		err := treesearch.CheckExpression(c.state, c.expression)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, treesearch.ErrExpression) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %.40q: error %v, want %q", c.state, c.expression, err, c.says)
		}
	}
}

// path is a way through the game: states and steps in turn.
func path(parts ...string) []treesearch.Node {
	nodes := []treesearch.Node{{ID: "0.0", State: parts[0]}}
	for i := 1; i < len(parts); i += 2 {
		nodes = append(nodes, treesearch.Node{ID: "n", Step: parts[i], State: parts[i+1]})
	}
	return nodes
}

func TestExpression(t *testing.T) {
	for want, nodes := range map[string][]treesearch.Node{
		"(4 − 10) × (9 − 13)": path("4 9 10 13", "4 − 10 = −6", "-6 9 13", "9 − 13 = −4", "-6 -4", "−6 × −4 = 24", "24"),
		"6 ÷ (1 − 3 ÷ 4)":     path("1 3 4 6", "3 ÷ 4 = 3/4", "3/4 1 6", "1 − 3/4 = 1/4", "1/4 6", "6 ÷ 1/4 = 24", "24"),
		"20 − (2 − (5 + 1))":  path("1 2 5 20", "5 + 1 = 6", "2 6 20", "2 − 6 = −4", "-4 20", "20 − −4 = 24", "24"),
		"48 ÷ (4 ÷ 2)":        path("2 4 48", "4 ÷ 2 = 2", "2 48", "48 ÷ 2 = 24", "24"),
		"2 × 3 × 4":           path("2 3 4", "2 × 3 = 6", "4 6", "6 × 4 = 24", "24"),
		"(−6) × (−4)":         path("-6 -4", "−6 × −4 = 24", "24"),
		"(1/2) × 48":          path("1/2 48", "1/2 × 48 = 24", "24"),
		"2 × (1 + 11)":        path("1 2 11", "1 + 11 = 12", "2 12", "2 × 12 = 24", "24"),
		"5 × 5 − (2 − 1)":     path("1 2 5 5", "5 × 5 = 25", "1 2 25", "2 − 1 = 1", "1 25", "25 − 1 = 24", "24"),
		"(5 − 1 ÷ 5) × 5":     path("1 5 5 5", "1 ÷ 5 = 1/5", "1/5 5 5", "5 − 1/5 = 24/5", "24/5 5", "24/5 × 5 = 24", "24"),
		"8 ÷ (3 − 8 ÷ 3)":     path("3 3 8 8", "8 ÷ 3 = 8/3", "8/3 3 8", "3 − 8/3 = 1/3", "1/3 8", "8 ÷ 1/3 = 24", "24"),
	} {
		if got, err := treesearch.Expression(nodes); err != nil || got != want {
			t.Errorf("got %q, error %v, want %q", got, err, want)
		}
	}
}

func TestAPathThatIsNoSolution(t *testing.T) {
	for name, nodes := range map[string][]treesearch.Node{
		"empty":                  {},
		"of one state":           path("24 1"),
		"not through":            path("4 6"),
		"not 24":                 path("4 6", "4 + 6 = 10", "10"),
		"wrong arithmetic":       path("4 5", "4 × 5 = 24", "24"),
		"a number not there":     path("4 5", "4 × 6 = 24", "24"),
		"a number used twice":    path("4 6 6", "4 × 6 = 24", "24"),
		"another state":          path("4 6", "4 × 6 = 24", "25"),
		"a step that is no step": path("4 6", "by magic", "24"),
		"a division by zero":     path("0 24", "24 ÷ 0 = 24", "24"),
	} {
		if got, err := treesearch.Expression(nodes); !errors.Is(err, treesearch.ErrExpression) {
			t.Errorf("%s: got %q, error %v", name, got, err)
		}
	}
}
