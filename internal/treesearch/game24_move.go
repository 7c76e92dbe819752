package treesearch

import (
	"context"
	"math/big"
	"slices"
)

// operator is one of the four, as it is written in a step.
type operator string

// The operators.
const (
	plus  operator = "+"
	minus operator = "−"
	times operator = "×"
	over  operator = "÷"
)

// operatorOf reads an operator in any of the ways people write it.
func operatorOf(text string) (operator, bool) {
	switch text {
	case "+":
		return plus, true
	case "-", "−", "–":
		return minus, true
	case "*", "×", "x", "X", "·":
		return times, true
	case "/", "÷", ":":
		return over, true
	}
	return "", false
}

// apply works out a op b, or returns nil for a division by zero.
func (op operator) apply(a, b *big.Rat) *big.Rat {
	r := new(big.Rat)
	switch op {
	case plus:
		return r.Add(a, b)
	case minus:
		return r.Sub(a, b)
	case times:
		return r.Mul(a, b)
	case over:
		if b.Sign() == 0 {
			return nil
		}
		return r.Quo(a, b)
	}
	return nil
}

// move is one step of the game: two numbers become one.
type move struct {
	a      *big.Rat
	op     operator
	b      *big.Rat
	result *big.Rat
	left   []*big.Rat // the numbers after it, ascending
}

// text writes the move as the step of a node.
func (m move) text() string {
	return shown(m.a) + " " + string(m.op) + " " + shown(m.b) + " = " + shown(m.result)
}

// proposal is the move as a child.
func (m move) proposal() Proposal { return Proposal{State: stateText(m.left), Step: m.text()} }

// moves are all that numbers in ascending order allow: for every pair a, b,
// the first number's pairs first, a+b, a×b, a−b, b−a, a÷b and b÷a.
func moves(numbers []*big.Rat) []move {
	var all []move
	for i := range numbers {
		for j := i + 1; j < len(numbers); j++ {
			a, b := numbers[i], numbers[j]
			rest := slices.Concat(numbers[:i], numbers[i+1:j], numbers[j+1:])
			for _, m := range []move{
				{a: a, op: plus, b: b},
				{a: a, op: times, b: b},
				{a: a, op: minus, b: b},
				{a: b, op: minus, b: a},
				{a: a, op: over, b: b},
				{a: b, op: over, b: a},
			} {
				if m.result = m.op.apply(m.a, m.b); m.result != nil {
					m.left = sorted(append(slices.Clone(rest), m.result))
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// CodeProposer proposes every legal move of a Game of 24, also those that come
// to the same numbers, in a fixed order. Its error is [ErrNumbers].
type CodeProposer struct{}

// Propose returns the moves of a state: at most 36, none for a single number.
func (CodeProposer) Propose(_ context.Context, n Node) (Proposals, error) {
	numbers, err := readState(n.State)
	if err != nil {
		return Proposals{}, err
	}
	var p Proposals
	for _, m := range moves(numbers) {
		p.Children = append(p.Children, m.proposal())
	}
	return p, nil
}
