package tools

import (
	"errors"
	"fmt"
	"math/big"
	"unicode"
)

// Limits of an expression, so that none can take long or much memory.
const (
	mostExpression = 2_000 // bytes
	mostNested     = 100
	mostBits       = 4_096 // of numerator and denominator
	mostExponent   = 1_000
)

// Errors of expressions.
var (
	errZero  = errors.New("it divides by zero")
	errLarge = errors.New("the numbers become too large")
)

// arithmetic is a recursive-descent reader of expressions that works them out
// as it reads:
//
//	sum     = product { ("+"|"-") product }
//	product = power { ("*"|"/") power }
//	power   = ["-"|"+"] power | atom [ ("^"|"**") power ]
//	atom    = number | "(" sum ")"
type arithmetic struct {
	text  []rune
	at    int
	depth int
}

// next returns the next character that is not space, 0 at the end. Signs of
// typography are the operators they stand for.
func (a *arithmetic) next() rune {
	for a.at < len(a.text) && unicode.IsSpace(a.text[a.at]) {
		a.at++
	}
	if a.at == len(a.text) {
		return 0
	}
	switch r := a.text[a.at]; r {
	case '×', '·', '⋅':
		return '*'
	case '÷':
		return '/'
	case '−', '–':
		return '-'
	case 0:
		return unicode.ReplacementChar
	default:
		return r
	}
}

// shownAhead is how many characters of what is not understood are shown.
const shownAhead = 10

func (a *arithmetic) unexpected() error {
	if a.at >= len(a.text) {
		return errors.New("it ends where a number is expected")
	}
	ahead := string(a.text[a.at:min(a.at+shownAhead, len(a.text))])
	return fmt.Errorf("%q at character %d is not understood; numbers, + - * / ^ and parentheses are", ahead, a.at+1)
}

func (a *arithmetic) sum() (*big.Rat, error) {
	v, err := a.product()
	for err == nil {
		op := a.next()
		if op != '+' && op != '-' {
			return v, nil
		}
		a.at++
		var w *big.Rat
		if w, err = a.product(); err != nil {
			break
		}
		if op == '+' {
			v = new(big.Rat).Add(v, w)
		} else {
			v = new(big.Rat).Sub(v, w)
		}
		err = small(v)
	}
	return nil, err
}

func (a *arithmetic) product() (*big.Rat, error) {
	v, err := a.power()
	for err == nil {
		op := a.next()
		if op != '*' && op != '/' {
			return v, nil
		}
		a.at++
		var w *big.Rat
		if w, err = a.power(); err != nil {
			break
		}
		switch {
		case op == '*':
			v = new(big.Rat).Mul(v, w)
		case w.Sign() == 0:
			return nil, errZero
		default:
			v = new(big.Rat).Quo(v, w)
		}
		err = small(v)
	}
	return nil, err
}

func (a *arithmetic) power() (*big.Rat, error) {
	if a.depth++; a.depth > mostNested {
		return nil, fmt.Errorf("it is nested more than %d deep", mostNested)
	}
	defer func() { a.depth-- }()
	switch a.next() {
	case '-':
		a.at++
		v, err := a.power()
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Neg(v), nil
	case '+':
		a.at++
		return a.power()
	}
	v, err := a.atom()
	if err != nil || !a.raised() {
		return v, err
	}
	e, err := a.power()
	if err != nil {
		return nil, err
	}
	return raise(v, e)
}

// raised reads the sign of an exponent, if one comes next.
func (a *arithmetic) raised() bool {
	switch r := a.next(); {
	case r == '^':
		a.at++
	case r == '*' && a.at+1 < len(a.text) && a.text[a.at] == '*' && a.text[a.at+1] == '*':
		a.at += 2
	default:
		return false
	}
	return true
}

func raise(v, e *big.Rat) (*big.Rat, error) {
	if !e.IsInt() || !e.Num().IsInt64() || e.Num().Int64() > mostExponent || e.Num().Int64() < -mostExponent {
		return nil, fmt.Errorf("an exponent is a whole number from -%d to %d", mostExponent, mostExponent)
	}
	n := e.Num().Int64()
	if n < 0 {
		if v.Sign() == 0 {
			return nil, errZero
		}
		v, n = new(big.Rat).Inv(v), -n
	}
	if bits := int64(max(v.Num().BitLen(), v.Denom().BitLen())); bits > 1 && bits*n > mostBits {
		return nil, errLarge
	}
	num := new(big.Int).Exp(v.Num(), big.NewInt(n), nil)
	den := new(big.Int).Exp(v.Denom(), big.NewInt(n), nil)
	return new(big.Rat).SetFrac(num, den), nil
}

func (a *arithmetic) atom() (*big.Rat, error) {
	if a.next() == '(' {
		a.at++
		v, err := a.sum()
		if err != nil {
			return nil, err
		}
		switch a.next() {
		case ')':
			a.at++
			return v, nil
		case 0:
			return nil, errors.New("a parenthesis is not closed")
		}
		return nil, a.unexpected()
	}
	return a.number()
}

func (a *arithmetic) number() (*big.Rat, error) {
	start := a.at
	for a.digit() || a.at < len(a.text) && a.text[a.at] == '.' {
		a.at++
	}
	a.exponent(start)
	number := string(a.text[start:a.at])
	v, ok := new(big.Rat).SetString(number)
	if !ok {
		a.at = start
		return nil, a.unexpected()
	}
	if a.at < len(a.text) && (a.text[a.at] == ',' || a.text[a.at] == '%') {
		return nil, fmt.Errorf("%q is not understood; write numbers with a decimal point and without thousands separators, and percent as / 100",
			number+string(a.text[a.at]))
	}
	return v, small(v)
}

func (a *arithmetic) digit() bool {
	return a.at < len(a.text) && a.text[a.at] >= '0' && a.text[a.at] <= '9'
}

// exponent takes in the exponent of a number, as in 1e3, of at most three
// digits. What follows e otherwise is not part of the number.
func (a *arithmetic) exponent(start int) {
	before := a.at
	if a.at == start || a.at >= len(a.text) || a.text[a.at] != 'e' && a.text[a.at] != 'E' {
		return
	}
	a.at++
	if a.at < len(a.text) && (a.text[a.at] == '+' || a.text[a.at] == '-') {
		a.at++
	}
	first := a.at
	for a.digit() {
		a.at++
	}
	if n := a.at - first; n < 1 || n > 3 {
		a.at = before
	}
}

func small(v *big.Rat) error {
	if v.Num().BitLen() > mostBits || v.Denom().BitLen() > mostBits {
		return errLarge
	}
	return nil
}
