package layout

import "slices"

// tree returns the side on which the vertices have their children when the sketch is a tree: each vertex but one then has a single
// neighbour on the other side.
func (s *sketch) tree() (children int, ok bool) {
	var forks [2]bool
	for v := range int32(len(s.order)) {
		for side := range s.side {
			forks[side] = forks[side] || len(s.side[side].of(v)) > 1
		}
	}
	if !forks[above] {
		return below, true
	}
	return above, !forks[below]
}

// tryHanging hangs up the tree, unless that makes it wider by more than a few percent.
func (p *placer) tryHanging(children int) {
	const most = 1.1
	kept := slices.Clone(p.x)
	_, before := p.extent()
	p.hang(children)
	if _, after := p.extent(); after > before*most {
		copy(p.x, kept)
	}
}

// hang places the vertices of a tree that is drawn without crossings: each in the middle between its first and its last child, and
// the subtrees side by side, as close as their outlines allow. It does so from the left and from the right and takes the mean,
// which keeps both rules and leaves small subtrees between larger ones neither here nor there.
func (p *placer) hang(children int) {
	left, right := p.hangFrom(children, false), p.hangFrom(children, true)
	for v := range p.x {
		p.x[v] = (left[v] - right[v]) / 2
	}
}

// hangFrom returns the positions with the subtrees pushed to the left or, mirrored, with all signs changed, to the right. The root
// lies at 0.
func (p *placer) hangFrom(children int, mirrored bool) []float64 {
	x := make([]float64, len(p.order)) // at first from the parent
	outlines := make([]outline, len(p.order))
	for i := range p.layers() {
		for _, v := range p.row(p.fromLeaves(children, i)) {
			kids := slices.Clone(p.side[children].of(v))
			slices.SortFunc(kids, func(a, b int32) int { return int(p.pos[a] - p.pos[b]) })
			if mirrored {
				slices.Reverse(kids)
			}
			outlines[v] = gather(kids, outlines, x)
			outlines[v].top(p.reachOf(v))
		}
	}
	for i := p.layers() - 1; i >= 0; i-- {
		for _, v := range p.row(p.fromLeaves(children, i)) {
			for _, kid := range p.side[children].of(v) {
				x[kid] += x[v]
			}
		}
	}
	return x
}

// fromLeaves returns the i-th layer counted from the side of the leaves.
func (s *sketch) fromLeaves(children, i int) int {
	if children == below {
		return s.layers() - 1 - i
	}
	return i
}

// reachOf returns the room that a vertex needs to each side, half of the gap included.
func (p *placer) reachOf(v int32) float64 {
	if p.dummy(v) {
		return p.gap * besideEdge / 2
	}
	return (p.gap + p.width[v]) / 2
}

// gather puts the subtrees of siblings side by side, sets their positions from their parent, and returns their common outline. The
// outlines of the siblings are used up.
func gather(kids []int32, outlines []outline, x []float64) outline {
	if len(kids) == 0 {
		return outline{}
	}
	all := outlines[kids[0]]
	for _, kid := range kids[1:] {
		x[kid] = all.push(outlines[kid])
	}
	middle := x[kids[len(kids)-1]] / 2
	for _, kid := range kids {
		x[kid] -= middle
	}
	all.left.shift -= middle
	all.right.shift -= middle
	return all
}

// outline is the left and the right border of a subtree.
type outline struct{ left, right rim }

// rim is one border, layer by layer from the leaves to the root. The shift is to be added to all of it.
type rim struct {
	at    []float64
	shift float64
}

// of returns the border d layers from the root.
func (r *rim) of(d int) float64 { return r.at[len(r.at)-1-d] + r.shift }

// copyFrom takes over the layers of another rim, which must not be the deeper.
func (r *rim) copyFrom(o rim) {
	for d := range o.at {
		r.at[len(r.at)-1-d] = o.of(d) - r.shift
	}
}

// push moves another outline to the right of o, joins it to o and returns how far it was moved. The work is that of the shallower.
func (o *outline) push(next outline) float64 {
	shift := 0.0
	for d := range min(len(o.right.at), len(next.left.at)) {
		gap := o.right.of(d) - next.left.of(d)
		if d == 0 || gap > shift {
			shift = gap
		}
	}
	next.left.shift += shift
	next.right.shift += shift
	if len(next.left.at) > len(o.left.at) {
		next.left.copyFrom(o.left)
		o.left = next.left
	}
	if len(next.right.at) >= len(o.right.at) {
		o.right = next.right
	} else {
		o.right.copyFrom(next.right)
	}
	return shift
}

// top adds the layer of the root, which lies at 0 and needs the given room to each side.
func (o *outline) top(reach float64) {
	o.left.at = append(o.left.at, -reach-o.left.shift)
	o.right.at = append(o.right.at, reach-o.right.shift)
}
