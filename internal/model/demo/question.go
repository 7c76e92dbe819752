package demo

import (
	"regexp"
	"slices"
	"strings"
)

// operation is what is to be done with the figures of cities.
type operation string

const (
	lookUp     operation = "look up"
	most       operation = "most"  // the largest value
	least      operation = "least" // the smallest value
	difference operation = "difference"
	percent    operation = "percent"
	sum        operation = "sum"
	ratio      operation = "ratio"
)

// measure is a figure of a city.
type measure string

const (
	population measure = "population"
	area       measure = "area"
	density    measure = "density"
	founded    measure = "founded"
)

// inquiry is what a question, an instruction or a comment asks for.
type inquiry struct {
	cities  []string // in the order they are named, known or not
	op      operation
	measure measure
}

// known says whether one of the cities is a sample city.
func (q inquiry) known() bool {
	return slices.ContainsFunc(q.cities, func(c string) bool { return slices.Contains(names(), c) })
}

// words is one row of what is read from a text: the first pattern that fits wins.
type words[T any] struct {
	pattern *regexp.Regexp
	means   T
}

func first[T any](text string, table []words[T]) (T, bool) {
	for _, w := range table {
		if w.pattern.MatchString(text) {
			return w.means, true
		}
	}
	var none T
	return none, false
}

func operations() []words[operation] {
	w := func(p string, op operation) words[operation] { return words[operation]{regexp.MustCompile(p), op} }
	return []words[operation]{
		w(`per ?cent|%`, percent),
		w(`\bratio\b|\btimes\b`, ratio),
		w(`\bdifference\b|how (many|much) more|how much (larger|bigger|older|denser)|how many years`, difference),
		w(`\bcombined\b|\btotal\b|\bsum\b|\btogether\b|\badd\b`, sum),
		w(`\bleast\b|smallest|\bfewest\b|\bsparsest\b|youngest|newest`, least),
		w(`\bdensest\b|densely|oldest|earliest|largest|biggest|\bmost\b|\bhighest\b|\blarger\b|\bbigger\b|\bolder\b|\bdenser\b|\bfirst\b`, most),
	}
}

func measures() []words[measure] {
	w := func(p string, m measure) words[measure] { return words[measure]{regexp.MustCompile(p), m} }
	return []words[measure]{
		w(`dens`, density),
		w(`popul|people|inhabitants`, population),
		w(`\bold|found|earliest|youngest|newest|\byears?\b`, founded),
		w(`\barea\b|km²|km2|square|largest|biggest|smallest`, area),
	}
}

// read finds out what a text asks for.
func read(text string) inquiry {
	lower := strings.ToLower(text)
	q := inquiry{cities: citiesIn(text), op: lookUp, measure: population}
	if op, ok := first(lower, operations()); ok {
		q.op = op
	}
	if m, ok := first(lower, measures()); ok {
		q.measure = m
	}
	if len(q.cities) == 0 && regexp.MustCompile(`\b(all|sample|the) (the )?(sample )?(cities|towns)\b`).MatchString(lower) {
		q.cities = names()
	}
	return q
}

var capitalised = regexp.MustCompile(`\p{Lu}[\p{L}'’-]+`)

// citiesIn lists the sample cities in a text, whatever their case, and other
// names that stand beside them.
func citiesIn(text string) []string {
	type place struct {
		at   int
		name string
	}
	var found []place
	lower := strings.ToLower(text)
	for _, n := range names() {
		if at := strings.Index(lower, strings.ToLower(n)); at >= 0 {
			found = append(found, place{at, n})
		}
	}
	for _, loc := range capitalised.FindAllStringIndex(text, -1) {
		word := text[loc[0]:loc[1]]
		isKnown := slices.ContainsFunc(names(), func(n string) bool { return strings.EqualFold(n, word) })
		if !isKnown && namesAPlace(text[:loc[0]]) {
			found = append(found, place{loc[0], word})
		}
	}
	slices.SortFunc(found, func(a, b place) int { return a.at - b.at })
	var out []string
	for _, p := range found {
		if !slices.Contains(out, p.name) {
			out = append(out, p.name)
		}
	}
	return out
}

// namesAPlace says whether what stands before a capitalised word makes it a
// name among others.
func namesAPlace(before string) bool {
	return regexp.MustCompile(`(?i)(\bof|\band|\bor|\bthan|\bin|\bis|\bto|\blook up|,)\s*$`).MatchString(before)
}
