package layout

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// genNode draws boxes of all sizes, empty ones included.
func genNode() *rapid.Generator[Node] {
	side := rapid.OneOf(rapid.Just(0.0), rapid.Just(84.0), rapid.Float64Range(1, 300))
	return rapid.Custom(func(t *rapid.T) Node { return Node{W: side.Draw(t, "w"), H: side.Draw(t, "h")} })
}

// genGraph draws a graph without cycles: a forest, or any edges that follow a random order of the nodes. Few edges leave several
// components. The edges come from a seed, because numbers that rapid draws are mostly small.
func genGraph() *rapid.Generator[Graph] {
	return rapid.Custom(func(t *rapid.T) Graph {
		n := rapid.SampledFrom([]int{16, 24, 12, 8, 5, 3, 2, 1}).Draw(t, "nodes")
		g := Graph{Nodes: rapid.SliceOfN(genNode(), n, n).Draw(t, "sizes")}
		r := random(rapid.Uint64().Draw(t, "seed"))
		order := make([]int32, n)
		for v := range order {
			order[v] = int32(v)
		}
		r.shuffle(order)
		join := func(a, b int) { g.Edges = append(g.Edges, Edge{int(order[a]), int(order[b])}) }
		if rapid.Bool().Draw(t, "forest") {
			for i := 1; i < n; i++ {
				if p := r.below(i+1) - 1; p >= 0 {
					join(p, i)
				}
			}
			return g
		}
		density := rapid.SampledFrom([]int{3, 2, 6, 1, 0}).Draw(t, "halves of an edge a node")
		for range n * density / 2 {
			if a, b := r.below(n), r.below(n); a != b {
				join(min(a, b), max(a, b))
			}
		}
		return g
	})
}

// genOptions draws options for the graph; two of three have ranks: the waves, or waves with gaps between them.
func genOptions(t *rapid.T, tb testing.TB, g Graph) Options {
	gap := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1, 60))
	o := Options{
		Direction: rapid.SampledFrom([]Direction{"", Down, Right}).Draw(t, "direction"),
		NodeGap:   gap.Draw(t, "node gap"),
		LayerGap:  gap.Draw(t, "layer gap"),
		Starts:    rapid.IntRange(0, 3).Draw(t, "starts"),
	}
	stretch := rapid.IntRange(0, 2).Draw(t, "stretch")
	if stretch == 0 {
		return o
	}
	o.Rank = waves(tb, g)
	for i, r := range o.Rank {
		o.Rank[i] = r*stretch + rapid.IntRange(0, stretch-1).Draw(t, "late")
	}
	return o
}

func TestDrawKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := genGraph().Draw(rt, "graph")
		o := genOptions(rt, t, g)
		d, err := Draw(t.Context(), g, o)
		if err != nil {
			rt.Fatal(err)
		}
		judge(rt, g, o, d)
	})
}

func TestDrawIsDeterministic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := genGraph().Draw(rt, "graph")
		o := genOptions(rt, t, g)
		a, errA := Draw(t.Context(), g, o)
		b, errB := Draw(t.Context(), g, o)
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			rt.Fatalf("two drawings of one graph differ: %v, %v", errA, errB)
		}
		if string(svg(g, a)) != string(svg(g, b)) {
			rt.Fatal("two pictures of one graph differ")
		}
	})
}

func TestDrawTreesWithoutCrossings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := Graph{Nodes: rapid.SliceOfN(genNode(), 1, 40).Draw(rt, "nodes")}
		for i := 1; i < len(g.Nodes); i++ {
			g.Edges = append(g.Edges, Edge{rapid.IntRange(0, i-1).Draw(rt, "parent"), i})
		}
		d, err := Draw(t.Context(), g, Options{})
		if err != nil || d.Crossings > 0 {
			rt.Fatalf("%d crossings, %v", d.Crossings, err)
		}
	})
}

// FuzzDraw reads a graph from bytes: the number of nodes, then pairs of nodes. Whatever the bytes say, Draw answers with a sound
// drawing or with an error.
func FuzzDraw(f *testing.F) {
	f.Add([]byte{4, 0, 3, 1, 3, 2, 3}, false)
	f.Add([]byte{4, 0, 1, 0, 2, 1, 3, 2, 3}, true)
	f.Add([]byte{3, 0, 1, 1, 2, 2, 0}, false)
	f.Add([]byte{9, 0, 8, 0, 8, 1, 7, 2, 6, 6, 3}, true)
	f.Fuzz(func(t *testing.T, data []byte, right bool) {
		if len(data) == 0 || len(data) > 200 {
			return
		}
		g := Graph{Nodes: make([]Node, data[0]%64)}
		for i := range g.Nodes {
			g.Nodes[i] = Node{W: float64(i * 13 % 90), H: float64(i * 7 % 50)}
		}
		for rest := data[1:]; len(rest) >= 2; rest = rest[2:] {
			g.Edges = append(g.Edges, Edge{int(rest[0]), int(rest[1])})
		}
		o := Options{Direction: Down}
		if right {
			o.Direction = Right
		}
		d, err := Draw(t.Context(), g, o)
		if err == nil {
			judge(t, g, o, d)
		}
	})
}
