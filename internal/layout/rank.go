package layout

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// net is the graph as adjacency lists in one block of memory a side. The lists follow the order of the edges.
type net struct {
	n     int
	edges []Edge
	out   lists
	in    lists
}

// lists holds a list of indexes for each node: those of node v are adj[off[v]:off[v+1]].
type lists struct {
	off, adj []int32
}

// of returns the list of v.
func (l lists) of(v int32) []int32 { return l.adj[l.off[v]:l.off[v+1]] }

// newNet builds the adjacency lists of a graph of n nodes.
func newNet(n int, edges []Edge) *net {
	from, to := make([]int32, len(edges)), make([]int32, len(edges))
	for i, e := range edges {
		from[i], to[i] = int32(e.From), int32(e.To)
	}
	return &net{n: n, edges: edges, out: group(n, from, to), in: group(n, to, from)}
}

// group collects, for each key below n, the values that stand beside it, in their order.
func group(n int, keys, values []int32) lists {
	l := lists{off: make([]int32, n+1), adj: make([]int32, len(keys))}
	for _, k := range keys {
		l.off[k+1]++
	}
	for v := range n {
		l.off[v+1] += l.off[v]
	}
	next := slices.Clone(l.off[:n])
	for i, k := range keys {
		l.adj[next[k]] = values[i]
		next[k]++
	}
	return l
}

// distinct drops the repetitions of edges and returns, for each edge, the index of its like among those kept.
func distinct(edges []Edge) (kept []Edge, slot []int) {
	seen := make(map[Edge]int, len(edges))
	slot = make([]int, len(edges))
	for i, e := range edges {
		k, ok := seen[e]
		if !ok {
			k = len(kept)
			seen[e] = k
			kept = append(kept, e)
		}
		slot[i] = k
	}
	return kept, slot
}

// topological returns the nodes so that each stands behind its predecessors, or ErrCycle with the nodes of a cycle.
func (n *net) topological(nodes []Node) ([]int32, error) {
	open := make([]int32, n.n)
	order := make([]int32, 0, n.n)
	for v := range n.n {
		open[v] = int32(len(n.in.of(int32(v))))
		if open[v] == 0 {
			order = append(order, int32(v))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, w := range n.out.of(order[i]) {
			if open[w]--; open[w] == 0 {
				order = append(order, w)
			}
		}
	}
	if len(order) < n.n {
		return nil, fmt.Errorf("%w: %s", ErrCycle, n.cycle(nodes, open))
	}
	return order, nil
}

// cycle names the nodes of one cycle among the nodes that still wait for a predecessor, beginning with that listed first.
func (n *net) cycle(nodes []Node, open []int32) string {
	v := int32(slices.IndexFunc(open, func(k int32) bool { return k > 0 }))
	seen := make([]int, n.n)
	var walk []int32
	for seen[v] == 0 {
		walk = append(walk, v)
		seen[v] = len(walk)
		in := n.in.of(v)
		v = in[slices.IndexFunc(in, func(u int32) bool { return open[u] > 0 })]
	}
	loop := walk[seen[v]-1:]
	slices.Reverse(loop)
	least := slices.Index(loop, slices.Min(loop))
	loop = slices.Concat(loop[least:], loop[:least])
	const most = 12
	var names []string
	for _, u := range loop[:min(most, len(loop))] {
		names = append(names, nodeName(nodes, int(u)))
	}
	if len(loop) > most {
		names = append(names, fmt.Sprintf("… %d more", len(loop)-most))
	}
	return strings.Join(append(names, names[0]), " → ")
}

// layersOf returns the layer of each node, and the rank each layer stands for when the caller gave ranks.
func layersOf(ctx context.Context, n *net, order []int32, rank []int) (layer []int32, ranks []int, err error) {
	if rank != nil {
		layer, ranks = compress(rank)
		return layer, ranks, nil
	}
	layer = n.longestPath(order)
	n.pull(order, layer)
	err = newSimplex(n, layer).run(ctx)
	n.level(order, layer)
	return layer, nil, err
}

// compress numbers the distinct ranks in ascending order.
func compress(rank []int) (layer []int32, ranks []int) {
	ranks = slices.Clone(rank)
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	layer = make([]int32, len(rank))
	for v, r := range rank {
		at, _ := slices.BinarySearch(ranks, r)
		layer[v] = int32(at)
	}
	return layer, ranks
}

// longestPath puts each node as high as its predecessors allow.
func (n *net) longestPath(order []int32) []int32 {
	layer := make([]int32, n.n)
	for _, v := range order {
		for _, w := range n.out.of(v) {
			layer[w] = max(layer[w], layer[v]+1)
		}
	}
	return layer
}

// pull moves nodes down to their successors, or up to their predecessors, where that makes the edges shorter in sum.
func (n *net) pull(order, layer []int32) {
	const rounds = 8
	for range rounds {
		moved := false
		for _, v := range slices.Backward(order) {
			moved = n.settle(v, layer) || moved
		}
		if !moved {
			return
		}
	}
}

// settle moves one node towards the side on which it has more edges and says whether it did.
func (n *net) settle(v int32, layer []int32) bool {
	out, in := n.out.of(v), n.in.of(v)
	to := layer[v]
	if len(out) > len(in) {
		to = layer[out[0]] - 1
		for _, w := range out {
			to = min(to, layer[w]-1)
		}
	}
	if len(in) > len(out) {
		to = 0
		for _, u := range in {
			to = max(to, layer[u]+1)
		}
	}
	moved := to != layer[v]
	layer[v] = to
	return moved
}

// level moves nodes that may lie in several layers without making the edges longer in sum to the layer of their component with the
// fewest nodes, the first of them. Layers of one width make a drawing narrow.
func (n *net) level(order, layer []int32) {
	held := n.census(layer)
	for _, v := range order {
		in, out := n.in.of(v), n.out.of(v)
		if len(in) != len(out) || len(in) == 0 {
			continue
		}
		low, high := layer[in[0]]+1, layer[out[0]]-1
		for i, u := range in {
			low, high = max(low, layer[u]+1), min(high, layer[out[i]]-1)
		}
		count := held(v)
		count[layer[v]]--
		for l := low; l <= high; l++ {
			if count[l] < count[low] {
				low = l
			}
		}
		layer[v] = low
		count[low]++
	}
}

// census counts the nodes of each component by layer, and makes the first layer of each component 0. The function it returns gives
// the counts of a node's component.
func (n *net) census(layer []int32) func(v int32) []int32 {
	member, parts := n.components()
	first, last := make([]int32, parts), make([]int32, parts)
	for v, l := range layer {
		first[member[v]] = min(first[member[v]], l)
	}
	for v := range layer {
		layer[v] -= first[member[v]]
		last[member[v]] = max(last[member[v]], layer[v])
	}
	counts := make([][]int32, parts)
	for v, l := range layer {
		m := member[v]
		if counts[m] == nil {
			counts[m] = make([]int32, last[m]+1)
		}
		counts[m][l]++
	}
	return func(v int32) []int32 { return counts[member[v]] }
}
