package layout

import "context"

// simplex finds the layers in which the edges are shortest in sum, by the network simplex method of Gansner, Koutsofios, North
// and Vo. It keeps a spanning tree of tight edges for each component; an edge is tight when its nodes lie in neighbouring layers.
// An edge of the tree whose cut value is negative makes the sum smaller when it leaves the tree and another one enters.
type simplex struct {
	*net
	layer    []int32
	outEdges lists // indexes of the edges that leave each node
	inEdges  lists
	inTree   []bool

	parent []int32 // edge to the parent in the tree, -1 at a root
	pre    []int32 // place in seq
	size   []int32 // number of nodes in the subtree
	sum    []int32 // edges leaving less edges entering, over the subtree
	seq    []int32 // the nodes, each subtree in one run that begins with its root
	stack  []int32
	work   int // visits of nodes and edges that are left to spend
}

// newSimplex starts from feasible layers, which it changes in place.
func newSimplex(n *net, layer []int32) *simplex {
	from, to, ids := make([]int32, len(n.edges)), make([]int32, len(n.edges)), make([]int32, len(n.edges))
	for i, e := range n.edges {
		from[i], to[i], ids[i] = int32(e.From), int32(e.To), int32(i)
	}
	return &simplex{
		net: n, layer: layer, outEdges: group(n.n, from, ids), inEdges: group(n.n, to, ids), inTree: make([]bool, len(n.edges)),
		parent: make([]int32, n.n), pre: make([]int32, n.n), size: make([]int32, n.n), sum: make([]int32, n.n),
		seq: make([]int32, 0, n.n), work: min(100*n.n*(n.n+len(n.edges)), 60_000_000),
	}
}

// run shortens the edges until no exchange helps, or until the work for a graph of this size is done. The layers are feasible at
// every moment.
func (t *simplex) run(ctx context.Context) error {
	if t.tight() {
		return nil
	}
	for v := range t.pre {
		t.pre[v] = -1
	}
	for v := range int32(t.n) {
		if t.pre[v] < 0 && !t.span(ctx, v) {
			return ctx.Err()
		}
	}
	next := int32(0)
	for t.work > 0 && ctx.Err() == nil {
		v := t.leaving(&next)
		if v < 0 {
			break
		}
		t.exchange(v)
	}
	return ctx.Err()
}

// tight says whether no edge can become shorter.
func (t *simplex) tight() bool {
	for e := range t.edges {
		if t.slack(int32(e)) > 0 {
			return false
		}
	}
	return true
}

// slack returns by how many layers an edge is longer than it must be.
func (t *simplex) slack(e int32) int32 {
	return t.layer[t.edges[e].To] - t.layer[t.edges[e].From] - 1
}

// other returns the end of an edge that is not v.
func (t *simplex) other(e, v int32) int32 {
	if to := int32(t.edges[e].To); to != v {
		return to
	}
	return int32(t.edges[e].From)
}

// span grows a tree of tight edges over the component of a node and says whether it could. When no tight edge leads out of the
// tree, the whole tree moves until the edge out of it that has the least slack is tight.
func (t *simplex) span(ctx context.Context, root int32) bool {
	first := len(t.seq)
	t.reach(root)
	for done := first; done < len(t.seq); {
		if t.work <= 0 || ctx.Err() != nil {
			return false
		}
		for ; done < len(t.seq); done++ {
			t.eachEdge(t.seq[done], func(e, w int32) {
				if t.pre[w] < 0 && t.slack(e) == 0 {
					t.inTree[e] = true
					t.reach(w)
				}
			})
		}
		if at := t.tighten(t.seq[first:]); at >= 0 {
			done = first + at
		}
	}
	t.parent[root] = -1
	t.number(root, int32(first))
	return true
}

// reach adds a node to the tree that grows.
func (t *simplex) reach(v int32) {
	t.pre[v] = int32(len(t.seq))
	t.seq = append(t.seq, v)
}

// eachEdge calls f with every edge at v and the node at its other end.
func (t *simplex) eachEdge(v int32, f func(e, w int32)) {
	for _, e := range t.outEdges.of(v) {
		f(e, int32(t.edges[e].To))
	}
	for _, e := range t.inEdges.of(v) {
		f(e, int32(t.edges[e].From))
	}
}

