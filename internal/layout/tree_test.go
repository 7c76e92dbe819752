package layout

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// genTree draws a tree whose edges lead away from the root or, when up is true, to it.
func genTree(t *rapid.T, up bool) Graph {
	g := Graph{Nodes: rapid.SliceOfN(genNode(), 2, 40).Draw(t, "nodes")}
	for i := 1; i < len(g.Nodes); i++ {
		e := Edge{rapid.IntRange(0, i-1).Draw(t, "parent"), i}
		if up {
			e.From, e.To = e.To, e.From
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func TestHungTreesCentreEveryParent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		up := rapid.Bool().Draw(rt, "up")
		s := sketchOf(t, genTree(rt, up))[0]
		if err := s.untangle(t.Context(), 0); err != nil {
			rt.Fatal(err)
		}
		p := newPlacer(s, rapid.SampledFrom([]float64{32, 1}).Draw(rt, "gap"))
		children, ok := s.tree()
		if !ok {
			rt.Fatal("a tree is not taken for one")
		}
		p.hang(children)
		checkDistances(rt, p)
		for v := range int32(len(s.order)) {
			kids := slices.Clone(s.side[children].of(v))
			if len(kids) == 0 {
				continue
			}
			slices.SortFunc(kids, func(a, b int32) int { return int(s.pos[a] - s.pos[b]) })
			if mid := (p.x[kids[0]] + p.x[kids[len(kids)-1]]) / 2; math.Abs(mid-p.x[v]) > hair {
				rt.Fatalf("vertex %d is at %g, the middle of its children at %g", v, p.x[v], mid)
			}
		}
	})
}

func TestTreesAreKnown(t *testing.T) {
	for _, test := range []struct {
		nodes    int
		edges    string
		children int
		ok       bool
	}{
		{4, "1-2 1-3 3-4", below, true},
		{4, "2-1 3-1 4-3", above, true},
		{3, "1-2 2-3", below, true},
		{6, "1-3 2-3 3-4 4-5 4-6", above, false},
		{4, "1-2 1-3 2-4 3-4", above, false},
	} {
		s := sketchOf(t, steps(t, test.nodes, test.edges))[0]
		if children, ok := s.tree(); ok != test.ok || ok && children != test.children {
			t.Errorf("%s: children on side %d, a tree: %t", test.edges, children, ok)
		}
	}
}

func TestDrawnTreesAreSymmetricBothWays(t *testing.T) {
	for _, o := range []Options{{}, {Direction: Right}} {
		d := draw(t, steps(t, 9, "1-2 1-3 1-4 2-5 2-6 4-7 4-8 3-9"), o)
		if o.Direction == Right {
			d.transpose()
		}
		axis := d.W / 2
		for _, v := range []int{0, 2, 8} {
			if x := middle(d.Nodes[v]).X; x != axis {
				t.Errorf("s%d is at %g, the axis at %g", v+1, x, axis)
			}
		}
		for _, pair := range [][2]int{{1, 3}, {4, 7}, {5, 6}} {
			if sum := middle(d.Nodes[pair[0]]).X + middle(d.Nodes[pair[1]]).X; sum != 2*axis {
				t.Errorf("s%d and s%d do not lie opposite: %v", pair[0]+1, pair[1]+1, d.Nodes)
			}
		}
	}
}

func TestWideTreesStayNarrow(t *testing.T) {
	// Hung up, a tree of long branches is much wider than it must be.
	g := Graph{Nodes: make([]Node, 300)}
	r := random(2)
	for i := range g.Nodes {
		g.Nodes[i] = Node{W: stepW, H: stepH}
		if i > 0 {
			g.Edges = append(g.Edges, Edge{r.below(i), i})
		}
	}
	s := sketchOf(t, g)[0]
	if err := s.arrange(t.Context(), Options{}.withDefaults()); err != nil {
		t.Fatal(err)
	}
	_, kept := s.extent()
	newPlacer(s, DefaultNodeGap).hang(below)
	if _, hung := s.extent(); kept*1.1 > hung {
		t.Errorf("%g px wide, hung up %g px: the test needs another tree", kept, hung)
	}
}
