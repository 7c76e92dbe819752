package demo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// finding is a step's result. What was looked up is handed on under Cities or,
// for one city, in the keys of that city.
type finding struct {
	Result  string             `json:"result"`
	Subject string             `json:"subject,omitempty"`
	Value   *float64           `json:"value,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"`
	Unknown []string           `json:"unknown,omitempty"` // cities
	*sheet
	Cities []sheet `json:"cities,omitempty"`
}

// sheet is what is known of a city, or why nothing is.
type sheet struct {
	City       string  `json:"city"`
	Population float64 `json:"population,omitempty"`
	Area       float64 `json:"area_km2,omitempty"`
	Founded    float64 `json:"founded,omitempty"`
	Known      *bool   `json:"known,omitempty"`
	Reason     string  `json:"reason,omitempty"`
}

// conclude is the result of a step whose tools have all been called.
func (k *knowledge) conclude(q inquiry) finding {
	for _, e := range k.expressions(q) {
		if why := k.failed[e]; why != "" {
			return finding{Result: fmt.Sprintf("%s could not be worked out: %s.", e, why)}
		}
	}
	var out finding
	switch q.op {
	case tell:
		out = k.told(q)
	case most, least:
		out = k.extreme(q)
	case sum, difference, percent, ratio:
		out = k.calculated(q)
	}
	for _, name := range q.cities {
		if !k.has(name) {
			out.Unknown = append(out.Unknown, name)
		}
	}
	return out
}

// value is a measure of a city: looked up, or worked out by calculate.
func (k *knowledge) value(name string, m measure) float64 {
	c := k.cities[name]
	switch m {
	case area:
		return c.Area
	case founded:
		return c.Founded
	case density:
		return k.computed[figure(c, density)]
	case population, facts:
	}
	return c.Population
}

// told is what is known of cities.
func (k *knowledge) told(q inquiry) finding {
	var out finding
	var lines []string
	for _, name := range q.cities {
		c, ok := k.cities[name]
		if !ok {
			no := false
			lines = append(lines, fmt.Sprintf("%s %s; no figures can be given for it.", name, k.missing[name]))
			out.Cities = append(out.Cities, sheet{City: name, Known: &no, Reason: k.missing[name]})
			continue
		}
		lines = append(lines, k.line(c, q.measure))
		out.Cities = append(out.Cities, sheet{City: name, Population: c.Population, Area: c.Area, Founded: c.Founded})
	}
	out.Result = strings.Join(lines, " ")
	if len(out.Cities) == 1 {
		out.sheet, out.Cities = &out.Cities[0], nil
		if k.has(q.cities[0]) && q.measure != facts {
			v := k.value(q.cities[0], q.measure)
			out.Subject, out.Value = q.cities[0], &v
		}
	}
	return out
}

// line is one measure of a city in words, or all of them.
func (k *knowledge) line(c city, m measure) string {
	switch m {
	case facts:
		return described(c)
	case founded:
		return fmt.Sprintf("%s was founded in %s.", c.City, plain(c.Founded))
	case area:
		return fmt.Sprintf("%s covers %s.", c.City, said(c.Area, area))
	case population, density:
	}
	return fmt.Sprintf("%s has %s.", c.City, said(k.value(c.City, m), m))
}

// extreme is the city with the most or the least. Cities that are equal share
// the place.
func (k *knowledge) extreme(q inquiry) finding {
	out := finding{Values: map[string]float64{}}
	var ranked, lacking []string
	for _, name := range q.cities {
		if k.has(name) {
			out.Values[name] = k.value(name, q.measure)
			ranked = append(ranked, name)
		} else {
			lacking = append(lacking, name+" "+k.missing[name])
		}
	}
	rising := (q.op == least) != (q.measure == founded) // the oldest has the smallest year
	slices.SortStableFunc(ranked, func(a, b string) int {
		if rising {
			a, b = b, a
		}
		return cmp.Compare(out.Values[b], out.Values[a])
	})
	if len(ranked) == 0 {
		out.Result = fmt.Sprintf("Nothing can be compared: %s.", list(lacking))
		return out
	}
	best := out.Values[ranked[0]]
	out.Value = &best
	n := 1
	for n < len(ranked) && out.Values[ranked[n]] == best {
		n++
	}
	if n == 1 {
		out.Subject = ranked[0]
	}
	out.Result = ranking(q, ranked, n, out.Values)
	if len(lacking) > 0 {
		out.Result += fmt.Sprintf(" Not compared: %s.", list(lacking))
	}
	return out
}

