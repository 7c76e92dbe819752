package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const search = `{"type":"object","properties":{
	"query":{"type":"string"},"limit":{"type":"integer","minimum":1},"ratio":{"type":"number"},
	"deep":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},"since":{"type":"string"},
	"until":{"type":["string","null"]},"where":{"type":"object","properties":{"page":{"type":"integer"}}},
	"kind":{"enum":["web","news"]},"either":{"type":["string","integer"]},"step":{"type":"number","multipleOf":0.5}},
	"required":["query"],"additionalProperties":false}`

// BEHAVIOUR 4.5: arguments are checked before the tool sees them. What can only
// mean one thing is put right.
func TestArgumentsAreCoercedOnlyWhereTheMeaningIsUnmistakable(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"as they are":                 {`{"query":"x","limit":5}`, `{"limit":5,"query":"x"}`},
		"a number in quotes":          {`{"query":"x","limit":"5","ratio":"-0.50"}`, `{"limit":5,"query":"x","ratio":-0.50}`},
		"a list in quotes":            {`{"query":"x","tags":"[\"a\",\"b\"]"}`, `{"query":"x","tags":["a","b"]}`},
		"a boolean in quotes":         {`{"query":"x","deep":"true"}`, `{"deep":true,"query":"x"}`},
		"null for what may be absent": {`{"query":"x","since":null,"limit":null}`, `{"query":"x"}`},
		"null where null is meant":    {`{"query":"x","until":null}`, `{"query":"x","until":null}`},
		"null stays beside a mend":    {`{"query":"x","until":null,"limit":"5"}`, `{"limit":5,"query":"x","until":null}`},
		"a bare number for a text":    {`{"query":84000.0}`, `{"query":"84000.0"}`},
		"numbers in a list of texts":  {`{"query":"x","tags":[1,"b"]}`, `{"query":"x","tags":["1","b"]}`},
		"inside an object":            {`{"query":"x","where":{"page":"2"}}`, `{"query":"x","where":{"page":2}}`},
		"an object in quotes":         {`{"query":"x","where":"{\"page\":\"2\"}"}`, `{"query":"x","where":{"page":2}}`},
		"a text that fits stays":      {`{"query":"5","either":"5"}`, `{"either":"5","query":"5"}`},
		"a text that is JSON stays":   {`{"query":"[1,2]"}`, `{"query":"[1,2]"}`},
	}
	r := registry(t, echo("search", search))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if out := call(t, r, "search", tt.args); out.IsError || out.Text != tt.want {
				t.Errorf("the tool got %q, want %q", out.Text, tt.want)
			}
		})
	}
}

