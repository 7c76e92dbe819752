package layout

import "math"

// straighten puts runs of vertices that one edge or one line of single edges joins into one vertical where there is room for it.
func (p *placer) straighten() {
	const rounds = 3
	runs := p.runs()
	for range rounds {
		for _, run := range runs {
			p.alignRun(run)
		}
	}
}

// runs returns the lines of vertices that should be vertical: each vertex is the only neighbour below of the one before it, and
// has that one as its only neighbour above. The dummies of an edge are always in one line.
func (p *placer) runs() [][]int32 {
	var runs [][]int32
	for _, v := range p.order {
		if p.follows(v) {
			continue
		}
		run := []int32{v}
		for next := p.side[below].of(v); len(next) == 1 && p.follows(next[0]); next = p.side[below].of(next[0]) {
			run = append(run, next[0])
		}
		runs = append(runs, run)
	}
	return runs
}

// follows says whether a vertex continues the line of the vertex above it.
func (p *placer) follows(v int32) bool {
	up := p.side[above].of(v)
	return len(up) == 1 && len(p.side[below].of(up[0])) == 1
}

// alignRun cuts a run into the fewest pieces that have room for a vertical line, from the top, and makes each piece vertical.
func (p *placer) alignRun(run []int32) {
	for len(run) > 0 {
		low, high := math.Inf(-1), math.Inf(1)
		sum, n := 0.0, 0
		for _, v := range run {
			l, h := p.room(v)
			l, h = max(l, low), min(h, high)
			if l > h {
				break
			}
			low, high = l, h
			sum += p.x[v]
			n++
		}
		if n == 0 {
			n, low, high, sum = 1, p.x[run[0]], p.x[run[0]], p.x[run[0]]
		}
		at := p.magnet(run[:n], min(max(sum/float64(n), low), high), low, high)
		for _, v := range run[:n] {
			p.x[v] = at
		}
		run = run[n:]
	}
}

// magnet returns the position of the closest neighbour of a run when the run may and nearly does lie there, else the position at.
func (p *placer) magnet(run []int32, at, low, high float64) float64 {
	best, least := at, p.gap/2
	try := func(neighbours []int32) {
		for _, w := range neighbours {
			if x := p.x[w]; x >= low && x <= high && math.Abs(x-at) < least {
				best, least = x, math.Abs(x-at)
			}
		}
	}
	try(p.side[above].of(run[0]))
	try(p.side[below].of(run[len(run)-1]))
	return best
}

// centre moves each node above the middle of its fan of edges, or below it, as far as there is room. It moves only nodes with at
// most one edge on the other side.
func (p *placer) centre() {
	for l := p.layers() - 1; l >= 0; l-- {
		p.centreRow(p.row(l), below)
	}
	for l := range p.layers() {
		p.centreRow(p.row(l), above)
	}
}

// centreRow does so for the nodes of a layer that have their fan on one side.
func (p *placer) centreRow(row []int32, side int) {
	for _, v := range row {
		fan := p.side[side].of(v)
		if len(fan) < 2 || len(p.side[1-side].of(v)) > 1 {
			continue
		}
		sum := 0.0
		for _, w := range fan {
			sum += p.x[w]
		}
		low, high := p.room(v)
		p.x[v] = min(max(sum/float64(len(fan)), low), high)
	}
}
