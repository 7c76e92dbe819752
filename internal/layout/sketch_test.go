package layout

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	parts := sketchOf(t, steps(t, 7, "1-3 3-5 1-5 2-4 6-4"))
	var nodes [][]int32
	for _, s := range parts {
		nodes = append(nodes, s.nodes)
	}
	if want := [][]int32{{0, 2, 4}, {1, 3, 5}, {6}}; !reflect.DeepEqual(nodes, want) {
		t.Fatalf("components %v, want %v", nodes, want)
	}
	first := parts[0]
	if got, want := first.layer, []int32{0, 1, 2, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("layers %v, want %v: the last is the dummy of the edge past s3", got, want)
	}
	if c := first.chains[2]; c.count != 1 || !first.dummy(c.first) || first.dummy(c.to) {
		t.Errorf("the long edge is %+v", c)
	}
}

func TestLinksJoinNeighbouringLayers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		checkSketch(rt, f.sketch)
		for v := range int32(len(f.order)) {
			for _, w := range f.side[below].of(v) {
				if f.layer[w] != f.layer[v]+1 {
					rt.Fatalf("a link joins layers %d and %d", f.layer[v], f.layer[w])
				}
			}
			if f.dummy(v) && (len(f.side[above].of(v)) != 1 || len(f.side[below].of(v)) != 1) {
				rt.Fatalf("dummy %d has not one neighbour a side", v)
			}
		}
		for l := range f.layers() {
			if len(f.row(l)) == 0 {
				rt.Fatalf("layer %d is empty", l)
			}
		}
	})
}

func TestFirstOrderOfATreeHasNoCrossings(t *testing.T) {
	s := sketchOf(t, steps(t, 9, "1-4 1-2 2-9 2-5 4-3 4-8 3-6 3-7"))[0]
	f := newSearch(t.Context(), s)
	f.begin(0)
	if n := bruteAll(s); n != 0 {
		t.Errorf("%d crossings", n)
	}
	f.begin(2)
	checkSketch(t, s)
	if n := bruteAll(s); n != 0 {
		t.Errorf("%d crossings in a shuffled start", n)
	}
}

// boxes returns placed sketches of one node each, with the widths given.
func boxes(t *testing.T, width ...float64) []*sketch {
	t.Helper()
	g := Graph{}
	for _, w := range width {
		g.Nodes = append(g.Nodes, Node{W: w, H: 10})
	}
	return sketchOf(t, g)
}

func TestShelvesKeepTheirWidth(t *testing.T) {
	parts := boxes(t, 100, 100, 100, 400, 100, 100)
	limit := shelfWidth(parts, 10)
	count := 0
	for _, sh := range shelves(parts, 10, false) {
		if sh.width > limit {
			t.Errorf("a shelf of %g px, at most %g", sh.width, limit)
		}
		count += len(sh.parts)
	}
	if count != len(parts) {
		t.Errorf("%d of %d sketches are on shelves", count, len(parts))
	}
	if n := len(shelves(parts, 10, true)); n != 1 {
		t.Errorf("%d shelves instead of one", n)
	}
}

func TestFillUsesFreeBands(t *testing.T) {
	// The second component has no node in the layer in which the first is wide, so that it moves in beside the narrow one.
	g := Graph{
		Nodes: []Node{{W: 20, H: 10}, {W: 300, H: 10}, {W: 20, H: 10}},
		Edges: []Edge{{0, 1}},
	}
	d := draw(t, g, Options{Rank: []int{0, 1, 0}})
	if got, want := d.Nodes[2].X, d.Nodes[0].X+20+DefaultNodeGap; got != want {
		t.Errorf("the loose node is at %g, there is room at %g", got, want)
	}
}

func TestGapFor(t *testing.T) {
	for _, test := range []struct{ gap, reach, want float64 }{
		{56, 0, 56},
		{56, 600, 56},
		{56, 1200, 100},
		{56, 1e6, 168},
		{1.25, 0, 1.25},
	} {
		if got := gapFor(test.gap, test.reach); got != test.want {
			t.Errorf("a gap of %g with an edge %g px to the side becomes %g, want %g", test.gap, test.reach, got, test.want)
		}
	}
}

func TestSnap(t *testing.T) {
	s := boxes(t, 10)[0]
	for _, test := range []struct{ gap, x, want float64 }{{32, 10.3, 10.5}, {32, -0.2, 0}, {1, 10.3, 10.3125}} {
		s.x[0] = test.x
		if s.snap(test.gap); math.Abs(s.x[0]-test.want) > 0 {
			t.Errorf("%g with gap %g becomes %g, want %g", test.x, test.gap, s.x[0], test.want)
		}
	}
}
