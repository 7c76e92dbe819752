package looseread_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/looseread"
)

func TestDuplicateFindsAKeyThatStandsTwice(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `"a"`, `7`, `null`, `{"a":1}`, `{"a":{"a":1},"b":{"a":1}}`, `[{"a":1},{"a":1}]`,
		`{"a":"b","b":"a","c":["a","a"]}`, `{"a":"\"a\":1,\"a\":2"}`, `{"a":{"a":"a"},"b":["a","a",{"a":1},{"a":1}],"c":"a"}`,
	} {
		if got, found := looseread.Duplicate([]byte(text)); found {
			t.Errorf("Duplicate(%s) = %q, want none", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:                         "a",
		"{ \"a\" : 1 ,\n\t\"a\" : 2 }":          "a",
		`{"a":{"b":1,"c":2,"b":3}}`:             "b",
		`[1,{"x":[],"y":{},"x":0}]`:             "x",
		`{"a\"":1,"a\"":2}`:                     `a"`,
		`{"a":1,"\u0061":2}`:                    "a",
		`{"\\":1,"\\":2}`:                       `\`,
		`{"":1,"":2}`:                           "",
		`{"a":[{"b":1},{"b":2,"c":[],"b":[]}]}`: "b",
	} {
		if got, found := looseread.Duplicate([]byte(text)); got != want || !found {
			t.Errorf("Duplicate(%s) = %q, %t, want %q", text, got, found, want)
		}
	}
}

// What an encoder writes has no key twice, and with one key written again at
// any depth it has.
func TestDuplicateKnowsWhatAnEncoderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.MapOf(rapid.String(), rapid.Int()))).Draw(t, "value")
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, found := looseread.Duplicate(text); found {
			t.Fatalf("Duplicate(%s) = %q, want none", text, got)
		}
		key, err := json.Marshal(rapid.String().Draw(t, "key"))
		if err != nil {
			t.Fatal(err)
		}
		twice := fmt.Sprintf(`[%s,{"deep":{%s:%s,%s:1}}]`, text, key, text, key)
		if _, found := looseread.Duplicate([]byte(twice)); !found {
			t.Fatalf("Duplicate(%s) finds nothing", twice)
		}
	})
}
