package layout

import (
	"context"
	"fmt"
)

// sketch is one connected component on its way to a drawing. Its vertices are the component's nodes, numbered from 0, followed by
// the dummies: one for each layer that an edge passes. Links join vertices of neighbouring layers only.
type sketch struct {
	nodes  []int32   // index in the graph of each real vertex
	width  []float64 // of each real vertex
	base   int       // number of the sketch's first layer in the drawing
	chains []chain   // one for each edge

	layer []int32  // of each vertex, from 0
	first []int32  // the slots of layer l in order are first[l] to first[l+1]
	order []int32  // the vertices, layer by layer, from left to right
	pos   []int32  // of each vertex in its layer
	side  [2]lists // the neighbours of each vertex, by side

	x []float64 // the centre of each vertex
	w workspace
}

// The sides of a vertex.
const (
	above = 0
	below = 1
)

// chain is an edge: it runs from one vertex over count dummies, numbered from first, to another. Edge is its index among the
// distinct edges of the graph.
type chain struct {
	edge         int32
	from, to     int32
	first, count int32
}

// real returns the number of vertices that are nodes.
func (s *sketch) real() int32 { return int32(len(s.nodes)) }

// dummy says whether a vertex stands for an edge that passes its layer.
func (s *sketch) dummy(v int32) bool { return v >= s.real() }

// layers returns the number of layers.
func (s *sketch) layers() int { return len(s.first) - 1 }

// row returns the vertices of a layer from left to right. The slice is the order itself.
func (s *sketch) row(l int) []int32 { return s.order[s.first[l]:s.first[l+1]] }

// split builds a sketch for each connected component, in the order of their first nodes.
func split(ctx context.Context, g Graph, n *net, layer []int32) ([]*sketch, error) {
	member, count := n.components()
	parts := make([]*sketch, count)
	local := make([]int32, n.n)
	for v := range n.n {
		p := &parts[member[v]]
		if *p == nil {
			*p = &sketch{base: int(layer[v])}
		}
		local[v] = (*p).real()
		(*p).nodes = append((*p).nodes, int32(v))
		(*p).width = append((*p).width, g.Nodes[v].W)
		(*p).layer = append((*p).layer, layer[v])
		(*p).base = min((*p).base, int(layer[v]))
	}
	total := n.n
	for i, e := range n.edges {
		total += int(layer[e.To]-layer[e.From]) - 1
		if total > MaxVertices {
			return nil, fmt.Errorf("%w: its edges pass more than %d layers in sum", ErrTooLarge, MaxVertices-n.n)
		}
		p := parts[member[e.From]]
		p.chains = append(p.chains, chain{edge: int32(i), from: local[e.From], to: local[e.To]})
	}
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.build()
	}
	return parts, nil
}

// components numbers the connected components and returns the number of each node's component.
func (n *net) components() (member []int32, count int) {
	member = make([]int32, n.n)
	for v := range member {
		member[v] = -1
	}
	var stack []int32
	visit := func(v int32) {
		if member[v] < 0 {
			member[v] = int32(count)
			stack = append(stack, v)
		}
	}
	for root := range n.n {
		if member[root] >= 0 {
			continue
		}
		visit(int32(root))
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, w := range n.out.of(v) {
				visit(w)
			}
			for _, u := range n.in.of(v) {
				visit(u)
			}
		}
		count++
	}
	return member, count
}

// build adds the dummies and the links, and puts the vertices of each layer in the order of their numbers.
func (s *sketch) build() {
	for v := range s.layer {
		s.layer[v] -= int32(s.base)
	}
	upper, lower := s.subdivide()
	s.side[above] = group(len(s.layer), lower, upper)
	s.side[below] = group(len(s.layer), upper, lower)
	s.pos = make([]int32, len(s.layer))
	s.x = make([]float64, len(s.layer))
	vertices := make([]int32, len(s.layer))
	depth := int32(0)
	for v, l := range s.layer {
		vertices[v] = int32(v)
		depth = max(depth, l+1)
	}
	rows := group(int(depth), s.layer, vertices)
	s.first, s.order = rows.off, rows.adj
	s.refreshAll()
}

// subdivide adds a dummy for each layer an edge passes and returns the links, edge by edge.
func (s *sketch) subdivide() (upper, lower []int32) {
	for i := range s.chains {
		c := &s.chains[i]
		c.first = int32(len(s.layer))
		c.count = s.layer[c.to] - s.layer[c.from] - 1
		prev := c.from
		for k := range c.count {
			v := c.first + k
			s.layer = append(s.layer, s.layer[c.from]+1+k)
			upper, lower = append(upper, prev), append(lower, v)
			prev = v
		}
		upper, lower = append(upper, prev), append(lower, c.to)
	}
	return upper, lower
}

// refreshAll brings all positions up to date with the order.
func (s *sketch) refreshAll() {
	for l := range s.layers() {
		s.refresh(l)
	}
}

// refresh brings the positions of a layer up to date with the order.
func (s *sketch) refresh(l int) {
	for i, v := range s.row(l) {
		s.pos[v] = int32(i)
	}
}
