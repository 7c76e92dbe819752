package layout

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// search looks for an order of the vertices with few crossings. It keeps the best order seen and the work it may still do, counted
// in visits of vertices and links; both the context and an empty account end it.
type search struct {
	*sketch
	ctx   context.Context
	rng   random
	work  int
	best  []int32
	least int    // crossings of the best order
	ripe  []bool // layers that transpose should look at
	queue []int  // layers that disturb should sift
	// queued and touched mark the layers in the queue and those that differ from the best order.
	queued, touched []bool
}

// random is a small generator of numbers (splitmix64). Each search starts its own with a fixed seed.
type random uint64

// below returns a number from 0 to n-1.
func (r *random) below(n int) int {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(z % uint64(n))
}

// shuffle puts the vertices in a random order.
func (r *random) shuffle(v []int32) {
	for i := len(v) - 1; i > 0; i-- {
		j := r.below(i + 1)
		v[i], v[j] = v[j], v[i]
	}
}

// spend takes work from the account and says whether the search may go on.
func (f *search) spend(work int) bool {
	f.work -= work
	return f.work > 0 && f.ctx.Err() == nil
}

// size returns the work of a look at every vertex and link.
func (f *search) size() int { return 4 * (len(f.order) + len(f.side[below].adj)) }

// links returns the number of links of a layer.
func (f *search) links(row []int32) int {
	n := 0
	for _, v := range row {
		n += len(f.side[above].of(v)) + len(f.side[below].of(v))
	}
	return n
}

// note keeps the order when it has fewer crossings than the best so far, and says so.
func (f *search) note() bool {
	count := f.allCrossings()
	if count >= f.least {
		return false
	}
	f.least = count
	copy(f.best, f.order)
	return true
}

// recall brings back the best order.
func (f *search) recall() {
	copy(f.order, f.best)
	f.refreshAll()
}

// newSearch starts a search on a sketch.
func newSearch(ctx context.Context, s *sketch) *search {
	return &search{
		sketch: s, ctx: ctx, rng: 1, best: slices.Clone(s.order), least: math.MaxInt, work: sweepWork(len(s.order)),
		ripe: make([]bool, s.layers()), queued: make([]bool, s.layers()), touched: make([]bool, s.layers()),
	}
}

// untangle orders the layers of the sketch so that few links cross: the best of several starts, refined.
func (s *sketch) untangle(ctx context.Context, starts int) error {
	n := len(s.order)
	f := newSearch(ctx, s)
	if starts == 0 {
		starts = startsFor(n)
	}
	for k := 0; k < starts && f.least > 0 && f.spend(f.size()); k++ {
		f.begin(k)
		f.sweep()
	}
	f.recall()
	f.work = refineWork(n)
	if f.least > 0 {
		f.refine()
	}
	return ctx.Err()
}

// startsFor returns how many first orders are worth their time in a sketch of n vertices. There are always two, one from above and
// one from below: layers with many roots are better ordered from below, layers with many leaves from above.
func startsFor(n int) int { return min(max(3000/n, 2), 8) }

// sweepWork bounds the sweeps over all starts in a sketch of n vertices.
func sweepWork(n int) int { return 40_000_000 + 50*n }

// refineWork bounds the refinement in a sketch of n vertices: little when it is small, and never more than a fraction of a second.
func refineWork(n int) int { return min(60*n*n, 10_000*n, 60_000_000) }

// sweep is the method of Gansner, Koutsofios, North and Vo with two keys in turn. Medians are good at letting most links of a fan
// run straight, means are good at telling apart vertices with equal medians; together they leave fewer plateaus than either.
//
// It goes down and up the layers in turn, each time ordering a layer by the one before, until that has not helped for some
// rounds.
func (f *search) sweep() {
	const patience = 6
	f.note()
	for round, idle := 0, 0; idle < patience && f.least > 0 && f.spend(f.size()); round++ {
		useMedian, flip := round%4 < 2, round%8 >= 4
		if round%2 == 0 {
			for l := 1; l < f.layers(); l++ {
				f.align(l, above, useMedian, flip)
			}
		} else {
			for l := f.layers() - 2; l >= 0; l-- {
				f.align(l, below, useMedian, flip)
			}
		}
		f.transpose(flip)
		idle++
		if f.note() {
			idle = 0
		}
	}
}

// keyed is a vertex with what it is sorted by.
type keyed struct {
	v   int32
	key float64
}

// align orders a layer by the median or the mean of each vertex's neighbours on one side. Vertices without such neighbours keep
// their places. Flip reverses the order of those with equal keys.
func (f *search) align(l, side int, useMedian, flip bool) {
	row := f.row(l)
	keys := f.w.keys[:0]
	for _, v := range row {
		if at := f.side[side].places(v); len(at) > 0 {
			keys = append(keys, keyed{v, keyOf(at, useMedian)})
		}
	}
	f.w.keys = keys
	if flip {
		slices.Reverse(keys)
	}
	slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	k := 0
	for i, v := range row {
		if len(f.side[side].of(v)) > 0 {
			row[i] = keys[k].v
			k++
		}
	}
	f.refresh(l)
}

// keyOf returns the weighted median or the mean of the places.
func keyOf(at []int32, useMedian bool) float64 {
	if useMedian {
		return median(at)
	}
	sum := 0
	for _, p := range at {
		sum += int(p)
	}
	return float64(sum) / float64(len(at))
}

// median returns the middle place; between two middle places it leans to the side on which the places lie closer together.
func median(at []int32) float64 {
	m := len(at) / 2
	if len(at)%2 == 1 {
		return float64(at[m])
	}
	if len(at) == 2 {
		return float64(at[0]+at[1]) / 2
	}
	left, right := float64(at[m-1]-at[0]), float64(at[len(at)-1]-at[m])
	if left+right == 0 {
		return float64(at[m-1]+at[m]) / 2
	}
	return (float64(at[m-1])*right + float64(at[m])*left) / (left + right)
}

// transpose exchanges neighbours in their layers as long as crossings vanish, for some rounds at most. When even is true it also
// makes, in the first round, exchanges that change nothing, which leads off plateaus. A round looks only at layers that have
// changed, or beside which one has, since they were looked at last.
func (f *search) transpose(even bool) {
	const rounds = 8
	for l := range f.ripe {
		f.ripe[l] = true
	}
	for round := range rounds {
		gain := 0
		for l := range f.layers() {
			if f.ripe[l] {
				f.ripe[l] = false
				gain += f.transposeRow(l, even && round == 0)
			}
		}
		if gain == 0 || !f.spend(0) {
			return
		}
	}
}

// transposeRow exchanges neighbours in one layer and returns how many crossings vanished.
func (f *search) transposeRow(l int, even bool) int {
	row := f.row(l)
	f.work -= 2 * (len(row) + f.links(row))
	gain, moved := 0, false
	for i := 0; i+1 < len(row); i++ {
		d := f.swapGain(row[i], row[i+1])
		if d > 0 || d == 0 && even {
			row[i], row[i+1] = row[i+1], row[i]
			gain += d
			moved = true
		}
	}
	if moved {
		f.refresh(l)
	}
	if gain > 0 {
		for k := max(0, l-1); k <= min(l+1, f.layers()-1); k++ {
			f.ripe[k] = true
		}
	}
	return gain
}
