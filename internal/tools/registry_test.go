package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestARegistryKeepsTheOrderOfItsTools(t *testing.T) {
	r := registry(t, Calculate(), City(), echo("a", `{}`))
	want := []string{"calculate", "get_city", "a"}
	if got := r.Names(); !slices.Equal(got, want) {
		t.Errorf("names are %v, want %v", got, want)
	}
	for i, info := range r.List() {
		if info.Name != want[i] {
			t.Errorf("tool %d is %s, want %s", i, info.Name, want[i])
		}
	}
	if info, ok := r.Get("get_city"); !ok || !info.ReadOnly || info.Description == "" {
		t.Errorf("get_city is %+v, %v", info, ok)
	}
	if info, ok := r.Get("nothing"); ok || info.Name != "" {
		t.Errorf("there is a tool nothing: %+v", info)
	}
}

func TestToolsThatCannotBeRegistered(t *testing.T) {
	tests := map[string]struct {
		list []Tool
		says []string
	}{
		"no name":          {[]Tool{echo("", `{}`)}, []string{`""`, "1 to 64"}},
		"a space":          {[]Tool{echo("a b", `{}`)}, []string{`"a b"`, "1 to 64"}},
		"a long name":      {[]Tool{echo(strings.Repeat("a", 65), `{}`)}, []string{"1 to 64"}},
		"two of one name":  {[]Tool{echo("a", `{}`), echo("a", `{}`)}, []string{`"a"`, "two tools", "rename"}},
		"no schema":        {[]Tool{echo("a", ``)}, []string{`"a"`, "schema"}},
		"a broken schema":  {[]Tool{echo("a", `{"type":5}`)}, []string{`"a"`, "schema"}},
		"a list":           {[]Tool{echo("a", `{"type":"array"}`)}, []string{`"a"`, "arguments are an object"}},
		"a file elsewhere": {[]Tool{echo("a", `{"properties":{"x":{"$ref":"file:///etc/passwd"}}}`)}, []string{`"a"`, "schema"}},
		"a page elsewhere": {[]Tool{echo("a", `{"properties":{"x":{"$ref":"http://127.0.0.1:1/s"}}}`)}, []string{`"a"`, "schema"}},
		"a broken pattern": {[]Tool{echo("a", `{"properties":{"x":{"pattern":"("}}}`)}, []string{`"a"`, "schema"}},
		"an own draft":     {[]Tool{echo("a", `{"$schema":"http://127.0.0.1:1/draft"}`)}, []string{`"a"`, "schema"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(tt.list...)
			if err == nil {
				t.Fatal("they can be registered")
			}
			mentions(t, err.Error(), tt.says...)
		})
	}
}

// Nothing is read from the disk or the network, even where there is something.
func TestSchemasAreNotLoadedFromElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(echo("a", `{"properties":{"x":{"$ref":"file://`+file+`"}}}`)); err == nil {
		t.Error("a schema is read from a file")
	}
}

func TestSchemasOfOtherDraftsAndFormsAreTaken(t *testing.T) {
	for _, schema := range []string{
		`{}`, `{"type":"object"}`, `{"type":["object","null"]}`, `{"properties":{"x":true}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`,
		`{"$defs":{"n":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/n"}}}`,
	} {
		r := registry(t, echo("a", schema))
		if out := call(t, r, "a", `{"x":1}`); out.IsError || out.Text != `{"x":1}` {
			t.Errorf("schema %s: %+v", schema, out)
		}
	}
}

