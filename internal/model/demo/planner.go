package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// writePlan writes a plan. The first one of a comparison forgets what its last
// step depends on, as language models do; one that was sent back has it.
func writePlan(req model.Request) (model.Response, error) {
	q, meant := read(block(req.Messages[0].Text, "question")).settled()
	first := true
	for i, m := range req.Messages {
		if m.Speaker == model.Assistant {
			first = false
		}
		comment := block(m.Text, "comment")
		if comment == "" || i == 0 || m.Speaker != model.User {
			continue
		}
		previous, readable := readPlan(req.Messages[i-1].Text)
		if readable {
			q, meant = inquiryOf(previous, q), true
		}
		changed, understood := revised(q, comment)
		if !understood {
			return unchanged(previous, readable)
		}
		q = changed
	}
	if !meant || !q.known() {
		return model.Response{}, beyond()
	}
	if resp, asked := goOn(req, q); asked {
		return resp, nil
	}
	if inRounds(req) {
		return model.Response{Text: written(firstRound(planOf(q, limitOf(req.Schema)+1)))}, nil
	}
	p := planOf(q, limitOf(req.Schema))
	if last := len(p.Steps) - 1; first && last > 1 {
		p.Steps[last].DependsOn = []string{}
	}
	return model.Response{Text: written(p)}, nil
}

func readPlan(text string) (plan.Plan, bool) {
	var p plan.Plan
	err := json.Unmarshal([]byte(text), &p)
	return p, err == nil && len(p.Steps) > 0
}

// notUnderstood is said in the plan itself, since a plan is all that a planner
// can answer.
const notUnderstood = " (The comment was beyond the demo model, so nothing was changed.)"

// unchanged is the answer to a comment that means nothing to the demo model:
// the plan as it was, with a word about that in its last step, since a run must
// not end for a comment.
func unchanged(p plan.Plan, readable bool) (model.Response, error) {
	if !readable {
		return model.Response{}, beyond()
	}
	last := &p.Steps[len(p.Steps)-1]
	last.Instruction = strings.TrimSuffix(last.Instruction, notUnderstood) + notUnderstood
	return model.Response{Text: written(p)}, nil
}

// inquiryOf is what a plan asks for: its last step says what, and all steps
// together name the cities.
func inquiryOf(p plan.Plan, asked inquiry) inquiry {
	q := read(p.Steps[len(p.Steps)-1].Instruction)
	if !q.meant {
		q = asked
	}
	q.cities = nil
	for _, s := range p.Steps {
		for _, city := range read(s.Instruction).cities {
			if !slices.Contains(q.cities, city) {
				q.cities = append(q.cities, city)
			}
		}
	}
	return q
}

var (
	leaveOut = regexp.MustCompile(`(?i)\b(without|leave|drop|remove|skip|not|except|exclude|ignore|omit|instead of|replace)\b`)
	takeIn   = regexp.MustCompile(`(?i)\b(add|also|include|with|by|but|take|use|look at|plus|want)\b`)
	onlyThem = regexp.MustCompile(`(?i)\b(only|just)\b`)
)

// revised is an inquiry changed by a person's comment: cities to leave out or
// to add, and another thing to do. It says false when the comment names none.
func revised(q inquiry, comment string) (inquiry, bool) {
	c := read(comment)
	named := places(comment)
	if c.op != tell {
		q.op, q.fewer = c.op, c.fewer
	}
	if c.measure != facts {
		q.measure = c.measure
	}
	if len(named) > 0 && onlyThem.MatchString(comment[:named[0].start]) {
		q.cities = nil
	}
	for _, p := range named {
		q.cities = slices.DeleteFunc(slices.Clone(q.cities), func(n string) bool { return n == p.name })
		if lastAt(takeIn, comment[:p.start]) >= lastAt(leaveOut, comment[:p.start]) {
			q.cities = append(q.cities, p.name)
		}
	}
	q.meant = true
	settled, ok := q.settled()
	return settled, ok && q.known() && (len(named) > 0 || c.op != tell || c.measure != facts)
}

// lastAt is where the last match of a pattern begins, -1 without one.
func lastAt(pattern *regexp.Regexp, text string) int {
	all := pattern.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1][0]
}

// limitOf is the step limit, which the schema of a plan carries.
func limitOf(s *model.Schema) int {
	var in struct {
		Properties struct {
			Steps struct {
				MaxItems int `json:"maxItems"`
			} `json:"steps"`
		} `json:"properties"`
	}
	if s == nil || json.Unmarshal(s.Schema, &in) != nil || in.Properties.Steps.MaxItems < 1 {
		return plan.DefaultMaxSteps
	}
	return in.Properties.Steps.MaxItems
}

// planOf turns an inquiry into a plan of at most limit steps: look-ups side by
// side, and a step that needs them all.
func planOf(q inquiry, limit int) plan.Plan {
	if alone := len(q.cities) == 1 && q.measure != density; alone {
		return plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: lookUp(q.cities, q.measure), DependsOn: []string{}}}}
	}
	if limit == 1 {
		return plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: lookUp(q.cities, facts) + " " + lastInstruction(q), DependsOn: []string{}}}}
	}
	var p plan.Plan
	ids := []string{}
	size := (len(q.cities) + limit - 2) / (limit - 1)
	for some := range slices.Chunk(q.cities, size) {
		id := fmt.Sprintf("s%d", len(ids)+1)
		ids = append(ids, id)
		p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: lookUp(some, facts), DependsOn: []string{}})
	}
	p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprintf("s%d", len(ids)+1), Instruction: lastInstruction(q), DependsOn: ids})
	return p
}
