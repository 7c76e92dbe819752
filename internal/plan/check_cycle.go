package plan

import (
	"slices"
	"strings"
)

// cycles reports each set of steps that wait on each other, with one concrete
// cycle. Only steps on a cycle are blamed, never one that waits behind it. A
// step that names itself is reported by its own rule.
func (c *checker) cycles() {
	for _, group := range c.graph.knots() {
		ids := c.plan.named(group)
		round := c.plan.named(c.graph.cycle(group))
		from, to := round[0], round[1]
		s, _ := c.plan.Step(from)
		c.add(CodeCycle, ids, c.without(s, to, false),
			"%s wait on each other and none of them can start: %s (each needs the next). Remove one dependency of the cycle, as %s from the depends_on of %s.",
			list(ids), strings.Join(append(round, round[0]), " → "), to, from)
	}
}

// knots returns the sets of two or more steps that wait on each other (the
// strongly connected components; Tarjan 1972), each in plan order. It keeps
// its own stack, so that a deep plan cannot exhaust the goroutine's.
func (g graph) knots() [][]int {
	t := tarjan{g: g, number: make([]int, len(g.needs)), low: make([]int, len(g.needs)), on: make([]bool, len(g.needs))}
	for i := range g.needs {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	slices.SortFunc(t.found, func(a, b []int) int { return a[0] - b[0] })
	return t.found
}

type tarjan struct {
	g           graph
	number, low []int
	on          []bool
	stack       []int
	next        int
	found       [][]int
}

// frame is a step on the way down, and which of its dependencies is next.
type frame struct{ step, edge int }

func (t *tarjan) enter(i int) frame {
	t.next++
	t.number[i], t.low[i], t.on[i] = t.next, t.next, true
	t.stack = append(t.stack, i)
	return frame{step: i}
}

func (t *tarjan) visit(root int) {
	way := []frame{t.enter(root)}
	for len(way) > 0 {
		f := &way[len(way)-1]
		if f.edge < len(t.g.needs[f.step]) {
			d := t.g.needs[f.step][f.edge]
			f.edge++
			switch {
			case t.number[d] == 0:
				way = append(way, t.enter(d))
			case t.on[d]:
				t.low[f.step] = min(t.low[f.step], t.number[d])
			}
			continue
		}
		done := f.step
		way = way[:len(way)-1]
		if len(way) > 0 {
			up := way[len(way)-1].step
			t.low[up] = min(t.low[up], t.low[done])
		}
		if t.low[done] == t.number[done] {
			t.close(done)
		}
	}
}

// close takes a finished component off the stack.
func (t *tarjan) close(root int) {
	at := slices.Index(t.stack, root)
	group := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, i := range group {
		t.on[i] = false
	}
	if len(group) > 1 {
		slices.Sort(group)
		t.found = append(t.found, group)
	}
}

// cycle returns a shortest cycle through the first step of a knot, in the
// order of needing.
func (g graph) cycle(group []int) []int {
	start := group[0]
	from := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range g.needs[i] {
			if d == i {
				continue // needing oneself has a rule of its own
			}
			if d == start {
				round := []int{i}
				for round[0] != start {
					round = slices.Insert(round, 0, from[round[0]])
				}
				return round
			}
			if _, seen := from[d]; !seen && slices.Contains(group, d) {
				from[d] = i
				queue = append(queue, d)
			}
		}
	}
	return group
}
