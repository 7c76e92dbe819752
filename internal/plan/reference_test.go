package plan_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func results() map[string]plan.Result {
	return map[string]plan.Result{
		"s1": {Text: "84,000 people", Data: json.RawMessage(
			`{"result":"84,000 people","n":84000,"big":12345678901234567890,"ok":true,"none":null,"list":[1,{"k":"v"}],"name":"Brindlemoor","in":{"a":{"b":"deep"}}}`)},
		"s2":  {Text: "plain <text> & \"quotes\""},
		"s10": {Text: "ten", Data: json.RawMessage(`{"result":"ten","0":"nought"}`)},
		"s3":  {Text: "see ${s1} and $1 and #E1 and ${s1.n}", Data: json.RawMessage(`{"result":"x","again":"${s2}"}`)},
		"E-1": {Text: "dashed"}, "1": {Text: "one"}, "2": {Text: "two"},
		"bad": {Text: "x", Data: json.RawMessage(`{"n":`)},
	}
}

func TestFillingInReferences(t *testing.T) { // BEHAVIOUR 4.2, 5.11
	for _, tt := range []struct{ name, input, want string }{
		{"nothing to fill in", `{"a":"x","n":1.50,"b":null}`, `{"a":"x","b":null,"n":1.50}`},
		{"a whole result", `{"e":"${s1}"}`, `{"e":"84,000 people"}`},
		{"inside a text", `{"e":"It has ${s1}."}`, `{"e":"It has 84,000 people."}`},
		{"two in one text", `{"e":"${1}+${2}"}`, `{"e":"one+two"}`},
		{"the same twice", `{"e":"${1}${1}"}`, `{"e":"oneone"}`},
		{"a number stays one", `{"e":"${s1.n}"}`, `{"e":84000}`},
		{"a big number", `{"e":"${s1.big}"}`, `{"e":12345678901234567890}`},
		{"a truth", `{"e":"${s1.ok}"}`, `{"e":true}`},
		{"nothing, as nothing", `{"e":"${s1.none}"}`, `{"e":null}`},
		{"an object", `{"e":"${s1.in}"}`, `{"e":{"a":{"b":"deep"}}}`},
		{"a list", `{"e":"${s1.list}"}`, `{"e":[1,{"k":"v"}]}`},
		{"a number in a text", `{"e":"${s1.n} / 120"}`, `{"e":"84000 / 120"}`},
		{"an object in a text", `{"e":"in: ${s1.in}"}`, `{"e":"in: {\"a\":{\"b\":\"deep\"}}"}`},
		{"null in a text", `{"e":"<${s1.none}>"}`, `{"e":"<null>"}`},
		{"deep keys", `{"e":"${s1.in.a.b}"}`, `{"e":"deep"}`},
		{"a place in a list", `{"e":"${s1.list.0} ${s1.list.1.k}"}`, `{"e":"1 v"}`},
		{"a key that is a number", `{"e":"${s10.0}"}`, `{"e":"nought"}`},
		{"in lists and objects", `{"l":["${1}",["${2}",{"k":"${s1.n}"}]]}`, `{"l":["one",["two",{"k":84000}]]}`},
		{"input that is a text", `"${s1}"`, `"84,000 people"`},
		{"text around", `"of ${s1.name}"`, `"of Brindlemoor"`},
		{"html is not escaped", `"${s2}"`, `"plain <text> & \"quotes\""`},
		{"an id with a dash", `"${E-1}"`, `"dashed"`},
		{"keys are not filled in", `{"${s1}":"x"}`, `{"${s1}":"x"}`},
		{"what is put in is data", `{"e":"${s3}"}`, `{"e":"see ${s1} and $1 and #E1 and ${s1.n}"}`},
		{"data inside a text", `{"e":"[${s3}]"}`, `{"e":"[see ${s1} and $1 and #E1 and ${s1.n}]"}`},
		{"data of a key", `{"e":"${s3.again} ${1}"}`, `{"e":"${s2} one"}`},
		{"no reference across two", `{"e":"$${1}{s1}"}`, `{"e":"$one{s1}"}`},
		{"s1 is not in s10", `{"e":"${s10}"}`, `{"e":"ten"}`},
		{"other planners' forms", `{"e":"$1 $10 #E1 $s1 {s1} {{s1}}"}`, `{"e":"$1 $10 #E1 $s1 {s1} {{s1}}"}`},
		{"money", `{"e":"$100 and ${"}`, `{"e":"$100 and ${"}`},
		{"numbers are not texts", `{"e":[1e400,0.10]}`, `{"e":[1e400,0.10]}`},
	} {
		got, err := plan.Fill(json.RawMessage(tt.input), results())
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	if got, err := plan.Fill(nil, results()); err != nil || got != nil {
		t.Errorf("no input becomes %s, %v", got, err)
	}
}

func TestReferencesThatCannotBeFilledIn(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		says        []string
	}{
		{"a step that is not given", `{"e":"${s9}"}`, []string{"${s9}", "step s9", "is not given"}},
		{"one of two", `{"e":"${s1} ${s9.k}"}`, []string{"${s9.k}"}},
		{"a step in other case", `{"e":"${S1}"}`, []string{"${S1}"}},
		{"a missing key", `{"e":"${s1.people}"}`, []string{"${s1.people}", "step s1", `"people"`}},
		{"a missing key further in", `{"e":"${s1.in.a.c}"}`, []string{"${s1.in.a.c}", `"c"`}},
		{"a key of a text", `{"e":"${s1.name.x}"}`, []string{`"x"`}},
		{"a key of plain text", `{"e":"${s2.n}"}`, []string{"${s2.n}", "plain text"}},
		{"beyond a list", `{"e":"${s1.list.2}"}`, []string{`"2"`}},
		{"before a list", `{"e":"${s1.list.-1}"}`, []string{`"-1"`}},
		{"a word in a list", `{"e":"${s1.list.first}"}`, []string{`"first"`}},
		{"data that is broken", `{"e":"${bad.n}"}`, []string{"step bad", "cannot be read"}},
		{"in a list", `["${s9}"]`, []string{"${s9}"}},
		{"the first in sorted keys", `{"z":"${s8}","a":"${s9}"}`, []string{"${s9}"}},
		{"no JSON", `{"e":`, []string{"it is not JSON"}},
		{"two values", `{} {}`, []string{"more than one"}},
	} {
		got, err := plan.Fill(json.RawMessage(tt.input), results())
		if err == nil || got != nil {
			t.Errorf("%s: %s, %v", tt.name, got, err)
			continue
		}
		for _, says := range tt.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not say %s", tt.name, err, says)
			}
		}
	}
}

