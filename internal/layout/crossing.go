package layout

import "cmp"

// crossings counts the crossings of the links between a layer and the next with a tree of sums over the places of the lower
// layer: each link crosses the links seen before it that end to its right.
func (s *sketch) crossings(l int) int {
	width := int(s.first[l+2] - s.first[l+1])
	tree := s.w.sums(width + 1)
	down := &s.side[below]
	seen, total := 0, 0
	for _, v := range s.row(l) {
		for _, p := range down.places(v) {
			total += seen
			for i := int(p) + 1; i > 0; i &= i - 1 {
				total -= int(tree[i])
			}
			seen++
			for i := int(p) + 1; i <= width; i += i & -i {
				tree[i]++
			}
		}
	}
	return total
}

// allCrossings counts the crossings between all neighbouring layers.
func (s *sketch) allCrossings() int {
	total := 0
	for l := 0; l+1 < s.layers(); l++ {
		total += s.crossings(l)
	}
	return total
}

// excess returns how many more crossings the links of two vertices of a layer have on one side when u lies left of v than when v
// lies left of u. Both lists are sorted.
func excess(u, v []int32) int {
	if len(u) == 1 && len(v) == 1 {
		return cmp.Compare(u[0], v[0])
	}
	d := 0
	i, j, k := 0, 0, 0
	for _, p := range u {
		for i < len(v) && v[i] < p {
			i++
		}
		j = max(j, i)
		for j < len(v) && v[j] == p {
			j++
		}
		k = len(v) - j
		d += i - k
	}
	return d
}

// swapGain returns how many crossings vanish when two neighbours in a layer, u on the left, change places.
func (s *sketch) swapGain(u, v int32) int {
	up, down := &s.side[above], &s.side[below]
	return excess(up.places(u), up.places(v)) + excess(down.places(u), down.places(v))
}

// workspace is memory that the steps of one sketch use again and again.
type workspace struct {
	fill   []int32
	tree   []int32
	keys   []keyed
	kept   []int32
	matrix []int32
	score  []int32
	index  []int32
	ends   []end
}

// end is the end of a link: the vertex in the column-th place of its layer has a neighbour at the place in the next.
type end struct{ column, place int32 }

// sums returns n zeroes.
func (w *workspace) sums(n int) []int32 {
	w.tree = grown(w.tree, n)
	clear(w.tree)
	return w.tree
}

// grown returns the slice with length n; its content is not defined.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
