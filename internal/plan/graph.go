package plan

import (
	"errors"
	"fmt"
	"slices"
)

// ErrDeadlock is returned by everything that orders or runs a graph when steps
// remain and none of them can come next. There is never a partial order.
var ErrDeadlock = errors.New("steps remain and none of them can start")

// graph is a plan by index. Dependencies that are not in the plan, and
// repeated ones, are left out of it. Of several steps with one id the first
// is the one that dependencies name.
type graph struct {
	index map[string]int
	twice map[string]bool // ids that several steps have; nil if there are none
	needs [][]int         // step → the steps it depends on
	feeds [][]int         // step → the steps that depend on it
}

func newGraph(p Plan) graph {
	g := graph{index: make(map[string]int, len(p.Steps))}
	named := 0
	for i, s := range p.Steps {
		named += len(s.DependsOn)
		if _, ok := g.index[s.ID]; !ok {
			g.index[s.ID] = i
			continue
		}
		if g.twice == nil {
			g.twice = map[string]bool{}
		}
		g.twice[s.ID] = true
	}
	g.link(p, named)
	return g
}

// link fills in both directions. All lists of a direction share one array.
func (g *graph) link(p Plan, named int) {
	g.needs, g.feeds = make([][]int, len(p.Steps)), make([][]int, len(p.Steps))
	all := make([]int, 0, named)
	seen := make([]int, len(p.Steps)) // the step, from 1, that last named this one
	count := make([]int, len(p.Steps))
	for i, s := range p.Steps {
		start := len(all)
		for _, id := range s.DependsOn {
			d, ok := g.index[id]
			if id == s.ID {
				d = i // also of a step that is not the first with its id
			}
			if ok && seen[d] != i+1 {
				seen[d] = i + 1
				count[d]++
				all = append(all, d)
			}
		}
		g.needs[i] = all[start:len(all):len(all)]
	}
	back, at := make([]int, len(all)), 0
	for d, n := range count {
		g.feeds[d] = back[at : at : at+n]
		at += n
	}
	for i, needs := range g.needs {
		for _, d := range needs {
			g.feeds[d] = append(g.feeds[d], i)
		}
	}
}

// isEnd says whether no other step depends on step i.
func (g graph) isEnd(i int) bool {
	return !slices.ContainsFunc(g.feeds[i], func(d int) bool { return d != i })
}

// ends returns the steps that no other step depends on, in plan order. Of
// several steps with one id only the first can be one.
func (g graph) ends(p Plan) []int {
	var ends []int
	for i, s := range p.Steps {
		if g.index[s.ID] == i && g.isEnd(i) {
			ends = append(ends, i)
		}
	}
	return ends
}

// topological returns every step after all it depends on, ties in plan order,
// and the longest distance of each from a root. Steps on or behind a cycle are
// left out of the order.
func (g graph) topological() (order, depth []int) {
	depth = make([]int, len(g.needs))
	left := make([]int, len(g.needs))
	var ready indexHeap
	for i, n := range g.needs {
		if left[i] = len(n); left[i] == 0 {
			ready.push(i)
		}
	}
	for len(ready) > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, d := range g.feeds[i] {
			depth[d] = max(depth[d], depth[i]+1)
			if left[d]--; left[d] == 0 {
				ready.push(d)
			}
		}
	}
	return order, depth
}

// ordered is topological for a plan that can be ordered. The error is of one
// that cannot.
func (g graph) ordered(p Plan) (order, depth []int, err error) {
	for _, s := range p.Steps {
		if g.twice[s.ID] {
			return nil, nil, fmt.Errorf("order the plan: several steps have the id %q", Short(s.ID, mostQuoted))
		}
		for _, id := range s.DependsOn {
			if _, ok := g.index[id]; !ok {
				return nil, nil, fmt.Errorf("%w: step %q needs %q, which is not in the plan",
					ErrDeadlock, Short(s.ID, mostQuoted), Short(id, mostQuoted))
			}
		}
	}
	order, depth = g.topological()
	if len(order) < len(p.Steps) {
		return nil, nil, fmt.Errorf("%w: %d of %d steps wait on a cycle", ErrDeadlock, len(p.Steps)-len(order), len(p.Steps))
	}
	return order, depth, nil
}