func TestFindingReferences(t *testing.T) { // BEHAVIOUR 4.2
	for _, tt := range []struct {
		input string
		want  []string
	}{
		{``, nil},
		{`{}`, nil},
		{`null`, nil},
		{`7`, nil},
		{`"x"`, nil},
		{`"${s1}"`, []string{"${s1}"}},
		{`{"e":"${1}+${2}"}`, []string{"${1}", "${2}"}},
		{`{"z":"${a}","b":["${c.d}",{"e":"x ${f.0.g} y"}]}`, []string{"${a}", "${c.d}", "${f.0.g}"}},
		{`"${s1}${s1}"`, []string{"${s1}", "${s1}"}},
		{`"$1 #E1 ${} ${.a} ${a b} ${a.} $ {a} ${é}"`, nil},
		{`{"${s1}":1}`, nil},
		{`"\u0024{s1}"`, []string{"${s1}"}},
		{`"${` + strings.Repeat("x", 64) + `}"`, []string{"${" + strings.Repeat("x", 64) + "}"}},
		{`"${` + strings.Repeat("x", 65) + `}"`, nil},
	} {
		refs, err := plan.References(json.RawMessage(tt.input))
		var got []string
		for _, r := range refs {
			got = append(got, r.String())
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.input, got, err, tt.want)
		}
	}
	refs, err := plan.References(json.RawMessage(`"${s1.in.a}"`))
	if err != nil || !reflect.DeepEqual(refs, []plan.Reference{{Step: "s1", Path: []string{"in", "a"}}}) {
		t.Errorf("%+v, %v", refs, err)
	}
	for _, bad := range []string{`{`, `{} 1`, `x`} {
		if refs, err := plan.References(json.RawMessage(bad)); err == nil || refs != nil {
			t.Errorf("%s: %v, %v", bad, refs, err)
		}
	}
}

func TestFillingInIsDoneOnce(t *testing.T) { // BEHAVIOUR 5.11
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.SampledFrom([]string{"${a}", "${b}", "${a.k}", "$", "{", "}", "a", "${", "$1", "#E1", "<", `"`, "\\", "é"})
		given := map[string]plan.Result{}
		for _, id := range []string{"a", "b"} {
			text := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(rt, id), "")
			data, err := json.Marshal(map[string]string{"k": text + "!"})
			if err != nil {
				rt.Fatal(err)
			}
			given[id] = plan.Result{Text: text, Data: data}
		}
		// The parts are joined with spaces, so that no reference comes about where they meet.
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"${a}", "${b}", "${a.k}", "word", "$1"}), 1, 5).Draw(rt, "parts")
		want := make([]string, len(parts))
		for i, part := range parts {
			switch part {
			case "${a}":
				want[i] = given["a"].Text
			case "${b}":
				want[i] = given["b"].Text
			case "${a.k}":
				want[i] = given["a"].Text + "!"
			default:
				want[i] = part
			}
		}
		input, err := json.Marshal([]string{strings.Join(parts, " ")})
		if err != nil {
			rt.Fatal(err)
		}
		filled, err := plan.Fill(input, given)
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		if err := json.Unmarshal(filled, &got); err != nil || got[0] != strings.Join(want, " ") {
			rt.Fatalf("%q filled with %q gives %q, %v", parts, given, got, err)
		}
	})
}

func TestWhatIsFoundIsWhatIsFilledIn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9_-]{1,6}`), 1, 4).Draw(rt, "ids")
		var text strings.Builder
		given := map[string]plan.Result{}
		for _, id := range ids {
			fmt.Fprintf(&text, "${%s}, ", id)
			given[id] = plan.Result{Text: "x"}
		}
		input, err := json.Marshal(map[string]string{"e": text.String()})
		if err != nil {
			rt.Fatal(err)
		}
		refs, err := plan.References(input)
		if err != nil || len(refs) != len(ids) {
			rt.Fatalf("%s: %v, %v", input, refs, err)
		}
		if got, err := plan.Fill(input, given); err != nil || string(got) != `{"e":"`+strings.Repeat("x, ", len(ids))+`"}` {
			rt.Fatalf("%s: %s, %v", input, got, err)
		}
		delete(given, ids[0])
		if got, err := plan.Fill(input, given); err == nil {
			rt.Fatalf("without %s: %s", ids[0], got)
		}
	})
}
