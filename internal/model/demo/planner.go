package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// planFor writes a plan. The first one of a comparison forgets what its last
// step depends on, as language models do; one that was sent back has it.
func planFor(req model.Request) (model.Response, error) {
	q := read(tagged(req.Messages[0].Text, "question"))
	asked := false // whether there is a plan in the conversation already
	previous := ""
	understood := true
	for _, m := range req.Messages[1:] {
		if m.Speaker == model.Assistant {
			asked = true
			if previous == "" {
				previous = m.Text
			}
		}
		if comment := tagged(m.Text, "comment"); comment != "" {
			q, understood = revise(q, comment)
		}
	}
	if !understood {
		// What the comment means is beyond the demo model, and the person's
		// plan must not be lost for it.
		return model.Response{Text: previous}, nil
	}
	if !q.known() {
		return model.Response{}, beyond()
	}
	p := write(q)
	if last := len(p.Steps) - 1; !asked && last > 1 {
		p.Steps[last].DependsOn = []string{}
	}
	return model.Response{Text: asJSON(p)}, nil
}

var leaveOut = regexp.MustCompile(`(?i)\b(without|leave out|leave|drop|remove|skip|not|except)\b`)

// revise changes an inquiry by a person's comment. It reports false when the
// comment names no city and nothing to do.
func revise(q inquiry, comment string) (inquiry, bool) {
	c := read(comment)
	lower := strings.ToLower(comment)
	_, hasOp := first(lower, operations())
	_, hasMeasure := first(lower, measures())
	if hasOp {
		q.op = c.op
	}
	if hasMeasure {
		q.measure = c.measure
	}
	for _, city := range c.cities {
		at := strings.Index(lower, strings.ToLower(city))
		if at >= 0 && leaveOut.MatchString(comment[:at]) {
			q.cities = slices.DeleteFunc(slices.Clone(q.cities), func(n string) bool { return n == city })
		} else if !slices.Contains(q.cities, city) {
			q.cities = append(slices.Clone(q.cities), city)
		}
	}
	return q, hasOp || hasMeasure || len(c.cities) > 0
}

// write turns an inquiry into a plan: one look-up a city, side by side, and a
// step that needs them all.
func write(q inquiry) plan.Plan {
	var p plan.Plan
	var ids []string
	for i, city := range q.cities {
		id := fmt.Sprintf("s%d", i+1)
		ids = append(ids, id)
		p.Steps = append(p.Steps, plan.Step{
			ID: id, DependsOn: []string{},
			Instruction: fmt.Sprintf("Look up %s with get_city: its population, its area in km² and the year it was founded.", city),
		})
	}
	if len(q.cities) > 1 {
		p.Steps = append(p.Steps, plan.Step{
			ID: fmt.Sprintf("s%d", len(ids)+1), DependsOn: ids, Instruction: lastInstruction(q),
		})
	}
	return p
}

func lastInstruction(q inquiry) string {
	cities := list(q.cities)
	noun := nounOf(q.measure)
	switch q.op {
	case percent:
		return fmt.Sprintf("Work out with calculate by how many percent the %s of %s is larger than that of %s.", noun, q.cities[0], q.cities[1])
	case ratio:
		return fmt.Sprintf("Work out with calculate the ratio of the %s of %s to that of %s.", noun, q.cities[0], q.cities[1])
	case difference:
		return fmt.Sprintf("Work out with calculate the difference between the %s of %s and that of %s.", noun, q.cities[0], q.cities[1])
	case sum:
		return fmt.Sprintf("Add up with calculate the combined %s of %s.", noun, cities)
	case least:
		return fmt.Sprintf("Compare the %s of %s and say which has the least.", noun, cities)
	case most, lookUp:
	}
	if q.measure == density {
		return fmt.Sprintf("Work out with calculate the density (population / area) of %s and say which is the densest.", cities)
	}
	if q.measure == founded {
		return fmt.Sprintf("Compare the years in which %s were founded and say which is the oldest.", cities)
	}
	return fmt.Sprintf("Compare the %s of %s and say which has the most.", noun, cities)
}

func nounOf(m measure) string {
	switch m {
	case area:
		return "area"
	case density:
		return "density"
	case founded:
		return "year of foundation (founded)"
	case population:
	}
	return "population"
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
