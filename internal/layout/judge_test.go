package layout

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
)

// failer is what a judge needs of a test; rapid's T has it too.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

var (
	_ failer = (*testing.T)(nil)
	_ failer = (*testing.F)(nil)
)

// hair is how close two things may come before they count as touching, in px.
const hair = 1e-6

// judge fails the test when the drawing breaks a promise of the package. It judges a drawing to the right by its transposition.
func judge(t failer, g Graph, o Options, d Drawing) {
	t.Helper()
	o = o.withDefaults()
	if o.Direction == Right {
		g = g.transposed()
		d = clone(d)
		d.transpose()
	}
	for _, rule := range []func(Graph, Options, Drawing) error{
		judgeSizes, judgeOverlap, judgeBands, judgeRanks, judgeEnds, judgeInside, judgeThrough, judgeTwins, judgeCrossings,
	} {
		if err := rule(g, o, d); err != nil {
			t.Fatalf("%v\n%s", err, svg(g, d))
		}
	}
}

// clone returns a drawing that shares no memory with d.
func clone(d Drawing) Drawing {
	d.Nodes = slices.Clone(d.Nodes)
	d.Layers = slices.Clone(d.Layers)
	d.Paths = slices.Clone(d.Paths)
	return d
}

func judgeSizes(g Graph, _ Options, d Drawing) error {
	if len(d.Nodes) != len(g.Nodes) || len(d.Paths) != len(g.Edges) {
		return fmt.Errorf("%d boxes for %d nodes, %d paths for %d edges", len(d.Nodes), len(g.Nodes), len(d.Paths), len(g.Edges))
	}
	for i, b := range d.Nodes {
		if b.W != g.Nodes[i].W || b.H != g.Nodes[i].H {
			return fmt.Errorf("node %d has size %g × %g, want %g × %g", i, b.W, b.H, g.Nodes[i].W, g.Nodes[i].H)
		}
		if !within(b, d) {
			return fmt.Errorf("node %d at %v lies outside the drawing of %g × %g", i, b, d.W, d.H)
		}
	}
	return nil
}

func within(b Box, d Drawing) bool {
	return b.X >= -hair && b.Y >= -hair && b.X+b.W <= d.W+hair && b.Y+b.H <= d.H+hair
}

// judgeOverlap holds that two nodes are a node gap apart in a layer, or a layer gap apart across layers.
func judgeOverlap(_ Graph, o Options, d Drawing) error {
	const rounding = 0.5 + hair
	for i, a := range d.Nodes {
		for j, b := range d.Nodes[:i] {
			dx := max(a.X-b.X-b.W, b.X-a.X-a.W)
			dy := max(a.Y-b.Y-b.H, b.Y-a.Y-a.H)
			if dx < o.NodeGap-rounding && dy < o.LayerGap-hair {
				return fmt.Errorf("nodes %d and %d at %v and %v are too close", j, i, b, a)
			}
		}
	}
	return nil
}

func judgeBands(g Graph, _ Options, d Drawing) error {
	seen := make([]bool, len(g.Nodes))
	for l, band := range d.Layers {
		if !within(band.Box, d) || band.X != 0 || band.W != d.W {
			return fmt.Errorf("band %d at %v does not span the drawing", l, band.Box)
		}
		if l > 0 && d.Layers[l-1].Y+d.Layers[l-1].H > band.Y-hair {
			return fmt.Errorf("bands %d and %d overlap", l-1, l)
		}
		x := math.Inf(-1)
		for _, v := range band.Nodes {
			b := d.Nodes[v]
			if seen[v] || b.X < x || b.Y < band.Y-hair || b.Y+b.H > band.Y+band.H+hair {
				return fmt.Errorf("node %d at %v does not belong where it is in band %d at %v", v, b, l, band.Box)
			}
			seen[v], x = true, b.X
		}
	}
	if v := slices.Index(seen, false); v >= 0 {
		return fmt.Errorf("node %d is in no band", v)
	}
	return nil
}

// judgeRanks holds that the bands are the distinct ranks, when there are ranks.
func judgeRanks(_ Graph, o Options, d Drawing) error {
	if o.Rank == nil {
		return nil
	}
	want := slices.Clone(o.Rank)
	slices.Sort(want)
	want = slices.Compact(want)
	if len(d.Layers) != len(want) {
		return fmt.Errorf("%d bands for %d ranks", len(d.Layers), len(want))
	}
	for l, band := range d.Layers {
		for _, v := range band.Nodes {
			if band.Rank != want[l] || o.Rank[v] != want[l] {
				return fmt.Errorf("node %d of rank %d is in band %d of rank %d", v, o.Rank[v], l, band.Rank)
			}
		}
	}
	return nil
}

