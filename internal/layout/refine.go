package layout

// refine is a local search in the neighbourhood of the best order. One order that is refined has fewer crossings than the best of
// many that are not, for the same work.
//
// It improves the best order by moving single vertices to the best place in their layers, and then tries small disturbances,
// each followed by such moves, and keeps those that do no harm.
func (f *search) refine() {
	f.siftAll()
	f.note()
	f.recall()
	for f.least > 0 && f.spend(40) {
		f.disturb()
	}
	f.recall()
}

// disturb kicks a layer, lets the layers around it settle, and keeps the result when it has no more crossings than before.
func (f *search) disturb() {
	l := int(f.layer[f.rng.below(len(f.order))])
	row := f.row(l)
	if len(row) < 2 {
		return
	}
	f.work -= 4 * f.links(row)
	cost := -f.around(l)
	f.kick(row)
	f.refresh(l)
	f.touched[l] = true
	cost += f.around(l) - f.settle(l)
	f.least += min(cost, 0)
	f.keepTouched(cost <= 0)
}

// settle sifts the layers beside a changed layer, then the layer itself, and then those beside any layer that changes, and returns
// how many crossings vanished.
func (f *search) settle(l int) int {
	total := 0
	f.queue = f.queue[:0]
	// The layer itself comes last, else it would only go back to where it was.
	f.enqueue(l - 1)
	f.enqueue(l + 1)
	f.enqueue(l)
	for i := 0; i < len(f.queue); i++ {
		k := f.queue[i]
		f.queued[k] = false
		gain := f.sift(k)
		if gain == 0 {
			continue
		}
		total += gain
		f.touched[k] = true
		f.enqueue(k - 1)
		f.enqueue(k + 1)
	}
	return total
}

// keepTouched makes the changed layers part of the best order, or brings the best order back.
func (f *search) keepTouched(keep bool) {
	for l, touched := range f.touched {
		if !touched {
			continue
		}
		f.touched[l] = false
		best := f.best[f.first[l]:f.first[l+1]]
		if keep {
			copy(best, f.row(l))
			continue
		}
		copy(f.row(l), best)
		f.refresh(l)
	}
}

// kick shuffles a few neighbours in a row, or moves one vertex to another place.
func (f *search) kick(row []int32) {
	if f.rng.below(2) == 0 {
		size := min(len(row), 2+f.rng.below(5))
		at := f.rng.below(len(row) - size + 1)
		f.rng.shuffle(row[at : at+size])
		return
	}
	move(row, f.rng.below(len(row)), f.rng.below(len(row)))
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

// enqueue asks for a layer to be sifted.
func (f *search) enqueue(l int) {
	if l >= 0 && l < f.layers() && !f.queued[l] {
		f.queued[l] = true
		f.queue = append(f.queue, l)
	}
}

// around counts the crossings of the links of a layer.
func (f *search) around(l int) int {
	count := 0
	if l > 0 {
		count += f.crossings(l - 1)
	}
	if l+1 < f.layers() {
		count += f.crossings(l)
	}
	return count
}
