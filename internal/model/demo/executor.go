package demo

import (
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
)

// carryOut does one turn of a step: the next tool calls, or the result. The
// instruction and the results of other steps are all it goes by, since people
// edit plans.
func carryOut(req model.Request) (model.Response, error) {
	text := req.Messages[0].Text
	q := read(block(text, "step"))
	k := gather(req, block(text, "results"))
	if len(q.cities) == 0 {
		q.cities = slices.Clone(k.order)
	}
	q, ok := q.settled()
	if !ok {
		return model.Response{}, beyond()
	}
	calls := k.lookUps(q)
	if len(calls) == 0 {
		calls = k.sums(q)
	}
	if len(calls) == 0 {
		return model.Response{Text: written(k.conclude(q))}, nil
	}
	for _, c := range calls {
		if !slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == c.Name }) {
			return model.Response{}, &model.Error{Kind: model.BeyondDemo, Message: fmt.Sprintf(
				"The demo model needs the tool %s for this step, and the run does not have it. It has: %s. Ask again with the tools get_city and calculate.",
				c.Name, toolNames(req.Tools))}
		}
	}
	return model.Response{Calls: calls}, nil
}

func toolNames(tools []model.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// lookUps are the calls for cities that nothing is known of yet, all at once.
func (k *knowledge) lookUps(q inquiry) []model.ToolCall {
	var calls []model.ToolCall
	for _, name := range q.cities {
		if !k.has(name) && k.missing[name] == "" {
			calls = append(calls, call("get_city", "name", name, len(calls)))
		}
	}
	return calls
}

// sums are the calculations that have not been made yet, all at once.
func (k *knowledge) sums(q inquiry) []model.ToolCall {
	var calls []model.ToolCall
	for _, e := range k.expressions(q) {
		if _, done := k.computed[e]; !done && k.failed[e] == "" {
			calls = append(calls, call("calculate", "expression", e, len(calls)))
		}
	}
	return calls
}

func call(tool, argument, value string, n int) model.ToolCall {
	return model.ToolCall{
		ID: fmt.Sprintf("%s-%d", tool, n+1), Name: tool,
		Arguments: []byte(written(map[string]string{argument: value})),
	}
}

// expressions are the calculations that an inquiry needs. Finding the largest
// of what was looked up needs none, and what is not known is not worked out.
func (k *knowledge) expressions(q inquiry) []string {
	var figures []string
	for _, name := range q.cities {
		if c, ok := k.cities[name]; ok {
			figures = append(figures, figure(c, q.measure))
		}
	}
	switch q.op {
	case most, least, tell:
		if q.measure != density {
			return nil
		}
		slices.Sort(figures)
		return slices.Compact(figures)
	case sum, difference, percent, ratio:
	}
	if len(figures) < len(q.cities) || len(figures) < 2 {
		return nil
	}
	a, b := figures[0], figures[1]
	if q.measure == density {
		a, b = "("+a+")", "("+b+")"
	}
	switch q.op {
	case sum:
		return []string{strings.Join(figures, " + ")}
	case percent:
		return []string{fmt.Sprintf("(%s - %s) / %s * 100", a, b, b)}
	case ratio:
		return []string{a + " / " + b}
	case difference, most, least, tell:
	}
	return []string{a + " - " + b}
}

// figure is a measure of a city as calculate reads it.
func figure(c city, m measure) string {
	switch m {
	case area:
		return plain(c.Area)
	case density:
		return plain(c.Population) + " / " + plain(c.Area)
	case founded:
		return plain(c.Founded)
	case population, facts:
	}
	return plain(c.Population)
}
