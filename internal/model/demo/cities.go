package demo

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// aName is words of capital letters in a row, or one word.
	aName = regexp.MustCompile(`\p{Lu}[\p{L}\-]*(?:[ ]\p{Lu}[\p{L}\-]*)*|\p{L}+`)
	// before and after are what makes a capitalised word the name of a place
	// among others.
	before = regexp.MustCompile(`(?i)(?:\b(?:of|and|or|than|in|is|to|between|with|without|also|add|include|at|take|use|drop|remove|skip|out|look up|are|was|were|does|versus|vs\.?|as|that)|[,:])\s*$`)
	after  = regexp.MustCompile(`^\s*(?:,|and\b|or\b|['’]s\b|versus\b|vs\b)`)
	// starters begin sentences and are no names.
	starters = regexp.MustCompile(`(?i)^(?:the|which|what|when|how|by|is|are|was|were|does|do|did|compare|say|look|work|add|then|i|if|in|of|and|or|than|also|please|not|only|use|take|with|without|between|who|why|where|give|tell|show|find|sum|a|an|it|its|that|this|these|those|answer|calculate|step|leave|drop|remove|skip|include|instead|but|now)$`)
)

// place is a city's name and where it stands in a text.
type place struct {
	start, end int
	name       string
}

// places finds the sample cities in a text, whatever their case, and other
// names that stand where a city's would.
func places(text string) []place {
	var out []place
	for _, at := range aName.FindAllStringIndex(text, -1) {
		start := at[0]
		var unknown []place
		for word := range strings.SplitSeq(text[at[0]:at[1]], " ") {
			end := start + len(word)
			if i := slices.IndexFunc(names(), func(n string) bool { return strings.EqualFold(n, word) }); i >= 0 {
				out = append(out, joined(text, unknown)...)
				out, unknown = append(out, place{start, end, names()[i]}), nil
			} else {
				unknown = append(unknown, place{start, end, word})
			}
			start = end + 1
		}
		out = append(out, joined(text, unknown)...)
	}
	return out
}

// joined makes one name of words in a row, if they name a place.
func joined(text string, words []place) []place {
	for len(words) > 0 && starters.MatchString(words[0].name) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	p := place{start: words[0].start, end: words[len(words)-1].end}
	p.name = text[p.start:p.end]
	if letter, _ := utf8.DecodeRuneInString(p.name); !unicode.IsUpper(letter) {
		return nil
	}
	if !before.MatchString(text[:p.start]) && !after.MatchString(text[p.end:]) {
		return nil
	}
	return []place{p}
}

// citiesIn lists the cities that a text names, each once, and returns the text
// without them.
func citiesIn(text string) (cities []string, rest string) {
	var b strings.Builder
	at := 0
	for _, p := range places(text) {
		if !slices.Contains(cities, p.name) {
			cities = append(cities, p.name)
		}
		b.WriteString(text[at:p.start])
		b.WriteString("_")
		at = p.end
	}
	return cities, b.String() + text[at:]
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
