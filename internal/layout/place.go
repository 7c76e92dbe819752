package layout

import (
	"context"
	"math"
)

// The weights of links in the search for positions: a link between two dummies should be straight more than any other, because a
// bend in the middle of a long edge leads the eye astray, while the ends of edges bend anyway.
const (
	weightReal  = 1
	weightMixed = 2
	weightDummy = 8
)

// The least distances in a layer, as parts of the node gap. Edges need less room than nodes; what they need less makes the drawing
// narrow.
const (
	besideNode = 0.625 // an edge beside a node
	besideEdge = 0.375 // an edge beside an edge
)

// placer chooses the positions of the vertices in their layers without changing their order.
type placer struct {
	*sketch
	gap float64
	// low and high are the borders that no vertex may pass.
	low, high float64

	offset []float64    // of each vertex from the first in its layer when the layer is as narrow as it can be
	pulls  [2][]float64 // the weights of the links, beside the lists of neighbours
	target []float64
	weight []float64
	blocks []block
}

// newPlacer returns a placer for the sketch.
func newPlacer(s *sketch, gap float64) *placer {
	p := &placer{sketch: s, gap: gap, low: math.Inf(-1), high: math.Inf(1), offset: make([]float64, len(s.order))}
	for side := range p.pulls {
		list := &s.side[side]
		p.pulls[side] = make([]float64, len(list.adj))
		for v := range int32(len(s.order)) {
			for k := list.off[v]; k < list.off[v+1]; k++ {
				p.pulls[side][k] = p.pull(v, list.adj[k])
			}
		}
	}
	return p
}

// place finds a centre for each vertex: first it pulls each layer towards the one before, down and up in turn, then towards both
// at once until that moves little, again within borders when that makes the drawing narrower, and at last it makes edges straight
// where there is room. Trees are hung up by their root when that does not make them much wider.
func (s *sketch) place(ctx context.Context, gap float64) error {
	p := newPlacer(s, gap)
	for l := range s.layers() {
		p.pack(s.row(l))
	}
	// The coarse sweeps look almost only at the layer they come from, and so carry a shift through all layers at once.
	const coarse, fine, again = 4, 12, 6
	for range coarse {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.relax(0.1)
	}
	if err := p.settle(ctx, fine); err != nil {
		return err
	}
	if _, tree := s.tree(); !tree && p.confine() {
		if err := p.settle(ctx, again); err != nil {
			return err
		}
	}
	p.centre()
	p.straighten()
	if children, ok := s.tree(); ok && s.allCrossings() == 0 {
		p.tryHanging(children)
	}
	return nil
}

// settle attracts all layers to both sides until they move little, for some rounds at most.
func (p *placer) settle(ctx context.Context, rounds int) error {
	const still = 1
	for range rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p.relax(1) < still {
			break
		}
	}
	return nil
}

// confine draws borders around a sketch that is wider than its widest layer must be, and says so. They are as close as that layer
// allows, but take away no more than a part of the width, for the sake of straight edges.
func (p *placer) confine() bool {
	const part = 0.2
	widest, middle := 0.0, 0.0
	for l := range p.layers() {
		row := p.row(l)
		first, last := row[0], row[len(row)-1]
		if w := p.half(first) + p.offset[last] + p.half(last); w > widest {
			left, right := p.span(l)
			widest, middle = w, (left+right)/2
		}
	}
	left, width := p.extent()
	room := max(widest, width*(1-part))
	if room >= width {
		return false
	}
	p.low = min(max(middle-room/2, left), left+width-room)
	p.high = p.low + room
	return true
}

// relax attracts all layers, downwards and upwards, and returns how far the vertex that moved most moved at last. Back is the
// strength of the layers to come.
func (p *placer) relax(back float64) float64 {
	far := 0.0
	for l := range p.layers() {
		p.attract(p.row(l), [2]float64{above: 1, below: back})
	}
	for l := p.layers() - 1; l >= 0; l-- {
		far = max(far, p.attract(p.row(l), [2]float64{above: back, below: 1}))
	}
	return far
}

// distance returns how far apart the centres of two neighbours in a layer must be.
func (p *placer) distance(u, v int32) float64 {
	switch du, dv := p.dummy(u), p.dummy(v); {
	case du && dv:
		return p.gap * besideEdge
	case du:
		return p.gap*besideNode + p.width[v]/2
	case dv:
		return p.gap*besideNode + p.width[u]/2
	}
	return p.gap + (p.width[u]+p.width[v])/2
}

// pack puts the vertices of a layer as close together as they may be, around 0.
func (p *placer) pack(row []int32) {
	for i, v := range row[1:] {
		p.offset[v] = p.offset[row[i]] + p.distance(row[i], v)
	}
	middle := p.offset[row[len(row)-1]] / 2
	for _, v := range row {
		p.x[v] = p.offset[v] - middle
	}
}

// attract moves the vertices of a layer to where the weighted squares of the sideways lengths of their links are smallest in sum,
// given the order, the distances and the other layers. Taking away the offset of each vertex turns the distances into the condition
// that positions ascend, and so the best positions are those of an isotonic regression.
//
// The neighbours above and those below pull with a strength each. It returns how far the vertex that moved most moved.
func (p *placer) attract(row []int32, strength [2]float64) float64 {
	n := len(row)
	p.target, p.weight = grown(p.target, n), grown(p.weight, n)
	for i, v := range row {
		at, weight := p.aim(v, strength)
		p.target[i], p.weight[i] = at-p.offset[v], weight
	}
	p.blocks = isotonic(p.target, p.weight, p.blocks)
	first, last := row[0], row[n-1]
	low, high := p.low+p.half(first), p.high-p.half(last)-p.offset[last]
	far := 0.0
	for i, v := range row {
		at := max(min(p.target[i], high), low) + p.offset[v]
		far = max(far, math.Abs(at-p.x[v]))
		p.x[v] = at
	}
	return far
}

// aim returns where the links of a vertex pull it, and how strongly. A very weak pull holds it where it is.
func (p *placer) aim(v int32, strength [2]float64) (at, weight float64) {
	const hold = 1e-3
	at, weight = p.x[v]*hold, hold
	for side, k := range strength {
		list := &p.side[side]
		from, to := list.off[v], list.off[v+1]
		pulls := p.pulls[side][from:to]
		for i, w := range list.adj[from:to] {
			pull := k * pulls[i]
			at += pull * p.x[w]
			weight += pull
		}
	}
	return at / weight, weight
}

// pull returns the weight of the link between two vertices.
func (p *placer) pull(u, v int32) float64 {
	switch du, dv := p.dummy(u), p.dummy(v); {
	case du && dv:
		return weightDummy
	case du || dv:
		return weightMixed
	}
	return weightReal
}

// room returns the interval in which the centre of a vertex can move while its neighbours in the layer stay where they are.
func (p *placer) room(v int32) (low, high float64) {
	row, i := p.row(int(p.layer[v])), p.pos[v]
	low, high = p.low+p.half(v), p.high-p.half(v)
	if i > 0 {
		low = p.x[row[i-1]] + p.distance(row[i-1], v)
	}
	if int(i)+1 < len(row) {
		high = p.x[row[i+1]] - p.distance(v, row[i+1])
	}
	return low, high
}
