package plan

import "slices"

// ends holds that the plan comes to one final step.
func (c *checker) ends() {
	if c.rules.Round {
		return
	}
	var ends []int
	for _, i := range c.graph.ends(c.plan) {
		if !c.kept(c.plan.Steps[i].ID) {
			ends = append(ends, i)
		}
	}
	if len(ends) < 2 {
		return
	}
	final := c.likeliest(ends)
	name := c.name(final)
	all := slices.Concat(c.plan.Steps[final].DependsOn, c.plan.named(except(final, ends)))
	mend := c.depends(final, all, "Make %s the final step", name)
	switch d := c.plan.Deliverable; {
	case c.rules.OtherEnds && d != "":
		if d != c.plan.Steps[final].ID {
			mend = nil // the deliverable has a rule of its own
		}
		c.warn(CodeNoSingleFinalStep, ends, mend,
			"%s are all ends that no other step uses. The answer rests on the deliverable %s alone; what it is to use belongs in its depends_on.",
			c.names(ends), shown(d))
	case c.rules.OtherEnds:
		c.add(CodeNoSingleFinalStep, ends, mend,
			"A plan comes to one final step, and here %s are all ends that no other step uses. "+
				"Make %s final: set its depends_on to %s. Or name one of them as the deliverable.", c.names(ends), name, bracketed(all))
	default:
		c.add(CodeNoSingleFinalStep, ends, mend,
			"A plan comes to one final step, and here %s are all ends that no other step uses. "+
				"Make %s final: set its depends_on to %s.", c.names(ends), name, bracketed(all))
	}
}

// likeliest is the end that is most likely meant as the final step: the
// deliverable where it is one of them, else the last.
func (c *checker) likeliest(ends []int) int {
	for _, i := range ends {
		if c.plan.Steps[i].ID == c.plan.Deliverable {
			return i
		}
	}
	return ends[len(ends)-1]
}

// except returns the steps other than i.
func except(i int, steps []int) []int {
	return slices.DeleteFunc(slices.Clone(steps), func(k int) bool { return k == i })
}

// deliverable holds that the deliverable is a step that no other depends on.
func (c *checker) deliverable() {
	d := c.plan.Deliverable
	if d == "" {
		return
	}
	i, ok := c.graph.index[d]
	if !ok {
		c.add(CodeDeliverableMissing, nil, c.otherDeliverable(d),
			"The deliverable is %q, which is not in the plan. The ids are %s. Name the final step or leave deliverable out.",
			Short(d, mostQuoted), c.idList())
		return
	}
	if c.graph.isEnd(i) || c.rules.Round {
		return
	}
	c.add(CodeDeliverableNotTerminal, []int{i}, c.otherDeliverable(""),
		"The deliverable %s is used by other steps (%s). Name a step that no other step depends on, or leave deliverable out.",
		shown(d), c.names(except(i, c.graph.feeds[i])))
}

// otherDeliverable is the edit that names a deliverable that can be one: the
// step that d is another spelling of, or the last end.
func (c *checker) otherDeliverable(d string) *Mend {
	ends := c.graph.ends(c.plan)
	if len(ends) == 0 {
		none := ""
		return &Mend{Label: "Leave the deliverable to the final step", Deliverable: &none}
	}
	last := ends[len(ends)-1]
	if like, ok := c.alike(d); ok && c.graph.isEnd(like) {
		last = like
	}
	id := c.plan.Steps[last].ID
	if id == "" {
		return nil
	}
	return &Mend{Label: "Make " + shown(id) + " the deliverable", Deliverable: &id}
}
