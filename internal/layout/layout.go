// Package layout draws directed acyclic graphs and trees in layers, after Sugiyama: every node lies in a layer below its
// predecessors, every edge runs downwards, and edges pass a layer in a straight line between its nodes.
//
// The work has four steps: give each node a layer (rank.go, simplex.go), order each layer so that few edges cross (order.go,
// refine.go, sift.go), choose the position within the layer (place.go, straighten.go), and turn the result into boxes and curves
// (shelf.go, bands.go, path.go). Inside the package everything is drawn downwards; a drawing to the right is the same drawing
// transposed.
//
// The package is pure: the same graph and options give the same picture to the last bit. For that reason the effort spent on a
// graph is bounded by counted work and never by a clock; the context is only the safety net. Nothing is kept between calls, so
// the caller caches.
package layout

import "context"

// Node is a box to place: its size in px. The ID only names the node in error messages.
type Node struct {
	ID   string
	W, H float64
}

// Edge joins nodes by index into Graph.Nodes.
type Edge struct{ From, To int }

// Graph is what Draw draws. It must have no cycle and no edge from a node to itself; an edge may be listed twice.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Direction is the way the edges run.
type Direction string

const (
	// Down draws from top to bottom; layers are rows.
	Down Direction = "down"
	// Right draws from left to right; layers are columns.
	Right Direction = "right"
)

// Options say how to draw. The zero value draws downwards with sensible gaps.
type Options struct {
	// Direction is the way the edges run; empty means Down.
	Direction Direction
	// NodeGap is the distance in px that two nodes in a layer keep, at least 1; zero means DefaultNodeGap. Positions are rounded to
	// half a px, so that two nodes may come as much closer.
	NodeGap float64
	// LayerGap is the least distance of two layers in px, at least 1; zero means DefaultLayerGap. Gaps crossed by very flat edges are
	// widened.
	LayerGap float64
	// Rank gives each node's layer when it is not nil: a node's rank must be greater than the rank of each of its predecessors.
	// The distinct ranks, in ascending order, are the bands of the drawing, and all components share them. When Rank is nil a
	// node's layer follows from the edges and the components are packed on shelves.
	Rank []int
	// Starts is the number of first orders tried in the search for few crossings; zero lets the size of the graph decide.
	Starts int
}

const (
	// DefaultNodeGap is the distance of two nodes in a layer when Options.NodeGap is zero.
	DefaultNodeGap = 32
	// DefaultLayerGap is the distance of two layers when Options.LayerGap is zero.
	DefaultLayerGap = 56
)

// Point is a place in the drawing in px, from the top left.
type Point struct{ X, Y float64 }

// Box is a rectangle in the drawing: its top left corner and its size.
type Box struct{ X, Y, W, H float64 }

// Band is one layer of the drawing: a strip from border to border that holds the layer's nodes.
type Band struct {
	Box
	// Rank is the rank the band's nodes were given in Options.Rank, or the layer within its shelf when there was none.
	Rank int
	// Nodes are the indexes of the band's nodes in the order in which they lie in the band.
	Nodes []int
}

// Drawing is a finished picture. The boxes of two nodes never overlap, and no path touches the box of a node that it does not join.
type Drawing struct {
	// W and H are the size of the picture; a margin of half a node gap lies around what is drawn.
	W, H float64
	// Nodes are the boxes of the nodes, by node index.
	Nodes []Box
	// Layers are the bands in the direction of the edges. They do not overlap.
	Layers []Band
	// Paths are the courses of the edges, by edge index. Equal edges have equal paths.
	Paths []Path
	// Crossings is the number of places where two different edges cross.
	Crossings int
}

// Draw lays out the graph. It returns one of the package's errors, wrapped with the name of the offender, when the graph or the
// options are not sound, and the context's error when the context ends first.
func Draw(ctx context.Context, g Graph, o Options) (Drawing, error) {
	if err := ctx.Err(); err != nil {
		return Drawing{}, err
	}
	o = o.withDefaults()
	if err := check(g, o); err != nil {
		return Drawing{}, err
	}
	if len(g.Nodes) == 0 {
		return Drawing{}, nil
	}
	if o.Direction == Right {
		g = g.transposed()
	}
	d, err := drawDown(ctx, g, o)
	if err == nil && o.Direction == Right {
		d.transpose()
	}
	return d, err
}

// drawDown lays out a graph that has passed the checks, from top to bottom.
func drawDown(ctx context.Context, g Graph, o Options) (Drawing, error) {
	edges, slot := distinct(g.Edges)
	n := newNet(len(g.Nodes), edges)
	order, err := n.topological(g.Nodes)
	if err != nil {
		return Drawing{}, err
	}
	layer, ranks, err := layersOf(ctx, n, order, o.Rank)
	if err != nil {
		return Drawing{}, err
	}
	parts, err := split(ctx, g, n, layer)
	if err != nil {
		return Drawing{}, err
	}
	for _, s := range parts {
		if err := s.arrange(ctx, o); err != nil {
			return Drawing{}, err
		}
	}
	return assemble(ctx, g, o, ranks, parts, slot)
}

// withDefaults fills in what the caller left open.
func (o Options) withDefaults() Options {
	if o.Direction == "" {
		o.Direction = Down
	}
	if o.NodeGap == 0 {
		o.NodeGap = DefaultNodeGap
	}
	if o.LayerGap == 0 {
		o.LayerGap = DefaultLayerGap
	}
	return o
}

// transposed returns the graph with the width and height of each node exchanged.
func (g Graph) transposed() Graph {
	nodes := make([]Node, len(g.Nodes))
	for i, n := range g.Nodes {
		nodes[i] = Node{ID: n.ID, W: n.H, H: n.W}
	}
	return Graph{Nodes: nodes, Edges: g.Edges}
}

// transpose mirrors the drawing at its diagonal, so that down becomes right.
func (d *Drawing) transpose() {
	d.W, d.H = d.H, d.W
	for i := range d.Nodes {
		d.Nodes[i] = d.Nodes[i].transposed()
	}
	for i := range d.Layers {
		d.Layers[i].Box = d.Layers[i].transposed()
	}
	for i, p := range d.Paths {
		d.Paths[i] = p.transposed()
	}
}

// transposed exchanges the two axes.
func (b Box) transposed() Box { return Box{X: b.Y, Y: b.X, W: b.H, H: b.W} }
