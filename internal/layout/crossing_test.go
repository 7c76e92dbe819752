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
			if got, want := f.crossings(l), bruteCrossings(f.sketch, l); got != want {
				rt.Fatalf("layer %d: %d crossings, want %d", l, got, want)
			}
		}
		if got, want := f.allCrossings(), bruteAll(f.sketch); got != want {
			rt.Fatalf("%d crossings in all, want %d", got, want)
		}
	})
}

func TestSwapGainIsTheDifference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		for l := range f.layers() {
			row := f.row(l)
			for i := range len(row) - 1 {
				before, gain := bruteAll(f.sketch), f.swapGain(row[i], row[i+1])
				row[i], row[i+1] = row[i+1], row[i]
				f.refresh(l)
				if after := bruteAll(f.sketch); before-after != gain {
					rt.Fatalf("%d crossings became %d, the gain was said to be %d", before, after, gain)
				}
			}
		}
	})
}

func TestExcess(t *testing.T) {
	for _, test := range []struct {
		u, v []int32
		want int
	}{
		{nil, []int32{1, 2}, 0},
		{[]int32{3}, []int32{1}, 1},
		{[]int32{1}, []int32{1}, 0},
		{[]int32{1, 2}, []int32{1, 2}, 0},
		{[]int32{0, 5}, []int32{1, 2, 3}, 0},
		{[]int32{4, 5}, []int32{1, 5}, 1},
		{[]int32{0, 1}, []int32{2, 3}, -4},
	} {
		if got := excess(test.u, test.v); got != test.want {
			t.Errorf("excess of %v before %v is %d, want %d", test.u, test.v, got, test.want)
		}
	}
}

// checkSketch holds that the order is a permutation of each layer and that all that is derived from it is up to date.
func checkSketch(t failer, s *sketch) {
	t.Helper()
	for l := range s.layers() {
		for i, v := range s.row(l) {
			if int(s.layer[v]) != l || int(s.pos[v]) != i {
				t.Fatalf("vertex %d of layer %d at %d is in place %d of layer %d", v, s.layer[v], s.pos[v], i, l)
			}
			for side := range s.side {
				var want []int32
				for _, w := range s.side[side].of(v) {
					want = append(want, s.pos[w])
				}
				slices.Sort(want)
				if got := s.side[side].places(v); !slices.Equal(got, want) {
					t.Fatalf("vertex %d has neighbours at %v, want %v", v, got, want)
				}
			}
		}
	}
}