// tighten moves the nodes of an unfinished tree so that the closest edge out of it becomes tight, and returns the index of the
// node at which that edge hangs, or -1 when the tree spans its component.
func (t *simplex) tighten(tree []int32) int {
	t.work -= len(tree)
	at, least, shift := -1, int32(0), int32(0)
	for i, v := range tree {
		t.work -= len(t.out.of(v)) + len(t.in.of(v))
		t.eachEdge(v, func(e, w int32) {
			slack := t.slack(e)
			if t.pre[w] >= 0 || at >= 0 && slack >= least {
				return
			}
			at, least, shift = i, slack, slack
			if int32(t.edges[e].To) == v {
				shift = -slack
			}
		})
	}
	for _, v := range tree {
		t.layer[v] += shift
	}
	return at
}

// number writes the subtree of v into seq from the given place on, and sums up the subtrees.
func (t *simplex) number(v, place int32) {
	begin := place
	t.stack = append(t.stack[:0], v)
	for len(t.stack) > 0 {
		u := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.seq[place], t.pre[u] = u, place
		t.size[u] = 1
		t.sum[u] = int32(len(t.out.of(u)) - len(t.in.of(u)))
		place++
		for _, list := range [2][]int32{t.outEdges.of(u), t.inEdges.of(u)} {
			t.work -= 1 + len(list)
			for _, e := range list {
				if t.inTree[e] && e != t.parent[u] {
					w := t.other(e, u)
					t.parent[w] = e
					t.stack = append(t.stack, w)
				}
			}
		}
	}
	for i := place - 1; i > begin; i-- {
		u := t.seq[i]
		p := t.other(t.parent[u], u)
		t.size[p] += t.size[u]
		t.sum[p] += t.sum[u]
	}
}

// cut returns the cut value of the edge from v to its parent: the edges that run the same way across the cut, less those that run
// against it. Edges within the subtree cancel out in its sum, which is therefore the edges out of the subtree less those into it.
func (t *simplex) cut(v int32) int32 {
	if int32(t.edges[t.parent[v]].From) == v {
		return t.sum[v]
	}
	return -t.sum[v]
}

// leaving returns a node whose edge to its parent should leave the tree, or -1. It looks at the nodes in turn and takes the most
// negative of the first few cut values.
func (t *simplex) leaving(next *int32) int32 {
	const sample = 30
	best, least, found := int32(-1), int32(0), 0
	for range t.n {
		v := *next
		if *next++; int(*next) == t.n {
			*next = 0
		}
		if t.parent[v] < 0 || t.cut(v) >= 0 {
			continue
		}
		if c := t.cut(v); c < least {
			best, least = v, c
		}
		if found++; found == sample {
			break
		}
	}
	return best
}

// exchange takes the edge from v to its parent out of the tree, puts the closest edge against it across the cut in, and moves the
// subtree of v so that the new edge is tight.
func (t *simplex) exchange(v int32) {
	leave := t.parent[v]
	tail := int32(t.edges[leave].From) == v
	enter := t.entering(v, tail)
	shift := t.slack(enter)
	if tail {
		shift = -shift
	}
	for _, u := range t.subtree(v) {
		t.layer[u] += shift
	}
	top := int32(t.edges[enter].To)
	if tail {
		top = int32(t.edges[enter].From)
	}
	for !t.holds(top, v) {
		top = t.other(t.parent[top], top)
	}
	t.inTree[leave], t.inTree[enter] = false, true
	t.number(top, t.pre[top])
}

// subtree returns the nodes of the subtree of v.
func (t *simplex) subtree(v int32) []int32 { return t.seq[t.pre[v] : t.pre[v]+t.size[v]] }

// holds says whether w lies in the subtree of v.
func (t *simplex) holds(v, w int32) bool {
	return t.pre[w] >= t.pre[v] && t.pre[w] < t.pre[v]+t.size[v]
}

// entering returns the edge with the least slack that crosses the cut above v against the edge to the parent. There is always one,
// because the cut value is negative.
func (t *simplex) entering(v int32, tail bool) int32 {
	list := &t.outEdges
	if tail {
		list = &t.inEdges
	}
	best, least := int32(-1), int32(0)
	for _, u := range t.subtree(v) {
		t.work -= 1 + len(list.of(u))
		for _, e := range list.of(u) {
			if t.holds(v, t.other(e, u)) {
				continue
			}
			if slack := t.slack(e); best < 0 || slack < least {
				best, least = e, slack
			}
		}
	}
	return best
}
