package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"planwave/internal/layout"
)

// The measures that every engine is given: a step of a plan as it is drawn, and the gaps of internal/layout.
const (
	nodeW, nodeH  = 220, 84
	gapNode       = layout.DefaultNodeGap
	gapLayer      = layout.DefaultLayerGap
	gapEdge       = gapNode * 0.375
	gapEdgeToNode = gapNode * 0.625
)

// graph is what is laid out: the nodes 0 to n-1, and no edge twice.
type graph struct {
	name   string
	family string // the line of the summary to which it belongs
	n      int
	edges  [][2]int
}

// newGraph drops the repetitions of edges.
func newGraph(name, family string, n int, edges [][2]int) graph {
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return graph{name: name, family: family, n: n, edges: slices.Compact(edges)}
}

// readGraphs reads the graphs of a folder; each is a file {nodes: [{id}], edges: [[id, id]]}.
func readGraphs(dir string) ([]graph, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []graph
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		g, err := readGraph(file)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// readGraph reads one of them.
func readGraph(file string) (graph, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return graph{}, err
	}
	var doc struct {
		Nodes []struct{ ID string }
		Edges [][2]string
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return graph{}, fmt.Errorf("read %s: %w", file, err)
	}
	index := map[string]int{}
	for i, n := range doc.Nodes {
		index[n.ID] = i
	}
	var edges [][2]int
	for _, e := range doc.Edges {
		from, known := index[e[0]]
		to, also := index[e[1]]
		if !known || !also {
			return graph{}, fmt.Errorf("read %s: the edge %v ends at no node", file, e)
		}
		edges = append(edges, [2]int{from, to})
	}
	return newGraph(strings.TrimSuffix(filepath.Base(file), ".json"), "real", len(doc.Nodes), edges), nil
}

// randomGraphs returns the random graphs of one size: layered ones, plans and trees, one of each a seed.
func randomGraphs(n, seeds int) []graph {
	var all []graph
	for seed := range uint64(seeds) {
		for _, f := range []struct {
			name string
			make func(*rand.Rand, int) [][2]int
		}{{"layered", layered}, {"plan", planLike}, {"tree", tree}} {
			r := rand.New(rand.NewPCG(seed+1, uint64(n)))
			name := fmt.Sprintf("%s-%d-%d", f.name, n, seed+1)
			all = append(all, newGraph(name, fmt.Sprintf("%s, %d", f.name, n), n, f.make(r, n)))
		}
	}
	return all
}

// layered has about √n layers and 1.5 edges a node, three of four to the next layer.
func layered(r *rand.Rand, n int) [][2]int {
	layers := max(3, int(math.Sqrt(float64(n))))
	of := make([][]int, layers)
	for i := range n {
		l := r.IntN(layers)
		if i < layers {
			l = i
		}
		of[l] = append(of[l], i)
	}
	var edges [][2]int
	for len(edges) < n*3/2 {
		a := r.IntN(layers - 1)
		b := a + 1
		for b+1 < layers && r.IntN(4) == 0 {
			b++
		}
		edges = append(edges, [2]int{of[a][r.IntN(len(of[a]))], of[b][r.IntN(len(of[b]))]})
	}
	return edges
}

// planLike lets each step wait for up to three steps written shortly before it, as models write plans; one of eight waits for none.
func planLike(r *rand.Rand, n int) [][2]int {
	window := max(4, int(math.Sqrt(float64(n))*2))
	var edges [][2]int
	for i := 1; i < n; i++ {
		if r.IntN(8) == 0 {
			continue
		}
		for range 1 + r.IntN(3)*r.IntN(2) {
			edges = append(edges, [2]int{i - 1 - r.IntN(min(i, window)), i})
		}
	}
	return edges
}

// tree hangs each node under one written before it.
func tree(r *rand.Rand, n int) [][2]int {
	var edges [][2]int
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{r.IntN(i), i})
	}
	return edges
}
