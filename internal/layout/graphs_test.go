package layout

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// stepW and stepH are the size of a step of a plan.
const stepW, stepH = 220, 84

// steps returns a graph of n steps named s1, s2, … with edges written as "1-2 1-3".
func steps(t testing.TB, n int, edges string) Graph {
	t.Helper()
	g := Graph{}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: "s" + strconv.Itoa(i+1), W: stepW, H: stepH})
	}
	for _, field := range strings.Fields(edges) {
		var e Edge
		if _, err := fmt.Sscanf(field, "%d-%d", &e.From, &e.To); err != nil {
			t.Fatal(err)
		}
		g.Edges = append(g.Edges, Edge{e.From - 1, e.To - 1})
	}
	return g
}

// layeredRandom returns a graph of n steps in about √n layers with 1.5 edges a step, most of them to the next layer.
func layeredRandom(n int, seed int64) Graph {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	layers := max(3, int(math.Sqrt(float64(n))))
	g := Graph{}
	of := make([][]int, layers)
	for i := range n {
		g.Nodes = append(g.Nodes, Node{ID: strconv.Itoa(i), W: stepW, H: stepH})
		l := r.IntN(layers)
		if i < layers {
			l = i
		}
		of[l] = append(of[l], i)
	}
	for len(g.Edges) < n*3/2 {
		a := r.IntN(layers - 1)
		b := a + 1
		for b+1 < layers && r.IntN(4) == 0 {
			b++
		}
		g.Edges = append(g.Edges, Edge{of[a][r.IntN(len(of[a]))], of[b][r.IntN(len(of[b]))]})
	}
	return g
}

// waves returns the longest distance of each node from a root.
func waves(t testing.TB, g Graph) []int {
	t.Helper()
	edges, _ := distinct(g.Edges)
	n := newNet(len(g.Nodes), edges)
	order, err := n.topological(g.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	rank := make([]int, len(g.Nodes))
	for v, l := range n.longestPath(order) {
		rank[v] = int(l)
	}
	return rank
}

// load reads a graph of testdata. All nodes are steps.
func load(t testing.TB, file string) Graph {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Nodes []struct{ ID string }
		Edges [][2]string
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var g Graph
	index := map[string]int{}
	for i, n := range doc.Nodes {
		index[n.ID] = i
		g.Nodes = append(g.Nodes, Node{ID: n.ID, W: stepW, H: stepH})
	}
	for _, e := range doc.Edges {
		g.Edges = append(g.Edges, Edge{index[e[0]], index[e[1]]})
	}
	return g
}