func TestListsOfOlderDraftsAreCoerced(t *testing.T) {
	r := registry(t, echo("a", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{
		"ids":{"type":"array","items":{"type":"integer"}},"pair":{"items":[{"type":"integer"},{"type":"string"}]}}}`))
	if out := call(t, r, "a", `{"ids":["1",2]}`); out.Text != `{"ids":[1,2]}` {
		t.Errorf("the tool got %q", out.Text)
	}
	if out := call(t, r, "a", `{"pair":["1","b"]}`); !out.IsError {
		t.Errorf("the tool got %q", out.Text)
	}
}

// BEHAVIOUR 4.3, 4.5: what the caller can mend is told so that it can be mended.
func TestWrongCallsAreToldNotMade(t *testing.T) {
	tests := map[string]struct {
		name, args string
		says       []string
	}{
		"an unknown tool":    {"serch", `{}`, []string{`"serch"`, "get_city, search"}},
		"a huge name":        {strings.Repeat("x", 5000), `{}`, []string{"xxx…", "get_city"}},
		"no JSON":            {"search", `{"query":`, []string{"search", "not JSON"}},
		"no object":          {"search", `[1]`, []string{"search", "neither an object nor a text"}},
		"nothing":            {"search", ``, []string{"missing property 'query'", `"required":["query"]`}},
		"a wrong type":       {"search", `{"query":"x","limit":"many"}`, []string{"limit: got string, want integer"}},
		"half a number":      {"search", `{"query":"x","limit":"5 or so"}`, []string{"limit"}},
		"a fraction":         {"search", `{"query":"x","limit":"2.5"}`, []string{"limit"}},
		"null for a must":    {"search", `{"query":null}`, []string{"query: got null, want string"}},
		"an unknown one":     {"search", `{"query":"x","lmit":1}`, []string{"lmit"}},
		"none of a choice":   {"search", `{"query":"x","kind":"tv"}`, []string{"kind", "web", "news"}},
		"too small":          {"search", `{"query":"x","limit":0}`, []string{"limit", "1"}},
		"beyond all measure": {"search", `{"query":"x","step":1e1000001}`, []string{"cannot be checked"}},
	}
	touched := false
	tool := echo("search", search)
	tool.call = func(context.Context, json.RawMessage) (Result, error) { touched = true; return Result{}, nil }
	r := registry(t, City(), tool)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out := call(t, r, tt.name, tt.args)
			if !out.IsError {
				t.Errorf("it is no error: %q", out.Text)
			}
			if len(out.Text) > 4000 {
				t.Errorf("it is %d bytes long", len(out.Text))
			}
			mentions(t, out.Text, tt.says...)
		})
	}
	if touched {
		t.Error("the tool was called")
	}
}

func TestAToolThatBreaksIsAnError(t *testing.T) {
	cause := errors.New("the server died")
	tests := map[string]struct {
		call func(context.Context, json.RawMessage) (Result, error)
		says string
	}{
		"it says so": {func(context.Context, json.RawMessage) (Result, error) { return Result{}, cause }, "the server died"},
		"it panics":  {func(context.Context, json.RawMessage) (Result, error) { panic("index out of range") }, "index out of range"},
		"its data is broken": {func(context.Context, json.RawMessage) (Result, error) {
			return Result{Data: json.RawMessage(`{"a":`)}, nil
		}, "not JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := echo("bad", `{}`)
			tool.call = tt.call
			_, err := registry(t, tool).Call(t.Context(), "bad", nil)
			broken, ok := errors.AsType[*BrokenError](err)
			if !ok || broken.Tool != "bad" {
				t.Fatalf("the error is %v", err)
			}
			mentions(t, err.Error(), "bad", tt.says)
		})
	}
	tool := echo("bad", `{}`)
	tool.call = tests["it says so"].call
	if _, err := registry(t, tool).Call(t.Context(), "bad", nil); !errors.Is(err, cause) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestAToolGetsTheContextOfItsCall(t *testing.T) {
	tool := echo("slow", `{}`)
	tool.call = func(ctx context.Context, _ json.RawMessage) (Result, error) {
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := registry(t, tool).Call(ctx, "slow", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// BEHAVIOUR 4.7
func TestLargeResultsAreCutWithANoticeOfSizes(t *testing.T) {
	got := Cut(strings.Repeat("é", 159_000), 8_000)
	want := strings.Repeat("é", 8_000) + "\n… cut: showing 8,000 of 159,000 characters; the whole result is in the trace"
	if got != want {
		t.Errorf("it is cut to %d bytes ending %q", len(got), got[len(got)-100:])
	}
	for text, limit := range map[string]int{"": 0, "abc": 3, "äöü": 3, "a": 2} {
		if got := Cut(text, limit); got != text {
			t.Errorf("%q at %d becomes %q", text, limit, got)
		}
	}
	for _, limit := range []int{0, -1} {
		if got := Cut("ab", limit); !strings.HasPrefix(got, "\n… cut: showing 0 of 2 ") {
			t.Errorf("at %d it becomes %q", limit, got)
		}
	}
}

func TestCuttingNeverBreaksACharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		got := Cut(text, limit)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid", got)
		}
		shown, _, cut := strings.Cut(got, "\n… cut: ")
		n := utf8.RuneCountInString(text)
		if cut != (n > limit) && !strings.Contains(text, "\n… cut: ") {
			t.Fatalf("%d characters at %d: cut is %v", n, limit, cut)
		}
		if n > limit && shown != string([]rune(text)[:limit]) {
			t.Fatalf("it shows %q", shown)
		}
	})
}

// FuzzCall holds that no arguments, whatever they are, crash the registry.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{`{}`, `"x"`, `null`, `{"query":1e999999999}`, `{"tags":"[1e99]"}`, `[[[[`, `{"where":{"page":"1"}}`} {
		f.Add(seed)
	}
	r, err := New(echo("search", search), Calculate(), City())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, name := range r.Names() {
			out, err := r.Call(t.Context(), name, json.RawMessage(args))
			if err != nil {
				t.Fatalf("%s broke: %v", name, err)
			}
			if out.Text == "" {
				t.Fatalf("%s said nothing", name)
			}
			r.CheckInput(name, json.RawMessage(args))
		}
	})
}

// A registry is safe for concurrent use: the race detector watches.
func TestManyCallAtOnce(t *testing.T) {
	r := registry(t, City(), Calculate(), echo("search", search))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for name, args := range map[string]string{
				"get_city": `{"name":"Tarnby"}`, "calculate": `{"expression":"1/3"}`, "search": `{"query":"x","limit":"5","since":null}`,
			} {
				out, err := r.Call(t.Context(), name, json.RawMessage(args))
				if err != nil || out.IsError {
					t.Errorf("%s: %+v, %v", name, out, err)
				}
				if sub, err := r.Subset([]string{name}); err != nil || len(sub.CheckInput(name, json.RawMessage(args))) > 0 {
					t.Errorf("%s in a subset: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCoercedIsWhatTheToolSees(t *testing.T) { // BEHAVIOUR 4.5, 4.6: a person sees exactly these arguments
	r, err := New(City(), Calculate())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tool, args, want string
		reaches          bool
	}{
		"a text":             {"get_city", `"Tarnby"`, `{"name":"Tarnby"}`, true},
		"an object":          {"calculate", `{"expression":"1+1"}`, `{"expression":"1+1"}`, true},
		"wrong arguments":    {"get_city", `{"town":"Tarnby"}`, `{"town":"Tarnby"}`, false},
		"no such tool":       {"guess", `{"a":1}`, `{"a":1}`, false},
		"not even an object": {"calculate", `[1]`, `[1]`, false},
	} {
		got, reaches := r.Coerced(tt.tool, []byte(tt.args))
		if string(got) != tt.want || reaches != tt.reaches {
			t.Errorf("%s: %s, %v", name, got, reaches)
		}
	}
}
