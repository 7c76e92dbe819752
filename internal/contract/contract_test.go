package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func checks(list ...string) plan.Contract { return plan.Contract{Checks: list} }

// BEHAVIOUR 6.2: what is not an object is that, and nothing further is checked.
func TestWhatIsNoObjectIsNothingElse(t *testing.T) {
	c := plan.Contract{Required: []string{"a", "b"}, Checks: []string{"a > 0", "nonsense("}}
	want := []string{"1. The output is not a JSON object, which the contract asks for."}
	for _, output := range []string{``, `null`, `"done"`, `5`, `[{"a":1}]`, `{"a":1`, `{"a":1} and more`, `{"a":1}{"a":1}`, `done`, strings.Repeat("[", 100_000)} {
		if got := Validate(json.RawMessage(output), c); !slices.Equal(got, want) {
			t.Errorf("%.40s: %q", output, got)
		}
	}
	if got := Validate(nil, c); !slices.Equal(got, want) {
		t.Errorf("nothing: %q", got)
	}
}

// BEHAVIOUR 6.2: one error for each missing key, one for each check that is
// false or cannot be evaluated, numbered and quoted.
func TestEveryProblemIsToldNumberedAndQuoted(t *testing.T) {
	c := plan.Contract{
		Required: []string{"tests", "density", "city"},
		Checks:   []string{`tests == "passed"`, `density > 0`, `city == "Tarnby"`, `city > 1`, `area + 1 == 2`, `(`},
	}
	got := Validate(json.RawMessage(`{"tests":"failed","city":"Tarnby"}`), c)
	want := []string{
		`1. The key "density" is missing.`,
		`2. The check "tests == \"passed\"" is false.`,
		`3. The check "density > 0" cannot be evaluated: the output has no key "density".`,
		`4. The check "city > 1" cannot be evaluated: invalid operation: string > int (1:6).`,
		`5. The check "area + 1 == 2" cannot be evaluated: the output has no key "area".`,
		`6. The check "(" cannot be evaluated: unexpected token EOF (1:1).`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnEmptyContractAsksOnlyForAnObject(t *testing.T) {
	if got := Validate(json.RawMessage(` {} `), plan.Contract{}); got != nil {
		t.Errorf("the problems are %q", got)
	}
}

func TestARequiredKeyMayHoldNullAndMustBeWrittenAsItIs(t *testing.T) {
	c := plan.Contract{Required: []string{"a"}}
	if got := Validate(json.RawMessage(`{"a":null}`), c); got != nil {
		t.Errorf("the problems are %q", got)
	}
	if got := Validate(json.RawMessage(`{"A":1,"b":{"a":1}}`), c); len(got) != 1 {
		t.Errorf("the problems are %q", got)
	}
}

const output = `{"n":3,"zero":0,"f":2.5,"big":9007199254740993,"huge":1e999,"s":"passed","t":true,"nothing":null,
	"list":[1,2,3.5],"rows":[{"id":1,"ok":true},{"id":2,"ok":true}],"o":{"k":1},"area-km2":120.0,"len":7}`

// BEHAVIOUR 6.1: checks are boolean expressions over the output.
func TestWhatChecksCanSay(t *testing.T) {
	held := []string{
		`s == "passed"`, `n > 0`, `n == 3.0`, `f > n - 1`, `n % 2 == 1`, `n / 2 == 1.5`, `n ** 2 == 9`, `n * f == 7.5`,
		`t`, `not (n > 5) and t`, `!t || n in [1, 2, 3]`, `n in [3.0]`, `3.5 in list`, `"k" in o`, `big == 9007199254740993`,
		`huge > 1e308`, `nothing == nil`, `(nothing ?? 1) == 1`, `o.k == 1`, `o.missing == nil`, `o?.missing?.x == nil`,
		`rows[0].id == 1`, `len(list) == 3`, `sum(list) == 6.5`, `all(rows, .ok)`, `none(rows, .id > 2)`,
		`count(rows, .id > 1) == 1`, `any(list, # > 3)`, `max(list) == 3.5`, `len(filter(rows, .ok)) == 2`,
		`map(rows, .id)[1] == 2`, `s contains "ass"`, `s startsWith "p"`, `s matches "^p.*d$"`, `upper(s) == "PASSED"`,
		`$env["area-km2"] == 120`, `n > 1 ? t : false`, `rows | all(.ok)`, `type(n) == "int"`, `round(f) == 3`,
		`all(rows, all(list, # > 0))`, `n == 3 // three`,
	}
	for _, check := range held {
		if got := Validate(json.RawMessage(output), checks(check)); got != nil {
			t.Errorf("%s: %q", check, got)
		}
		if got := CheckContract(checks(check)); got != nil {
			t.Errorf("%s is no good check: %q", check, got)
		}
	}
	for _, check := range []string{`s == "failed"`, `n < 3`, `not t`, `n == "3"`, `3 in list`, `all(rows, .id > 1)`, `n != 3`, `false`, `zero > 0`} {
		got := Validate(json.RawMessage(output), checks(check))
		if want := fmt.Sprintf("1. The check %q is false.", check); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", check, got)
		}
	}
}

func TestChecksThatCannotBeEvaluated(t *testing.T) {
	tests := map[string]string{
		`missing`:             `no key "missing"`,
		`(missing ?? 0) == 0`: `no key "missing"`,
		`n`:                   "bool(int)",
		`s`:                   "bool(string)",
		`nothing > 1`:         "<nil> > int",
		`n.x == 1`:            "cannot fetch x from int",
		`list[10] == 1`:       "out of range",
		`f % 2 == 1`:          "float64 % int",
		`n % zero == 0`:       "divide by zero",
		`all(n, # > 0)`:       "",
		`s matches o.k`:       "",
		`o > 1`:               "map[string]interface {} > int",
		`sum(rows) > 1`:       "",
	}
	for check, says := range tests {
		got := Validate(json.RawMessage(output), checks(check))
		if len(got) != 1 || !strings.HasPrefix(got[0], "1. The check ") || !strings.Contains(got[0], "cannot be evaluated: ") || !strings.Contains(got[0], says) {
			t.Errorf("%s: %q, want %q", check, got, says)
		}
	}
}

func TestContractsThatCannotBeHeld(t *testing.T) {
	tests := map[string]struct {
		c    plan.Contract
		says string
	}{
		"no key":                {plan.Contract{Required: []string{"a", " "}}, "a required key is empty"},
		"nothing":               {checks(""), "unexpected token EOF"},
		"half a check":          {checks("n >"), "unexpected token EOF"},
		"a number":              {checks("1 + 1"), "expected bool, but got int"},
		"a text":                {checks(`"passed"`), "expected bool, but got string"},
		"an assignment":         {checks("n = 3"), ""},
		"a broken pattern":      {checks(`s matches "("`), "missing closing )"},
		"an unknown function":   {checks("delete(n)"), "there is no function delete"},
		"a method":              {checks("s.String() == n"), "there is no function s.String"},
		"a clock":               {checks("now() > n"), "function now is not allowed"},
		"a function that grows": {checks(`reduce(list, # + #acc, 0) > 1`), "function reduce is not allowed"},
		"repeating":             {checks(`repeat(s, 3) == s`), "not allowed"},
		"a range":               {checks("count(1..100, true) > 1"), "ranges with .. are not allowed"},
		"variables":             {checks("let a = s + s; a == s"), "one expression"},
		"two expressions":       {checks("true; true"), "one expression"},
		"a long one":            {checks(strings.Repeat("n + ", 1000) + "1 > 0"), "longer than 2000 bytes"},
		"a large one":           {checks(strings.Repeat("n+", 600) + "1 > 0"), "nodes"},
		"a deep one":            {checks(strings.Repeat("(", 1900)), ""},
		"many":                  {checks(slices.Repeat([]string{"true"}, 101)...), "101 checks and 100 is the limit"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := CheckContract(tt.c)
			if len(got) != 1 || !strings.Contains(got[0], tt.says) {
				t.Fatalf("the problems are %q, want %q", got, tt.says)
			}
			if len(got[0]) > 1000 || strings.Contains(got[0], "\n") {
				t.Errorf("it is told as %q", got[0])
			}
		})
	}
}

