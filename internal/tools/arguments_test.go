package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments in quotes are read as what they are, whole or not, and a text stays
// a text.
func TestArgumentsInQuotes(t *testing.T) { // BEHAVIOUR 4.2, 4.5
	r := registry(t, echo("search", search))
	for args, want := range map[string]string{
		`"Paris"`: `{"query":"Paris"}`,
		`"{\"query\":\"Paris\",\"limit\":\"5\"}"`: `{"limit":5,"query":"Paris"}`,
		`" {\"query\":\"Paris\"}\n"`:              `{"query":"Paris"}`,
		`"{\"town\":\"Paris\"}"`:                  `{"query":"{\"town\":\"Paris\"}"}`, // none of its arguments
		`"{x} and {y}"`:                           `{"query":"{x} and {y}"}`,
		`"[\"query\"]"`:                           `{"query":"[\"query\"]"}`,
		`"about \"query\""`:                       `{"query":"about \"query\""}`,
	} {
		if out := call(t, r, "search", args); out.IsError || out.Text != want {
			t.Errorf("%s: %+v, want %s", args, out, want)
		}
		if got, err := r.Arguments("search", json.RawMessage(args)); err != nil || len(r.CheckInput("search", got)) > 0 {
			t.Errorf("%s: %s, %v", args, got, err)
		}
	}
	for args, says := range map[string]string{
		`"{\"query\":\"Par"`:                             "write one whole object",
		`"{'query': 'Paris'}"`:                           "write one whole object",
		`"{\"query\":\"a\",}"`:                           "write one whole object",
		`"{\"query\":\"a\"}{\"query\":\"b\"}"`:           "write one whole object",
		`"{\"query\":\"a\",\"query\":\"b\"}"`:            "write one whole object",
		`{"query":"a","query":"b"}`:                      `"query" stands twice`,
		`{"query":"a","where":{"page":1,"\u0070age":2}}`: `"page" stands twice`,
	} {
		if out := call(t, r, "search", args); !out.IsError || !strings.Contains(out.Text, says) {
			t.Errorf("%s: %+v", args, out)
		}
		if problems := r.CheckInput("search", json.RawMessage(args)); len(problems) != 1 || !strings.Contains(problems[0], says) {
			t.Errorf("%s: the problems are %q", args, problems)
		}
	}
	if out := call(t, r, "search", `{"query":"a","where":{"page":1},"tags":["page","page"]}`); out.IsError {
		t.Errorf("a key in two objects: %+v", out)
	}
}