// Order returns the ids so that every step comes after all it depends on, ties
// in plan order, so that the order is the same every time.
func Order(p Plan) ([]string, error) {
	order, _, err := newGraph(p).ordered(p)
	if err != nil {
		return nil, err
	}
	return p.named(order), nil
}

// Waves returns the ids by their longest distance from a root; within a wave
// they are in plan order.
func Waves(p Plan) ([][]string, error) {
	_, depth, err := newGraph(p).ordered(p)
	if err != nil {
		return nil, err
	}
	var waves [][]string
	for i, s := range p.Steps {
		for len(waves) <= depth[i] {
			waves = append(waves, nil)
		}
		waves[depth[i]] = append(waves[depth[i]], s.ID)
	}
	return waves, nil
}

// CriticalPath returns the ids of the heaviest chain of dependencies, first to
// last. Weight is the cost of a step in any unit, and nothing below 0; nil counts
// each step as 1. Of equally heavy chains it is the same one every time.
func CriticalPath(p Plan, weight func(id string) float64) ([]string, error) {
	g := newGraph(p)
	order, _, err := g.ordered(p)
	if err != nil || len(order) == 0 {
		return nil, err
	}
	total := make([]float64, len(order))
	from := make([]int, len(order))
	last := order[0]
	for _, i := range order {
		from[i] = -1
		for _, d := range g.needs[i] {
			if from[i] < 0 || total[d] > total[from[i]] {
				from[i] = d
			}
		}
		total[i] = 1
		if weight != nil {
			total[i] = weight(p.Steps[i].ID)
		}
		if !(total[i] > 0) { // what is not a number weighs nothing, too
			total[i] = 0
		}
		if from[i] >= 0 {
			total[i] += total[from[i]]
		}
		if total[i] > total[last] {
			last = i
		}
	}
	var path []int
	for i := last; i >= 0; i = from[i] {
		path = append(path, i)
	}
	slices.Reverse(path)
	return p.named(path), nil
}

// Terminals returns the ids of the steps that no other step depends on, in
// plan order.
func Terminals(p Plan) []string { return p.named(newGraph(p).ends(p)) }

// Affected returns the given steps and all that need them, directly or through
// others, in plan order.
func Affected(p Plan, ids []string) ([]string, error) {
	g := newGraph(p)
	hit := make([]bool, len(p.Steps))
	var stack []int
	for _, id := range ids {
		i, ok := g.index[id]
		if !ok {
			return nil, fmt.Errorf("find what is affected: step %q is not in the plan", Short(id, mostQuoted))
		}
		if !hit[i] {
			hit[i] = true
			stack = append(stack, i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, d := range g.feeds[i] {
			if !hit[d] {
				hit[d] = true
				stack = append(stack, d)
			}
		}
	}
	var out []string
	for i, s := range p.Steps {
		if hit[i] {
			out = append(out, s.ID)
		}
	}
	return out, nil
}

// named returns the ids of steps.
func (p Plan) named(indexes []int) []string {
	ids := make([]string, len(indexes))
	for k, i := range indexes {
		ids[k] = p.Steps[i].ID
	}
	return ids
}

// indexHeap gives the smallest index first.
type indexHeap []int

func (h *indexHeap) push(i int) {
	*h = append(*h, i)
	for c := len(*h) - 1; c > 0; {
		up := (c - 1) / 2
		if (*h)[up] <= (*h)[c] {
			return
		}
		(*h)[up], (*h)[c] = (*h)[c], (*h)[up]
		c = up
	}
}

func (h *indexHeap) pop() int {
	top := (*h)[0]
	n := len(*h) - 1
	(*h)[0] = (*h)[n]
	*h = (*h)[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && (*h)[c+1] < (*h)[c] {
			c++
		}
		if (*h)[i] <= (*h)[c] {
			return top
		}
		(*h)[i], (*h)[c] = (*h)[c], (*h)[i]
		i = c
	}
}
