package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/model"
)

// plain writes a figure as calculate reads it.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// figure is what calculate is asked for to get a measure of a city.
func figure(f facts, m measure) string {
	switch m {
	case area:
		return plain(f.Area)
	case density:
		return plain(f.Population) + " / " + plain(f.Area)
	case founded:
		return plain(f.Founded)
	case population:
	}
	return plain(f.Population)
}

// expressions are the sums that an inquiry needs. Comparing what was looked up
// needs none.
func (k *knowledge) expressions(q inquiry) []string {
	var figures []string
	for _, city := range q.cities {
		if f, ok := k.cities[city]; ok {
			figures = append(figures, figure(f, q.measure))
		}
	}
	switch q.op {
	case most, least:
		if q.measure == density {
			return figures
		}
		return nil
	case lookUp:
		return nil
	case sum, difference, percent, ratio:
	}
	if len(figures) < len(q.cities) || len(figures) < 2 {
		return nil // something is not known: there is nothing to work out
	}
	for i, f := range figures {
		figures[i] = "(" + f + ")"
	}
	a, b := figures[0], figures[1]
	switch q.op {
	case sum:
		return []string{strings.Join(figures, " + ")}
	case difference:
		return []string{a + " - " + b}
	case percent:
		return []string{"(" + a + " - " + b + ") / " + b + " * 100"}
	case ratio:
		return []string{a + " / " + b}
	case most, least, lookUp:
	}
	return nil
}

// sums are the calculations that are still to be made, all at once.
func (k *knowledge) sums(q inquiry) []model.ToolCall {
	var calls []model.ToolCall
	for _, e := range k.expressions(q) {
		if _, done := k.computed[e]; !done {
			calls = append(calls, call("calculate", "expression", e, len(calls)))
		}
	}
	return calls
}

// conclude is the result of a comparison or a calculation.
func (k *knowledge) conclude(q inquiry) map[string]any {
	var out map[string]any
	if q.op == most || q.op == least {
		out = k.extreme(q)
	} else {
		out = k.calculated(q)
	}
	if missing := k.notKnown(q); len(missing) > 0 {
		out["not_known"] = missing
	}
	return out
}

func (k *knowledge) notKnown(q inquiry) []string {
	var missing []string
	for _, city := range q.cities {
		if _, ok := k.cities[city]; !ok {
			missing = append(missing, city)
		}
	}
	return missing
}

// value is a measure of a city: looked up, or worked out by calculate.
func (k *knowledge) value(f facts, m measure) float64 {
	switch m {
	case area:
		return f.Area
	case founded:
		return f.Founded
	case density:
		return k.computed[figure(f, density)]
	case population:
	}
	return f.Population
}

func (k *knowledge) extreme(q inquiry) map[string]any {
	values := map[string]float64{}
	var ranked []string
	for _, city := range q.cities {
		if f, ok := k.cities[city]; ok {
			values[city] = k.value(f, q.measure)
			ranked = append(ranked, city)
		}
	}
	up := q.op == least
	if q.measure == founded {
		up = !up // the oldest has the smallest year
	}
	slices.SortStableFunc(ranked, func(a, b string) int {
		d := values[b] - values[a]
		if up {
			d = -d
		}
		switch {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	if len(ranked) == 0 {
		return map[string]any{"result": "None of " + list(q.cities) + " is known here, so nothing can be compared."}
	}
	var rest []string
	for _, city := range ranked[1:] {
		rest = append(rest, city+" "+written(values[city], q.measure))
	}
	text := fmt.Sprintf("%s is the %s: %s", ranked[0], adjective(q), written(values[ranked[0]], q.measure))
	if len(rest) > 0 {
		text += ", before " + list(rest)
	}
	text += "."
	if missing := k.notKnown(q); len(missing) > 0 {
		text += " " + list(missing) + " could not be compared: not known here."
	}
	return map[string]any{"result": text, "subject": ranked[0], "value": values[ranked[0]], "values": values}
}

func adjective(q inquiry) string {
	words := map[measure][2]string{
		density: {"densest", "least dense"}, population: {"most populous", "least populous"},
		area: {"largest", "smallest"}, founded: {"oldest", "youngest"},
	}
	if q.op == least {
		return words[q.measure][1]
	}
	return words[q.measure][0]
}

// calculated is the result of a sum, difference, percentage or ratio. With a
// city that is not known there is none, and none is invented.
func (k *knowledge) calculated(q inquiry) map[string]any {
	if missing := k.notKnown(q); len(missing) > 0 {
		var known []string
		for _, city := range q.cities {
			if f, ok := k.cities[city]; ok {
				known = append(known, fmt.Sprintf("%s: %s", city, written(k.value(f, q.measure), q.measure)))
			}
		}
		text := fmt.Sprintf("%s is not known here, so no %s can be given.", list(missing), opNoun(q.op))
		if len(known) > 0 && q.measure != density {
			text += " Known is " + list(known) + "."
		}
		return map[string]any{"result": text}
	}
	exprs := k.expressions(q)
	if len(exprs) == 0 {
		return map[string]any{"result": "There is one city only, and nothing to set it against."}
	}
	v := k.computed[exprs[0]]
	a, b := q.cities[0], q.cities[len(q.cities)-1]
	noun := nounOf(q.measure)
	var text string
	switch q.op {
	case sum:
		text = fmt.Sprintf("The combined %s of %s is %s.", noun, list(q.cities), written(v, q.measure))
	case difference:
		text = fmt.Sprintf("The difference in %s between %s and %s is %s.", noun, a, b, grouped(v, decimals(q.measure)))
	case percent:
		text = fmt.Sprintf("By %s, %s is %s %% larger than %s.", noun, a, grouped(v, 1), b)
	case ratio:
		text = fmt.Sprintf("The %s of %s is %s times that of %s.", noun, a, grouped(v, 2), b)
	case lookUp, most, least:
	}
	out := map[string]any{"result": text, "value": v}
	if q.op == percent || q.op == difference || q.op == ratio {
		out["subject"] = a
	}
	return out
}

func opNoun(op operation) string {
	switch op {
	case sum:
		return "total"
	case percent:
		return "percentage"
	case ratio:
		return "ratio"
	case difference, lookUp, most, least:
	}
	return "difference"
}

func decimals(m measure) int {
	if m == population || m == founded {
		return 0
	}
	return 1
}

// written is a measure as people read it.
func written(v float64, m measure) string {
	switch m {
	case density:
		return grouped(v, 1) + " people per km²"
	case area:
		return grouped(v, 1) + " km²"
	case founded:
		return fmt.Sprintf("founded in %.0f", v)
	case population:
	}
	return grouped(v, 0) + " people"
}

// grouped writes a number with commas between thousands.
func grouped(v float64, places int) string {
	text := strconv.FormatFloat(v, 'f', places, 64)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, has := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if has {
		whole += "." + fraction
	}
	return sign + whole
}