// judgeEnds holds that an edge leaves at the middle of its first node's lower border and ends at the middle of the upper border of
// the other, without a step up in between.
func judgeEnds(g Graph, _ Options, d Drawing) error {
	for i, e := range g.Edges {
		p, from, to := d.Paths[i], d.Nodes[e.From], d.Nodes[e.To]
		if !near(p.Start(), Point{from.X + from.W/2, from.Y + from.H}) || !near(p.End(), Point{to.X + to.W/2, to.Y}) {
			return fmt.Errorf("edge %d from %v to %v joins not %v and %v", i, p.Start(), p.End(), from, to)
		}
		for k := range p.Points[1:] {
			if p.Points[k+1].Y < p.Points[k].Y {
				return fmt.Errorf("edge %d goes up at %v", i, p.Points[k])
			}
		}
	}
	return nil
}

func near(a, b Point) bool { return math.Abs(a.X-b.X) < hair && math.Abs(a.Y-b.Y) < hair }

// samples calls f with points all along the path.
func samples(p Path, f func(Point) error) error {
	const each = 40
	for k := range p.Pieces() {
		for i := range each + 1 {
			if err := f(p.At(k, float64(i)/each)); err != nil {
				return err
			}
		}
	}
	return nil
}

func judgeInside(_ Graph, _ Options, d Drawing) error {
	for i, p := range d.Paths {
		err := samples(p, func(q Point) error {
			if !within(Box{X: q.X, Y: q.Y}, d) {
				return fmt.Errorf("edge %d leaves the drawing at %v", i, q)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeThrough holds that no edge touches a node that it does not join.
func judgeThrough(g Graph, _ Options, d Drawing) error {
	for i, e := range g.Edges {
		err := samples(d.Paths[i], func(q Point) error {
			for v, b := range d.Nodes {
				if v != e.From && v != e.To && touches(q, b) {
					return fmt.Errorf("edge %d goes through node %d at %v", i, v, q)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func touches(q Point, b Box) bool {
	return q.X > b.X-hair && q.X < b.X+b.W+hair && q.Y > b.Y-hair && q.Y < b.Y+b.H+hair
}

// judgeTwins holds that equal edges have equal paths.
func judgeTwins(g Graph, _ Options, d Drawing) error {
	first := map[Edge]int{}
	for i, e := range g.Edges {
		k, ok := first[e]
		if !ok {
			first[e] = i
		} else if !slices.Equal(d.Paths[k].Points, d.Paths[i].Points) {
			return fmt.Errorf("edges %d and %d are equal but drawn differently", k, i)
		}
	}
	return nil
}

// judgeCrossings counts the crossings in the picture: two edges cross between two bands when they change sides.
func judgeCrossings(g Graph, _ Options, d Drawing) error {
	edges, _ := distinct(g.Edges)
	paths := make(map[Edge]Path, len(edges))
	for i, e := range g.Edges {
		paths[e] = d.Paths[i]
	}
	count := 0
	for l := 1; l < len(d.Layers); l++ {
		top, bottom := d.Layers[l-1].Y+d.Layers[l-1].H, d.Layers[l].Y
		var passing [][2]float64
		for _, e := range edges {
			p := paths[e]
			if p.Start().Y <= top+hair && p.End().Y >= bottom-hair {
				passing = append(passing, [2]float64{xAt(p, top), xAt(p, bottom)})
			}
		}
		for i, a := range passing {
			for _, b := range passing[:i] {
				if cmp.Compare(a[0], b[0])*cmp.Compare(a[1], b[1]) < 0 {
					count++
				}
			}
		}
	}
	if count != d.Crossings {
		return fmt.Errorf("the drawing has %d crossings but says %d", count, d.Crossings)
	}
	return nil
}

// xAt returns where a path passes a height at which it is not within a curve.
func xAt(p Path, y float64) float64 {
	for k := range p.Pieces() {
		a, b := p.Points[3*k], p.Points[3*k+3]
		if y <= a.Y+hair {
			return a.X
		}
		if y <= b.Y+hair {
			return b.X
		}
	}
	return p.End().X
}
