package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// work holds what steps do to the tools, strategies and contracts there are.
func (c *checker) work() {
	for i, s := range c.plan.Steps {
		c.references(i, s)
		c.told(i, s)
		c.tool(i, s)
		if s.Strategy != "" && !slices.Contains(c.rules.Strategies, s.Strategy) {
			c.add(CodeUnknownStrategy, []int{i}, nil, "Step %s asks for the strategy %q; a step can use: %s. Leave strategy out or use one of those.",
				c.name(i), Short(string(s.Strategy), mostQuoted), c.strategyList())
		}
		if s.Contract != nil && c.rules.CheckContract != nil {
			for _, problem := range c.rules.CheckContract(*s.Contract) {
				c.add(CodeBadContract, []int{i}, nil, "The contract of step %s cannot be held: %s. Mend it or leave it out.",
					c.name(i), strings.TrimSuffix(problem, "."))
			}
		}
	}
}

func (c *checker) strategyList() string {
	names := make([]string, len(c.rules.Strategies))
	for i, s := range c.rules.Strategies {
		names[i] = string(s)
	}
	return list(names)
}

func (c *checker) tool(i int, s Step) {
	if s.Tool == "" {
		if !nothing(s.Input) {
			c.add(CodeBadToolInput, []int{i}, c.useTool(i, "", "Leave out the input of %s", c.name(i)),
				"Step %s has an input and no tool. Name the tool that the input is for, or leave input out.", c.name(i))
		}
		return
	}
	t := c.toolNamed(s.Tool)
	if t == nil {
		c.unknownTool(i, s.Tool)
		return
	}
	if t.CheckInput == nil {
		return
	}
	for _, problem := range t.CheckInput(s.Input) {
		c.add(CodeBadToolInput, []int{i}, nil, "The input of step %s does not fit the tool %s: %s.", c.name(i), s.Tool, strings.TrimSuffix(problem, "."))
	}
}

// nothing says whether an input holds nothing: none, null or an empty object.
func nothing(input json.RawMessage) bool {
	if len(input) == 0 {
		return true
	}
	bare := strings.Join(strings.Fields(string(input)), "")
	return bare == "" || bare == "null" || bare == "{}"
}

func (c *checker) unknownTool(i int, name string) {
	what := "Use one of them, or leave tool out so that an agent carries the step out."
	mend := c.useTool(i, "", "Let an agent carry out %s", c.name(i))
	if like := c.toolLike(name); like != "" {
		what = "Write " + like + "."
		mend = c.useTool(i, like, "Use %s in %s", like, c.name(i))
	}
	c.add(CodeUnknownTool, []int{i}, mend, "Step %s uses the tool %q, which is not there. The tools are: %s. %s",
		c.name(i), Short(name, mostQuoted), c.toolList(), what)
}

// useTool is the edit that gives a step a tool.
func (c *checker) useTool(i int, tool, label string, args ...any) *Mend {
	if !c.editable(i) {
		return nil
	}
	return &Mend{Label: fmt.Sprintf(label, args...), Step: c.plan.Steps[i].ID, Tool: &tool}
}

// toolNamed returns the tool of that name, or nil.
func (c *checker) toolNamed(name string) *ToolRule {
	if c.tools == nil {
		c.tools = make(map[string]*ToolRule, len(c.rules.Tools))
		for i := range c.rules.Tools {
			c.tools[c.rules.Tools[i].Name] = &c.rules.Tools[i]
		}
	}
	return c.tools[name]
}

// toolLike returns the one tool whose name differs by case and marks only.
func (c *checker) toolLike(name string) string {
	found := ""
	for _, t := range c.rules.Tools {
		if bare(t.Name) != bare(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = t.Name
	}
	return found
}

// bare is a name without case and marks.
func bare(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(Short(name, mostQuoted)))
}

func (c *checker) toolList() string {
	names := make([]string, len(c.rules.Tools))
	for i, t := range c.rules.Tools {
		names[i] = t.Name
	}
	return list(names)
}

