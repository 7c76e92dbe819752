package layout

// siftAll moves vertices of all layers down and up, until no move of a single vertex helps.
func (f *search) siftAll() {
	for gain := 1; gain > 0; {
		gain = 0
		for l := range 2 * f.layers() {
			if !f.spend(0) {
				return
			}
			gain += f.sift(min(l, 2*f.layers()-1-l))
		}
	}
}

// sift moves the vertices of one layer, one after the other, to the places where they cause the fewest crossings, until none
// moves, and returns how many crossings vanished. It leaves layers alone that are too wide for a matrix of their pairs.
func (f *search) sift(l int) int {
	// The bound on the links keeps the sums in the matrix within 32 bits.
	const widest, mostLinks = 2048, 1 << 15
	row := f.row(l)
	n, links := len(row), f.links(row)
	if n < 2 || n > widest || links > mostLinks {
		return 0
	}
	f.work -= n*(n+links)/2 + 16
	f.fillMatrix(l)
	f.w.index = grown(f.w.index, n)
	index := f.w.index
	for i := range index {
		index[i] = int32(i)
	}
	total := 0
	for gain := 1; gain > 0; total += gain {
		gain = 0
		for v := range int32(n) {
			gain += f.reinsert(index, v)
		}
	}
	if total > 0 {
		f.reorder(l, index)
	}
	return total
}

// reorder puts the vertices of a layer into the order of their old places in index.
func (f *search) reorder(l int, index []int32) {
	row := f.row(l)
	f.w.kept = append(f.w.kept[:0], row...)
	for i, k := range index {
		row[i] = f.w.kept[k]
	}
	f.refresh(l)
}

// reinsert moves the v-th vertex of a layer to the best place and returns how many crossings vanish. In the matrix of the layer,
// the entry (u, v) says how many more crossings there are when u lies left of v.
func (f *search) reinsert(index []int32, v int32) int {
	n := len(index)
	at := 0
	for index[at] != v {
		at++
	}
	line := f.w.matrix[int(v)*n : (int(v)+1)*n]
	best, to := int32(0), at
	sum := int32(0)
	for i := at - 1; i >= 0; i-- {
		sum += line[index[i]]
		if sum < best {
			best, to = sum, i
		}
	}
	sum = 0
	for i := at + 1; i < n; i++ {
		sum -= line[index[i]]
		if sum < best {
			best, to = sum, i
		}
	}
	move(index, at, to)
	return -int(best)
}

// fillMatrix is what makes sifting cheap: as long as the layers beside it stay as they are, what two vertices of a layer have to do
// with each other does not depend on where they are, only on which of them is on the left.
//
// It computes, for all pairs of a layer, the excess of crossings when the first lies left of the second.
func (f *search) fillMatrix(l int) {
	row := f.row(l)
	n := len(row)
	m := grown(f.w.matrix, n*n)
	f.w.matrix = m
	clear(m)
	for side, next := range [2]int{l - 1, l + 1} {
		if next >= 0 && next < f.layers() {
			f.addMatrix(row, &f.side[side], len(f.row(next)))
		}
	}
	for i := range n {
		for j := range i {
			m[i*n+j] = -m[j*n+i]
		}
	}
}

// addMatrix adds the excess on one side, where the neighbours lie in a row of the given width, to the half of the matrix in which
// the first of a pair lies left of the second.
func (f *search) addMatrix(row []int32, links *links, width int) {
	n := len(row)
	f.w.score = grown(f.w.score, width)
	ends := f.w.ends[:0]
	for j, v := range row {
		for _, p := range links.places(v) {
			ends = append(ends, end{int32(j), p})
		}
	}
	f.w.ends = ends
	for i, u := range row {
		at := links.places(u)
		ends = ends[len(at):]
		if len(at) == 0 {
			continue
		}
		score := f.w.score
		fillScore(score, at)
		line := f.w.matrix[i*n : (i+1)*n]
		for _, e := range ends {
			line[e.column] += score[e.place]
		}
	}
}

// fillScore writes, for each place p, how many of the given places lie right of p less how many lie left of it.
func fillScore(score, at []int32) {
	p := int32(0)
	for i, a := range at {
		d := int32(len(at) - 2*i)
		for ; p < a; p++ {
			score[p] = d
		}
		score[p] = d - 1
		p++
	}
	d := int32(-len(at))
	for ; int(p) < len(score); p++ {
		score[p] = d
	}
}
