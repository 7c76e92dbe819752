package main

import (
	"context"
	"math"
	"syscall"
	"time"

	"planwave/internal/layout"
)

// point is a place in a drawing in px.
type point struct{ x, y float64 }

// box is where a node lies.
type box struct{ x, y, w, h float64 }

// drawing is what an engine made of a graph. Curves are lines of many points.
type drawing struct {
	boxes []box
	lines [][]point
	took  time.Duration
	// own is the number of crossings by the engine's own account, or -1.
	own int
}

// engine lays out graphs. The name stands in the tables.
type engine struct {
	name string
	draw func(ctx context.Context, g graph) (drawing, error)
}

// samples is the number of straight pieces by which a curve is replaced. It is odd, so that curves that mirror each other do not
// cross where a sample lies.
const samples = 13

// drawOurs lays out the graph with internal/layout. The time is that of the fastest of several runs in this process.
func drawOurs(ctx context.Context, g graph) (drawing, error) {
	in := layout.Graph{Nodes: make([]layout.Node, g.n), Edges: make([]layout.Edge, len(g.edges))}
	for i := range in.Nodes {
		in.Nodes[i] = layout.Node{W: nodeW, H: nodeH}
	}
	for i, e := range g.edges {
		in.Edges[i] = layout.Edge{From: e[0], To: e[1]}
	}
	var d layout.Drawing
	took, err := fastest(func() (time.Duration, error) {
		var err error
		start := spent()
		d, err = layout.Draw(ctx, in, layout.Options{})
		return spent() - start, err
	})
	if err != nil {
		return drawing{}, err
	}
	out := drawing{took: took, own: d.Crossings}
	for _, b := range d.Nodes {
		out.boxes = append(out.boxes, box{b.X, b.Y, b.W, b.H})
	}
	for _, p := range d.Paths {
		out.lines = append(out.lines, flatten(p))
	}
	return out, nil
}

// flatten replaces the curves of a path by straight pieces.
func flatten(p layout.Path) []point {
	line := []point{{p.Start().X, p.Start().Y}}
	for k := range p.Pieces() {
		q := p.Points[3*k : 3*k+4]
		if q[0] == q[1] && q[2] == q[3] {
			line = append(line, point{q[3].X, q[3].Y})
			continue
		}
		for i := range samples {
			at := p.At(k, float64(i+1)/samples)
			line = append(line, point{at.X, at.Y})
		}
	}
	return line
}

// spent returns the processor time that this process has taken. Processor time is what all engines are measured by, since it does
// not depend on what else the machine does.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fastest runs something for half a second, but at least three times and at most 50, and returns the shortest of its times: what
// else the machine does only makes them longer.
func fastest(run func() (time.Duration, error)) (time.Duration, error) {
	const least, most, enough = 3, 50, time.Second / 2
	shortest := time.Duration(math.MaxInt64)
	for n, sum := 0, time.Duration(0); n < least || n < most && sum < enough; n++ {
		t, err := run()
		if err != nil {
			return 0, err
		}
		shortest = min(shortest, t)
		sum += t
	}
	return shortest, nil
}
