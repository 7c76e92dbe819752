package plan

import (
	"fmt"
	"slices"
	"strings"
)

// dependencies holds that a step names other steps of the plan, each once. A
// name that stands more than once is reported once as that, and once for what
// else is wrong with it.
func (c *checker) dependencies() {
	times := make([]int, len(c.plan.Steps)) // how often this step names a step
	for i, s := range c.plan.Steps {
		var strangers map[string]int // the same for names of no step
		for _, id := range s.DependsOn {
			d, known := c.graph.index[id]
			n := 0
			if known {
				times[d]++
				n = times[d]
			} else {
				if strangers == nil {
					strangers = map[string]int{}
				}
				strangers[id]++
				n = strangers[id]
			}
			c.dependency(i, id, known, n)
		}
		for _, id := range s.DependsOn {
			if d, known := c.graph.index[id]; known {
				times[d] = 0
			}
		}
	}
}

// dependency holds one name in depends_on, which stands there for the nth time.
func (c *checker) dependency(i int, id string, known bool, nth int) {
	switch {
	case nth == 2:
		c.warn(CodeDuplicateDependency, []int{i}, c.without(i, id, true),
			"Step %s names %s more than once in depends_on. Once is enough; the others are dropped.", c.name(i), shown(id))
	case nth > 2:
	case id == c.plan.Steps[i].ID:
		c.add(CodeSelfDependency, []int{i}, c.without(i, id, false),
			"Step %s depends on itself. Remove %s from its depends_on.", c.name(i), shown(id))
	case !known:
		c.unknown(i, id)
	case c.rules.Round && !c.kept(c.plan.Steps[i].ID) && !c.rules.Kept[id]:
		c.add(CodeNotIndependent, []int{i}, c.without(i, id, false),
			"Step %s needs %s, which has no result yet. The tasks of a round run side by side: remove %s from its depends_on, or leave the step to a later round.",
			c.name(i), shown(id), shown(id))
	}
}

// unknown reports a dependency that is not in the plan. Where exactly one step
// could be meant, it is named as the mend, and never put in without asking.
func (c *checker) unknown(i int, id string) {
	like, ok := c.alike(id)
	if !ok || like == i {
		c.add(CodeUnknownDependency, []int{i}, c.without(i, id, false),
			"Step %s depends on %q, which is not in the plan. The ids are %s. Name one of them or remove it.",
			c.name(i), Short(id, mostQuoted), c.idList())
		return
	}
	meant := c.plan.Steps[like].ID
	c.add(CodeUnknownDependency, []int{i}, c.instead(i, id, meant),
		"Step %s depends on %q, which is not in the plan, but %s is. The ids are %s. Put %s in its depends_on instead.",
		c.name(i), Short(id, mostQuoted), shown(meant), c.idList(), shown(meant))
}

// several stands in alike for a text that more than one step fits.
const several = -1

// alike returns the one step whose id or instruction differs from text by case
// and outer space only, and false when there is none or more than one.
func (c *checker) alike(text string) (int, bool) {
	if c.like == nil {
		c.like = make(map[string]int, 2*len(c.plan.Steps))
		for i, s := range c.plan.Steps {
			c.callAlike(i, s.ID)
			c.callAlike(i, s.Instruction)
		}
	}
	i, ok := c.like[folded(Short(text, mostAlike))]
	return i, ok && i != several && c.editable(i)
}

// callAlike files a step under a text that it may be called by.
func (c *checker) callAlike(i int, text string) {
	key := folded(Short(text, mostAlike))
	if at, taken := c.like[key]; taken && at != i {
		i = several
	}
	c.like[key] = i
}

// mostAlike is how many characters of a text are compared.
const mostAlike = 200

func folded(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// depends is the edit that replaces what a step depends on. There is none for
// a step that its id does not name alone, nor when mends have grown too large.
func (c *checker) depends(i int, deps []string, label string, args ...any) *Mend {
	if c.room -= len(deps); c.room < 0 || !c.editable(i) {
		return nil
	}
	return &Mend{Label: fmt.Sprintf(label, args...), Step: c.plan.Steps[i].ID, DependsOn: &deps}
}

// editable says whether an edit can name the step.
func (c *checker) editable(i int) bool {
	id := c.plan.Steps[i].ID
	return id != "" && !c.graph.twice[id]
}

// without is the edit that takes a dependency out of a step; keepFirst leaves
// the first mention.
func (c *checker) without(i int, id string, keepFirst bool) *Mend {
	s := c.plan.Steps[i]
	if len(s.DependsOn) > c.room {
		return nil
	}
	deps := make([]string, 0, len(s.DependsOn))
	for _, d := range s.DependsOn {
		if d != id || keepFirst {
			deps = append(deps, d)
		}
		if d == id {
			keepFirst = false
		}
	}
	if len(deps) > 0 && slices.Contains(deps, id) {
		return c.depends(i, deps, "Name %s once in what %s depends on", shown(id), shown(s.ID))
	}
	return c.depends(i, deps, "Remove %s from what %s depends on", shown(id), shown(s.ID))
}

// instead is the edit that replaces a dependency by the one that is meant.
func (c *checker) instead(i int, id, meant string) *Mend {
	s := c.plan.Steps[i]
	if len(s.DependsOn) > c.room {
		return nil
	}
	deps := make([]string, 0, len(s.DependsOn))
	there := false
	for _, d := range s.DependsOn {
		if d == id || d == meant {
			if there {
				continue
			}
			d, there = meant, true
		}
		deps = append(deps, d)
	}
	return c.depends(i, deps, "Make %s depend on %s", shown(s.ID), shown(meant))
}
