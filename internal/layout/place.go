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
	gap    float64
	offset []float64 // of each vertex from the first in its layer when the layer is as narrow as it can be
	target []float64
	weight []float64
	blocks []block
}

// newPlacer returns a placer for the sketch.
func newPlacer(s *sketch, gap float64) *placer {
	return &placer{sketch: s, gap: gap, offset: make([]float64, len(s.order))}
}

// place finds a centre for each vertex: first it pulls each layer towards the one before, down and up in turn, then towards both
// at once, and at last it makes edges straight where there is room.
func (s *sketch) place(ctx context.Context, gap float64) error {
	p := newPlacer(s, gap)
	for l := range s.layers() {
		p.pack(s.row(l))
	}
	// The coarse sweeps look almost only at the layer they come from, and so carry a shift through all layers at once.
	const coarse, fine = 12, 12
	for i := range coarse + fine {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		back := 0.1
		if i >= coarse {
			back = 1
		}
		for l := range s.layers() {
			p.attract(s.row(l), [2]float64{above: 1, below: back})
		}
		for l := s.layers() - 1; l >= 0; l-- {
			p.attract(s.row(l), [2]float64{above: back, below: 1})
		}
	}
	p.centre()
	p.straighten()
	return nil
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
// The neighbours above and those below pull with a strength each.
func (p *placer) attract(row []int32, strength [2]float64) {
	n := len(row)
	p.target, p.weight = grown(p.target, n), grown(p.weight, n)
	for i, v := range row {
		at, weight := p.aim(v, strength)
		p.target[i], p.weight[i] = at-p.offset[v], weight
	}
	p.blocks = isotonic(p.target, p.weight, p.blocks)
	for i, v := range row {
		p.x[v] = p.target[i] + p.offset[v]
	}
}

// aim returns where the links of a vertex pull it, and how strongly. A very weak pull holds it where it is.
func (p *placer) aim(v int32, strength [2]float64) (at, weight float64) {
	const hold = 1e-3
	at, weight = p.x[v]*hold, hold
	for side, k := range strength {
		for _, w := range p.side[side].of(v) {
			pull := k * p.pull(v, w)
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
	low, high = math.Inf(-1), math.Inf(1)
	if i > 0 {
		low = p.x[row[i-1]] + p.distance(row[i-1], v)
	}
	if int(i)+1 < len(row) {
		high = p.x[row[i+1]] - p.distance(v, row[i+1])
	}
	return low, high
}
