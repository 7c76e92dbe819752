package treesearch

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrExpression refuses an expression that is not 24 from the numbers given,
// and a path that leads to none.
var ErrExpression = errors.New("this is no solution")

var leadingNumber = regexp.MustCompile(`^` + numberText)

// How tightly what a term consists of is bound.
const (
	boundBySum = iota + 1
	boundByProduct
	boundAlone // needs no parentheses
)

// term is a number and how it came about.
type term struct {
	value *big.Rat
	text  string
	bound int
}

// Expression writes what a path of a Game of 24 comes to, from its root to its
// goal, as one expression such as (4 − 10) × (9 − 13). Every step is worked out
// again and the whole is checked by [CheckExpression]; the error is
// [ErrExpression] or [ErrNumbers].
func Expression(path []Node) (string, error) {
	if len(path) == 0 {
		return "", fmt.Errorf("%w: the path is empty", ErrExpression)
	}
	numbers, err := readState(path[0].State)
	if err != nil {
		return "", err
	}
	var terms []term
	for _, n := range numbers {
		terms = append(terms, leaf(n))
	}
	for _, n := range path[1:] {
		if terms, err = follow(terms, n); err != nil {
			return "", err
		}
	}
	if len(terms) != 1 {
		return "", fmt.Errorf("%w: the path ends with %d numbers", ErrExpression, len(terms))
	}
	return terms[0].text, CheckExpression(path[0].State, terms[0].text)
}

// leaf writes a number of the puzzle. Of a sign or a fraction, parentheses show
// that it is one number.
func leaf(n *big.Rat) term {
	text := shown(n)
	if n.Sign() < 0 || !n.IsInt() {
		text = "(" + text + ")"
	}
	return term{value: n, text: text, bound: boundAlone}
}

// follow takes the step of a node and compares what is left with its state.
func follow(terms []term, n Node) ([]term, error) {
	wrong := func() ([]term, error) {
		return nil, fmt.Errorf("%w: the step %q of node %s does not lead there", ErrExpression, shorten(n.Step), n.ID)
	}
	parts := stepLine.FindStringSubmatch(n.Step)
	if parts == nil {
		return wrong()
	}
	c := stepClaim(parts)
	var values []*big.Rat
	for _, t := range terms {
		values = append(values, t.value)
	}
	m, reason := c.prove(values)
	if reason != "" || stateText(m.left) != n.State {
		return wrong()
	}
	var a, b term
	a, terms = take(terms, m.a)
	b, terms = take(terms, m.b)
	return append(terms, join(a, m.op, b, m.result)), nil
}

// take takes out the first term of this value, which is there.
func take(terms []term, value *big.Rat) (term, []term) {
	at := slices.IndexFunc(terms, func(t term) bool { return t.value.Cmp(value) == 0 })
	return terms[at], slices.Delete(slices.Clone(terms), at, at+1)
}

// join writes an operation on two terms with the parentheses that it needs.
func join(a term, op operator, b term, result *big.Rat) term {
	bound := boundBySum
	if op == times || op == over {
		bound = boundByProduct
	}
	left, right := a.text, b.text
	if a.bound < bound {
		left = "(" + left + ")"
	}
	// To the right of − and ÷ an operation as loose as they are is another one.
	if b.bound < bound || b.bound == bound && (op == minus || op == over) {
		right = "(" + right + ")"
	}
	return term{value: result, text: left + " " + string(op) + " " + right, bound: bound}
}

// CheckExpression works an expression out, exactly, and returns nil when it is
// 24 and uses each number of the state once. It reads + − × ÷ in all the ways
// they are written, parentheses, decimals, a minus before a number, and n/d
// without spaces either as one number everywhere or as a division everywhere,
// whichever comes out. The error is [ErrExpression] and says what is wrong, or
// [ErrNumbers] for the state.
func CheckExpression(state, expression string) error {
	numbers, err := readState(state)
	if err != nil {
		return err
	}
	const longest = 2000 // bytes; bounds how deep parentheses go
	if len(expression) > longest {
		return fmt.Errorf("%w: it has more than %d characters", ErrExpression, longest)
	}
	// What uses "3/4" as one number is read so, and else as a division.
	err = check(numbers, &reader{rest: expression, fractions: true})
	if err != nil && strings.Contains(expression, "/") {
		err = check(numbers, &reader{rest: expression})
	}
	return err
}

// check works out what a reader reads.
func check(numbers []*big.Rat, r *reader) error {
	value, err := r.sum()
	if err != nil {
		return err
	}
	if r.next() != "" {
		return fmt.Errorf("%w: %q is in the way", ErrExpression, shorten(r.rest))
	}
	if stateText(r.used) != stateText(numbers) {
		return fmt.Errorf("%w: it uses %s, and the numbers are %s", ErrExpression, shorten(stateText(r.used)), stateText(numbers))
	}
	if value.Cmp(target) != 0 {
		return fmt.Errorf("%w: it is %s", ErrExpression, shorten(shown(value)))
	}
	return nil
}

// reader reads an expression from left to right.
type reader struct {
	rest      string
	fractions bool       // n/d without spaces is one number
	used      []*big.Rat // the numbers read so far
}

// next returns the next character without taking it, or "" at the end.
func (r *reader) next() string {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	_, size := utf8.DecodeRuneInString(r.rest)
	return r.rest[:size]
}

// skip takes a character.
func (r *reader) skip(character string) { r.rest = r.rest[len(character):] }

// sum reads products with + and − between them.
func (r *reader) sum() (*big.Rat, error) { return r.chain(r.product, plus, minus) }

// product reads factors with × and ÷ between them.
func (r *reader) product() (*big.Rat, error) { return r.chain(r.factor, times, over) }

// chain reads operands with one of two operators between them, from the left.
func (r *reader) chain(operand func() (*big.Rat, error), ops ...operator) (*big.Rat, error) {
	value, err := operand()
	for err == nil {
		character := r.next()
		op, ok := operatorOf(character)
		if !ok || !slices.Contains(ops, op) {
			return value, nil
		}
		r.skip(character)
		var b *big.Rat
		if b, err = operand(); err != nil {
			return nil, err
		}
		if value = op.apply(value, b); value == nil {
			return nil, fmt.Errorf("%w: it divides by zero", ErrExpression)
		}
	}
	return nil, err
}

// factor reads a number or an expression in parentheses.
func (r *reader) factor() (*big.Rat, error) {
	if r.next() != "(" {
		return r.number()
	}
	r.skip("(")
	value, err := r.sum()
	if err != nil {
		return nil, err
	}
	if r.next() != ")" {
		return nil, fmt.Errorf("%w: a parenthesis is not closed", ErrExpression)
	}
	r.skip(")")
	return value, nil
}

// number reads a number, and notes that it was used.
func (r *reader) number() (*big.Rat, error) {
	text := leadingNumber.FindString(r.rest)
	if !r.fractions {
		text, _, _ = strings.Cut(text, "/")
	}
	n, ok := readNumber(text)
	if !ok {
		return nil, fmt.Errorf("%w: a number is missing before %q", ErrExpression, shorten(r.rest))
	}
	r.skip(text)
	r.used = append(r.used, n)
	return n, nil
}