func TestEveryProblemOfAContractIsTold(t *testing.T) {
	got := CheckContract(plan.Contract{Required: []string{"", "a"}, Checks: []string{"1", "a > 0", "("}})
	if len(got) != 3 {
		t.Errorf("the problems are %q", got)
	}
}

// Loops over loops over a large output end by themselves.
func TestLoopsThatTakeTooLongAreStopped(t *testing.T) {
	rows := strings.Repeat("1,", 20_000) + "1"
	c := checks("count(rows, all(rows, any(rows, # < 2))) < 0", "all(rows, any(rows, # > 2) or true)")
	got := validate(json.RawMessage(`{"rows":[`+rows+`]}`), c, time.Millisecond)
	if len(got) != 2 {
		t.Fatalf("the problems are %q", got)
	}
	for _, p := range got {
		if !strings.Contains(p, "cannot be evaluated: it takes too long") {
			t.Errorf("%q", p)
		}
	}
}

// Ordinary loops are never cut short, however slow or late the machine is.
func TestShortLoopsAreNotTimed(t *testing.T) {
	rows := strings.Repeat("1,", free-1) + "1"
	if got := validate(json.RawMessage(`{"rows":[`+rows+`]}`), checks("all(rows, # == 1)"), 0); got != nil {
		t.Errorf("the problems are %q", got)
	}
}

