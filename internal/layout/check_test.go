package layout

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestDrawErrors(t *testing.T) {
	long := Graph{Nodes: make([]Node, 150)}
	for i := range long.Nodes {
		for j := range i {
			long.Edges = append(long.Edges, Edge{j, i})
		}
	}
	ring := steps(t, 40, "")
	for i := range ring.Nodes {
		ring.Edges = append(ring.Edges, Edge{i, (i + 1) % 40})
	}
	box := func(w, h float64) Graph { return Graph{Nodes: []Node{{ID: "wide", W: w, H: h}}} }
	for _, test := range []struct {
		name string
		g    Graph
		o    Options
		want error
		says string
	}{
		{"cycle", steps(t, 5, "1-2 2-3 3-4 4-2 4-5"), Options{}, ErrCycle, `"s2" → "s3" → "s4" → "s2"`},
		{"long cycle", ring, Options{}, ErrCycle, "… 28 more"},
		{"cycle below a node without name", Graph{Nodes: make([]Node, 2), Edges: []Edge{{0, 1}, {1, 0}}}, Options{}, ErrCycle, "#0"},
		{"edge to nowhere", steps(t, 2, "1-3"), Options{}, ErrEdge, "edge 0 (0 → 2) names node 2 of 2"},
		{"edge from nowhere", steps(t, 2, "1-2 0-2"), Options{}, ErrEdge, "edge 1 (-1 → 1)"},
		{"self edge", steps(t, 2, "2-2"), Options{}, ErrSelfEdge, `"s2"`},
		{"negative width", box(-1, 2), Options{}, ErrSize, `"wide" is -1 × 2`},
		{"height is not a number", box(1, math.NaN()), Options{}, ErrSize, "NaN"},
		{"infinite width", box(math.Inf(1), 1), Options{}, ErrSize, "+Inf"},
		{"huge width", box(MaxSize*2, 1), Options{}, ErrSize, "1e+06"},
		{"ranks for other nodes", steps(t, 2, "1-2"), Options{Rank: []int{1}}, ErrRank, "1 ranks for 2 nodes"},
		{"equal ranks", steps(t, 2, "1-2"), Options{Rank: []int{1, 1}}, ErrRank, `"s2" has rank 1, but its predecessor "s1" has rank 1`},
		{"direction", Graph{}, Options{Direction: "up"}, ErrOption, `"up"`},
		{"node gap", Graph{}, Options{NodeGap: -3}, ErrOption, "node gap -3"},
		{"layer gap", Graph{}, Options{LayerGap: math.NaN()}, ErrOption, "layer gap NaN"},
		{"starts", Graph{}, Options{Starts: -1}, ErrOption, "-1 starts"},
		{"too many passed layers", long, Options{}, ErrTooLarge, "layers"},
		{"too many nodes", Graph{Nodes: make([]Node, MaxVertices+1)}, Options{}, ErrTooLarge, "262145 nodes"},
		{"too many edges", Graph{Edges: make([]Edge, maxEdges+1)}, Options{}, ErrTooLarge, "1048577 edges"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Draw(t.Context(), test.g, test.o)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q does not say %q", err, test.says)
			}
		})
	}
}

func TestDrawWithEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Draw(ctx, Graph{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
