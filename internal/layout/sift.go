package layout

// siftAll moves vertices, layer by layer, each to the best place in its layer, until no move of a single vertex helps.
func (f *search) siftAll() {
	for l := range f.layers() {
		f.enqueue(f.row(l))
	}
	f.settle()
}

// enqueue asks for vertices to be sifted.
func (f *search) enqueue(vertices []int32) {
	for _, v := range vertices {
		if !f.queued[v] {
			f.queued[v] = true
			f.queue = append(f.queue, v)
		}
	}
}

// settle sifts the vertices in the queue, and then the neighbours of each that moves, since only to them something has changed. It
// returns how many crossings vanished.
func (f *search) settle() int {
	const glance = 64
	total := 0
	for i := 0; i < len(f.queue); i++ {
		v := f.queue[i]
		f.queued[v] = false
		if i%glance == 0 && !f.spend(0) {
			continue
		}
		total += f.sift(v)
	}
	f.queue = f.queue[:0]
	return total
}

// sift moves a vertex to the place in its layer where it causes the fewest crossings, asks for its neighbours to be sifted when that
// helps, and returns how many crossings vanish.
func (f *search) sift(v int32) int {
	row, at := f.row(int(f.layer[v])), int(f.pos[v])
	if len(row) < 2 {
		return 0
	}
	f.work -= 8 + f.links[f.layer[v]]*(min(len(row), at+f.scope+1)-max(0, at-f.scope))/len(row)
	first := max(0, at-f.scope)
	biases := f.weigh(v, row[first:min(len(row), at+f.scope+1)])
	best, to, sum := 0, at, 0
	for i := at - 1; i >= first; i-- {
		if sum += biases[i-first]; sum < best {
			best, to = sum, i
		}
	}
	sum = 0
	for i, b := range biases[at+1-first:] {
		if sum -= b; sum < best {
			best, to = sum, at+1+i
		}
	}
	if best == 0 {
		return 0
	}
	move(row, at, to)
	f.changed(int(f.layer[v]))
	f.enqueue(f.side[above].of(v))
	f.enqueue(f.side[below].of(v))
	return -best
}

// weigh returns, for each of some vertices of a layer, how many more crossings there are when v, of the same layer, lies left of it
// than when v lies right of it. They are good until the next call.
func (f *search) weigh(v int32, others []int32) []int {
	f.w.biases = grown(f.w.biases, len(others))
	biases := f.w.biases
	clear(biases)
	l := int(f.layer[v])
	for side, next := range [2]int{l - 1, l + 1} {
		ends := &f.side[side]
		if len(ends.of(v)) == 0 {
			continue
		}
		score := grown(f.w.score, len(f.row(next)))
		f.w.score = score
		fillScore(score, f.places(v, side))
		off, adj, pos := ends.off, ends.adj, f.pos
		for i, u := range others {
			for k := off[u]; k < off[u+1]; k++ {
				biases[i] += int(score[pos[adj[k]]])
			}
		}
	}
	return biases
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

// changed brings everything up to date with the new order of a layer.
func (f *search) changed(l int) {
	f.refresh(l)
	if !f.touched[l] {
		f.touched[l] = true
		f.dirty = append(f.dirty, l)
	}
}

// move takes the element at one index out of the list and puts it back at another.
func move(list []int32, from, to int) {
	v := list[from]
	if from < to {
		copy(list[from:to], list[from+1:to+1])
	} else {
		copy(list[to+1:from+1], list[to:from])
	}
	list[to] = v
}