func TestALargeOutputIsChecked(t *testing.T) {
	rows := strings.Repeat(`{"ok":true},`, 50_000) + `{"ok":true}`
	c := checks("all(rows, .ok)", "len(filter(rows, .ok)) == 50001", "count(rows, not .ok) == 0")
	if got := Validate(json.RawMessage(`{"rows":[`+rows+`]}`), c); got != nil {
		t.Errorf("the problems are %q", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	rows := strings.Repeat("1,", 3_000) + "1"
	each := "[" + strings.Repeat("#,", 400) + "#]"
	got := Validate(json.RawMessage(`{"rows":[`+rows+`]}`), checks("len(map(rows, "+each+")) > 0"))
	if len(got) != 1 || !strings.Contains(got[0], "memory") {
		t.Errorf("the problems are %q", got)
	}
}

// A contract never changes what it looks at, and says the same every time.
func TestValidateIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.Int()).Draw(t, "object")
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		c := plan.Contract{
			Required: rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "x"})).Draw(t, "required"),
			Checks:   rapid.SliceOf(rapid.SampledFrom([]string{"a > 0", "b <= 0", "x == 1", "a ==", "a + b == b + a"})).Draw(t, "checks"),
		}
		before := string(raw)
		got := Validate(raw, c)
		if again := Validate(raw, c); !slices.Equal(got, again) || string(raw) != before {
			t.Fatalf("%q, then %q", got, again)
		}
		if want := expected(object, c); len(got) != want {
			t.Fatalf("%s by %+v: %q, want %d problems", raw, c, got, want)
		}
		for i, p := range got {
			if !strings.HasPrefix(p, fmt.Sprintf("%d. ", i+1)) {
				t.Fatalf("problem %d is %q", i+1, p)
			}
		}
	})
}

// expected counts the problems of an object the plain way.
func expected(object map[string]int, c plan.Contract) int {
	n := 0
	for _, key := range c.Required {
		if _, ok := object[key]; !ok {
			n++
		}
	}
	a, hasA := object["a"]
	b, hasB := object["b"]
	kept := map[string]bool{"a > 0": hasA && a > 0, "b <= 0": hasB && b <= 0, "a + b == b + a": hasA && hasB}
	for _, check := range c.Checks {
		if !kept[check] {
			n++
		}
	}
	return n
}

// FuzzCheck holds that no expression, whatever it is, crashes, hangs or is
// taken for true over an output that has none of its keys.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"a > 0", "all(list, # > 1)", "$env.list[0] == 1", "s matches '(a+)+$'", "((((", "a ? b : c", "[1,2][5]", "{a: 1}.a == 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, check string) {
		bad := len(CheckContract(checks(check))) > 0
		got := Validate(json.RawMessage(output), checks(check))
		if bad && len(got) == 0 {
			t.Fatalf("%q cannot be held, and is", check)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	c := plan.Contract{Required: []string{"s", "n"}, Checks: []string{`s == "passed"`, `n > 0`}}
	for b.Loop() {
		if got := Validate(json.RawMessage(output), c); got != nil {
			b.Fatal(got)
		}
	}
}

func BenchmarkALoopOverALargeOutput(b *testing.B) {
	large := json.RawMessage(`{"rows":[` + strings.Repeat(`{"ok":true},`, 50_000) + `{"ok":true}]}`)
	for b.Loop() {
		if got := Validate(large, checks("all(rows, .ok)")); got != nil {
			b.Fatal(got)
		}
	}
}
