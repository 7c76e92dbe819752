package openai_test

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// answers starts a server that answers with a body and asks it, not watched and
// watched, when it streams the same answer: both come to the same.
func answers(t *testing.T, body string) (model.Response, *model.Error) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if asked.Stream {
			return modeltest.Reply{Pieces: slices.Values(modeltest.StreamOf(modeltest.OpenAI, body))}
		}
		return modeltest.Reply{Status: http.StatusOK, Body: body}
	})
	resp, e := generate(t, newClient(t, server.URL, "k"), question())
	streamed, e2 := generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
	switch {
	case e2 != nil && strings.Contains(e2.Message, "the stream was cut"):
		if strings.Contains(body, `"finish_reason":"`) && !strings.Contains(body, `"finish_reason":""`) {
			t.Errorf("%s: streamed: %v", body, e2)
		}
	case !reflect.DeepEqual(resp, streamed), (e == nil) != (e2 == nil), e != nil && (e.Kind != e2.Kind || e.Message != e2.Message || e.Usage != e2.Usage):
		t.Errorf("%s: whole: %+v, %+v; streamed: %+v, %+v", body, resp, e, streamed, e2)
	}
	return resp, e
}

func generate(t *testing.T, m model.Model, req model.Request) (model.Response, *model.Error) {
	t.Helper()
	resp, err := m.Generate(t.Context(), req)
	if err == nil {
		return resp, nil
	}
	e, ok := err.(*model.Error) //nolint:errorlint // a model returns it itself
	if !ok {
		t.Fatalf("the error is %T %v", err, err)
	}
	return resp, e
}

func question() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Speaker: model.User, Text: "Plan."}}}
}

// wrapped is an answer with one message.
func wrapped(message, finish, rest string) string {
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}]` + rest + `}`
}

const used = `,"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}`

// The answers below are of the kinds that people reported to other projects.

// 567-labs/instructor#276, TanStack/ai#1426
func TestCutOffAtTheLimit(t *testing.T) {
	const text = `[{\"id\":\"a\",\"instruction\":\"look up the fam`
	_, e := answers(t, wrapped(`{"role":"assistant","content":"`+text+`"}`, `"length"`, used))
	if e == nil || e.Kind != model.Truncated || e.Usage.TotalTokens != 70 {
		t.Fatalf("error = %+v", e)
	}
	if !strings.Contains(e.Message, "cut off at its output token limit") || strings.Contains(e.Error(), "look up the fam") {
		t.Errorf("the message is %q", e.Error())
	}
	_, e = answers(t, wrapped(`{"role":"assistant","content":""}`, `"length"`, used))
	if e == nil || e.Kind != model.Truncated || !strings.Contains(e.Message, "thinking") {
		t.Errorf("without any text: %v", e)
	}
}