func TestASubsetIsInTheOrderOfTheWhole(t *testing.T) {
	r := registry(t, City(), Calculate(), echo("a", `{}`))
	sub, err := r.Subset([]string{"a", "get_city", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := sub.Names(); !slices.Equal(got, []string{"get_city", "a"}) {
		t.Errorf("names are %v", got)
	}
	out := call(t, sub, "calculate", `{"expression":"1"}`)
	if !out.IsError {
		t.Error("a tool outside the subset can be called")
	}
	mentions(t, out.Text, "calculate", "get_city, a")
	_, err = r.Subset([]string{"get_city", "nothing"})
	if err == nil {
		t.Fatal("a subset holds a tool that is not there")
	}
	mentions(t, err.Error(), `"nothing"`, "get_city, calculate, a")
}

func TestAnEmptySubsetHasNoTools(t *testing.T) {
	sub, err := registry(t, City()).Subset(nil)
	if err != nil || len(sub.List()) != 0 {
		t.Fatalf("%v, %v", sub.List(), err)
	}
	mentions(t, call(t, sub, "get_city", `{}`).Text, "the tools are: none")
}

const notes = `{"type":"object","properties":{
	"title":{"type":"string","minLength":2},"body":{"anyOf":[{"type":"string"},{"type":"null"}]},
	"stars":{"type":"integer","maximum":5},"pages":{"type":"array","items":{"type":"integer"}},"tags":{"type":"array","items":{"type":"string"}}},
	"required":["stars","body","title"],"additionalProperties":false}`

// BEHAVIOUR 4.2
func TestAPlainTextGoesToTheArgumentThatIsMeantForIt(t *testing.T) {
	tests := map[string]struct {
		schema, input, want, problem string
	}{
		"the only text":           {`{"properties":{"n":{"type":"integer"},"q":{"type":"string"}}}`, `"x"`, `{"q":"x"}`, ""},
		"the first required text": {notes, `"x"`, `{"body":"x"}`, ""},
		"behind a reference":      {`{"$defs":{"t":{"type":"string"}},"properties":{"q":{"$ref":"#/$defs/t"}}}`, `"x"`, `{"q":"x"}`, ""},
		"none":                    {`{"properties":{"n":{"type":"integer"}}}`, `"x"`, "", "write an object"},
		"two, none required":      {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `"x"`, "", "write an object"},
		"an object stays":         {notes, `{"stars":2.50}`, `{"stars":2.50}`, ""},
		"nothing":                 {notes, ``, `{}`, ""},
		"null":                    {notes, `null`, `{}`, ""},
		"a number":                {notes, `3`, "", "neither an object nor a text"},
		"a list":                  {notes, `["x"]`, "", "neither an object nor a text"},
		"two values":              {notes, `{} {}`, "", "not JSON"},
		"a reference":             {notes, `"${s1}"`, `{"body":"${s1}"}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := registry(t, echo("a", tt.schema)).Arguments("a", json.RawMessage(tt.input))
			if tt.problem != "" {
				if err == nil {
					t.Fatalf("it becomes %s", got)
				}
				mentions(t, err.Error(), tt.problem)
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("it becomes %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if _, err := registry(t, City()).Arguments("nothing", nil); err == nil {
		t.Error("a tool that is not there has arguments")
	}
}

// BEHAVIOUR 1.3, bad_tool_input
func TestInputsOfToolStepsAreCheckedAsTheyAreWritten(t *testing.T) {
	tests := map[string]struct {
		input string
		want  []string // what each problem mentions; none when it fits
	}{
		"it fits":                 {`{"stars":1,"body":null,"title":"ab"}`, nil},
		"references fit anywhere": {`{"stars":"${s1.n}","body":"${s1}","title":"${s}","tags":"${s1.list}"}`, nil},
		"inside a list":           {`{"stars":1,"body":"","title":"ab","tags":["x","${s1}"]}`, nil},
		"a number of a list": {
			`{"stars":1,"body":"","title":"ab","pages":[1,"${s1}","x",true]}`,
			[]string{"pages.2: got string, want integer", "pages.3: got boolean, want integer"},
		},
		"inside a text":         {`{"stars":"about ${s1}","body":"","title":"ab"}`, nil},
		"an open brace is none": {`{"stars":"${s1","body":"","title":"ab"}`, []string{"stars: got string, want integer"}},
		"a name is none":        {`{"stars":1,"body":"","title":"ab","${s1}":1}`, []string{"${s1}"}},
		"a reference mends no other": {
			`{"stars":9,"body":"${s1}"}`,
			[]string{"missing property 'title'", "stars: maximum: got 9, want 5"},
		},
		"unmistakable": {`{"stars":"5","body":"","title":"ab","tags":"[\"a\",\"b\"]"}`, nil},
		"a text":       {`"x"`, []string{"missing properties 'stars', 'title'"}},
		"no JSON":      {`{`, []string{"not JSON"}},
	}
	r := registry(t, echo("note", notes))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := r.CheckInput("note", json.RawMessage(tt.input))
			if len(got) != len(tt.want) {
				t.Fatalf("the problems are %q, want %d", got, len(tt.want))
			}
			for i, w := range tt.want {
				mentions(t, got[i], w)
			}
		})
	}
	mentions(t, strings.Join(r.CheckInput("nothing", nil), ""), `"nothing"`, "note")
}

func TestAReferenceIsNoArgumentOfACall(t *testing.T) {
	r := registry(t, echo("note", notes))
	args := json.RawMessage(`{"stars":"${s1}","body":"","title":"ab"}`)
	if got := r.Check("note", args); len(got) != 1 || !strings.Contains(got[0], "stars") {
		t.Errorf("the problems are %q", got)
	}
	if got := r.Check("note", json.RawMessage(`{"stars":1,"body":"","title":"ab"}`)); got != nil {
		t.Errorf("the problems are %q", got)
	}
}

func TestProblemsAreToldInOrderAndBounded(t *testing.T) {
	r := registry(t, echo("a", `{"additionalProperties":{"type":"integer"}}`))
	var args strings.Builder
	for i := range 30 {
		args.WriteString(`,"` + string(rune('a'+i%26)) + strings.Repeat("x", 500) + string(rune('a'+i/26)) + `":"no"`)
	}
	got := r.Check("a", json.RawMessage("{"+args.String()[1:]+"}"))
	if len(got) != mostProblems+1 || got[mostProblems] != "and 20 more" {
		t.Fatalf("there are %d problems, the last %q", len(got), got[len(got)-1])
	}
	if !slices.IsSorted(got[:mostProblems]) {
		t.Error("they are in no order")
	}
	for _, p := range got {
		if n := len([]rune(p)); n > mostProblem+1 {
			t.Errorf("a problem has %d characters", n)
		}
	}
}
