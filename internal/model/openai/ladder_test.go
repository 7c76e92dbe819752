package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/model/openai"
)

// accepting is a server that accepts only some forms of a request, and says in
// the words given that it refuses the others.
func accepting(t *testing.T, status int, words string, forms ...string) (*modeltest.Server, *openai.Client) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if slices.Contains(forms, asked.Form) {
			return modeltest.Reply{Text: `{"steps":[]}`}
		}
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": words}}) //nolint:errchkjson // a text always encodes
		return modeltest.Reply{Status: status, Body: string(body)}
	})
	return server, newClient(t, server.URL, "k")
}

func structured() model.Request {
	req := question()
	req.System = "You plan."
	req.Schema = &model.Schema{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array"}}}`)}
	return req
}

// formsOf is in which forms the server was asked.
func formsOf(s *modeltest.Server) string {
	var forms []string
	for _, a := range s.Asked() {
		form := a.Form
		if form == "" {
			form = "prompt"
		}
		forms = append(forms, form)
	}
	return strings.Join(forms, " ")
}

func TestTheLadderIsClimbedDownOnce(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		words  string
		takes  string
		want   string // the forms of two requests
	}{
		"takes schemas":        {400, "never said", "json_schema", "json_schema json_schema"},
		"has tools only":       {400, "response_format json_schema is not supported", "tool", "json_schema tool tool"},
		"has JSON mode":        {422, "Unknown field: json_schema; tools are not supported", "json_object", "json_schema tool json_object json_object"},
		"has nothing":          {400, "This model does not support tools, response_format or grammars", "", "json_schema tool json_object prompt prompt"},
		"gives no reason":      {400, "", "", "json_schema tool json_object prompt prompt"},
		"not found as refusal": {404, "No endpoints found that support the requested parameters: response_format", "tool", "json_schema tool tool"},
		"fails on tools":       {500, "tools param requires --jinja flag", "json_object", "json_schema tool json_object json_object"},
		"not implemented":      {501, "structured output", "tool", "json_schema tool tool"},
	} {
		t.Run(name, func(t *testing.T) {
			server, client := accepting(t, c.status, c.words, c.takes)
			for range 2 {
				resp, e := generate(t, client, structured())
				if e != nil || resp.Text != `{"steps":[]}` || len(resp.Calls) != 0 {
					t.Fatalf("response = %+v, %v", resp, e)
				}
			}
			if got := formsOf(server); got != c.want {
				t.Errorf("asked in the forms %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheSchemaIsToldInWordsFurtherDown(t *testing.T) {
	server, client := accepting(t, 400, "response_format and tools are not supported", "")
	if _, e := generate(t, client, structured()); e != nil {
		t.Fatal(e)
	}
	for _, a := range server.Asked() {
		inWords := strings.Contains(a.System, "JSON Schema") && strings.Contains(a.System, `"steps"`)
		if want := a.Form == "" || a.Form == "json_object"; inWords != want || !strings.HasPrefix(a.System, "You plan.") {
			t.Errorf("form %q has the system prompt %q", a.Form, a.System)
		}
	}
}

func TestTheLadderIsNotClimbedForOtherRefusals(t *testing.T) {
	for words, status := range map[string]int{
		"the model does not exist":                     http.StatusNotFound,
		"maximum context length is 8192 tokens":        http.StatusBadRequest,
		"Incorrect API key for response_format":        http.StatusUnauthorized,
		"too many requests with tools":                 http.StatusTooManyRequests,
		"you have no credit left":                      http.StatusBadRequest,
		"the schema service is overloaded, come later": http.StatusServiceUnavailable,
		"":              http.StatusNotFound,
		"out of memory": http.StatusInternalServerError,
	} {
		server, client := accepting(t, status, words, "none at all")
		if _, e := generate(t, client, structured()); e == nil || e.Status != status || formsOf(server) != "json_schema" {
			t.Errorf("%d %q: %v, asked in the forms %s", status, words, e, formsOf(server))
		}
	}
}

func TestALadderThatEndsIsTheServersError(t *testing.T) {
	server, client := accepting(t, 400, "json is beyond me", "none at all")
	_, e := generate(t, client, structured())
	if e == nil || e.Kind != model.BadResponse || !strings.Contains(e.Message, "json is beyond me") || len(server.Asked()) != 4 {
		t.Errorf("%v after %s", e, formsOf(server))
	}
	if _, e = generate(t, client, structured()); e == nil || len(server.Asked()) != 8 {
		t.Errorf("a refusal to the end was remembered: %s", formsOf(server))
	}
}

func TestTheLadderIsRememberedByModel(t *testing.T) {
	server, client := accepting(t, 400, "no json_schema", "tool")
	other := structured()
	other.Model = "another"
	for _, req := range []model.Request{structured(), other} {
		if _, e := generate(t, client, req); e != nil {
			t.Fatal(e)
		}
	}
	if got := formsOf(server); got != "json_schema tool json_schema tool" {
		t.Errorf("asked in the forms %s", got)
	}
}

func TestToolsAreNotReplacedByAForcedOne(t *testing.T) {
	server, client := accepting(t, 400, "no json_schema", "json_object")
	req := structured()
	req.Tools = []model.Tool{{Name: "get_city", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
	if _, e := generate(t, client, req); e != nil || formsOf(server) != "json_schema json_object" {
		t.Errorf("%v, asked in the forms %s", e, formsOf(server))
	}
	server, client = accepting(t, 400, "no json_schema", "tool", "json_object")
	if _, e := generate(t, client, structured()); e != nil {
		t.Fatal(e)
	}
	if _, e := generate(t, client, req); e != nil || formsOf(server) != "json_schema tool json_object" {
		t.Errorf("with tools after a forced one: %v, %s", e, formsOf(server))
	}
}

func TestAServerThatIgnoresTheFormIsTakenAtItsWord(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if asked.Form == "json_schema" {
			return modeltest.Reply{Status: http.StatusBadRequest, Body: `{"error":"no schema"}`}
		}
		return modeltest.Reply{Status: http.StatusOK, Body: wrapped(`{"content":"Here: {\"steps\":[]}"}`, `"stop"`, "")}
	})
	resp, e := generate(t, newClient(t, server.URL, "k"), structured())
	if e != nil || resp.Text != `Here: {"steps":[]}` {
		t.Errorf("response = %+v, %v", resp, e)
	}
}

func TestTheNameOfTheTokenLimit(t *testing.T) {
	for name, c := range map[string]struct {
		refused []string // names
		words   string
		want    string // the names that were sent in two requests
	}{
		"common":           {nil, "", "max_tokens max_tokens"},
		"new":              {[]string{"max_tokens"}, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens max_completion_tokens max_completion_tokens"},
		"neither":          {[]string{"max_tokens", "max_completion_tokens"}, "Extra inputs are not permitted: ", "max_tokens max_completion_tokens none none"},
		"too large a wish": {[]string{"max_tokens"}, "max_tokens is too large: 100", "max_tokens none max_tokens none"},
		"out of range":     {[]string{"max_tokens"}, "Range of max_tokens should be [1, 64]", "max_tokens none max_tokens none"},
		"whatever is sent": {[]string{"max_tokens", "none"}, "This model's maximum context length is 50 tokens, max_tokens is too large", "max_tokens none max_tokens none"},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
				limit := "none"
				for _, n := range []string{"max_tokens", "max_completion_tokens"} {
					if strings.Contains(string(asked.Body), `"`+n+`"`) {
						limit = n
					}
				}
				sent = append(sent, limit)
				if slices.Contains(c.refused, limit) {
					return modeltest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"` + c.words + `","param":"` + limit + `"}}`}
				}
				return modeltest.Reply{Text: "ok"}
			})
			client := newClient(t, server.URL, "k")
			req := question()
			req.MaxOutputTokens = 100
			for range 2 {
				_, e := generate(t, client, req)
				if wantError := slices.Contains(c.refused, "none"); (e != nil) != wantError {
					t.Fatal(e)
				}
			}
			if got := strings.Join(sent, " "); got != c.want {
				t.Errorf("sent %s, want %s", got, c.want)
			}
		})
	}
}
