package layout

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrCycle says that the edges form a cycle; the message lists its nodes.
	ErrCycle = errors.New("layout: the graph has a cycle")
	// ErrEdge says that an edge names a node that does not exist.
	ErrEdge = errors.New("layout: an edge ends at no node")
	// ErrSelfEdge says that an edge joins a node with itself.
	ErrSelfEdge = errors.New("layout: an edge joins a node with itself")
	// ErrSize says that a node's size is negative, not a number or larger than MaxSize.
	ErrSize = errors.New("layout: a node has an impossible size")
	// ErrRank says that Options.Rank does not fit the graph.
	ErrRank = errors.New("layout: the ranks do not fit the graph")
	// ErrOption says that an option has a value that means nothing.
	ErrOption = errors.New("layout: an option is out of range")
	// ErrTooLarge says that the graph has more nodes and passed layers than can be drawn in reasonable memory.
	ErrTooLarge = errors.New("layout: the graph is too large to draw")
)

const (
	// MaxSize is the largest width, height or gap in px.
	MaxSize = 1e6
	// MaxVertices bounds the nodes of a graph plus the layers its edges pass.
	MaxVertices = 1 << 18
	// maxEdges bounds the edges of a graph.
	maxEdges = 4 * MaxVertices
)

// check reports the first thing that is unsound in the graph or the options, cycles excepted.
func check(g Graph, o Options) error {
	if err := checkOptions(o); err != nil {
		return err
	}
	if len(g.Nodes) > MaxVertices {
		return fmt.Errorf("%w: %d nodes, at most %d can be drawn", ErrTooLarge, len(g.Nodes), MaxVertices)
	}
	if len(g.Edges) > maxEdges {
		return fmt.Errorf("%w: %d edges, at most %d can be drawn", ErrTooLarge, len(g.Edges), maxEdges)
	}
	for i, n := range g.Nodes {
		if !sound(n.W) || !sound(n.H) {
			return fmt.Errorf("%w: node %s is %g × %g px, each must be between 0 and %g", ErrSize, g.name(i), n.W, n.H, float64(MaxSize))
		}
	}
	for i, e := range g.Edges {
		if err := g.checkEdge(i, e); err != nil {
			return err
		}
	}
	return checkRank(g, o.Rank)
}

// checkOptions reports an option out of range.
func checkOptions(o Options) error {
	switch {
	case o.Direction != Down && o.Direction != Right:
		return fmt.Errorf("%w: direction %q is neither %q nor %q", ErrOption, o.Direction, Down, Right)
	case !sound(o.NodeGap) || o.NodeGap < 1:
		return fmt.Errorf("%w: node gap %g must be between 1 and %g px", ErrOption, o.NodeGap, float64(MaxSize))
	case !sound(o.LayerGap) || o.LayerGap < 1:
		return fmt.Errorf("%w: layer gap %g must be between 1 and %g px", ErrOption, o.LayerGap, float64(MaxSize))
	case o.Starts < 0:
		return fmt.Errorf("%w: %d starts, must not be negative", ErrOption, o.Starts)
	}
	return nil
}

// checkEdge reports an edge that leads nowhere or back to its own node.
func (g Graph) checkEdge(i int, e Edge) error {
	for _, end := range []int{e.From, e.To} {
		if end < 0 || end >= len(g.Nodes) {
			return fmt.Errorf("%w: edge %d (%d → %d) names node %d of %d", ErrEdge, i, e.From, e.To, end, len(g.Nodes))
		}
	}
	if e.From == e.To {
		return fmt.Errorf("%w: edge %d at node %s", ErrSelfEdge, i, g.name(e.From))
	}
	return nil
}

// checkRank reports ranks that are not one a node or do not rise along an edge.
func checkRank(g Graph, rank []int) error {
	if rank == nil {
		return nil
	}
	if len(rank) != len(g.Nodes) {
		return fmt.Errorf("%w: %d ranks for %d nodes", ErrRank, len(rank), len(g.Nodes))
	}
	for _, e := range g.Edges {
		if rank[e.To] <= rank[e.From] {
			return fmt.Errorf("%w: node %s has rank %d, but its predecessor %s has rank %d",
				ErrRank, g.name(e.To), rank[e.To], g.name(e.From), rank[e.From])
		}
	}
	return nil
}

// name returns how a message calls the node.
func (g Graph) name(i int) string { return nodeName(g.Nodes, i) }

// nodeName returns the quoted ID of the node, or its index when it has none.
func nodeName(nodes []Node, i int) string {
	if id := nodes[i].ID; id != "" {
		return fmt.Sprintf("%q", id)
	}
	return fmt.Sprintf("#%d", i)
}

// sound says whether a length can be drawn.
func sound(px float64) bool { return !math.IsNaN(px) && px >= 0 && px <= MaxSize }
