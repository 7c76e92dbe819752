package openai

import (
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
)

// fuzzed is a client that is asked nothing: it decodes.
func fuzzed(f *testing.F) *Client {
	f.Helper()
	c, err := New(Config{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// decoded reads an answer that came whole.
func (c *Client) decoded(body string) (model.Response, error) {
	in, err := c.parse([]byte(body))
	if err != nil {
		return model.Response{}, err
	}
	return c.read(in, model.Request{Model: "m"}, habit{stream: whole})
}

// decodedStream reads a streamed answer, and holds that what is told is the
// text.
func (c *Client) decodedStream(t *testing.T, body io.Reader) (model.Response, error) {
	t.Helper()
	m := modeltest.Watched(t, model.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		tell := model.NewTeller(req)
		in, err := c.stream(ctx, body, func() {}, req, habit{}, tell)
		if err != nil {
			return model.Response{}, err
		}
		resp, err := c.read(in, req, habit{})
		if err == nil {
			tell.End(resp.Text)
		}
		return resp, err
	}))
	return m.Generate(t.Context(), model.Request{Model: "m"})
}

// isSound holds that an answer is words or calls, or a typed failure that says
// something.
func isSound(t *testing.T, from string, resp model.Response, err error) {
	t.Helper()
	if err != nil {
		if r, ok := err.(*refusal); ok { //nolint:errorlint // decoding returns it itself
			err = r.failure
		}
		if e, ok := err.(*model.Error); !ok || e.Message == "" { //nolint:errorlint // the same
			t.Errorf("%q: %T %v", from, err, err)
		}
		return
	}
	if isEmpty(resp) {
		t.Errorf("%q is an empty success", from)
	}
	if u := resp.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.ThinkingTokens > u.OutputTokens || u.CachedTokens > u.InputTokens || u.TotalTokens < u.InputTokens+u.OutputTokens {
		t.Errorf("%q: usage %+v", from, u)
	}
	ids := map[string]bool{}
	for _, c := range resp.Calls {
		if c.ID == "" || ids[c.ID] || !json.Valid(c.Arguments) {
			t.Errorf("%q: call %+v", from, c)
		}
		ids[c.ID] = true
	}
}

// FuzzOpenAIAnswer holds that every answer is sound, and that it is the same
// when it comes in pieces.
func FuzzOpenAIAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"a","tool_calls":[{"id":1,"function":{"name":"f","arguments":{"a":[]}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"function_call":{"name":"f"}},"finish_reason":null}],"usage":{"prompt_tokens":1e99}}`,
		`{"error":{"code":[],"message":{}}}`,
		`{"choices":[{"message":{"content":"\ud83ca🎉","reasoning":"x","refusal":"no","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}},null]},"finish_reason":"length"}]}`,
	} {
		f.Add(seed)
	}
	c := fuzzed(f)
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := c.decoded(body)
		isSound(t, body, resp, err)
		in, err := c.parse([]byte(body))
		if err != nil || len(in.Choices) == 0 || in.Choices[0].FinishReason == nil || *in.Choices[0].FinishReason == "" || *in.Choices[0].FinishReason == "null" {
			return
		}
		whole, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := c.decoded(string(whole))
		pieces := strings.Join(modeltest.StreamOf(modeltest.OpenAI, string(whole)), "")
		got, gotErr := c.decodedStream(t, strings.NewReader(pieces))
		if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: whole %+v, %v; streamed %+v, %v", whole, want, wantErr, got, gotErr)
		}
	})
}

// FuzzOpenAIStream holds that every stream is sound, and that it is the same
// however its bytes come.
func FuzzOpenAIStream(f *testing.F) {
	for _, seed := range []string{
		": here\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ab\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"c\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n",
		"data: {\"choices\":\ndata: [{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\nevent: error\ndata: {\"message\":\"x\"}\n\n",
		"[{\"choices\":[{\"delta\":{\"content\":\"\\ud83c\"}}]},{\"choices\":[{\"delta\":{\"content\":\"\\udf89\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}]",
		"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n{\"error\":1}",
	} {
		f.Add(seed)
	}
	c := fuzzed(f)
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := c.decodedStream(t, strings.NewReader(body))
		isSound(t, body, resp, err)
		slow, err2 := c.decodedStream(t, iotest.OneByteReader(strings.NewReader(body)))
		if !reflect.DeepEqual(resp, slow) || (err == nil) != (err2 == nil) {
			t.Errorf("%q: %+v, %v; byte by byte %+v, %v", body, resp, err, slow, err2)
		}
	})
}
