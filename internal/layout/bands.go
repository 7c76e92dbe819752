package layout

import (
	"context"
	"math"
)

// arrange orders and places the vertices of the sketch.
func (s *sketch) arrange(ctx context.Context, o Options) error {
	if err := s.untangle(ctx, o.Starts); err != nil {
		return err
	}
	return s.place(ctx, o.NodeGap)
}

// sheet is the drawing while the sketches are put on it.
type sheet struct {
	Drawing
	graph  Graph
	opt    Options
	ranks  []int
	routes []Path // by index of the distinct edge
	y      float64
}

// shelf is a row of sketches that share bands.
type shelf struct {
	parts []*sketch
	shift []float64 // of each sketch to the right
	width float64
	depth int // number of bands
}

// assemble puts the sketches together: on one shelf when the caller gave ranks, else on as many as make the drawing handy.
func assemble(ctx context.Context, g Graph, o Options, ranks []int, parts []*sketch, slot []int) (Drawing, error) {
	d := &sheet{graph: g, opt: o, ranks: ranks, y: o.NodeGap / 2}
	d.Nodes = make([]Box, len(g.Nodes))
	edges := 0
	for _, s := range parts {
		d.Crossings += s.allCrossings()
		edges += len(s.chains)
	}
	d.routes = make([]Path, edges)
	for _, sh := range shelves(parts, o.NodeGap, ranks != nil) {
		if ctx.Err() != nil {
			return Drawing{}, ctx.Err()
		}
		d.add(sh)
	}
	d.H = d.y - o.LayerGap + o.NodeGap/2
	d.W += o.NodeGap
	for i := range d.Layers {
		d.Layers[i].W = d.W
	}
	d.Paths = make([]Path, len(slot))
	for i, k := range slot {
		d.Paths[i] = d.routes[k]
	}
	return d.Drawing, nil
}

// add puts a shelf below what is there.
func (d *sheet) add(sh shelf) {
	rows := sh.rows(d)
	for i, s := range sh.parts {
		for v, x := range s.x {
			s.x[v] = x + sh.shift[i] + d.opt.NodeGap/2
		}
		d.box(s, rows)
		d.route(s, rows)
	}
	d.Layers = append(d.Layers, rows...)
	d.W = max(d.W, sh.width)
}

// rows makes the bands of a shelf: each as high as its highest node.
func (sh shelf) rows(d *sheet) []Band {
	rows := make([]Band, sh.depth)
	steep := make([]float64, sh.depth)
	for _, s := range sh.parts {
		for l := range s.layers() {
			row := &rows[s.base+l]
			for _, v := range s.row(l) {
				if !s.dummy(v) {
					row.Nodes = append(row.Nodes, int(s.nodes[v]))
					row.H = max(row.H, d.graph.Nodes[s.nodes[v]].H)
				}
			}
			steep[s.base+l] = max(steep[s.base+l], s.reach(l))
		}
	}
	for i := range rows {
		rows[i].Rank = i
		if d.ranks != nil {
			rows[i].Rank = d.ranks[i]
		}
		rows[i].Y = d.y
		d.y += rows[i].H + gapFor(d.opt.LayerGap, steep[i])
	}
	return rows
}

// reach returns how far to the side the longest link below a layer goes.
func (s *sketch) reach(l int) float64 {
	far := 0.0
	for _, v := range s.row(l) {
		for _, w := range s.side[below].of(v) {
			far = max(far, math.Abs(s.x[v]-s.x[w]))
		}
	}
	return far
}

// gapFor widens the gap between two layers when a link in it goes far to the side, so that it does not become too flat.
func gapFor(gap, reach float64) float64 {
	const flattest, most = 12, 3
	if reach <= flattest*gap {
		return gap
	}
	return min(math.Ceil(reach/flattest), gap*most)
}

// box sets the boxes of a sketch's nodes; each lies in the middle of its band.
func (d *sheet) box(s *sketch, rows []Band) {
	for v, i := range s.nodes {
		n, band := d.graph.Nodes[i], rows[s.base+int(s.layer[v])]
		d.Nodes[i] = Box{X: s.x[v] - n.W/2, Y: band.Y + (band.H-n.H)/2, W: n.W, H: n.H}
	}
}

// route draws the edges of a sketch. Inside a band an edge runs straight down, beside the nodes, and so has two points a layer; all
// bends lie between the bands, where no nodes are. A cubic curve lies within the hull of its four points, and so no edge can touch a
// node that it does not join. All bends between two bands follow the same course from side to side, and so two of them cross at
// most once, and only when their ends are in different orders: the picture has the crossings that were counted.
func (d *sheet) route(s *sketch, rows []Band) {
	for _, c := range s.chains {
		from, to := d.Nodes[s.nodes[c.from]], d.Nodes[s.nodes[c.to]]
		band := s.base + int(s.layer[c.from])
		p := Path{Points: make([]Point, 1, 4+6*(c.count+1))}
		x := s.x[c.from]
		p.Points[0] = Point{x, from.Y + from.H}
		for k := range c.count + 1 {
			p.line(Point{x, rows[band].Y + rows[band].H})
			band++
			if k < c.count {
				x = s.x[c.first+k]
			} else {
				x = s.x[c.to]
			}
			p.bend(Point{x, rows[band].Y})
		}
		p.line(Point{x, to.Y})
		d.routes[c.edge] = p
	}
}
