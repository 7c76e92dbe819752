package treesearch

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Reasons why a model's proposal is dropped, as they stand in [Drop.Reason].
const (
	DropUnreadable      = "unreadable"       // in no form that is read here
	DropNumberNotThere  = "number_not_there" // an operand is not among the numbers left
	DropDivisionByZero  = "division_by_zero"
	DropWrongLeft       = "wrong_left"       // the numbers said to be left are others
	DropRounded         = "rounded"          // a decimal in place of the exact result
	DropWrongArithmetic = "wrong_arithmetic" // the result is another
	DropRepeated        = "repeated"         // the same step of the same answer again
	DropTooMany         = "too_many"         // what came after as many as are read
)

// proposalsMost is how many proposals of one answer are read. Four numbers
// allow 36 moves.
const proposalsMost = 100

// stepText is a step: two operands, a result. An operand may be in parentheses.
const stepText = `\(?(` + numberText + `)\)?\s*([-−–+*×xX·/÷:])\s*\(?(` + numberText + `)\)?\s*=\s*(` + numberText + `)`

var (
	stepLine     = regexp.MustCompile(`^` + stepText + `$`)
	proposalLine = regexp.MustCompile(`^` + stepText + `\s*\(\s*(?i:left)\s*:\s*([^()]*)\)`)
	bullet       = regexp.MustCompile(`^(?:[-*•]\s+|[0-9]+[.)]\s+)`)
	anyDigit     = regexp.MustCompile(`[0-9]`)
)

// claim is a move that a model says it can make, as far as it is readable. It
// is proved before it is believed.
type claim struct {
	text       string // as the model wrote it
	a, b       *big.Rat
	op         operator
	result     *big.Rat   // nil when it does not say
	decimals   int        // of the result as written
	left       []*big.Rat // nil when it does not say
	unreadable bool
}

// ReadProposals makes proposals of the text in which a model answers what could
// be done next in a state of a Game of 24. It reads lines such as
//
//	4 + 9 = 13 (left: 10 13 13)
//
// with or without bullets, and JSON: a list, or an object whose "proposals"
// are a list, of such lines or of objects {"a": 4, "op": "+", "b": 9, "result":
// 13, "left": [10, 13, 13]} or {"step": "4 + 9 = 13", "left": …}, where result
// and left may be missing from objects.
//
// Nothing is believed: a child's state and step are worked out here. What is
// unreadable or not legal is dropped, with one of the Drop reasons; text
// without a digit is no proposal. The error is [ErrNumbers], for the state.
func ReadProposals(state, text string) (Proposals, error) {
	numbers, err := readState(state)
	if err != nil {
		return Proposals{}, err
	}
	claims, isJSON := jsonClaims(text)
	if !isJSON {
		claims = lineClaims(text)
	}
	var p Proposals
	seen := map[string]bool{}
	for i, c := range claims {
		if i == proposalsMost {
			p.Dropped = append(p.Dropped, Drop{Reason: DropTooMany, Text: shorten(c.text)})
			break
		}
		m, reason := c.prove(numbers)
		if reason == "" && seen[m.text()] {
			reason = DropRepeated
		}
		if reason != "" {
			p.Dropped = append(p.Dropped, Drop{Reason: reason, Text: shorten(c.text)})
			continue
		}
		seen[m.text()] = true
		p.Children = append(p.Children, m.proposal())
	}
	return p, nil
}

// lineClaims reads one claim from every line that holds a digit.
func lineClaims(text string) []claim {
	var claims []claim
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); anyDigit.MatchString(line) {
			claims = append(claims, lineClaim(line))
		}
	}
	return claims
}

// lineClaim reads a line, which must say what is left.
func lineClaim(line string) claim {
	parts := proposalLine.FindStringSubmatch(strings.Trim(bullet.ReplaceAllString(line, ""), "`* "))
	if parts == nil {
		return claim{text: line, unreadable: true}
	}
	c := stepClaim(parts[:5])
	c.text = line
	left, ok := readNumbers(parts[5])
	c.left = append([]*big.Rat{}, left...) // not nil: it says that nothing is left
	c.unreadable = c.unreadable || !ok
	return c
}

// stepClaim makes a claim of the groups of stepText.
func stepClaim(parts []string) claim {
	c := claim{text: parts[0]}
	var ok [4]bool
	c.a, ok[0] = readNumber(parts[1])
	c.op, ok[1] = operatorOf(parts[2])
	c.b, ok[2] = readNumber(parts[3])
	c.result, ok[3] = readNumber(parts[4])
	c.decimals = decimals(parts[4])
	c.unreadable = slices.Contains(ok[:], false)
	return c
}

// decimals counts the digits after the point.
func decimals(text string) int {
	_, after, _ := strings.Cut(text, ".")
	return len(after)
}

// prove returns the legal move that a claim comes to in a state, or why it
// comes to none.
func (c claim) prove(numbers []*big.Rat) (m move, reason string) {
	if c.unreadable {
		return m, DropUnreadable
	}
	rest, ok := without(numbers, c.a, c.b)
	if !ok {
		return m, DropNumberNotThere
	}
	exact := c.op.apply(c.a, c.b)
	if exact == nil {
		return m, DropDivisionByZero
	}
	said := c.result
	if said == nil {
		said = exact
	}
	if c.left != nil && stateText(append(slices.Clone(rest), said)) != stateText(c.left) {
		return m, DropWrongLeft
	}
	if said.Cmp(exact) != 0 {
		if c.decimals > 0 && within(said, exact, c.decimals) {
			return m, DropRounded
		}
		return m, DropWrongArithmetic
	}
	return move{a: c.a, op: c.op, b: c.b, result: exact, left: sorted(append(rest, exact))}, ""
}

// without takes numbers out of others, each once; false when one is not there.
func without(numbers []*big.Rat, out ...*big.Rat) ([]*big.Rat, bool) {
	rest := slices.Clone(numbers)
	for _, o := range out {
		at := slices.IndexFunc(rest, func(n *big.Rat) bool { return n.Cmp(o) == 0 })
		if at < 0 {
			return nil, false
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return rest, true
}

// within says whether two numbers are less than one unit of a decimal place
// apart, as a rounded or cut-off number is from the exact one.
func within(a, b *big.Rat, decimals int) bool {
	d := new(big.Rat).Sub(a, b)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return d.Abs(d).Cmp(new(big.Rat).SetFrac(big.NewInt(1), unit)) < 0
}
