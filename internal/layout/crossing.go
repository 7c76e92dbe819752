package layout

import "slices"

// crossings counts the crossings of the links between a layer and the next. From left to right the links end at places that would
// ascend if none crossed; each crossing is a pair in the wrong order, and sorting by insertion meets each such pair once. That is
// quick as long as few cross; when many do, sums counts them.
func (s *sketch) crossings(l int) int {
	const patience = 8
	ends := s.w.ends[:0]
	count := 0
	for _, v := range s.row(l) {
		first := len(ends)
		for _, w := range s.side[below].of(v) {
			ends = append(ends, s.pos[w])
		}
		sortFew(ends[first:])
		// The links of one vertex do not cross, and each moves to its place beyond those of the vertices before.
		for i := first; i < len(ends); i++ {
			p, k := ends[i], i
			for ; k > 0 && ends[k-1] > p; k-- {
				ends[k] = ends[k-1]
			}
			ends[k] = p
			count += i - k
		}
		if count > patience*len(ends)+1000 {
			s.w.ends = ends
			return s.manyCrossings(l)
		}
	}
	s.w.ends = ends
	return count
}

// manyCrossings counts the same with a tree of sums over the places of the lower layer: each link crosses the links of the vertices
// before its own that end to its right.
func (s *sketch) manyCrossings(l int) int {
	width := int(s.first[l+2] - s.first[l+1])
	tree := s.w.sums(width + 1)
	seen, total := 0, 0
	for _, v := range s.row(l) {
		ends := s.side[below].of(v)
		total += seen * len(ends)
		for _, w := range ends {
			for i := int(s.pos[w]) + 1; i > 0; i &= i - 1 {
				total -= int(tree[i])
			}
		}
		for _, w := range ends {
			for i := int(s.pos[w]) + 1; i <= width; i += i & -i {
				tree[i]++
			}
		}
		seen += len(ends)
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

// workspace is memory that the steps of one sketch use again and again.
type workspace struct {
	tree   []int32
	keys   []keyed
	places []int32
	ends   []int32
	score  []int32
	biases []int
}

// sortFew sorts numbers that are mostly few.
func sortFew(at []int32) {
	const few = 12
	if len(at) > few {
		slices.Sort(at)
		return
	}
	for i := 1; i < len(at); i++ {
		for k := i; k > 0 && at[k-1] > at[k]; k-- {
			at[k-1], at[k] = at[k], at[k-1]
		}
	}
}

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
