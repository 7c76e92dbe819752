package openai_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// The answers below are of the kinds of the wild ones, in other forms.

func TestAnswersInOtherForms(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"parts without a type":     {wrapped(`{"content":[{"text":"a"},{"type":"reasoning","text":"hm"},{"text":"b"}]}`, `"stop"`, used), "ab"},
		"parts that are texts":     {wrapped(`{"content":["a","b",3,null]}`, `"stop"`, used), "ab"},
		"one part alone":           {wrapped(`{"content":{"type":"text","text":"ab"}}`, `"stop"`, used), "ab"},
		"a byte order mark":        {"\ufeff" + wrapped(`{"content":"ab"}`, `"stop"`, used), "ab"},
		"something after":          {wrapped(`{"content":"ab"}`, `"stop"`, used) + "\nnull}", "ab"},
		"blank lines before":       {"\n\n  \n" + wrapped(`{"content":"ab"}`, `"stop"`, used), "ab"},
		"a refusal beside a text":  {wrapped(`{"content":"ab","refusal":"no"}`, `"stop"`, used), "ab"},
		"a stream":                 {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]" + used + "}\n\ndata: [DONE]\n\n", "ab"},
		"a stream after a comment": {": working\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"},\"finish_reason\":\"stop\"}]" + used + "}\n\n", "ab"},
	} {
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Fails(http.StatusOK, c.body))
		resp, e := generate(t, newClient(t, server.URL, "k"), question())
		if e != nil || resp.Text != c.want || resp.Usage.TotalTokens != 70 {
			t.Errorf("%s: %+v, %v", name, resp, e)
		}
	}
}

func TestCallsInOtherForms(t *testing.T) {
	for name, call := range map[string]string{
		"without function":      `{"id":"c","name":"search","arguments":"{\"q\":1}"}`,
		"an object in it":       `{"id":"c","name":"search","arguments":{"q":1}}`,
		"spaces around a name":  `{"id":"c","function":{"name":" search\n","arguments":"{\"q\":1}"}}`,
		"arguments in a quote":  `{"id":"c","function":{"name":"search","arguments":"\"{\\\"q\\\":1}\""}}`,
		"white space in a text": `{"id":"c","type":"function","function":{"name":"search","arguments":" {\"q\":1}\n"}}`,
	} {
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Fails(http.StatusOK, wrapped(`{"tool_calls":[`+call+`]}`, `"tool_calls"`, used)))
		resp, e := generate(t, newClient(t, server.URL, "k"), question())
		if e != nil || len(resp.Calls) != 1 || resp.Calls[0].Name != "search" || resp.Calls[0].ID != "c" || string(resp.Calls[0].Arguments) != `{"q":1}` {
			t.Errorf("%s: %+v, %v", name, resp, e)
		}
	}
}

// What cannot be arguments is for the tool to refuse, and never half read.
func TestArgumentsThatAreNoneAreKept(t *testing.T) {
	for _, arguments := range []string{`{'q': 1}`, `{\"q\": 1,}`, `{\"q\":1}{\"q\":2}`, `{\"q\":`, "```json\\n{}\\n```"} {
		resp, e := answers(t, wrapped(`{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"`+arguments+`"}}]}`, `"tool_calls"`, used))
		if e != nil || len(resp.Calls) != 1 || string(resp.Calls[0].Arguments) != `"`+arguments+`"` {
			t.Errorf("%s: %+v, %v", arguments, resp, e)
		}
	}
}

// No request uses nothing: what servers do not tell is estimated.
func TestUsageThatIsNotTold(t *testing.T) { // BEHAVIOUR 8.2
	for raw, total := range map[string]int{
		`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`: 0, `{"prompt_tokens":-1,"completion_tokens":-1}`: 0, `null`: 0, `[]`: 0, `{}`: 0, `"70"`: 0,
		`{"total_tokens":70}`: 70, `{"prompt_tokens":"50","completion_tokens":"20"}`: 70, `{"prompt_tokens":50,"completion_tokens":null}`: 50,
	} {
		resp, e := answers(t, wrapped(`{"content":"some words more"}`, `"stop"`, `,"usage":`+raw))
		told := resp.Usage
		if want := model.EstimateUsage(question(), resp); e != nil || total == 0 && told != want || total > 0 && told.TotalTokens != total || told.Requests != 1 {
			t.Errorf("%s: %+v, %v", raw, told, e)
		}
	}
}

