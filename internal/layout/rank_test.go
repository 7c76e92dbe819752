package layout

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// span returns the sum of the lengths of the edges in layers, or -1 when an edge does not go down.
func span(edges []Edge, layer []int32) int {
	sum := 0
	for _, e := range edges {
		d := int(layer[e.To] - layer[e.From])
		if d < 1 {
			return -1
		}
		sum += d
	}
	return sum
}

// shortest tries all layers of a small graph and returns the least sum of lengths.
func shortest(edges []Edge, n int) int {
	best := -1
	layer := make([]int32, n)
	var try func(v int)
	try = func(v int) {
		if v == n {
			if s := span(edges, layer); s >= 0 && (best < 0 || s < best) {
				best = s
			}
			return
		}
		for l := range n {
			layer[v] = int32(l)
			try(v + 1)
		}
	}
	try(0)
	return best
}

// layersFor returns the layers of a graph without ranks.
func layersFor(t failer, tb testing.TB, n int, edges []Edge) []int32 {
	net := newNet(n, edges)
	order, err := net.topological(make([]Node, n))
	if err != nil {
		t.Fatalf("%v", err)
	}
	layer, _, err := layersOf(tb.Context(), net, order, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return layer
}

func TestLayersAreTheShortest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "n")
		var edges []Edge
		for a := range n {
			for b := a + 1; b < n; b++ {
				if rapid.IntRange(0, 2).Draw(rt, "edge") == 0 {
					edges = append(edges, Edge{a, b})
				}
			}
		}
		if got, want := span(edges, layersFor(rt, t, n, edges)), shortest(edges, n); got != want {
			rt.Fatalf("%v: the edges have length %d in sum, %d is possible", edges, got, want)
		}
	})
}

func TestLayersAreFeasible(t *testing.T) {
	for _, n := range []int{50, 400} {
		g := layeredRandom(n, 2)
		edges, _ := distinct(g.Edges)
		long := newNet(n, edges)
		order, err := long.topological(g.Nodes)
		if err != nil {
			t.Fatal(err)
		}
		before, after := span(edges, long.longestPath(order)), span(edges, layersFor(t, t, n, edges))
		if after < len(edges) || after > before {
			t.Errorf("%d edges have length %d in sum, after %d by the longest path", len(edges), after, before)
		}
	}
}

func TestLayersStayFeasibleWhenTheWorkIsDone(t *testing.T) {
	g := layeredRandom(120, 4)
	edges, _ := distinct(g.Edges)
	n := newNet(len(g.Nodes), edges)
	order, err := n.topological(g.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range []int{0, 50, 500, 5000} {
		layer := n.longestPath(order)
		s := newSimplex(n, layer)
		s.work = work
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if span(edges, layer) < 0 {
			t.Errorf("with work for %d nodes an edge does not go down", work)
		}
	}
}

func TestLevelKeepsTheLengthAndFillsTheEmptiestLayer(t *testing.T) {
	// The last node may lie in the second layer, beside two nodes, or in the third, beside one.
	edges := []Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {0, 5}, {5, 4}}
	if got := layersFor(t, t, 6, edges)[5]; got != 2 {
		t.Errorf("the node with a choice lies in layer %d, want 2", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := genGraph().Draw(rt, "graph")
		edges, _ := distinct(g.Edges)
		n := newNet(len(g.Nodes), edges)
		order, err := n.topological(g.Nodes)
		if err != nil {
			rt.Fatal(err)
		}
		layer := n.longestPath(order)
		before := span(edges, layer)
		n.level(order, layer)
		if after := span(edges, layer); after != before {
			rt.Fatalf("edges of length %d in sum have length %d", before, after)
		}
	})
}

func TestCompress(t *testing.T) {
	layer, ranks := compress([]int{7, -3, 7, 1 << 60})
	if want := []int32{1, 0, 1, 2}; !reflect.DeepEqual(layer, want) {
		t.Errorf("layers %v, want %v", layer, want)
	}
	if want := []int{-3, 7, 1 << 60}; !reflect.DeepEqual(ranks, want) {
		t.Errorf("ranks %v, want %v", ranks, want)
	}
}

func TestDistinct(t *testing.T) {
	kept, slot := distinct([]Edge{{1, 2}, {0, 1}, {1, 2}, {2, 1}, {0, 1}})
	if want := []Edge{{1, 2}, {0, 1}, {2, 1}}; !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	if want := []int{0, 1, 0, 2, 1}; !reflect.DeepEqual(slot, want) {
		t.Errorf("slots %v, want %v", slot, want)
	}
}
