package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

type calculateTool struct{}

// Calculate returns the tool calculate: exact arithmetic on decimal numbers.
func Calculate() Tool { return calculateTool{} }

// Info describes the tool.
func (calculateTool) Info() Info {
	return Info{
		Name: "calculate", ReadOnly: true,
		Description: "Exact arithmetic: + - * / ^, parentheses and decimal numbers, as in (84000 / 120) * 2.",
		Schema: json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string",` +
			`"description":"the expression, as 156000 / 130"}},"required":["expression"],"additionalProperties":false}`),
	}
}

// Call evaluates an expression. The text of the result is a plain decimal
// number; the data has it as a number and, where it is not a short decimal, as
// a fraction.
func (calculateTool) Call(_ context.Context, arguments json.RawMessage) (Result, error) {
	var in struct {
		Expression string `json:"expression"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return Result{}, fmt.Errorf("calculate: read the arguments: %w", err)
	}
	v, err := evaluate(in.Expression)
	if err != nil {
		return failed("%q cannot be worked out: %v.", in.Expression, err), nil
	}
	text := decimal(v)
	data, err := json.Marshal(map[string]any{"value": json.Number(text), "exact": exact(v)})
	return Result{Text: text, Data: data}, err
}

// places is how many decimal places are shown of a number that has more.
const places = 12

// decimal writes a number as a decimal without needless zeros.
func decimal(v *big.Rat) string {
	text := v.FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// exact writes a number as it is: a decimal where that is whole, else a fraction.
func exact(v *big.Rat) string {
	text := decimal(v)
	if back, ok := new(big.Rat).SetString(text); ok && back.Cmp(v) == 0 {
		return text
	}
	return v.RatString()
}

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

// arithmetic is a recursive-descent reader of expressions:
//
//	sum     = product { ("+"|"-") product }
//	product = power { ("*"|"/") power }
//	power   = ["-"|"+"] power | atom [ "^" power ]
//	atom    = number | "(" sum ")"
type arithmetic struct {
	text  string
	at    int
	depth int
}

func evaluate(text string) (*big.Rat, error) {
	if len(text) > mostExpression {
		return nil, fmt.Errorf("it has %d characters, %d is the limit", len(text), mostExpression)
	}
	a := &arithmetic{text: strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "**", "^").Replace(text)}
	v, err := a.sum()
	if err != nil {
		return nil, err
	}
	if a.next() != 0 {
		return nil, a.unexpected()
	}
	return v, nil
}

// next returns the next byte that is not space, 0 at the end.
func (a *arithmetic) next() byte {
	for a.at < len(a.text) && (a.text[a.at] == ' ' || a.text[a.at] == '\t' || a.text[a.at] == '\n') {
		a.at++
	}
	if a.at == len(a.text) {
		return 0
	}
	return a.text[a.at]
}

func (a *arithmetic) unexpected() error {
	if a.at >= len(a.text) {
		return errors.New("it ends where a number is expected")
	}
	return fmt.Errorf("%q at character %d is not understood; numbers, + - * / ^ and parentheses are", a.text[a.at:min(a.at+10, len(a.text))], a.at+1)
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
	if err != nil || a.next() != '^' {
		return v, err
	}
	a.at++
	e, err := a.power()
	if err != nil {
		return nil, err
	}
	return raise(v, e)
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
	b := a.next()
	if b == '(' {
		a.at++
		v, err := a.sum()
		if err != nil {
			return nil, err
		}
		if a.next() != ')' {
			return nil, errors.New("a parenthesis is not closed")
		}
		a.at++
		return v, nil
	}
	start := a.at
	for a.at < len(a.text) && (a.text[a.at] >= '0' && a.text[a.at] <= '9' || a.text[a.at] == '.') {
		a.at++
	}
	a.exponent(start)
	number := a.text[start:a.at]
	v, ok := new(big.Rat).SetString(number)
	if !ok {
		a.at = start
		return nil, a.unexpected()
	}
	if a.at < len(a.text) && (a.text[a.at] == ',' || a.text[a.at] == '%') {
		return nil, fmt.Errorf("%q is not understood; write numbers without thousands separators, and percent as / 100", a.text[start:a.at+1])
	}
	return v, small(v)
}

// exponent takes in the exponent of a number, as in 1e3, of at most three digits.
func (a *arithmetic) exponent(start int) {
	if a.at == start || a.at >= len(a.text) || a.text[a.at] != 'e' && a.text[a.at] != 'E' {
		return
	}
	end := a.at + 1
	if end < len(a.text) && (a.text[end] == '+' || a.text[end] == '-') {
		end++
	}
	digits := end
	for end < len(a.text) && a.text[end] >= '0' && a.text[end] <= '9' {
		end++
	}
	if n := end - digits; n > 0 && n <= 3 {
		a.at = end
	}
}

func small(v *big.Rat) error {
	if v.Num().BitLen() > mostBits || v.Denom().BitLen() > mostBits {
		return errLarge
	}
	return nil
}