func TestFailuresInOtherForms(t *testing.T) { // BEHAVIOUR 11
	for body, want := range map[string]model.Error{
		`{"detail":"Not authenticated"}`: {Kind: model.BadResponse, Message: "Not authenticated"},
		`{"object":"error","message":"This model's maximum context length is 10 tokens.","code":400}`: {Kind: model.BadResponse, Message: "longer context"},
		`{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`:         {Kind: model.RateLimited, Message: "no quota left", Final: true},
		wrapped(`{"content":[{"type":"refusal","refusal":"I will not."}]}`, `"stop"`, used):           {Kind: model.Filtered, Message: "I will not."},
		wrapped(`{"content":""}`, `"tool_calls"`, used):                                               {Kind: model.BadResponse, Message: "empty answer", Once: true},
		wrapped(`{"content":null,"reasoning":"hm"}`, `"stop"`, used):                                  {Kind: model.BadResponse, Message: "thought and then wrote nothing", Once: true},
		wrapped(`{"content":""}`, `"MALFORMED_FUNCTION_CALL"`, used):                                  {Kind: model.BadResponse, Message: "malformed_function_call", Once: true},
		`{"choices":[]}`: {Kind: model.BadResponse, Message: "without any choices", Once: true},
		`{"model":"m","message":{"role":"assistant","content":"hi"},"done":true}`: {Kind: model.BadResponse, Message: "without any choices", Once: true},
	} {
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Fails(http.StatusOK, body))
		_, e := generate(t, newClient(t, server.URL, "k"), question())
		if e == nil || e.Kind != want.Kind || !strings.Contains(e.Message, want.Message) || e.Final != want.Final || e.Once != want.Once {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

// A stream that was cut, that never says why it ended, or that breaks in
// another way is no whole answer.
func TestStreamsThatEndInOtherWays(t *testing.T) { // BEHAVIOUR 2.2, 11
	const begun = `data: {"choices":[{"index":0,"delta":{"content":"look up the fam"}}]}` + "\n\n"
	const call = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"q\":"}}]}}]}` + "\n\n"
	for rest, kind := range map[string]model.Kind{
		"": model.Unreachable, "data: [DONE]\n\n": model.Unreachable, "Internal Server Error\n\n": model.Unreachable, call: model.Unreachable,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xf0\x9f":                  model.Unreachable,
		"data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n":                     model.Unavailable,
		"{\"error\":{\"message\":\"broke\",\"code\":500}}\n\n":                                model.Unavailable,
		"event: error\ndata: {\"message\":\"slow down\",\"code\":429}\n\n":                    model.RateLimited,
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n":   model.Truncated,
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}": model.Unreachable,
	} {
		server := modeltest.NewServer(t, modeltest.OpenAI, func(context.Context, modeltest.Asked) modeltest.Reply {
			return modeltest.Reply{Pieces: slices.Values([]string{begun, rest})}
		})
		resp, e := generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
		if e == nil || e.Kind != kind || e.Usage.TotalTokens == 0 || strings.Contains(e.Error(), "the fam") {
			t.Errorf("%q: %+v, %+v", rest, resp, e)
		}
	}
}

// Calls are put together by their index, whatever gaps it has.
func TestIndexesWithGaps(t *testing.T) {
	piece := func(call string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + call + `]}}]}` + "\n\n"
	}
	server := modeltest.NewServer(t, modeltest.OpenAI, func(context.Context, modeltest.Asked) modeltest.Reply {
		return modeltest.Reply{Pieces: slices.Values([]string{
			piece(`{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), piece(`{"index":4,"id":"b","name":"g","arguments":"{}"}`),
			piece(`{"index":1,"function":{"arguments":"1}"}}`), "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]" + used + "}\r\n\r\n",
		})}
	})
	resp, e := generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
	want := plan.Usage{Requests: 1, InputTokens: 50, OutputTokens: 20, TotalTokens: 70}
	if e != nil || len(resp.Calls) != 2 || string(resp.Calls[0].Arguments) != `{"x":1}` || resp.Calls[1].Name != "g" || resp.Usage != want {
		t.Errorf("%+v, %v", resp, e)
	}
}