// BerriAI/litellm#24095, ollama/ollama#6155
func TestArgumentsAsAnObjectWithoutIDTypeAndUsage(t *testing.T) {
	const call = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"search","arguments":{"q":"Paris","n":2}}}]}`
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.InTurn(
		modeltest.Reply{Status: http.StatusOK, Body: wrapped(call, `"tool_calls"`, "")}, modeltest.Reply{Text: "done"}))
	c := newClient(t, server.URL, "k")
	resp, e := generate(t, c, question())
	if e != nil || len(resp.Calls) != 1 || resp.Calls[0].ID == "" || string(resp.Calls[0].Arguments) != `{"q":"Paris","n":2}` {
		t.Fatalf("response = %+v, %v", resp, e)
	}
	next := question()
	next.Messages = append(next.Messages, model.Message{Speaker: model.Assistant, Calls: resp.Calls},
		model.Message{Speaker: model.ToolSpeaker, Results: []model.ToolResult{{ID: resp.Calls[0].ID, Name: "search", Text: "found"}}})
	if _, e = generate(t, c, next); e != nil { // the server wants a text
		t.Fatal(e)
	}
	if body := string(server.Asked()[1].Body); !strings.Contains(body, `"arguments":"{\"q\":\"Paris\",\"n\":2}"`) {
		t.Errorf("the call was sent back as %s", body)
	}
}

// Birfy/agentdescent#11
func TestNoContentIsAnEmptyAnswer(t *testing.T) {
	for _, message := range []string{
		`{"role":"assistant","content":null}`, `{"role":"assistant"}`, `{"role":"assistant","content":"  \n"}`,
		`{"role":"assistant","content":[]}`, `{"role":"assistant","content":null,"tool_calls":[]}`, `null`,
	} {
		resp, e := answers(t, wrapped(message, `"stop"`, ""))
		if e == nil || e.Kind != model.BadResponse || !strings.Contains(e.Message, "empty answer") || (e.Usage != plan.Usage{Requests: 1}) {
			t.Errorf("%s: %+v, %+v", message, resp, e)
		}
	}
}

// anomalyco/opencode#14972, code-yeongyu/senpi#1016
func TestCallsBeatTheReasonToStop(t *testing.T) {
	const call = `{"role":"assistant","content":"let me look","tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{\"q\":\"x\"}"}}]}`
	for _, finish := range []string{`"stop"`, `null`, `""`, `"tool_calls"`, `"function_call"`, `"eos"`} {
		resp, e := answers(t, wrapped(call, finish, used))
		if e != nil || len(resp.Calls) != 1 || resp.Text != "let me look" || resp.Calls[0].ID != "c1" {
			t.Errorf("finish %s: %+v, %v", finish, resp, e)
		}
	}
}

// mem0ai/mem0#4937, diegosouzapw/OmniRoute#8700
func TestThoughtsAreNoAnswer(t *testing.T) {
	for _, key := range []string{"reasoning_content", "reasoning"} {
		_, e := answers(t, wrapped(`{"role":"assistant","content":"","`+key+`":"We need a plan. [{\"id\":\"a\"}]"}`, `"stop"`, used))
		if e == nil || e.Kind != model.BadResponse || !strings.Contains(e.Message, "thought") || strings.Contains(e.Error(), "We need") || e.Usage.TotalTokens != 70 {
			t.Errorf("%s alone: %v", key, e)
		}
		resp, e := answers(t, wrapped(`{"role":"assistant","content":"yes","`+key+`":"no"}`, `"stop"`, used))
		if e != nil || resp.Text != "yes" {
			t.Errorf("%s beside content: %+v, %v", key, resp, e)
		}
	}
}

// earendil-works/pi#1048, cloudflare/cloudflare-os#36: the strict server
// refuses the role developer.
func TestTheSystemPromptHasTheRoleSystem(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Says("ok"))
	req := question()
	req.System = "Be brief."
	if _, e := generate(t, newClient(t, server.URL, "k"), req); e != nil || len(server.Asked()) != 1 || server.Asked()[0].System != "Be brief." {
		t.Errorf("%v, asked %+v", e, server.Asked())
	}
}

// vllm-project/vllm#9451, sgl-project/sglang#9696
func TestManyCallsInOneTurn(t *testing.T) {
	resp, e := answers(t, wrapped(`{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"calc","arguments":"{\"e\":\"3+4\"}"}},
		{"id":"c2","type":"function","function":{"name":"calc","arguments":"{\"e\":\"7*2\"}"}},
		{"id":"c3","type":"function","function":{"name":"calc","arguments":"{\"e\":\"14/5\"}"}}]}`, `"tool_calls"`, used))
	if e != nil || len(resp.Calls) != 3 || resp.Text != "" {
		t.Fatalf("response = %+v, %v", resp, e)
	}
	for i, id := range []string{"c1", "c2", "c3"} {
		if resp.Calls[i].ID != id {
			t.Errorf("call %d has the id %q", i, resp.Calls[i].ID)
		}
	}
}

// can1357/oh-my-pi#2055, huggingface/smolagents#2768
func TestIDsOfCallsAreMadeUnique(t *testing.T) {
	for name, ids := range map[string][3]string{
		"the same": {`"call_1"`, `"call_1"`, `"call_1"`}, "none": {`""`, `null`, `""`}, "numbers": {`1`, `1`, `2`},
		"one that would be made": {`""`, `"call_1"`, `""`},
	} {
		var calls []string
		for i, id := range ids {
			calls = append(calls, `{"id":`+id+`,"function":{"name":"search","arguments":"{\"q\":`+string(rune('0'+i))+`}"}}`)
		}
		resp, e := answers(t, wrapped(`{"tool_calls":[`+strings.Join(calls, ",")+`]}`, `"tool_calls"`, ""))
		if e != nil || len(resp.Calls) != 3 {
			t.Fatalf("%s: %+v, %v", name, resp, e)
		}
		seen := map[string]bool{}
		for i, c := range resp.Calls {
			seen[c.ID] = true
			if string(c.Arguments) != `{"q":`+string(rune('0'+i))+`}` {
				t.Errorf("%s: call %d has the arguments %s", name, i, c.Arguments)
			}
		}
		if len(seen) != 3 || seen[""] {
			t.Errorf("%s: the ids are %v", name, seen)
		}
	}
}

func TestArgumentsAreReadInEveryForm(t *testing.T) {
	for raw, want := range map[string]string{
		`"{\"q\":1}"`: `{"q":1}`, `{"q":1}`: `{"q":1}`, `""`: `{}`, `null`: `{}`, `"null"`: `{}`, `"{}"`: `{}`, `" {\"q\":1}\n"`: `{"q":1}`,
		`"\"{\\\"q\\\":1}\""`: `{"q":1}`,
		`"3+4"`:               `"3+4"`, `"{\"q\":"`: `"{\"q\":"`, // no object: the tool refuses it
		`"[1]"`: `[1]`,
	} {
		resp, e := answers(t, wrapped(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":`+raw+`}}]}`, `"tool_calls"`, ""))
		if e != nil || len(resp.Calls) != 1 || string(resp.Calls[0].Arguments) != want {
			t.Errorf("%s: %+v, %v, want %s", raw, resp, e, want)
		}
	}
	resp, e := answers(t, wrapped(`{"tool_calls":[{"id":"a","function":{"name":"f"}}]}`, `"tool_calls"`, ""))
	if e != nil || string(resp.Calls[0].Arguments) != `{}` {
		t.Errorf("without arguments: %+v, %v", resp, e)
	}
}

