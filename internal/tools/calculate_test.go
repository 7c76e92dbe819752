package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func expression(t *testing.T, text string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"expression": text})
	if err != nil {
		t.Fatal(err)
	}
	return string(args)
}

// BEHAVIOUR 4.4: exact arithmetic.
func TestWhatCalculateWorksOut(t *testing.T) {
	tests := map[string]string{
		"84000 / 120":                    "700",
		"156000/130":                     "1200",
		"(210000 - 84000) / 84000 * 100": "150",
		"0.1 + 0.2":                      "0.3",
		"1 - 0.9 - 0.1":                  "0",
		"2 + 3 * 4":                      "14",
		"(2 + 3) * 4":                    "20",
		"10 - 4 - 3":                     "3",
		"100 / 10 / 5":                   "2",
		"2 ^ 10":                         "1024",
		"2 ** 10":                        "1024",
		"2 ^ 3 ^ 2":                      "512",
		"-2 ^ 2":                         "-4",
		"(-2) ^ 2":                       "4",
		"2 ^ -2":                         "0.25",
		"2 ^ (1 + 1)":                    "4",
		"0 ^ 0":                          "1",
		"2--3":                           "5",
		"+-+2":                           "-2",
		"- - 2":                          "2",
		"1e3 + 1E-3":                     "1000.001",
		"1e+2":                           "100",
		".5 + 1.":                        "1.5",
		"010 + 007":                      "17",
		"6 × 7 ÷ 2 − 1":                  "20",
		"3·4":                            "12",
		"1\u00a0+\t1\n":                  "2",
		"4 * (10 - 4) * (13 - 9) / 4":    "24",
		"9007199254740993 + 0":           "9007199254740993",
		"2 ^ 100":                        "1267650600228229401496703205376",
		"1 / 8":                          "0.125",
		"1 / 2 ^ 30":                     "0.000000000931322574615478515625",
		"1e-20":                          "0.00000000000000000001",
		"1 / 3":                          "0.333333333333",
		"2 / 3":                          "0.666666666667",
		"-2 / 3":                         "-0.666666666667",
		"200 / 3":                        "66.6666666667",
		"1e15 / 3":                       "333333333333333",
		"2e15 / 3":                       "666666666666667",
		"1 / 3e20":                       "3.33333333333e-21",
		"-2 / 3e20":                      "-6.66666666667e-21",
		"1 / 3 * 3":                      "1",
		strings.Repeat("(", 99) + "1" + strings.Repeat(")", 99): "1",
		strings.Repeat("1+", 999) + "1":                         "1000",
	}
	r := registry(t, Calculate())
	for text, want := range tests {
		out := call(t, r, "calculate", expression(t, text))
		if out.IsError || out.Text != want {
			t.Errorf("%.60s is %q, want %q", text, out.Text, want)
		}
		var data struct {
			Value json.Number `json:"value"`
			Exact string      `json:"exact"`
		}
		if err := json.Unmarshal(out.Data, &data); err != nil || data.Value.String() != want {
			t.Errorf("%.60s has the data %s, %v", text, out.Data, err)
		}
	}
}

func TestARoundedResultHasItsFractionBesideIt(t *testing.T) {
	for text, want := range map[string]string{
		"1/3":   `{"exact":"1/3","value":0.333333333333}`,
		"1/8":   `{"exact":"0.125","value":0.125}`,
		"10/5":  `{"exact":"2","value":2}`,
		"-22/7": `{"exact":"-22/7","value":-3.14285714286}`,
	} {
		if out := call(t, registry(t, Calculate()), "calculate", expression(t, text)); string(out.Data) != want {
			t.Errorf("%s has the data %s, want %s", text, out.Data, want)
		}
	}
}

