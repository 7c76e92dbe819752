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
	least int   // crossings of the best order
	scope int   // how many places to each side sift looks
	links []int // how many vertices and links a look at each layer visits
	// queue holds the vertices that settle should sift; queued marks them.
	queue  []int32
	queued []bool
	// dirty holds the layers that differ from the best order; touched marks them.
	dirty   []int
	touched []bool
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
	f := &search{
		sketch: s, ctx: ctx, rng: 1, scope: 1 << 30, best: slices.Clone(s.order), least: math.MaxInt, work: sweepWork(len(s.order)),
		links: make([]int, s.layers()), queued: make([]bool, len(s.order)), touched: make([]bool, s.layers()),
	}
	for v, l := range s.layer {
		f.links[l] += 1 + len(s.side[above].of(int32(v))) + len(s.side[below].of(int32(v)))
	}
	return f
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
		f.sweep(patienceFor(starts))
	}
	f.recall()
	f.work = refineWork(n, f.least)
	if f.least > 0 {
		f.refine()
	}
	return ctx.Err()
}

// startsFor returns how many first orders are worth their time in a sketch of n vertices. There are always two, one from above and
// one from below: layers with many roots are better ordered from below, layers with many leaves from above.
func startsFor(n int) int { return min(max(800/n, 2), 8) }

// patienceFor returns for how many rounds a sweep goes on that do not help: more when there are few starts.
func patienceFor(starts int) int { return max(16/starts, 5) }

// sweepWork bounds the sweeps over all starts in a sketch of n vertices.
func sweepWork(n int) int { return 40_000_000 + 50*n }

// refineWork bounds the refinement of a sketch of n vertices, so that a drawing takes a fifth of the time that graphviz takes for it,
// and never more than a fraction of a second. The more crossings there are, the more work is worth its time.
func refineWork(n, crossings int) int {
	return min(6_000+20*n*n, 16_000+260*n+n*n/8+400*crossings, 40_000_000)
}

// sweep is the method of Gansner, Koutsofios, North and Vo with two keys in turn. Medians are good at letting most links of a fan
// run straight, means are good at telling apart vertices with equal medians; together they leave fewer plateaus than either.
//
// It goes down and up the layers in turn, each time ordering a layer by the one before, until that has not helped for some
// rounds.
func (f *search) sweep(patience int) {
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
		if len(f.side[side].of(v)) > 0 {
			keys = append(keys, keyed{v, f.key(v, side, useMedian)})
		}
	}
	f.w.keys = keys
	if flip {
		slices.Reverse(keys)
	}
	sortKeys(keys)
	k := 0
	for i, v := range row {
		if len(f.side[side].of(v)) > 0 {
			row[i] = keys[k].v
			k++
		}
	}
	f.refresh(l)
}

// sortKeys sorts by key and leaves equals in their order. Most rows are nearly in order, which insertion is quick at.
func sortKeys(keys []keyed) {
	const few = 64
	if len(keys) > few {
		slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return
	}
	for i := 1; i < len(keys); i++ {
		v, k := keys[i], i
		for ; k > 0 && keys[k-1].key > v.key; k-- {
			keys[k] = keys[k-1]
		}
		keys[k] = v
	}
}

// key returns the weighted median or the mean of the places of a vertex's neighbours on one side.
func (f *search) key(v int32, side int, useMedian bool) float64 {
	if useMedian {
		return median(f.places(v, side))
	}
	sum, ends := 0, f.side[side].of(v)
	for _, w := range ends {
		sum += int(f.pos[w])
	}
	return float64(sum) / float64(len(ends))
}

// places returns the positions of the neighbours of v on one side in ascending order. They are good until the next call.
func (f *search) places(v int32, side int) []int32 {
	at := f.w.places[:0]
	for _, w := range f.side[side].of(v) {
		at = append(at, f.pos[w])
	}
	sortFew(at)
	f.w.places = at
	return at
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
