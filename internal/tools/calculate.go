package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"planwave/internal/plan"
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

// mostQuoted is how much of an expression, in characters, an error repeats.
const mostQuoted = 200

// Call evaluates an expression. The text of the result is a plain decimal
// number; the data has it as a number and, where that is rounded, as a fraction
// beside it.
func (calculateTool) Call(_ context.Context, arguments json.RawMessage) (Result, error) {
	var in struct {
		Expression string `json:"expression"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	v, err := evaluate(in.Expression)
	if err != nil {
		return failed("%q cannot be worked out: %v.", plan.Short(in.Expression, mostQuoted), err), nil
	}
	text, exact := decimal(v)
	if !exact {
		return calculated(text, v.RatString())
	}
	return calculated(text, text)
}

func calculated(text, exact string) (Result, error) {
	data, err := json.Marshal(map[string]any{"value": json.Number(text), "exact": exact})
	return Result{Text: text, Data: data}, err
}

const (
	// mostPlaces is how many decimal places are written of a number that ends.
	mostPlaces = 30
	// digits is how many significant digits are written of one that does not.
	// The whole part is always written out.
	digits = 12
	// smallest is the exponent below which a rounded number is written as
	// 1.5e-9, since its zeros would be longer than its digits.
	smallest = -9
)

// decimal writes a number as a decimal, and says whether that is exact.
func decimal(v *big.Rat) (text string, exact bool) {
	if places, ends := v.FloatPrec(); ends && places <= mostPlaces {
		return v.FloatString(places), true
	}
	e := exponentOf(v)
	if e >= smallest {
		return withoutZeros(v.FloatString(max(digits-1-e, 0))), false
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-e)), nil))
	scaled := new(big.Rat).Mul(v, scale)
	return withoutZeros(scaled.FloatString(digits-1)) + "e" + strconv.Itoa(e), false
}

// exponentOf is the decimal exponent of a number that is not 0.
func exponentOf(v *big.Rat) int {
	text := new(big.Float).SetRat(v).Text('e', digits)
	e, err := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if err != nil {
		return 0 // no number but infinity is written without an exponent
	}
	return e
}

func withoutZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// evaluate works out an expression. The result is within what programs can
// hold as a floating-point number.
func evaluate(text string) (*big.Rat, error) {
	if len(text) > mostExpression {
		return nil, fmt.Errorf("it is longer than %d bytes", mostExpression)
	}
	a := &arithmetic{text: []rune(text)}
	v, err := a.sum()
	if err != nil {
		return nil, err
	}
	if a.next() != 0 {
		return nil, a.unexpected()
	}
	switch f, _ := v.Float64(); {
	case math.IsInf(f, 0):
		return nil, errLarge
	case f == 0 && v.Sign() != 0:
		return nil, errors.New("the result is too close to 0")
	}
	return v, nil
}