func TestOtherFormsOfAnswers(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"parts":             {wrapped(`{"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `"stop"`, ""), "ab"},
		"a fence":           {wrapped("{\"content\":\"```json\\n{}\\n```\"}", `"stop"`, ""), "```json\n{}\n```"},
		"the word null":     {wrapped(`{"content":"null"}`, `"stop"`, ""), "null"},
		"no reason":         {`{"choices":[{"message":{"content":"a"}}]}`, "a"},
		"usage of nulls":    {wrapped(`{"content":"a"}`, `"stop"`, `,"usage":{"prompt_tokens":null,"completion_tokens":null}`), "a"},
		"usage of nonsense": {wrapped(`{"content":"a"}`, `"stop"`, `,"usage":{"prompt_tokens":"many"}`), "a"},
		"an empty error":    {wrapped(`{"content":"a"}`, `"stop"`, `,"error":null`), "a"},
		"unknown keys":      {wrapped(`{"content":"a","annotations":[1]}`, `"stop"`, `,"system_fingerprint":null,"timings":{"x":1}`), "a"},
		"two choices":       {`{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`, "a"},
		"an empty refusal":  {wrapped(`{"content":"a","refusal":null}`, `"stop"`, ""), "a"},
	} {
		resp, e := answers(t, c.body)
		if e != nil || resp.Text != c.want {
			t.Errorf("%s: %+v, %v, want %q", name, resp, e, c.want)
		}
	}
	resp, e := answers(t, wrapped(`{"content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}}`, `"function_call"`, ""))
	if e != nil || len(resp.Calls) != 1 || resp.Calls[0].Name != "f" || string(resp.Calls[0].Arguments) != `{"a":1}` {
		t.Errorf("the older form of a call: %+v, %v", resp, e)
	}
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want plan.Usage
	}{
		"details":            {`{"prompt_tokens":10,"completion_tokens":8,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, CachedTokens: 4, ThinkingTokens: 5, TotalTokens: 18}},
		"thinking beside it": {`{"prompt_tokens":10,"completion_tokens":8,"total_tokens":30}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 20, TotalTokens: 30}},
		"no total":           {`{"prompt_tokens":10,"completion_tokens":8}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, TotalTokens: 18}},
		"DeepSeek's":         {`{"prompt_tokens":10,"completion_tokens":8,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, CachedTokens: 4, TotalTokens: 18}},
		"Moonshot's":         {`{"prompt_tokens":10,"completion_tokens":8,"cached_tokens":4,"reasoning_tokens":3}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, CachedTokens: 4, ThinkingTokens: 3, TotalTokens: 18}},
		"in other words":     {`{"input_tokens":10,"output_tokens":8}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, TotalTokens: 18}},
		"floats":             {`{"prompt_tokens":10.0,"completion_tokens":8.0,"prompt_tokens_details":null}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, TotalTokens: 18}},
		"below zero":         {`{"prompt_tokens":-5,"completion_tokens":8}`, plan.Usage{Requests: 1, OutputTokens: 8, TotalTokens: 8}},
		"more than is":       {`{"prompt_tokens":10,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":99},"completion_tokens_details":{"reasoning_tokens":99}}`, plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 8, CachedTokens: 10, ThinkingTokens: 8, TotalTokens: 18}},
	} {
		resp, e := answers(t, wrapped(`{"content":"a"}`, `"stop"`, `,"usage":`+c.raw))
		if e != nil || resp.Usage != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, resp.Usage, e, c.want)
		}
	}
}

func TestFailuresWithAStatusOfSuccess(t *testing.T) {
	for body, kind := range map[string]model.Kind{
		`{"error":{"message":"overloaded","code":503}}`:                             model.Unavailable,
		`{"error":{"message":"slow down","code":429}}`:                              model.RateLimited,
		`{"error":{"message":"no such key","code":"invalid"}}`:                      model.BadResponse,
		wrapped(`{"content":"half of it"}`, `"error"`, used):                        model.Unavailable,
		wrapped(`{"content":"half of it"}`, `"abort"`, used):                        model.Unavailable,
		wrapped(`{"content":"half of it"}`, `"insufficient_system_resource"`, used): model.Unavailable,
		wrapped(`{"content":"half of it"}`, `"content_filter: SAFETY"`, used):       model.Filtered,
		wrapped(`{"content":"half of it"}`, `"MAX_TOKENS"`, used):                   model.Truncated,
		wrapped(`{"content":"half of it"}`, `"model_length"`, used):                 model.Truncated,
		`{"error":{"message":"busy","status":503,"type":"x"}}`:                      model.Unavailable,
		`{"error":"it broke"}`:                                                               model.BadResponse,
		wrapped(`{"content":""}`, `"content_filter"`, used):                                  model.Filtered,
		wrapped(`{"content":null,"refusal":"I will not do that."}`, `"stop"`, used):          model.Filtered,
		wrapped(`{"content":"half of it"}`, `"max_tokens"`, used):                            model.Truncated,
		wrapped(`{"content":"","tool_calls":[{"function":{"name":"f"}}]}`, `"length"`, used): model.Truncated,
	} {
		if resp, e := answers(t, body); e == nil || e.Kind != kind || len(e.Message) < 20 {
			t.Errorf("%s: %+v, %v, want %s", body, resp, e, kind)
		}
	}
}

func TestAFailureInsideAChoice(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Fails(http.StatusOK,
		`{"choices":[{"message":{"content":"half"},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]`+used+`}`))
	resp, e := generate(t, newClient(t, server.URL, "k"), question())
	if e == nil || e.Kind != model.Unavailable || !strings.Contains(e.Message, "upstream") || e.Usage.TotalTokens != 70 {
		t.Errorf("%+v, %+v", resp, e)
	}
}

func TestNoKeyIsSentWhenThereIsNone(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if _, sent := asked.Header["Authorization"]; sent {
			t.Errorf("Authorization: %q", asked.Header["Authorization"])
		}
		return modeltest.Reply{Text: "ok"}
	})
	if _, e := generate(t, newClient(t, server.URL, ""), question()); e != nil {
		t.Error(e)
	}
}

// langchain-ai/langchain-google#945, google-gemini/gemini-cli#7227: what is to
// be waited for is said; nothing is repeated here.
func TestRefusalsOfTheMomentAreNotRepeated(t *testing.T) {
	for status, kind := range map[int]model.Kind{429: model.RateLimited, 503: model.Unavailable, 500: model.Unavailable} {
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.InTurn(
			modeltest.Reply{Status: status, Header: http.Header{"Retry-After": {"38"}}, Body: `{"error":{"message":"overloaded"}}`}, modeltest.Reply{Text: "ok"}))
		_, e := generate(t, newClient(t, server.URL, "k"), question())
		if e == nil || e.Kind != kind || e.RetryAfter.Seconds() != 38 || len(server.Asked()) != 1 {
			t.Errorf("%d: %+v after %d requests", status, e, len(server.Asked()))
		}
	}
}
