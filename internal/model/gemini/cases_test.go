package gemini_test

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/model"
	"planwave/internal/model/gemini"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// answers starts a server that answers with a body and asks it, not watched and
// watched, when it streams the same answer: both come to the same.
func answers(t *testing.T, body string) (model.Response, *model.Error) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Gemini, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if asked.Stream {
			return modeltest.Reply{Pieces: slices.Values(modeltest.StreamOf(modeltest.Gemini, body))}
		}
		return modeltest.Reply{Status: http.StatusOK, Body: body}
	})
	resp, e := generate(t, newClient(t, server.URL, "k"), question())
	streamed, e2 := generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
	switch {
	case e2 != nil && strings.Contains(e2.Message, "the stream was cut"):
		if strings.Contains(body, `"finishReason":"`) || strings.Contains(body, "blockReason") {
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

// TestAnswersWithoutWords holds answers of kinds that people reported to other
// projects: none of them is an empty success, and all of them are charged.
func TestAnswersWithoutWords(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		kind   model.Kind
		says   string
		tokens int
	}{
		// googleapis/python-genai#811, stanford-crfm/helm#3804
		"all thought": {`{"candidates":[{"index":0,"finishReason":"MAX_TOKENS","content":{"role":"model"}}],"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":0,"thoughtsTokenCount":256,"totalTokenCount":1156}}`, model.Truncated, "used its whole output allowance on thinking (256 tokens)", 1156},
		"cut off":     {`{"candidates":[{"finishReason":"MAX_TOKENS","content":{"parts":[{"text":"[{\"id\":\"a\",\"instr"}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}}`, model.Truncated, "cut off at its output token limit", 13},
		// google/generative-ai-docs#212
		"safety": {`{"candidates":[{"index":0,"finishReason":"SAFETY","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH"}]}],"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":0,"totalTokenCount":40}}`, model.Filtered, "blocked the answer (SAFETY)", 40},
		// google-gemini-php/client#82, gbaptista/gemini-ai#21
		"recitation": {`{"candidates":[{"index":0,"content":{"role":"model","parts":[]},"finishReason":"RECITATION","citationMetadata":{"citationSources":[{"startIndex":0,"endIndex":10,"uri":"https://example.org"}]}}],"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":0,"totalTokenCount":40}}`, model.Filtered, "blocked the answer (RECITATION)", 40},
		// vercel/ai#5039, pydantic/pydantic-ai#631
		"malformed call": {`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}],"usageMetadata":{"promptTokenCount":9056,"totalTokenCount":9056}}`, model.BadResponse, "MALFORMED_FUNCTION_CALL", 9056},
		// vercel/ai#19758
		"blocked prompt":    {`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":13,"totalTokenCount":13}}`, model.Filtered, "blocked the prompt (PROHIBITED_CONTENT)", 13},
		"block by number":   {`{"promptFeedback":{"blockReason":4},"candidates":[]}`, model.Filtered, "blocked the prompt (4)", 0},
		"a reason to come":  {`{"candidates":[{"content":{"parts":[{"text":"half"}]},"finishReason":"BRAND_NEW"}]}`, model.BadResponse, "BRAND_NEW", 3},
		"stop without":      {`{"candidates":[{"finishReason":"STOP"}]}`, model.BadResponse, "empty answer", 0},
		"only thoughts":     {`{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"hm","thought":true}]}}]}`, model.BadResponse, "empty answer", 0},
		"no candidates":     {`{"usageMetadata":{"promptTokenCount":13,"totalTokenCount":13}}`, model.BadResponse, "without any candidates", 13},
		"an error inside":   {`{"error":{"message":"it broke"}}`, model.BadResponse, "it broke", 0},
		"null everywhere":   {`{"candidates":[{"content":null,"finishReason":null}],"promptFeedback":null,"usageMetadata":null}`, model.BadResponse, "empty answer", 0},
		"parts of no kind":  {`{"candidates":[{"content":{"parts":[{},null,{"inlineData":{"mimeType":"a/b","data":""}}]},"finishReason":"STOP"}]}`, model.BadResponse, "empty answer", 0},
		"negative counting": {`{"candidates":[{"finishReason":"OTHER"}],"usageMetadata":{"promptTokenCount":-5,"candidatesTokenCount":-1,"totalTokenCount":-9}}`, model.BadResponse, "OTHER", 0},
	} {
		t.Run(name, func(t *testing.T) {
			resp, e := answers(t, c.body)
			if e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || e.Usage.TotalTokens != c.tokens || e.Usage.Requests != 1 {
				t.Errorf("%+v, %+v; want %s with %q and %d tokens", resp, e, c.kind, c.says, c.tokens)
			}
			if e != nil && strings.Contains(e.Error(), "instr") {
				t.Errorf("the answer is in the message %q", e.Error())
			}
		})
	}
}

// librefang/librefang#3479, vercel/ai#6082
func TestThinkingIsChargedAsOutput(t *testing.T) {
	for name, metadata := range map[string]string{
		"told":     `{"promptTokenCount":7477,"candidatesTokenCount":2060,"thoughtsTokenCount":1939,"totalTokenCount":11476}`,
		"total":    `{"promptTokenCount":7477,"candidatesTokenCount":2060,"totalTokenCount":11476}`,
		"no total": `{"promptTokenCount":7477,"candidatesTokenCount":2060,"thoughtsTokenCount":1939}`,
	} {
		resp, e := answers(t, `{"candidates":[{"content":{"parts":[{"text":"[]"}]},"finishReason":"STOP"}],"usageMetadata":`+metadata+`}`)
		want := plan.Usage{Requests: 1, InputTokens: 7477, OutputTokens: 3999, ThinkingTokens: 1939, TotalTokens: 11476}
		if e != nil || resp.Usage != want {
			t.Errorf("%s: %+v, %v, want %+v", name, resp.Usage, e, want)
		}
	}
}

func TestPartsAreReadByTheirKind(t *testing.T) {
	resp, e := answers(t, `{"modelVersion":"m-001","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
		{"text":"I think","thought":true},{"text":"A"},{"executableCode":{"code":"x"}},{"text":"B","thoughtSignature":"c2ln"},
		{"functionCall":{"name":"f","args":{"b":1,"a":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g"}},
		{"functionCall":{"id":"call_1","name":"h","args":null}},{"functionCall":{"id":"call_1","name":"i","args":{}}}]}},{"content":{"parts":[{"text":"another"}]}}]}`)
	if e != nil || resp.Text != "AB" || resp.Model != "m-001" || len(resp.Calls) != 4 {
		t.Fatalf("%+v, %v", resp, e)
	}
	if c := resp.Calls[0]; string(c.Arguments) != `{"b":1,"a":12345678901234567890}` || c.Signature != "c2ln" {
		t.Errorf("the first call is %+v", c)
	}
	ids := map[string]bool{}
	for _, c := range resp.Calls {
		ids[c.ID] = c.ID != "" && len(c.Arguments) > 1
	}
	if len(ids) != 4 || ids[""] {
		t.Errorf("the calls are %+v", resp.Calls)
	}
}

// langchain-ai/langchain-google#945, letterstory/lettertrace#34
func TestTheWaitInTheBodyIsTold(t *testing.T) {
	const body = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`
	for name, c := range map[string]struct {
		reply modeltest.Reply
		want  time.Duration
	}{
		"told":          {modeltest.Reply{Body: body}, 38 * time.Second},
		"in a list":     {modeltest.Reply{Body: `[` + body + `]`}, 38 * time.Second},
		"fractions":     {modeltest.Reply{Body: strings.Replace(body, "38s", "1.5s", 1)}, 1500 * time.Millisecond},
		"header longer": {modeltest.Reply{Body: body, Header: http.Header{"Retry-After": {"60"}}}, time.Minute},
		"nonsense":      {modeltest.Reply{Body: strings.Replace(body, "38s", "soon", 1)}, 0},
	} {
		c.reply.Status = http.StatusTooManyRequests
		server := modeltest.NewServer(t, modeltest.Gemini, modeltest.InTurn(c.reply, modeltest.Reply{Text: "ok"}))
		_, e := generate(t, newClient(t, server.URL, "k"), question())
		if e == nil || e.Kind != model.RateLimited || e.RetryAfter != c.want || len(server.Asked()) != 1 {
			t.Errorf("%s: %+v after %d requests, want a wait of %s", name, e, len(server.Asked()), c.want)
		}
	}
}

// google-gemini/gemini-cli#7227, browser-use/browser-use#1533: the library
// would repeat this for ten minutes.
func TestAnOverloadedServerIsAskedOnce(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.InTurn(
		modeltest.Reply{Status: http.StatusServiceUnavailable, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`},
		modeltest.Reply{Status: http.StatusInternalServerError, Body: `{"error":{"code":500,"message":"internal","status":"INTERNAL"}}`},
		modeltest.Reply{Text: "[]"}))
	c := newClient(t, server.URL, "k")
	for i, says := range []string{"overloaded", "internal", ""} {
		resp, e := generate(t, c, question())
		switch {
		case says == "" && (e != nil || resp.Text != "[]"):
			t.Errorf("request %d: %+v, %v", i, resp, e)
		case says != "" && (e == nil || e.Kind != model.Unavailable || !strings.Contains(e.Message, says)):
			t.Errorf("request %d: %v, want %q", i, e, says)
		}
	}
	if n := len(server.Asked()); n != 3 {
		t.Errorf("%d requests, want three", n)
	}
}

