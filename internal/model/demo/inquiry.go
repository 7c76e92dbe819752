package demo

import (
	"regexp"
	"slices"
	"strings"
)

// operation is what is to be done with the figures of cities.
type operation string

const (
	tell       operation = ""      // say them
	most       operation = "most"  // the city with the largest
	least      operation = "least" // the city with the smallest
	difference operation = "difference"
	percent    operation = "percent"
	sum        operation = "sum"
	ratio      operation = "ratio"
)

// measure is a figure of a city.
type measure string

const (
	facts      measure = "" // everything that is known
	population measure = "population"
	area       measure = "area"
	density    measure = "density"
	founded    measure = "founded" // the year; the oldest city has the smallest
)

// inquiry is what a question, an instruction or a comment asks for.
type inquiry struct {
	cities  []string // in the order they are named, sample cities or not
	op      operation
	measure measure
	// fewer says that a percentage is asked for as by how much smaller.
	fewer bool
	// meant says that anything was asked for at all.
	meant bool
}

// words is one row of what is read from a text.
type words[T any] struct {
	pattern *regexp.Regexp
	means   T
}

var (
	wordsPercent    = regexp.MustCompile(`per ?cent|%`)
	wordsRatio      = regexp.MustCompile(`\bratio\b|\btimes\b`)
	wordsDifference = regexp.MustCompile(`\bdifference\b|\bhow (many|much) (\w+ )?(more|fewer|less|larger|bigger|smaller|older|younger|denser)\b|\bhow many years\b`)
	wordsSum        = regexp.MustCompile(`\bcombined\b|\btotal\b|\bsum\b|\btogether\b|\baltogether\b|\badd(ed)? up\b`)
	wordsLeast      = regexp.MustCompile(`\b(least|smallest|fewest|sparsest|youngest|newest|lowest|smaller|younger|fewer|less|newer|latest)\b`)
	wordsMost       = regexp.MustCompile(`\b(densest|densely|oldest|earliest|largest|biggest|most|highest|greatest|larger|bigger|older|denser|greater|more)\b`)

	wordsDensity    = regexp.MustCompile(`\bdens|per km|per square`)
	wordsPopulation = regexp.MustCompile(`popul|people|inhabitants|residents`)
	wordsFounded    = regexp.MustCompile(`\bold(er|est)?\b|\byoung|\bfound|\bage\b|\bestablish|\bnewe|\bearliest\b|\blatest\b|\byears?\b`)
	wordsArea       = regexp.MustCompile(`\barea\b|km²|km2|\bsquare\b|\bsurface\b`)
	wordsSize       = regexp.MustCompile(`\b(larg|big|small|great)(e?st|e?r|g?er|gest)\b`)

	// comesFirst is a text that names what is compared with before what is
	// compared: how many times as dense as A is B. Cities are underscores here.
	comesFirst = regexp.MustCompile(`\b(than|as) (the \w+ of |that of )?_[^_]*_`)

	negated = regexp.MustCompile(`\b(not|instead of|rather than) (by )?(the )?\pL+`)

	wordsFewer  = regexp.MustCompile(`\b(smaller|fewer|less|younger|lower)\b`)
	wordsLookUp = regexp.MustCompile(`\blook(ing)? up\b|\bget_city\b|\bfacts\b|\babout\b|\bfind out\b`)
	wordsBeyond = regexp.MustCompile(`(per ?cent(age)?|%) of\b|\b(second|third|average|mean|median)\b`)
	wordsAll    = regexp.MustCompile(`\b(sample|all( the| four)?|these|the( four)?|four) (sample )?(cities|towns)\b`)
)

func operations() []words[operation] {
	return []words[operation]{
		{wordsPercent, percent}, {wordsRatio, ratio}, {wordsDifference, difference}, {wordsSum, sum}, {wordsLeast, least}, {wordsMost, most},
	}
}

func measures() []words[measure] {
	return []words[measure]{{wordsDensity, density}, {wordsPopulation, population}, {wordsFounded, founded}, {wordsArea, area}}
}

// found lists what the patterns that fit a text mean, in the order of the table.
func found[T any](text string, table []words[T]) []T {
	var out []T
	for _, w := range table {
		if w.pattern.MatchString(text) {
			out = append(out, w.means)
		}
	}
	return out
}

// read finds out what a text asks for.
func read(text string) inquiry {
	cities, rest := citiesIn(text)
	rest = negated.ReplaceAllString(strings.ToLower(rest), " ")
	if len(cities) == 2 && comesFirst.MatchString(rest) {
		slices.Reverse(cities)
	}
	q := inquiry{cities: cities, fewer: wordsFewer.MatchString(rest)}
	if len(cities) == 0 && wordsAll.MatchString(rest) {
		q.cities = names()
	}
	if wordsBeyond.MatchString(rest) {
		return q
	}
	ops, about := found(rest, operations()), found(rest, measures())
	if len(ops) > 0 {
		q.op = ops[0]
	}
	switch {
	case q.op == tell && len(about) > 1 && about[0] != density:
		q.measure = facts
	case len(about) > 0:
		q.measure = about[0]
	case q.op == percent || q.op == sum:
		q.measure = population
	case q.op != tell && wordsSize.MatchString(rest):
		q.measure = area
	}
	q.meant = q.op != tell || len(about) > 0 || wordsLookUp.MatchString(rest)
	return q
}

// settled puts an inquiry into a form that can be carried out, or says that it
// has none.
func (q inquiry) settled() (inquiry, bool) {
	if !q.meant || len(q.cities) == 0 {
		return q, false
	}
	if q.op != percent {
		q.fewer = false
	}
	switch q.op {
	case most, least:
		if len(q.cities) == 1 {
			q.op = tell
		}
		return q, q.measure != facts
	case sum:
		return q, len(q.cities) > 1 && (q.measure == population || q.measure == area)
	case difference:
		return q, len(q.cities) == 2 && q.measure != facts
	case percent, ratio:
		return q, len(q.cities) == 2 && q.measure != facts && q.measure != founded
	case tell:
	}
	return q, true
}

// known says whether one of the cities is a sample city.
func (q inquiry) known() bool {
	return slices.ContainsFunc(q.cities, func(c string) bool { return slices.Contains(names(), c) })
}
