package main

import (
	"strings"
	"testing"
	"time"
)

func TestTablesCompare(t *testing.T) {
	took := func(g, e string, crossings int, ms time.Duration) result {
		return result{Graph: g, Family: "small", Engine: e, Figures: figures{Crossings: crossings, W: 100, H: 50}, Took: ms * time.Millisecond}
	}
	results := []result{
		took("a", ours, 2, 1), took("a", "dot", 4, 10), took("a", "dagre", 0, 10),
		took("b", ours, 0, 1), took("b", "dot", 0, 5),
		{Graph: "b", Family: "small", Engine: "dagre", Failed: "over 1s"},
	}
	var b strings.Builder
	if err := tables(&b, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| small | 2 | 1.00 (1.00) | ∞ (∞) | – |", "| 0.20 (0.20) | 0.10 (0.10) | – |\n",
		"| crossings, dagre | 1 | 0 | a ∞ |\n", "| crossings, dot × 1.25 | 2 | 2 |  |\n",
		"| small | 2 crossings, 0, 1.0 ms | 4 crossings, 0, 10 ms | 0 crossings, 0, 10 ms (1 failed) |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
}
