package treesearch

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Game of 24: four numbers, each used once, with + − × ÷ make 24. A state is
// the numbers left, ascending, as exact fractions separated by spaces
// ("-6 9 13", "3/2 10"); a step is "4 − 10 = −6". All arithmetic is exact.

// PuzzleSize is how many numbers a puzzle has.
const PuzzleSize = 4

// ErrNumbers refuses numbers that are no puzzle or no state. Its text says what
// to give instead.
var ErrNumbers = errors.New("these are no numbers for a Game of 24")

// numberText is one number: an integer, a fraction or a decimal.
const numberText = `[-−–]?[0-9]+(?:/[0-9]+|\.[0-9]+)?`

// numberLength is the most characters of a number. What four numbers of
// puzzleDigits can come to stays below it.
const (
	numberLength = 200
	puzzleDigits = 9
)

var (
	target        = big.NewRat(24, 1)
	number        = regexp.MustCompile(`^` + numberText + `$`)
	puzzleNumber  = regexp.MustCompile(fmt.Sprintf(`^[-−–]?[0-9]{1,%[1]d}(?:/[0-9]{1,%[1]d}|\.[0-9]{1,%[1]d})?$`, puzzleDigits))
	asciiMinus    = strings.NewReplacer("−", "-", "–", "-")
	typographical = strings.NewReplacer("-", "−")
)

// ParseNumbers reads the four numbers of a puzzle from what a person wrote:
// integers, fractions (1/2) or decimals (0.5, taken exactly), separated by
// spaces, commas or semicolons, perhaps in brackets. It returns the state to
// search from. The error is [ErrNumbers] and says what to do.
func ParseNumbers(text string) (state string, err error) {
	parts := strings.FieldsFunc(strings.Trim(strings.TrimSpace(text), "[]()"), separates)
	if len(parts) != PuzzleSize {
		return "", fmt.Errorf("%w: there are %d: give four, such as 4 9 10 13", ErrNumbers, len(parts))
	}
	numbers := make([]*big.Rat, len(parts))
	for i, p := range parts {
		if !puzzleNumber.MatchString(p) {
			return "", fmt.Errorf("%w: %q is not one: give integers such as 13 or fractions such as 1/2, of at most %d digits",
				ErrNumbers, shorten(p), puzzleDigits)
		}
		n, ok := readNumber(p)
		if !ok {
			return "", fmt.Errorf("%w: %q divides by zero: give another denominator", ErrNumbers, shorten(p))
		}
		numbers[i] = n
	}
	return stateText(numbers), nil
}

// Is24 says whether a state is the goal: 24, and nothing beside it.
func Is24(state string) bool {
	n, ok := readNumber(state)
	return ok && n.Cmp(target) == 0
}

// separates says whether a character stands between numbers.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }

// readNumber reads one number exactly. It is false for anything else, for a
// denominator of zero, and for one that is too long to be of a game.
func readNumber(text string) (*big.Rat, bool) {
	// Most are small integers.
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] != '+' {
		return new(big.Rat).SetInt64(n), true
	}
	if len(text) > numberLength || !number.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(asciiMinus.Replace(text))
}

// readNumbers reads numbers with separators between them.
func readNumbers(text string) ([]*big.Rat, bool) {
	var numbers []*big.Rat
	for p := range strings.FieldsFuncSeq(text, separates) {
		n, ok := readNumber(p)
		if !ok || len(numbers) == PuzzleSize {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// readState reads the one to four numbers of a state.
func readState(state string) ([]*big.Rat, error) {
	numbers, ok := readNumbers(state)
	if !ok || len(numbers) == 0 {
		return nil, fmt.Errorf("%w: %q is not a state: read a puzzle with ParseNumbers", ErrNumbers, shorten(state))
	}
	return sorted(numbers), nil
}

// sorted orders numbers ascending, in place.
func sorted(numbers []*big.Rat) []*big.Rat {
	slices.SortFunc(numbers, (*big.Rat).Cmp)
	return numbers
}

// stateText writes numbers as a state. It puts them in order.
func stateText(numbers []*big.Rat) string {
	var b strings.Builder
	for i, n := range sorted(numbers) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(n.RatString())
	}
	return b.String()
}

// shown writes a number for a person.
func shown(n *big.Rat) string { return typographical.Replace(n.RatString()) }

// shorten cuts foreign text to a length that can be shown.
func shorten(text string) string {
	const most = 120
	runes := []rune(strings.ToValidUTF8(text, "�"))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
