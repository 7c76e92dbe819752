package plan

import (
	"encoding/json"
	"fmt"
	"slices"
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
	// Kept are ids kept from an earlier version, which may be ends.
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
	c := &checker{plan: p, rules: r, graph: newGraph(p)}
	if r.MaxSteps == 0 {
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

// Mended returns the plan with what can be put right without asking, and a
// sentence for each change. Only repeated dependencies are.
func Mended(p Plan) (Plan, []string) {
	p = p.Clone()
	var mends []string
	for i := range p.Steps {
		s := &p.Steps[i]
		kept := make([]string, 0, len(s.DependsOn))
		seen := make(map[string]bool, len(s.DependsOn))
		for _, id := range s.DependsOn {
			if !seen[id] {
				seen[id] = true
				kept = append(kept, id)
				continue
			}
			mends = append(mends, fmt.Sprintf("Step %s named %s twice in depends_on; one is kept.", s.ID, id))
		}
		s.DependsOn = kept
	}
	return p, mends
}

// checker gathers the violations of one plan.
type checker struct {
	plan  Plan
	rules Rules
	graph graph
	found []Violation
}

func (c *checker) add(code Code, steps []string, mend *Mend, format string, args ...any) {
	if steps == nil {
		steps = []string{}
	}
	c.found = append(c.found, Violation{Code: code, Steps: steps, Message: fmt.Sprintf(format, args...), Mend: mend})
}

func (c *checker) warn(code Code, steps []string, mend *Mend, format string, args ...any) {
	c.add(code, steps, mend, format, args...)
	c.found[len(c.found)-1].Warning = true
}

func (c *checker) size() {
	n := len(c.plan.Steps)
	if n == 0 {
		c.add(CodeEmptyPlan, nil, nil, "The plan has no steps. Write at least one step.")
	}
	if n > c.rules.MaxSteps {
		c.add(CodeTooManySteps, nil, nil, "The plan has %d steps and %d is the limit. Join or drop steps until there are at most %d.",
			n, c.rules.MaxSteps, c.rules.MaxSteps)
	}
}

func (c *checker) ids() {
	at := make(map[string]int, len(c.plan.Steps))
	for i, s := range c.plan.Steps {
		if !validID(s.ID) {
			c.add(CodeBadID, []string{s.ID}, nil,
				"Step %d has the id %q. An id is 1 to 64 of the characters A-Z, a-z, 0-9, _ and -; give the step another one and use it in depends_on.",
				i+1, Short(s.ID, 80))
		}
		if first, ok := at[s.ID]; ok {
			c.add(CodeDuplicateID, []string{s.ID}, nil,
				"Steps %d and %d have the same id %q. Give each step an id of its own.", first+1, i+1, Short(s.ID, 80))
			continue
		}
		at[s.ID] = i
	}
}

func validID(id string) bool {
	if id == "" || len(id) > 64 {
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
	for _, s := range c.plan.Steps {
		if strings.TrimSpace(s.Instruction) == "" {
			c.add(CodeEmptyInstruction, []string{s.ID}, nil, "Step %s has no instruction. Say what it must do.", s.ID)
		}
		if len(s.Instruction) <= MostInstruction {
			continue
		}
		if n := utf8.RuneCountInString(s.Instruction); n > MostInstruction {
			c.add(CodeInstructionTooLong, []string{s.ID}, nil,
				"The instruction of step %s has %d characters and %d is the limit. Shorten it.", s.ID, n, MostInstruction)
		}
	}
}

func (c *checker) dependencies() {
	for _, s := range c.plan.Steps {
		repeated := repeats(s.DependsOn)
		for k, id := range s.DependsOn {
			switch _, known := c.graph.index[id]; {
			case repeated(k):
				c.warn(CodeDuplicateDependency, []string{s.ID}, c.without(s, id, true),
					"Step %s names %s more than once in depends_on. Once is enough; the others are dropped.", s.ID, id)
			case id == s.ID:
				c.add(CodeSelfDependency, []string{s.ID}, c.without(s, id, false),
					"Step %s depends on itself. Remove %s from its depends_on.", s.ID, id)
			case !known:
				c.unknown(s, id)
			}
		}
	}
}

// fewIDs is up to how many ids looking through them beats a map.
const fewIDs = 16

// repeats returns a func that says whether the id at k stands before it already.
func repeats(ids []string) func(k int) bool {
	if len(ids) <= fewIDs {
		return func(k int) bool { return slices.Contains(ids[:k], ids[k]) }
	}
	first := make(map[string]int, len(ids))
	for k, id := range ids {
		if _, ok := first[id]; !ok {
			first[id] = k
		}
	}
	return func(k int) bool { return first[ids[k]] < k }
}

// unknown reports a dependency that is not in the plan. Where exactly one step
// could be meant, it is named as the mend, and never put in without asking.
func (c *checker) unknown(s Step, id string) {
	if like := c.alike(id); like != "" && like != s.ID {
		mend := c.without(s, id, false)
		*mend.DependsOn = append(*mend.DependsOn, like)
		mend.Label = fmt.Sprintf("Make %s depend on %s", s.ID, like)
		c.add(CodeUnknownDependency, []string{s.ID}, mend,
			"Step %s depends on %q, which is not in the plan; %s is. The ids are %s. Put %s in its depends_on instead.",
			s.ID, Short(id, 80), like, c.idList(), like)
		return
	}
	c.add(CodeUnknownDependency, []string{s.ID}, c.without(s, id, false),
		"Step %s depends on %q, which is not in the plan. The ids are %s. Name one of them or remove it.",
		s.ID, Short(id, 80), c.idList())
}

// alike returns the one step whose id or instruction differs from text by case
// and outer space only, or "".
func (c *checker) alike(text string) string {
	text = strings.TrimSpace(text)
	found := ""
	for _, s := range c.plan.Steps {
		if strings.EqualFold(s.ID, text) || strings.EqualFold(strings.TrimSpace(s.Instruction), text) {
			if found != "" {
				return ""
			}
			found = s.ID
		}
	}
	return found
}

// without is the edit that takes a dependency out of a step; keepFirst leaves
// the first mention.
func (c *checker) without(s Step, id string, keepFirst bool) *Mend {
	deps := make([]string, 0, len(s.DependsOn))
	for _, d := range s.DependsOn {
		if d == id && !keepFirst {
			continue
		}
		if d == id {
			if slices.Contains(deps, id) {
				continue
			}
		}
		deps = append(deps, d)
	}
	return &Mend{Label: fmt.Sprintf("Remove %s from what %s depends on", Short(id, 40), s.ID), Step: s.ID, DependsOn: &deps}
}

// mostListed is how many ids a message names before it only counts the rest.
const mostListed = 20

func (c *checker) idList() string { return list(c.plan.IDs()) }

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
		short[i] = Short(id, 80)
	}
	return strings.Join(short, ", ") + rest
}

// ends holds that the plan comes to one final step.
func (c *checker) ends() {
	if c.rules.Round || len(c.plan.Steps) == 0 {
		return
	}
	var ends []string
	for i, s := range c.plan.Steps {
		feeds := c.graph.feeds[i]
		if (len(feeds) == 0 || len(feeds) == 1 && feeds[0] == i) && !c.rules.Kept[s.ID] {
			ends = append(ends, s.ID)
		}
	}
	if len(ends) < 2 {
		return
	}
	last := ends[len(ends)-1]
	others := ends[:len(ends)-1]
	s, _ := c.plan.Step(last)
	deps := slices.Concat(s.DependsOn, others)
	mend := &Mend{Label: fmt.Sprintf("Make %s the final step", last), Step: last, DependsOn: &deps}
	if c.rules.OtherEnds && c.plan.Deliverable != "" {
		c.warn(CodeNoSingleFinalStep, ends, nil,
			"%s are all ends that no other step uses. The answer rests on the deliverable %s.", list(ends), Short(c.plan.Deliverable, 80))
		return
	}
	c.add(CodeNoSingleFinalStep, ends, mend,
		"A plan comes to one final step, and here %s are all ends that no other step uses. "+
			"Make %s final: set its depends_on to [%s].", list(ends), last, quoted(deps))
}

func quoted(ids []string) string {
	q := make([]string, len(ids))
	for i, id := range ids {
		q[i] = `"` + Short(id, 80) + `"`
	}
	return strings.Join(q, ", ")
}

func (c *checker) deliverable() {
	d := c.plan.Deliverable
	if d == "" {
		return
	}
	i, ok := c.graph.index[d]
	if !ok {
		none := ""
		c.add(CodeDeliverableMissing, nil, &Mend{Label: "Leave the deliverable to the final step", Deliverable: &none},
			"The deliverable is %q, which is not in the plan. The ids are %s. Name one of them or leave deliverable out.",
			Short(d, 80), c.idList())
		return
	}
	if len(c.graph.feeds[i]) == 0 || c.rules.Round {
		return
	}
	var mend *Mend
	if ends := Terminals(c.plan); len(ends) == 1 {
		mend = &Mend{Label: fmt.Sprintf("Make %s the deliverable", ends[0]), Deliverable: &ends[0]}
	}
	c.add(CodeDeliverableNotTerminal, []string{d}, mend,
		"The deliverable %s is used by other steps (%s). The deliverable is a step that no other step depends on.",
		d, list(c.plan.named(c.graph.feeds[i])))
}