// references holds that a step refers only to results that it will be given,
// in the one form that is filled in.
func (c *checker) references(i int, s Step) {
	found, err := mentions(s.Input)
	if err != nil {
		c.add(CodeBadToolInput, []int{i}, nil, "The input of step %s cannot be read: %v.", c.name(i), err)
		return
	}
	for _, text := range found.broken {
		c.add(CodeBadReference, []int{i}, nil,
			"The input of step %s has %q, which cannot be read as a reference. Write ${step} for a result, or ${step.key} for a value in it.", c.name(i), text)
	}
	if len(found.refs)+len(found.foreign) == 0 {
		return
	}
	told := newIDSet(s.DependsOn)
	for _, ref := range found.refs {
		if told.add(ref.Step) {
			c.reference(i, ref)
		}
	}
	for _, f := range found.foreign {
		if _, known := c.graph.index[f.step]; known && told.add(f.text) {
			c.add(CodeBadReference, []int{i}, nil,
				"The input of step %s has %s, which would be sent as it stands. Write ${%s} for the result of step %s, and name %s in depends_on.",
				c.name(i), f.text, f.step, f.step, f.step)
		}
	}
}

// idSet is a set of ids: a list while they are few, since that is faster.
type idSet struct {
	few  []string
	many map[string]bool
}

// fewIDs is up to how many ids a list is faster than a map.
const fewIDs = 16

func newIDSet(ids []string) idSet {
	if len(ids) <= fewIDs {
		return idSet{few: slices.Clip(ids)}
	}
	s := idSet{many: make(map[string]bool, len(ids))}
	for _, id := range ids {
		s.many[id] = true
	}
	return s
}

// add adds an id, and says whether it was not there.
func (s *idSet) add(id string) bool {
	if s.many[id] || slices.Contains(s.few, id) {
		return false
	}
	switch {
	case s.many != nil:
		s.many[id] = true
	case len(s.few) < fewIDs:
		s.few = append(s.few, id)
	default:
		*s = newIDSet(append(s.few, id))
	}
	return true
}

// reference reports a reference to a step that is not in depends_on.
func (c *checker) reference(i int, ref Reference) {
	s := c.plan.Steps[i]
	written := Short(ref.String(), mostQuoted)
	if _, known := c.graph.index[ref.Step]; !known || ref.Step == s.ID {
		c.add(CodeBadReference, []int{i}, nil, "The input of step %s refers to %s, and %q is not another step of the plan. The ids are %s.",
			c.name(i), written, ref.Step, c.idList())
		return
	}
	c.add(CodeBadReference, []int{i}, c.also(i, ref.Step),
		"The input of step %s refers to %s, but %s is not in its depends_on. Add it there.", c.name(i), written, ref.Step)
}

// also is the edit that makes a step depend on one more.
func (c *checker) also(i int, id string) *Mend {
	s := c.plan.Steps[i]
	if len(s.DependsOn) >= c.room {
		return nil
	}
	return c.depends(i, slices.Concat(s.DependsOn, []string{id}), "Make %s depend on %s", c.name(i), id)
}

// told holds that an instruction refers only to results that come with it:
// whoever carries it out could not know the others.
func (c *checker) told(i int, s Step) {
	if !strings.Contains(s.Instruction, open) && !strings.Contains(s.Instruction, "{{") && !strings.Contains(s.Instruction, "#E") {
		return
	}
	var found mention
	found.add(s.Instruction)
	for _, ref := range found.refs {
		found.foreign = append(found.foreign, foreign{text: Short(ref.String(), mostQuoted), step: ref.Step})
	}
	given := newIDSet(append(slices.Clone(s.DependsOn), s.ID))
	for _, f := range found.foreign {
		if _, known := c.graph.index[f.step]; !known || !f.unmistakable() || !given.add(f.step) {
			continue
		}
		c.add(CodeBadReference, []int{i}, c.also(i, f.step),
			"The instruction of step %s refers to %s, but %s is not in its depends_on. Add it there.", c.name(i), f.text, f.step)
	}
}
