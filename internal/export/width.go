package export

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// advance is about how wide a character is in a sans-serif font, in widths of a
// small letter. A picture that needs no font cannot know it exactly.
func advance(r rune) float64 {
	const letter, capital, widest, ideograph = 1, 1.35, 1.9, 2
	switch kind := width.LookupRune(r).Kind(); {
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return ideograph
	case strings.ContainsRune("WM@%mw", r):
		return widest
	case unicode.IsUpper(r):
		return capital
	case unicode.Is(unicode.Mn, r):
		return 0
	}
	return letter
}

// wide is how wide a line is.
func wide(line string) float64 {
	sum := 0.0
	for _, r := range line {
		sum += advance(r)
	}
	return sum
}
