package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sketchOf returns the sketches of a graph with their vertices in the order of their numbers.
func sketchOf(t testing.TB, g Graph) []*sketch {
	t.Helper()
	edges, _ := distinct(g.Edges)
	n := newNet(len(g.Nodes), edges)
	order, err := n.topological(g.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := split(t.Context(), g, n, n.longestPath(order))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// genSketch draws a sketch with at least two layers, in a random order.
func genSketch(rt *rapid.T, t testing.TB) *search {
	g := genGraph().Draw(rt, "graph")
	g.Nodes = append(g.Nodes, Node{}, Node{})
	g.Edges = append(g.Edges, Edge{len(g.Nodes) - 2, len(g.Nodes) - 1})
	parts := sketchOf(t, g)
	s := parts[rapid.IntRange(0, len(parts)-1).Draw(rt, "part")]
	f := newSearch(t.Context(), s)
	f.rng = random(rapid.Uint64().Draw(rt, "seed"))
	for l := range s.layers() {
		f.rng.shuffle(s.row(l))
	}
	s.refreshAll()
	return f
}

// bruteCrossings compares every link between two layers with every other.
func bruteCrossings(s *sketch, l int) int {
	type link struct{ a, b int32 }
	var links []link
	for _, v := range s.row(l) {
		for _, w := range s.side[below].of(v) {
			links = append(links, link{s.pos[v], s.pos[w]})
		}
	}
	count := 0
	for i, p := range links {
		for _, q := range links[:i] {
			if p.a < q.a && p.b > q.b || p.a > q.a && p.b < q.b {
				count++
			}
		}
	}
	return count
}

// bruteAll counts the crossings of the whole sketch.
func bruteAll(s *sketch) int {
	count := 0
	for l := range s.layers() - 1 {
		count += bruteCrossings(s, l)
	}
	return count
}

func TestCrossingsEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		for l := range f.layers() - 1 {
			want := bruteCrossings(f.sketch, l)
			if few, many := f.crossings(l), f.manyCrossings(l); few != want || many != want {
				rt.Fatalf("layer %d: %d or %d crossings, want %d", l, few, many, want)
			}
		}
		if got, want := f.allCrossings(), bruteAll(f.sketch); got != want {
			rt.Fatalf("%d crossings in all, want %d", got, want)
		}
	})
}

func TestManyCrossingsAreCounted(t *testing.T) {
	// Every node above is joined with every node below, so that each pair above crosses in each pair below.
	const n = 60
	g := Graph{Nodes: make([]Node, 2*n)}
	for a := range n {
		for b := range n {
			g.Edges = append(g.Edges, Edge{a, n + b})
		}
	}
	const pairs = n * (n - 1) / 2
	if got := sketchOf(t, g)[0].allCrossings(); got != pairs*pairs {
		t.Errorf("%d crossings, want %d", got, pairs*pairs)
	}
}

func TestWeighIsTheDifference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		for l := range f.layers() {
			row := f.row(l)
			for i := range len(row) - 1 {
				before, bias := bruteAll(f.sketch), f.weigh(row[i], row[i+1:])[0]
				row[i], row[i+1] = row[i+1], row[i]
				f.refresh(l)
				if after := bruteAll(f.sketch); before-after != bias {
					rt.Fatalf("%d crossings became %d, the difference was said to be %d", before, after, bias)
				}
			}
		}
	})
}

func TestFillScore(t *testing.T) {
	for _, test := range []struct{ at, want []int32 }{
		{[]int32{1}, []int32{1, 0, -1, -1}},
		{[]int32{0, 3}, []int32{1, 0, 0, -1}},
		{[]int32{0, 1, 2}, []int32{2, 0, -2, -3}},
		{[]int32{3}, []int32{1, 1, 1, 0}},
	} {
		score := make([]int32, 4)
		if fillScore(score, test.at); !slices.Equal(score, test.want) {
			t.Errorf("the score of %v is %v, want %v", test.at, score, test.want)
		}
	}
}

// checkSketch holds that the order is a permutation of each layer and that the positions follow it.
func checkSketch(t failer, s *sketch) {
	t.Helper()
	for l := range s.layers() {
		for i, v := range s.row(l) {
			if int(s.layer[v]) != l || int(s.pos[v]) != i {
				t.Fatalf("vertex %d of layer %d at %d is in place %d of layer %d", v, s.layer[v], s.pos[v], i, l)
			}
		}
	}
}
