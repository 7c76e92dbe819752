package demo

import (
	"fmt"
	"strconv"
	"strings"

	"planwave/internal/plan"
)

// plain writes a figure as calculate reads it.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// short is a foreign text that fits into a sentence.
func short(text string) string {
	const most = 200
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return "no reason was given"
	}
	return plan.Short(text, most)
}

// said is a measure as people read it.
func said(v float64, m measure) string {
	switch m {
	case density:
		return grouped(v, 1) + " people per km²"
	case area:
		return grouped(v, 1) + " km²"
	case founded:
		return "founded in " + plain(v)
	case population, facts:
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

// described is everything that is known of a city.
func described(c city) string {
	return fmt.Sprintf("%s has %s people on %s km² (founded %s).", c.City, grouped(c.Population, 0), grouped(c.Area, 1), plain(c.Founded))
}
