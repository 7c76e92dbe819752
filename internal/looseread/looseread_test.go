package looseread_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/looseread"
)

const planText = `{"steps":[{"id":"a","instruction":"look [it] up {now}","depends_on":[]},{"id":"b","instruction":"say \"x\", then é","depends_on":["a"]}]}`

func TestWhatIsRead(t *testing.T) { // BEHAVIOUR 2.2
	fence := "```"
	for _, tt := range []struct{ name, text, want string }{
		{"alone", planText, planText},
		{"a list", `[{"id":1}]`, `[{"id":1}]`},
		{"an empty list", ` [] `, `[]`},
		{"an empty object", "\n{}\n", `{}`},
		{"white space", "\r\n\t " + planText + " \n", planText},
		{"spaces of typesetters", "{\u00a0\"a\"\u2003:\u00a0[1,\u202f2\ufeff]}", `{"a":[1,2]}`},
		{"a byte order mark", "\ufeff" + planText, planText},
		{"a fence", fence + "json\n" + planText + "\n" + fence, planText},
		{"a fence without a language", fence + "\n" + planText + "\n" + fence, planText},
		{"a fence on one line", fence + "json " + planText + fence, planText},
		{"a fence that never ends", fence + "json\n" + planText, planText},
		{"a fence in prose", "Here:\n" + fence + "json\n" + planText + "\n" + fence + "\nGood luck!", planText},
		{"prose before", "Sure, here is the plan: " + planText, planText},
		{"prose after", planText + "\nTell me if step [b] should change.", planText},
		{"brackets in prose on both sides", "As [you] asked (see {above}):\n" + planText + "\nTell me if [b] or {a} should change [not now", planText},
		{"brackets of a language", "Use list[int] and f{x}.\n" + planText, planText},
		{"twice the same", planText + "\n\nAgain:\n" + planText, planText},
		{"twice the same, written otherwise", `{"a":[1,2]} and {"a" : [ 1, 2, ]}`, `{"a":[1,2]}`},
		{"thoughts", "<think>Maybe {\"steps\":[]} or [1]?</think>" + planText, planText},
		{"thoughts under another name", "<thinking>\n[1]\n</thinking>\n" + planText, planText},
		{"thoughts twice", "<think>[1]</think><think>[2]</think>" + planText, planText},
		{"thoughts after", planText + "\n<think>was [1] better?</think>", planText},
		{"thoughts after that never end", planText + "\n<think>was [1] better?", planText},
		{"thoughts without a beginning", "Maybe [{\"id\":\"x\"}]?\n</think>\n" + planText, planText},
		{"a broken draft in thoughts", "<think>{\"steps\": [ no</think>" + planText, planText},
		{"the word in a string", `[{"i":"explain the <think> tag and </think> in HTML"}]`, `[{"i":"explain the <think> tag and </think> in HTML"}]`},
		{"the word in a string, in prose", `So: [{"i":"explain the <think> tag and </think> in HTML"}] OK?`, `[{"i":"explain the <think> tag and </think> in HTML"}]`},
		{"the word in a string, after thoughts", `<think>x</think>{"i":"<think> opens"}`, `{"i":"<think> opens"}`},
		{"trailing commas", `[{"id":"a","depends_on":[],},{"id":"b","depends_on":["a",]},]`, `[{"id":"a","depends_on":[]},{"id":"b","depends_on":["a"]}]`},
		{"trailing comma and a line", "{\"a\":1,\n}\n", `{"a":1}`},
		{"commas in strings", `{"a":"x,}","b":"],"}`, `{"a":"x,}","b":"],"}`},
		{"brackets in strings", `{"a":"}]{[","b":"\"}"}`, `{"a":"}]{[","b":"\"}"}`},
		{"a line in a string", "{\"a\":\"one\ntwo\tthree\"}", "{\"a\":\"one\\u000atwo\\u0009three\"}"},
		{"escapes", `{"a":"\" \\ \/ \b \f \n \r \t \u00e9 \uD83C\uDF89"}`, `{"a":"\" \\ \/ \b \f \n \r \t \u00e9 \uD83C\uDF89"}`},
		{"numbers as written", `[1.50,-0,12345678901234567890,1e400]`, `[1.50,-0,12345678901234567890,1e400]`},
		{"words", `{"a":true,"b":false,"c":null}`, `{"a":true,"b":false,"c":null}`},
		{"other alphabets", `Da: {"ключ":"שלב 🎉"}!`, `{"ключ":"שלב 🎉"}`},
		{"the same key in two objects", `{"a":{"x":1},"b":{"x":1}}`, `{"a":{"x":1},"b":{"x":1}}`},
	} {
		got, err := looseread.Find(tt.text, nil)
		if tt.name == "brackets in prose on both sides" || tt.name == "thoughts after that never end" {
			got, err = looseread.Find(tt.text, isObject)
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !same(t, got, []byte(tt.want)) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func isObject(v json.RawMessage) bool { return v[0] == '{' }

// same says whether two JSON texts differ by white space only.
func same(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y bytes.Buffer
	if err := errors.Join(json.Compact(&x, a), json.Compact(&y, b)); err != nil {
		t.Fatalf("%s and %s: %v", a, b, err)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

func TestWhatIsRefused(t *testing.T) { // BEHAVIOUR 2.2
	for _, tt := range []struct {
		name, text string
		want       error
		says       string
	}{
		{"nothing", "", looseread.ErrNoJSON, ""},
		{"white space", " \n\t", looseread.ErrNoJSON, ""},
		{"a mark alone", "\ufeff", looseread.ErrNoJSON, ""},
		{"prose", "I cannot plan this.", looseread.ErrNoJSON, ""},
		{"brackets in prose", "See [the list] and {this}.", looseread.ErrNoJSON, ""},
		{"a text", `"steps"`, looseread.ErrNoJSON, ""},
		{"a number", "42", looseread.ErrNoJSON, ""},
		{"only thoughts", `<think>{"a":1}</think>`, looseread.ErrNoJSON, ""},
		{"thoughts at the end", `Hm. <think>{"a":1}`, looseread.ErrNoJSON, ""},
		{"cut off in a list", `[{"id":"a","instruction":"look up the fam`, looseread.ErrTruncated, ""},
		{"cut off after a comma", `{"steps":[{"id":"a"},`, looseread.ErrTruncated, ""},
		{"cut off in an escape", `{"a":"\`, looseread.ErrTruncated, ""},
		{"cut off in a hexadecimal escape", `{"a":"\u00`, looseread.ErrTruncated, ""},
		{"cut off in a word", `{"a":tru`, looseread.ErrTruncated, ""},
		{"cut off after a whole one", planText + `{"steps":[{"id":"a"},`, looseread.ErrTruncated, ""},
		{"quotes in a text", `[{"id":"a","instruction":"tell the "boss", then wait"}]`, looseread.ErrSyntax, "line 1, character 37"},
		{"quotes in a text, in a fence", "```json\n[{\"id\":\"a\",\n\"instruction\":\"tell the \"boss\"\"}]\n```", looseread.ErrSyntax, "line 2"},
		{"a bad escape", `{"path":"C:\windows"}`, looseread.ErrSyntax, ""},
		{"a bad escape in prose", `So: {"path":"C:\windows"} OK?`, looseread.ErrSyntax, ""},
		{"a bad hexadecimal escape", `{"a":"\u00zz"}`, looseread.ErrSyntax, ""},
		{"no comma", `{"a":1 "b":2}`, looseread.ErrSyntax, "comma"},
		{"no colon", `{"a":1,"b" 2}`, looseread.ErrSyntax, "colon"},
		{"no value", `{"a":1,"b":}`, looseread.ErrSyntax, "value"},
		{"only a comma", `{"a":[,]}`, looseread.ErrSyntax, ""},
		{"two commas", `{"a":[1,,2]}`, looseread.ErrSyntax, ""},
		{"two trailing commas", `{"a":[1,,]}`, looseread.ErrSyntax, ""},
		{"a bad number", `{"a":01}`, looseread.ErrSyntax, ""},
		{"not a number", `{"a":NaN}`, looseread.ErrSyntax, ""},
		{"None", `{"a":None}`, looseread.ErrSyntax, ""},
		{"a comment", "{\"a\":1, // one\n\"b\":2}", looseread.ErrSyntax, ""},
		{"the wrong bracket", `{"a":[1}}`, looseread.ErrSyntax, ""},
		{"deep", strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000), looseread.ErrSyntax, "deep"},
		{"long", "[" + strings.Repeat(" ", looseread.MaxBytes) + "]", looseread.ErrSyntax, "limit"},
		{"two objects", `{"a":1} {"a":2}`, looseread.ErrAmbiguous, "2 different"},
		{"two lists in prose", "Either [1] or [2].", looseread.ErrAmbiguous, ""},
		{"a key twice", `{"a":1,"a":1}`, looseread.ErrAmbiguous, `"a"`},
		{"a key twice, deep", `[{"id":"x","b":[{"c":1,"d":2,"c":3}]}]`, looseread.ErrAmbiguous, `"c"`},
		{"a key twice, written otherwise", `{"a":1,"\u0061":2}`, looseread.ErrAmbiguous, "twice"},
	} {
		got, err := looseread.Find(tt.text, nil)
		if !errors.Is(err, tt.want) || got != nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %s, %v, want %v that says %q", tt.name, got, err, tt.want, tt.says)
		}
	}
}

func TestOtherLanguagesAreNotHalfRead(t *testing.T) { // never a part of what was meant
	for _, text := range []string{
		`[{'id': 'a', 'depends_on': []}]`,
		`{'steps': [{'id': 'a', 'depends_on': []}]}`,
		`{steps: [{"id": "a"}], deliverable: "a"}`,
		`So: {steps: [{"id": "a"}], "deliverable": "a"}`,
		`{"steps": [{id: "a", "depends_on": []}]}`,
		"{“steps”: [{\"id\": \"a\"}]}",
	} {
		if got, err := looseread.Find(text, nil); err == nil {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

func TestWantedDecides(t *testing.T) {
	text := "As [1] says, {\"note\":1}:\n" + planText + "\n[2]"
	if got, err := looseread.Find(text, nil); !errors.Is(err, looseread.ErrAmbiguous) || got != nil {
		t.Errorf("%s, %v", got, err)
	}
	got, err := looseread.Find(text, func(v json.RawMessage) bool { return strings.Contains(string(v), "steps") })
	if err != nil || !same(t, got, []byte(planText)) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := looseread.Find(text, func(json.RawMessage) bool { return false }); !errors.Is(err, looseread.ErrNoJSON) || got != nil {
		t.Errorf("nothing is wanted and found is %s, %v", got, err)
	}
}

func TestWantedSeesOnlyJSON(t *testing.T) {
	text := `So: {"a":"C:\x"} or [1,{"b":"\q"}] or {"c":"d` + "\n" + `e",} OK`
	_, err := looseread.Find(text, func(v json.RawMessage) bool {
		if !json.Valid(v) {
			t.Errorf("asked about %s", v)
		}
		return true
	})
	if err == nil {
		t.Error("bad escapes are passed over")
	}
}

// surroundings are what models put around a value.
func surroundings() [][2]string {
	return [][2]string{
		{"", ""},
		{"```json\n", "\n```"},
		{"Here is the [plan]:\n", "\nIs step [b] right?"},
		{"<think>Perhaps [{\"id\":\"q\"}]?</think>\n", ""},
		{"\ufeff \n", "\n"},
		{"Perhaps [{\"id\":\"q\"}].\n</think>\n", ""},
	}
}

func TestWhatIsCutOffIsNeverAShorterOne(t *testing.T) { // BEHAVIOUR 2.2
	bare := `[{"id":"a","instruction":"x [1] {2}","input":{"k":[[],{}]},"depends_on":[]},{"id":"b","instruction":"y\n","depends_on":["a",],},{"id":3,"depends_on":null}]`
	for _, value := range []string{planText, bare, `{"thought":"ok","plan":{"title":"t","steps":[{"id":"a","depends_on":[]}]}}`} {
		whole, err := looseread.Find(value, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, around := range surroundings() {
			text := around[0] + value + around[1]
			full := len(around[0]) + len(value)
			for cut := range len(text) + 1 {
				got, err := looseread.Find(text[:cut], isPlanLike)
				if cut >= full && (err != nil || !same(t, got, whole)) {
					t.Errorf("%q: %s, %v", text[:cut], got, err)
				}
				if cut > len(around[0]) && cut < full && err == nil {
					t.Errorf("cut off after %d bytes, %q is read as %s", cut, text[:cut], got)
				}
			}
		}
	}
}

// isPlanLike wants objects and lists of objects, and lists of nothing.
func isPlanLike(v json.RawMessage) bool {
	return v[0] == '{' || len(v) > 1 && (v[1] == '{' || v[1] == ']')
}

// anyValue draws a JSON object or list.
func anyValue(t *rapid.T) []byte {
	text := rapid.StringMatching(`[a-z<>\[\]{}"\\,:é🎉\n ]{0,8}`)
	leaf := rapid.OneOf(text.AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	inner := rapid.OneOf(leaf, rapid.SliceOfN(leaf, 0, 3).AsAny(), rapid.MapOfN(text, leaf, 0, 3).AsAny())
	v := rapid.OneOf(rapid.SliceOfN(inner, 0, 3).AsAny(), rapid.MapOfN(text, inner, 0, 3).AsAny()).Draw(t, "value")
	b, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestValidJSONIsReadAsItIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := anyValue(rt)
		for _, around := range [][2]string{{"", ""}, {"```json\n", "\n```"}, {"So: ", " OK?"}, {"<think>[0]</think>\n", ""}} {
			got, err := looseread.Find(around[0]+string(want)+around[1], nil)
			if err != nil || !same(t, got, want) {
				rt.Fatalf("%q + %s: %s, %v", around[0], want, got, err)
			}
		}
	})
}

func TestTheSizeOfBadInputDoesNotMatter(t *testing.T) {
	n := 1 << 13
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", n), "braces": strings.Repeat("{", n), "both": strings.Repeat("[{", n), "keys": strings.Repeat(`{"a":`, n),
		"quotes": strings.Repeat(`["`, n), "numbers": "[[[[[[" + strings.Repeat("1,", n), "thoughts": strings.Repeat("<think>", n),
		"ends": strings.Repeat("</think>\n", n), "escapes": `["` + strings.Repeat(`\`, n) + `"`, "words": strings.Repeat("[a", n),
	} {
		if got, err := looseread.Find(text, nil); err == nil {
			t.Errorf("%s: %d bytes are read", name, len(got))
		}
	}
	list := "[" + strings.Repeat(`{"id":"a"},`, n/16) + "]"
	if got, err := looseread.Find("So:\n"+list, nil); err != nil || len(got) != len(list)-1 {
		t.Errorf("a long list: %d bytes, %v", len(got), err)
	}
}

func FuzzFind(f *testing.F) {
	f.Add(planText)
	for _, around := range surroundings() {
		f.Add(around[0] + planText + around[1])
	}
	for _, text := range []string{
		`[1,2,]`, `{"a":"\u00e9\'"}`, "{\"a\":\"\n\"}", `<think>{`, `[{'a':1}]`, `{"a":1,"a":2}`, `{"a":1} {"a":2}`, "\ufeff[]", `{"a":`, "\xff[\"\xff\"]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := looseread.Find(text, nil)
		if err != nil {
			if got != nil {
				t.Fatalf("%q: both %s and %v", text, got, err)
			}
			known := []error{looseread.ErrNoJSON, looseread.ErrTruncated, looseread.ErrSyntax, looseread.ErrAmbiguous}
			for _, k := range known {
				if errors.Is(err, k) {
					return
				}
			}
			t.Fatalf("%q: %v", text, err)
		}
		if !json.Valid(got) || got[0] != '{' && got[0] != '[' {
			t.Fatalf("%q is read as %s", text, got)
		}
		again, err := looseread.Find(string(got), nil)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%q: read again, %s is %s, %v", text, got, again, err)
		}
		if trimmed := strings.TrimSpace(text); json.Valid([]byte(text)) && (trimmed[0] == '{' || trimmed[0] == '[') {
			var x, y any
			if errors.Join(json.Unmarshal([]byte(text), &x), json.Unmarshal(got, &y)) == nil && fmt.Sprint(x) != fmt.Sprint(y) {
				t.Fatalf("%q is JSON and read as %s", text, got)
			}
		}
	})
}
