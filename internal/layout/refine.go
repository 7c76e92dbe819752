package layout

// refine is a local search in the neighbourhood of the best order. One order that is refined has fewer crossings than the best of
// many that are not, for the same work.
//
// It improves the best order by moving single vertices to the best place in their layers, and then tries small disturbances,
// each followed by such moves, and keeps those that do no harm. It ends when they have not helped for a while: for this part of the
// work, in percent. As long as they do it may take more than all of it.
func (f *search) refine() {
	const patience, most, near = 40, 130, 8
	work := f.work
	f.siftAll()
	enough, left := work*patience/100, work*most/100-(work-f.work)
	f.note()
	f.recall()
	f.scope = near
	for helped := true; helped && f.least > 0 && left > 0; {
		f.work = min(enough, left)
		least := f.least
		for f.least == least && f.spend(disturbWork) {
			f.disturb()
		}
		helped = f.least < least
		left -= enough - f.work
	}
	f.recall()
}

// disturbWork is the work of a disturbance beside that of sifting.
const disturbWork = 40

// disturb moves a vertex to another place in its layer, lets its neighbours settle and then itself, and keeps the result when it has
// no more crossings than before. The vertex comes last, else it would only go back to where it was.
func (f *search) disturb() {
	v := int32(f.rng.below(len(f.order)))
	row := f.row(int(f.layer[v]))
	if len(row) < 2 {
		return
	}
	cost := f.kick(v, row)
	f.enqueue(f.side[above].of(v))
	f.enqueue(f.side[below].of(v))
	f.enqueue([]int32{v})
	cost -= f.settle()
	f.least += min(cost, 0)
	f.keepTouched(cost <= 0)
}

// kick moves a vertex to another place in its row, not far away, and returns how many crossings that makes.
func (f *search) kick(v int32, row []int32) (cost int) {
	const far = 12
	from := int(f.pos[v])
	to := min(max(from-far+f.rng.below(2*far+1), 0), len(row)-1)
	for _, b := range f.weigh(v, row[from:max(from, to+1)]) {
		cost -= b
	}
	for _, b := range f.weigh(v, row[min(from, to):from]) {
		cost += b
	}
	move(row, from, to)
	f.changed(int(f.layer[v]))
	return cost
}

// keepTouched makes the changed layers part of the best order, or brings the best order back.
func (f *search) keepTouched(keep bool) {
	for _, l := range f.dirty {
		f.touched[l] = false
		best := f.best[f.first[l]:f.first[l+1]]
		if keep {
			copy(best, f.row(l))
			continue
		}
		copy(f.row(l), best)
		f.refresh(l)
	}
	f.dirty = f.dirty[:0]
}
