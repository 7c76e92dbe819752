package main

import (
	"cmp"
	"math"
	"slices"
)

// figures are what is measured in a drawing.
type figures struct {
	Crossings int // places where two edges cross
	Through   int // pairs of an edge and a node that it does not join but runs through
	Overlaps  int // pairs of nodes that overlap
	W, H      float64
}

// measure looks at nothing but the picture, and at the pictures of all engines in the same way. Only the crossings are those that
// the engine itself counts where these are fewer: dot's curves cross more often than the lines that it ordered.
func measure(g graph, d drawing) figures {
	f := figures{Crossings: crossings(toCentres(g, d)), Through: through(g, d), Overlaps: overlaps(d.boxes)}
	if d.own >= 0 {
		f.Crossings = min(f.Crossings, d.own)
	}
	_, _, f.W, f.H = frame(d)
	return f
}

// toCentres returns the lines made longer at both ends, to the middle of the nodes that they join. Where an edge runs through a node,
// as dagre's do, its crossings with the edges of that node lie beneath the box, and would else not be counted.
func toCentres(g graph, d drawing) [][]point {
	all := make([][]point, len(d.lines))
	for i, l := range d.lines {
		from, to := d.boxes[g.edges[i][0]], d.boxes[g.edges[i][1]]
		all[i] = slices.Concat([]point{from.centre()}, l, []point{to.centre()})
	}
	return all
}

// centre returns the middle of a box.
func (b box) centre() point { return point{b.x + b.w/2, b.y + b.h/2} }

// frame returns the rectangle around everything that is drawn.
func frame(d drawing) (x, y, w, h float64) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	take := func(x, y float64) {
		low = point{min(low.x, x), min(low.y, y)}
		high = point{max(high.x, x), max(high.y, y)}
	}
	for _, b := range d.boxes {
		take(b.x, b.y)
		take(b.x+b.w, b.y+b.h)
	}
	for _, l := range d.lines {
		for _, p := range l {
			take(p.x, p.y)
		}
	}
	return low.x, low.y, high.x - low.x, high.y - low.y
}

// piece is a straight piece of an edge.
type piece struct {
	edge      int
	a, b      point
	top, foot float64
}

// crossings counts the pairs of pieces of different edges that cross. Edges that meet in an end do not cross there.
func crossings(lines [][]point) int {
	var all []piece
	for i, l := range lines {
		for k := range len(l) - 1 {
			a, b := l[k], l[k+1]
			all = append(all, piece{i, a, b, min(a.y, b.y), max(a.y, b.y)})
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.top, b.top) })
	count := 0
	var open []piece
	for _, p := range all {
		kept := open[:0]
		for _, q := range open {
			if q.foot < p.top {
				continue
			}
			kept = append(kept, q)
			if q.edge != p.edge && cross(p, q) {
				count++
			}
		}
		open = append(kept, p)
	}
	return count
}

// cross says whether two pieces cross. Pieces that begin or end in the same point do not; else a point on a line counts as left of
// it, so that two edges that cross where one has a bend are counted once.
func cross(p, q piece) bool {
	if p.a == q.a || p.a == q.b || p.b == q.a || p.b == q.b {
		return false
	}
	return left(p, q.a) != left(p, q.b) && left(q, p.a) != left(q, p.b)
}

// left says whether a point lies left of a piece or on it.
func left(p piece, c point) bool {
	return (p.b.x-p.a.x)*(c.y-p.a.y)-(p.b.y-p.a.y)*(c.x-p.a.x) >= 0
}

// tolerance is how far an edge may run into a box before it counts as running through it, and two boxes into each other, in px.
const tolerance = 1

// through counts the pairs of an edge and a node that it does not join but runs through.
func through(g graph, d drawing) int {
	count := 0
	for i, l := range d.lines {
		for v, b := range d.boxes {
			if v != g.edges[i][0] && v != g.edges[i][1] && runsThrough(l, b) {
				count++
			}
		}
	}
	return count
}

// runsThrough says whether a line passes the inside of a box.
func runsThrough(l []point, b box) bool {
	b = box{b.x + tolerance, b.y + tolerance, b.w - 2*tolerance, b.h - 2*tolerance}
	for k := range len(l) - 1 {
		if clips(l[k], l[k+1], b) {
			return true
		}
	}
	return false
}

// clips says whether a straight piece has a part inside a box, by cutting off what lies beyond each of its borders.
func clips(p, q point, b box) bool {
	if max(p.y, q.y) <= b.y || min(p.y, q.y) >= b.y+b.h || max(p.x, q.x) <= b.x || min(p.x, q.x) >= b.x+b.w {
		return false
	}
	from, to := 0.0, 1.0
	for _, s := range [4][2]float64{
		{p.x - q.x, p.x - b.x},
		{q.x - p.x, b.x + b.w - p.x},
		{p.y - q.y, p.y - b.y},
		{q.y - p.y, b.y + b.h - p.y},
	} {
		switch rise, room := s[0], s[1]; {
		case rise == 0 && room <= 0:
			return false
		case rise < 0:
			from = max(from, room/rise)
		case rise > 0:
			to = min(to, room/rise)
		}
	}
	return from < to
}

// overlaps counts the pairs of boxes that overlap.
func overlaps(boxes []box) int {
	count := 0
	for i, a := range boxes {
		for _, b := range boxes[:i] {
			if a.x+tolerance < b.x+b.w && b.x+tolerance < a.x+a.w && a.y+tolerance < b.y+b.h && b.y+tolerance < a.y+a.h {
				count++
			}
		}
	}
	return count
}
