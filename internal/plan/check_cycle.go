package plan

import (
	"slices"
	"strings"
)

// cycles reports each set of steps that wait on each other, with one concrete
// cycle. Only steps on a cycle are blamed, never one that waits behind it. A
// step that names itself is reported by its own rule.
func (c *checker) cycles() {
	groups, groupOf := c.graph.knots()
	for _, group := range groups {
		round := c.graph.cycle(group[0], groupOf)
		waits := make([]string, 0, len(round)+1)
		for _, i := range append(slices.Clone(round), round[0]) {
			waits = append(waits, c.name(i))
		}
		from, to, mend := c.cut(group, round, groupOf)
		c.add(CodeCycle, group, mend,
			"%s wait on each other and none of them can start: %s (each needs the next). Remove one dependency of the cycle, as %s from the depends_on of %s.",
			c.names(group), strings.Join(waits, " → "), c.name(to), c.name(from))
	}
}

// mostCuts is how many dependencies of a cycle are tried as the one to remove.
const mostCuts = 8

// cut chooses the dependency of a cycle that is most likely the wrong one: one
// that goes against the order of the plan. Where taking it out unties the
// whole knot and leaves no loose end, that is the mend.
func (c *checker) cut(group, round, groupOf []int) (from, to int, mend *Mend) {
	tried := 0
	from = -1
	for k, i := range round {
		d := round[(k+1)%len(round)]
		if i > d {
			continue // the step needs one that stands before it, as is usual
		}
		if from < 0 {
			from, to = i, d
		}
		if tried++; tried > mostCuts {
			break
		}
		if c.graph.unties(group, groupOf, i, d) && !c.loosens(i, d) {
			return i, d, c.without(i, c.plan.Steps[d].ID, false)
		}
	}
	return from, to, nil
}

// loosens says whether a step becomes one of several ends when the step that
// depends on it no longer does.
func (c *checker) loosens(from, to int) bool {
	used := slices.ContainsFunc(c.graph.feeds[to], func(i int) bool { return i != from && i != to })
	return !used && !c.rules.Round && len(c.graph.ends(c.plan)) > 0
}

// unties says whether no cycle is left in the group once step from no longer
// needs step to.
func (g graph) unties(group, groupOf []int, from, to int) bool {
	inside := func(i, d int) bool { return groupOf[d] == groupOf[from] && d != i && (i != from || d != to) }
	left := make(map[int]int, len(group))
	var ready []int
	for _, i := range group {
		for _, d := range g.needs[i] {
			if inside(i, d) {
				left[i]++
			}
		}
		if left[i] == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		d := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, i := range g.feeds[d] {
			if groupOf[i] != groupOf[from] || !inside(i, d) {
				continue
			}
			if left[i]--; left[i] == 0 {
				ready = append(ready, i)
			}
		}
	}
	return done == len(group)
}

// knots returns the sets of two or more steps that wait on each other (the
// strongly connected components; Tarjan 1972), each in plan order, and the
// number of each step's component. It keeps its own stack, so that a deep plan
// cannot exhaust the goroutine's.
func (g graph) knots() (groups [][]int, groupOf []int) {
	n := len(g.needs)
	t := tarjan{g: g, number: make([]int, n), low: make([]int, n), group: make([]int, n)}
	for i := range g.needs {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	slices.SortFunc(t.found, func(a, b []int) int { return a[0] - b[0] })
	return t.found, t.group
}

type tarjan struct {
	g           graph
	number, low []int // from 1; 0 is a step not seen yet
	group       []int // from 1; 0 is a step whose component is not closed yet
	stack       []int
	way         []frame
	next        int
	groups      int
	found       [][]int
}

// frame is a step on the way down, and which of its dependencies is next.
type frame struct{ step, edge int }

func (t *tarjan) enter(i int) {
	t.next++
	t.number[i], t.low[i] = t.next, t.next
	t.stack = append(t.stack, i)
	t.way = append(t.way, frame{step: i})
}

func (t *tarjan) visit(root int) {
	t.enter(root)
	for len(t.way) > 0 {
		f := &t.way[len(t.way)-1]
		if f.edge < len(t.g.needs[f.step]) {
			d := t.g.needs[f.step][f.edge]
			f.edge++
			switch {
			case t.number[d] == 0:
				t.enter(d)
			case t.group[d] == 0:
				t.low[f.step] = min(t.low[f.step], t.number[d])
			}
			continue
		}
		done := f.step
		t.way = t.way[:len(t.way)-1]
		if len(t.way) > 0 {
			up := t.way[len(t.way)-1].step
			t.low[up] = min(t.low[up], t.low[done])
		}
		if t.low[done] == t.number[done] {
			t.close(done)
		}
	}
}

// close takes a finished component off the stack.
func (t *tarjan) close(root int) {
	t.groups++
	at := len(t.stack) - 1
	for ; ; at-- {
		t.group[t.stack[at]] = t.groups
		if t.stack[at] == root {
			break
		}
	}
	if len(t.stack)-at > 1 {
		group := slices.Clone(t.stack[at:])
		slices.Sort(group)
		t.found = append(t.found, group)
	}
	t.stack = t.stack[:at]
}

// cycle returns a shortest cycle through a step of a knot, in the order of
// needing.
func (g graph) cycle(start int, groupOf []int) []int {
	from := map[int]int{}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range g.needs[i] {
			if d == start && i != start {
				round := []int{i}
				for i != start {
					i = from[i]
					round = append(round, i)
				}
				slices.Reverse(round)
				return round
			}
			if _, seen := from[d]; !seen && d != start && groupOf[d] == groupOf[start] {
				from[d] = i
				queue = append(queue, d)
			}
		}
	}
	return nil // a step of a knot always comes back to itself
}
