package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rules are what a plan is held to. They are the same numbers and names that
// the planner is told.
type Rules struct {
	// MaxSteps is the most steps a plan may have; 0 means [DefaultMaxSteps].
	MaxSteps int
	// Tools are the tools there are.
	Tools []ToolRule
	// Strategies are those that a step may name.
	Strategies []Strategy
	// OtherEnds allows ends beside a named deliverable, with a warning: for
	// plans that a person edits or gives.
	OtherEnds bool
	// Round marks a round of independent tasks, which has no final step.
	Round bool
	// Kept are the steps kept from an earlier version, which may be ends and do
	// not count towards MaxSteps. False marks one without a result, which
	// nothing can need.
	Kept map[string]bool
	// CheckContract returns what is wrong with a contract's expressions; nil
	// checks none.
	CheckContract func(Contract) []string
}

// ToolRule is a tool as the check knows it.
type ToolRule struct {
	Name string
	// CheckInput returns what is wrong with a step's input as it is written,
	// references and all; nil checks nothing.
	CheckInput func(input json.RawMessage) []string
}

// Valid says whether a plan with these violations may run: warnings do not
// keep it from running.
func Valid(violations []Violation) bool {
	return !slices.ContainsFunc(violations, func(v Violation) bool { return !v.Warning })
}

// Check reports every rule that the plan breaks, not only the first, in the
// order of the rules and then of the plan. It is pure, and is the only check:
// for the planner, the editor and the API alike.
func Check(p Plan, r Rules) []Violation {
	c := &checker{plan: p, rules: r, graph: newGraph(p), room: mostMended}
	if r.MaxSteps <= 0 {
		c.rules.MaxSteps = DefaultMaxSteps
	}
	c.size()
	c.ids()
	c.instructions()
	c.dependencies()
	c.cycles()
	c.ends()
	c.deliverable()
	c.work()
	return c.found
}

// What messages and mends may hold, since plans are untrusted.
const (
	// mostQuoted is how much of an id or a name, in characters, is repeated.
	mostQuoted = 80
	// mostListed is how many ids a message names before it counts the rest.
	mostListed = 20
	// mostLists is how many messages name the ids there are.
	mostLists = 100
	// mostMended is how many ids the mends of one check hold together. Every
	// violation is reported beyond that, without its mend.
	mostMended = 200_000
)

// checker gathers the violations of one plan.
type checker struct {
	plan  Plan
	rules Rules
	graph graph
	found []Violation

	room   int                  // ids that mends may still hold
	listed string               // the ids there are, once a message needed them
	lists  int                  // how many messages name them
	like   map[string]int       // see alike
	tools  map[string]*ToolRule // see toolNamed
}

// add reports a broken rule. Steps are indexes, in plan order.
func (c *checker) add(code Code, steps []int, mend *Mend, format string, args ...any) {
	c.found = append(c.found, Violation{Code: code, Steps: c.plan.named(steps), Message: fmt.Sprintf(format, args...), Mend: mend})
}

// warn reports what does not keep the plan from running.
func (c *checker) warn(code Code, steps []int, mend *Mend, format string, args ...any) {
	c.add(code, steps, mend, format, args...)
	c.found[len(c.found)-1].Warning = true
}

func (c *checker) size() {
	n := 0
	for _, s := range c.plan.Steps {
		if !c.kept(s.ID) {
			n++
		}
	}
	switch {
	case n == 0 && len(c.plan.Steps) > 0:
		c.add(CodeEmptyPlan, nil, nil, "The plan has no step left to run. Write at least one.")
	case n == 0:
		c.add(CodeEmptyPlan, nil, nil, "The plan has no steps. Write at least one step.")
	}
	if n > c.rules.MaxSteps {
		c.add(CodeTooManySteps, nil, nil, "The plan has %d steps and %d is the limit. Join or drop steps until there are at most %d.",
			n, c.rules.MaxSteps, c.rules.MaxSteps)
	}
}

// kept says whether a step is kept from an earlier version.
func (c *checker) kept(id string) bool {
	_, kept := c.rules.Kept[id]
	return kept
}

func (c *checker) ids() {
	for i, s := range c.plan.Steps {
		switch {
		case s.ID == "":
			c.add(CodeBadID, []int{i}, nil, "Step number %d has no id. Give it an id of its own; the ids there are: %s.", i+1, c.idList())
		case !validID(s.ID):
			c.add(CodeBadID, []int{i}, nil,
				"Step number %d has the id %q. An id is 1 to 64 of the characters A-Z, a-z, 0-9, _ and -; give the step another one and use it in depends_on.",
				i+1, Short(s.ID, mostQuoted))
		}
		if first := c.graph.index[s.ID]; first != i && s.ID != "" {
			c.add(CodeDuplicateID, []int{i}, nil,
				"Steps number %d and %d have the same id %s. Give each step an id of its own, and name the right one in depends_on.", first+1, i+1, shown(s.ID))
		}
	}
}

// mostID is the longest id.
const mostID = 64

func validID(id string) bool {
	if id == "" || len(id) > mostID {
		return false
	}
	for i := range len(id) {
		b := id[i]
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

func (c *checker) instructions() {
	for i, s := range c.plan.Steps {
		if strings.TrimSpace(s.Instruction) == "" {
			c.add(CodeEmptyInstruction, []int{i}, nil, "Step %s has no instruction. Say what it must do.", c.name(i))
		}
		if len(s.Instruction) <= MostInstruction {
			continue
		}
		if n := utf8.RuneCountInString(s.Instruction); n > MostInstruction {
			c.add(CodeInstructionTooLong, []int{i}, nil,
				"The instruction of step %s has %d characters and %d is the limit. Shorten it.", c.name(i), n, MostInstruction)
		}
	}
}

// name is how messages call a step.
func (c *checker) name(i int) string {
	if id := c.plan.Steps[i].ID; id != "" {
		return shown(id)
	}
	return "number " + strconv.Itoa(i+1)
}

// shown is an id as messages show it: as it is where it is one, else in quotes
// and cut.
func shown(id string) string {
	if validID(id) {
		return id
	}
	return strconv.Quote(Short(id, mostQuoted))
}

// idList names the ids that the plan has, for so many messages that nobody
// misses them in the others.
func (c *checker) idList() string {
	if c.lists++; c.lists > mostLists {
		return "listed above"
	}
	if c.listed == "" {
		ids := make([]string, 0, len(c.plan.Steps))
		for i, s := range c.plan.Steps {
			if s.ID != "" && c.graph.index[s.ID] == i {
				ids = append(ids, s.ID)
			}
		}
		c.listed = list(ids)
	}
	return c.listed
}

// names are steps as messages list them.
func (c *checker) names(steps []int) string { return list(c.plan.named(steps)) }

// list joins ids, names the first of them and counts the rest.
func list(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	rest := ""
	if n := len(ids) - mostListed; n > 0 {
		ids, rest = ids[:mostListed], fmt.Sprintf(" and %d more", n)
	}
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = shown(id)
	}
	return strings.Join(short, ", ") + rest
}

// bracketed writes ids as depends_on has them.
func bracketed(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = strconv.Quote(Short(id, mostQuoted))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
