package main

import (
	"context"
	"testing"
)

func TestCrossingsAreCountedOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines [][]point
		want  int
	}{
		{"a cross", [][]point{{{0, 0}, {10, 10}}, {{10, 0}, {0, 10}}}, 1},
		{"a cross where one has a bend", [][]point{{{0, 0}, {5, 5}, {10, 10}}, {{10, 0}, {0, 10}}}, 1},
		{"side by side", [][]point{{{0, 0}, {0, 10}}, {{1, 0}, {1, 10}}}, 0},
		{"a fan", [][]point{{{0, 0}, {-5, 10}}, {{0, 0}, {5, 10}}, {{0, 0}, {9, 10}}}, 0},
		{"in and out of one node", [][]point{{{-3, -9}, {0, 0}}, {{0, 0}, {-3, 9}}}, 0},
		{"twice", [][]point{{{0, 0}, {10, 10}, {0, 20}}, {{5, -5}, {5, 30}}}, 2},
	} {
		if got := crossings(test.lines); got != test.want {
			t.Errorf("%s: %d crossings, want %d", test.name, got, test.want)
		}
	}
}

func TestEdgesThroughNodesAreFound(t *testing.T) {
	g := graph{n: 3, edges: [][2]int{{0, 2}}}
	boxes := []box{{0, 0, 10, 10}, {0, 20, 10, 10}, {0, 40, 10, 10}}
	for _, test := range []struct {
		name string
		line []point
		want int
	}{
		{"straight through", []point{{5, 10}, {5, 40}}, 1},
		{"beside", []point{{5, 10}, {15, 15}, {15, 35}, {5, 40}}, 0},
		{"along the border", []point{{10, 10}, {10, 40}}, 0},
		{"in from above and out at the side", []point{{5, 10}, {5, 24}, {20, 35}, {5, 40}}, 1},
	} {
		if got := through(g, drawing{boxes: boxes, lines: [][]point{test.line}}); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestOverlapsAreFound(t *testing.T) {
	if n := overlaps([]box{{0, 0, 10, 10}, {5, 5, 10, 10}, {15, 0, 10, 5}, {10, 5, 10, 10}}); n != 2 {
		t.Errorf("%d overlaps, want 2", n)
	}
}

// TestOurPicturesHaveTheCrossingsThatAreCounted holds that the measure, which sees only pictures, agrees with the count of the
// package, which sees no picture.
func TestOurPicturesHaveTheCrossingsThatAreCounted(t *testing.T) {
	graphs, err := readGraphs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range append(graphs, randomGraphs(40, 3)...) {
		d, err := drawOurs(context.Background(), g)
		if err != nil {
			t.Fatal(err)
		}
		if seen := crossings(toCentres(g, d)); seen != d.own {
			t.Errorf("%s: %d crossings are seen, %d counted", g.name, seen, d.own)
		}
		if f := measure(g, d); f.Through+f.Overlaps > 0 {
			t.Errorf("%s: %+v", g.name, f)
		}
	}
}

func TestDotIsRead(t *testing.T) {
	const out = `{"objects":[{"name":"n1","pos":"110,42"},{"name":"n0","pos":"110,182"}],
		"edges":[{"tail":1,"head":0,"pos":"110,140 110,120 110,104 110,84"}]}`
	d, err := readDot([]byte(out), graph{n: 2, edges: [][2]int{{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if d.boxes[0] != (box{0, -224, nodeW, nodeH}) || d.boxes[1] != (box{0, -84, nodeW, nodeH}) {
		t.Errorf("boxes %v", d.boxes)
	}
	l := d.lines[0]
	if l[0] != (point{110, -140}) || l[len(l)-1] != (point{110, -84}) {
		t.Errorf("the edge runs from %v to %v", l[0], l[len(l)-1])
	}
}