// ranking is the order of cities in words; the first n share the place.
func ranking(q inquiry, ranked []string, n int, values map[string]float64) string {
	text := fmt.Sprintf("%s is the %s: %s", ranked[0], superlative(q), said(values[ranked[0]], q.measure))
	if n > 1 {
		text = fmt.Sprintf("%s are equal, and the %s: %s each", list(ranked[:n]), superlative(q), said(values[ranked[0]], q.measure))
	}
	var rest []string
	for _, name := range ranked[n:] {
		rest = append(rest, fmt.Sprintf("%s (%s)", name, said(values[name], q.measure)))
	}
	if len(rest) > 0 {
		text += ", before " + list(rest)
	}
	return text + "."
}

// calculated is a sum, difference, percentage or ratio. With a city that is not
// known there is none, and none is invented.
func (k *knowledge) calculated(q inquiry) finding {
	var lacking, known []string
	for _, name := range q.cities {
		if k.has(name) {
			known = append(known, k.line(k.cities[name], measureOrFacts(q.measure)))
		} else {
			lacking = append(lacking, name+" "+k.missing[name])
		}
	}
	if len(lacking) > 0 {
		text := fmt.Sprintf("%s, so no %s can be given.", list(lacking), resultNoun(q.op))
		return finding{Result: strings.TrimSpace(text + " " + strings.Join(known, " "))}
	}
	v := k.computed[k.expressions(q)[0]]
	text, subject, v := inWords(q, v)
	return finding{Result: text, Subject: subject, Value: &v}
}

// measureOrFacts is what is told of a city when nothing was worked out: its
// density was not.
func measureOrFacts(m measure) measure {
	if m == density {
		return facts
	}
	return m
}

func resultNoun(op operation) string {
	switch op {
	case sum:
		return "total"
	case percent:
		return "percentage"
	case ratio:
		return "ratio"
	case difference, tell, most, least:
	}
	return "difference"
}

// inWords says what was worked out, about whom, and the value in the direction
// that was asked for.
func inWords(q inquiry, v float64) (text, subject string, value float64) {
	a, b, noun := q.cities[0], q.cities[len(q.cities)-1], nounOf(q.measure)
	switch q.op {
	case sum:
		return fmt.Sprintf("The combined %s of %s is %s.", noun, list(q.cities), said(v, q.measure)), "", v
	case ratio:
		return fmt.Sprintf("The %s of %s is %s times that of %s.", noun, a, grouped(v, 2), b), a, v
	case percent:
		asked := v
		if q.fewer {
			asked = -v
		}
		return fmt.Sprintf("By %s, %s is %s %% %s than %s.", noun, a, grouped(math.Abs(v), 1), either(v < 0, "smaller", "larger"), b), a, asked
	case difference, tell, most, least:
	}
	size := math.Abs(v)
	switch {
	case v == 0:
		return fmt.Sprintf("%s and %s have the same %s.", a, b, noun), "", 0
	case q.measure == founded:
		return fmt.Sprintf("%s is %s years %s than %s.", a, grouped(size, 0), either(v < 0, "older", "younger"), b), a, size
	}
	more := either(v > 0, "larger", "smaller")
	return fmt.Sprintf("The %s of %s is %s than that of %s by %s.", noun, a, more, b, said(size, q.measure)), a, size
}