func TestWhatCalculateRefuses(t *testing.T) {
	tests := map[string][]string{
		"":                                 {"ends where a number"},
		"   ":                              {"ends where a number"},
		"1 +":                              {"ends where a number"},
		"1 / 0":                            {"divides by zero"},
		"1 / (2 - 2)":                      {"divides by zero"},
		"0 ^ -1":                           {"divides by zero"},
		"(1 + 2":                           {"parenthesis is not closed"},
		"1 + 2)":                           {`")"`, "character 6"},
		"(1 2)":                            {`"2)"`, "character 4"},
		"2(3)":                             {`"(3)"`, "character 2"},
		"1 2":                              {`"2"`, "character 3"},
		"84,000 / 2":                       {`"84,"`, "without thousands separators"},
		"15%":                              {`"15%"`, "percent as / 100"},
		"1.2.3":                            {`"1.2.3"`, "character 1"},
		".":                                {`"."`},
		"1e":                               {`"e"`, "character 2"},
		"1e9999":                           {`"e9999"`},
		"0x10":                             {`"x10"`},
		"1_000":                            {`"_000"`},
		"sqrt(2)":                          {`"sqrt(2)"`, "numbers, + - * / ^ and parentheses are"},
		"пять + 1":                         {`"пять + 1"`, "character 1"},
		"1 + é":                            {`"é"`, "character 5"},
		"1\x00":                            {`"\x00"`},
		"2 * * 3":                          {`"* 3"`},
		"2 ^ 0.5":                          {"an exponent is a whole number"},
		"2 ^ 1001":                         {"an exponent is a whole number from -1000 to 1000"},
		"9^9^9^9":                          {"an exponent is a whole number"},
		"(2^1000)^1000 - (2^1000)^1000":    {"too large"},
		"10^999 * 10^999":                  {"too large"},
		"10^400":                           {"too large"},
		"10^-400":                          {"too close to 0"},
		"1e999":                            {"too large"},
		"__import__('os')":                 {`"__import__"`},
		strings.Repeat("9", 1999):          {"too large"},
		strings.Repeat("(", 2000):          {"nested more than 100"},
		strings.Repeat("-", 2000):          {"nested more than 100"},
		strings.Repeat("2^", 999) + "2":    {"nested more than 100"},
		strings.Repeat("1", 1_000_000):     {"longer than 2000 bytes"},
		"1" + strings.Repeat("*9e99", 300): {"too large"},
	}
	r := registry(t, Calculate())
	for text, says := range tests {
		out := call(t, r, "calculate", expression(t, text))
		if !out.IsError || len(out.Data) > 0 {
			t.Errorf("%.60q is %.100q", text, out.Text)
		}
		if len(out.Text) > 1000 {
			t.Errorf("%.60q is refused with %d bytes", text, len(out.Text))
		}
		mentions(t, out.Text, append(says, "cannot be worked out")...)
	}
}

// tree is a random expression and what it is worth.
func tree(t *rapid.T, depth int) (string, *big.Rat) {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		text := rapid.StringMatching(`[0-9]{1,5}(\.[0-9]{1,3})?`).Draw(t, "number")
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		return text, v
	}
	left, a := tree(t, depth-1)
	right, b := tree(t, depth-1)
	v := new(big.Rat)
	op := rapid.SampledFrom([]string{"+", "-", "*", "/"}).Draw(t, "operator")
	switch {
	case op == "+":
		v.Add(a, b)
	case op == "-":
		v.Sub(a, b)
	case op == "/" && b.Sign() != 0:
		v.Quo(a, b)
	default:
		op = "*"
		v.Mul(a, b)
	}
	return fmt.Sprintf("(%s %s %s)", left, op, right), v
}

func TestCalculateIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := tree(t, 4)
		got, err := evaluate(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("%s is %s, want %s", text, got, want)
		}
	})
}

func TestDecimalsAreRightToTheirLastDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64().Draw(t, "numerator")
		den := rapid.Int64Range(1, math.MaxInt64).Draw(t, "denominator")
		v := new(big.Rat).SetFrac64(num, den)
		text, exact := decimal(v)
		back, ok := new(big.Rat).SetString(text)
		if !ok || !json.Valid([]byte(text)) {
			t.Fatalf("%s is written %q, which is no number", v, text)
		}
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("%s is written %q: %v", v, text, err)
		}
		if exact != (back.Cmp(v) == 0) {
			t.Fatalf("%s is written %q, exact: %v", v, text, exact)
		}
		off := new(big.Rat).Sub(back, v)
		bound := new(big.Rat).Mul(new(big.Rat).Abs(v), big.NewRat(1, 1e11))
		if off.Abs(off).Cmp(bound) > 0 {
			t.Fatalf("%s is written %q", v, text)
		}
	})
}

// FuzzCalculate holds that every expression is either worked out to a number or
// refused in words.
func FuzzCalculate(f *testing.F) {
	for _, seed := range []string{"1/3", "2^3^2", "9^9^9^9", "((1)", "1e5", "−1×2", "--1", "1,000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := evaluate(text)
		if err != nil {
			return
		}
		written, _ := decimal(v)
		if _, err := strconv.ParseFloat(written, 64); err != nil || !json.Valid([]byte(written)) {
			t.Fatalf("%q is written %q", text, written)
		}
	})
}

func BenchmarkCalculate(b *testing.B) {
	for b.Loop() {
		if _, err := evaluate("(210000 - 84000) / 84000 * 100"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTheHardestExpression(b *testing.B) {
	hardest := "1" + strings.Repeat("*(1+9e99/7)", 12) + strings.Repeat("+1/3", 460)
	for b.Loop() {
		if _, err := evaluate(hardest); err != nil && !errors.Is(err, errLarge) {
			b.Fatal(err)
		}
	}
}
