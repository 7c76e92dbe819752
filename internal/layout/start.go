package layout

import "slices"

// begin puts the vertices in the k-th first order: each layer in the order in which a depth-first walk finds its vertices. The
// first walk goes down from the first layer, the second goes up from the last; in both, nodes and edges come as they were given.
// Later walks take them by chance.
func (f *search) begin(k int) {
	side := below
	if k%2 == 1 {
		side = above
	}
	roots := make([]int32, 0, len(f.order))
	for v := range int32(len(f.order)) {
		if len(f.side[1-side].of(v)) == 0 {
			roots = append(roots, v)
		}
	}
	if k > 1 {
		f.rng.shuffle(roots)
	}
	f.walk(roots, side, k > 1)
	f.refreshAll()
}

// walk fills the order with the vertices as a depth-first walk from the roots finds them.
func (f *search) walk(roots []int32, side int, shuffled bool) {
	next := slices.Clone(f.first[:f.layers()])
	seen := make([]bool, len(f.order))
	var stack []int32
	for _, root := range roots {
		stack = append(stack, root)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			l := f.layer[v]
			f.order[next[l]] = v
			next[l]++
			top := len(stack)
			stack = append(stack, f.side[side].of(v)...)
			if shuffled {
				f.rng.shuffle(stack[top:])
			} else {
				slices.Reverse(stack[top:])
			}
		}
	}
}