func TestAWrongKeyIsABadRequestToGemini(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Fails(http.StatusBadRequest,
		`{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`))
	_, e := generate(t, newClient(t, server.URL, "wrong-key"), question())
	if e == nil || e.Kind != model.Auth || e.Status != http.StatusBadRequest || !strings.Contains(e.Message, "GEMINI_API_KEY") {
		t.Errorf("error = %+v", e)
	}
}

func TestConversationsThatGeminiWouldRefuse(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("ok")) // it is strict about turns
	c := newClient(t, server.URL, "k")
	say := func(s model.Speaker, text string) model.Message { return model.Message{Speaker: s, Text: text} }
	for name, messages := range map[string][]model.Message{
		"two of one": {say(model.User, "a"), say(model.User, "b"), say(model.Assistant, "c"), say(model.Assistant, "d"), say(model.User, "e")},
		"empty turn": {say(model.User, ""), say(model.Assistant, ""), say(model.User, "")},
	} {
		if _, e := generate(t, c, model.Request{Model: "m", Messages: messages}); e != nil {
			t.Errorf("%s: %v", name, e)
		}
	}
	for name, messages := range map[string][]model.Message{"nothing": nil, "model last": {say(model.User, "a"), say(model.Assistant, "b")}} {
		if _, e := generate(t, c, model.Request{Model: "m", Messages: messages}); e == nil || e.Kind != model.BadResponse {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("ok"))
	for _, suffix := range []string{"", "/", "/v1beta", "/v1beta/"} {
		if _, e := generate(t, newClient(t, server.URL+suffix, "k"), question()); e != nil {
			t.Errorf("%q: %v", suffix, e)
		}
	}
	for _, wrong := range []string{"localhost:1", "ftp://host", "http://"} {
		if _, err := gemini.New(t.Context(), gemini.Config{Key: "k", BaseURL: wrong}); err == nil || !strings.Contains(err.Error(), "GEMINI_BASE_URL") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
