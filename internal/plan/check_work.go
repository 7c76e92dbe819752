package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// work holds what steps do to the tools, strategies and contracts there are.
func (c *checker) work() {
	for _, s := range c.plan.Steps {
		c.tool(s)
		if s.Strategy != "" && !slices.Contains(c.rules.Strategies, s.Strategy) {
			c.add(CodeUnknownStrategy, []string{s.ID}, nil,
				"Step %s asks for the strategy %q; a step can use: %s. Leave strategy out.", s.ID, Short(string(s.Strategy), 80), c.strategyList())
		}
		if s.Contract != nil && c.rules.CheckContract != nil {
			for _, problem := range c.rules.CheckContract(*s.Contract) {
				c.add(CodeBadContract, []string{s.ID}, nil, "The contract of step %s cannot be held: %s. Mend it or leave it out.", s.ID, problem)
			}
		}
	}
}

func (c *checker) strategyList() string {
	if len(c.rules.Strategies) == 0 {
		return "none"
	}
	names := make([]string, len(c.rules.Strategies))
	for i, s := range c.rules.Strategies {
		names[i] = string(s)
	}
	return list(names)
}

func (c *checker) tool(s Step) {
	c.references(s)
	if s.Tool == "" {
		if len(s.Input) > 0 && string(s.Input) != "null" {
			c.add(CodeBadToolInput, []string{s.ID}, nil,
				"Step %s has an input and no tool. Name the tool that the input is for, or leave input out.", s.ID)
		}
		return
	}
	at := slices.IndexFunc(c.rules.Tools, func(t ToolRule) bool { return t.Name == s.Tool })
	if at < 0 {
		none := ""
		c.add(CodeUnknownTool, []string{s.ID}, &Mend{Label: fmt.Sprintf("Let an agent carry out %s", s.ID), Step: s.ID, Tool: &none},
			"Step %s uses the tool %q, which is not there. The tools are: %s. Use one of them, or leave tool out so that an agent carries the step out.",
			s.ID, Short(s.Tool, 80), c.toolList())
		return
	}
	if check := c.rules.Tools[at].CheckInput; check != nil {
		for _, problem := range check(s.Input) {
			c.add(CodeBadToolInput, []string{s.ID}, nil, "The input of step %s does not fit the tool %s: %s.", s.ID, s.Tool, strings.TrimSuffix(problem, "."))
		}
	}
}

func (c *checker) toolList() string {
	names := make([]string, len(c.rules.Tools))
	for i, t := range c.rules.Tools {
		names[i] = t.Name
	}
	return list(names)
}

// references holds that a step refers only to results that it will be given.
func (c *checker) references(s Step) {
	refs, err := References(s.Input)
	if err != nil {
		c.add(CodeBadToolInput, []string{s.ID}, nil, "The input of step %s cannot be read: %v.", s.ID, err)
		return
	}
	c.foreign(s)
	told := map[string]bool{}
	for _, ref := range refs {
		if slices.Contains(s.DependsOn, ref.Step) || told[ref.Step] {
			continue
		}
		told[ref.Step] = true
		if _, known := c.graph.index[ref.Step]; !known || ref.Step == s.ID {
			c.add(CodeBadReference, []string{s.ID}, nil,
				"The input of step %s refers to %s, and %q is not another step of the plan. The ids are %s.", s.ID, ref, Short(ref.Step, 80), c.idList())
			continue
		}
		deps := slices.Concat(s.DependsOn, []string{ref.Step})
		c.add(CodeBadReference, []string{s.ID},
			&Mend{Label: fmt.Sprintf("Make %s depend on %s", s.ID, ref.Step), Step: s.ID, DependsOn: &deps},
			"The input of step %s refers to %s, but %s is not in its depends_on. Set its depends_on to [%s].", s.ID, ref, ref.Step, quoted(deps))
	}
}

// foreignPattern is how other planners write references (ReWOO: #E1).
var foreignPattern = regexp.MustCompile(`#([A-Za-z][A-Za-z0-9_-]{0,63})`)

// foreign reports a mention of a step in a form that is not filled in here, so
// that no step runs on the raw text of a reference.
func (c *checker) foreign(s Step) {
	for _, m := range foreignPattern.FindAllStringSubmatch(string(s.Input), -1) {
		if _, known := c.graph.index[m[1]]; known && m[1] != s.ID {
			c.add(CodeBadReference, []string{s.ID}, nil,
				"The input of step %s mentions %s, which is not a reference here. Write ${%s} and name %s in its depends_on.", s.ID, m[0], m[1], m[1])
		}
	}
}
