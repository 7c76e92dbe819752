package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
)

// decoded reads what a server answers with a status of success.
func decoded(t *testing.T, body io.Reader, streamed bool) (model.Response, error) {
	t.Helper()
	c := &Client{server: model.Server{Name: "Gemini"}}
	m := model.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		ex := &exchange{}
		tell := model.NewTeller(req)
		if streamed {
			ex.tell = tell
		}
		tr := &transport{server: c.server}
		if err := tr.receive(ctx, &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, func() {}, ex); err != nil {
			return model.Response{}, c.failure(ctx, c.charged(ctx, err, req))
		}
		resp, err := c.read(*ex.answer, req)
		if err == nil {
			tell.End(resp.Text)
		}
		return resp, err
	})
	if streamed {
		return modeltest.Watched(t, m).Generate(t.Context(), model.Request{Model: "m"})
	}
	return m.Generate(t.Context(), model.Request{Model: "m"})
}

// isSound holds that an answer is words or calls, or a typed failure that says
// something.
func isSound(t *testing.T, from string, resp model.Response, err error) {
	t.Helper()
	if err != nil {
		if e, ok := err.(*model.Error); !ok || e.Message == "" { //nolint:errorlint // decoding returns it itself
			t.Errorf("%q: %T %v", from, err, err)
		}
		return
	}
	if strings.TrimSpace(resp.Text) == "" && len(resp.Calls) == 0 {
		t.Errorf("%q is an empty success", from)
	}
	if u := resp.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.ThinkingTokens < 0 || u.ThinkingTokens > u.OutputTokens || u.CachedTokens > u.InputTokens {
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

// FuzzGeminiAnswer holds that every answer is sound, and that it is the same
// when it comes in pieces.
func FuzzGeminiAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"a"},{"functionCall":{"name":"f","args":{"a":[]}}}]}}],"usageMetadata":{"totalTokenCount":1}}`,
		`{"promptFeedback":{"blockReason":"X"}}`,
		`{"candidates":[{"finishReason":"MAX_TOKENS","content":{"parts":[{"text":"hm","thought":true},{"text":"\ud83ca🎉","thoughtSignature":"c2ln"},null]}}],"usageMetadata":{"promptTokenCount":5,"thoughtsTokenCount":-1}}`,
		`{"error":{"code":503,"message":"x"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := decoded(t, strings.NewReader(body), false)
		isSound(t, body, resp, err)
		var in answer
		if json.Unmarshal([]byte(body), &in) != nil || len(in.Candidates) == 0 || in.Candidates[0].FinishReason == "" || in.Candidates[0].Index != 0 {
			return
		}
		in.Candidates = in.Candidates[:1]
		whole, err := json.Marshal(in)
		if err != nil {
			return // a reason that is no text any more
		}
		want, wantErr := decoded(t, bytes.NewReader(whole), false)
		pieces := strings.Join(modeltest.StreamOf(modeltest.Gemini, string(whole)), "")
		got, gotErr := decoded(t, strings.NewReader(pieces), true)
		if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: whole %+v, %v; streamed %+v, %v", whole, want, wantErr, got, gotErr)
		}
	})
}

// FuzzGeminiStream holds that every stream is sound, and that it is the same
// however its bytes come.
func FuzzGeminiStream(f *testing.F) {
	for _, seed := range []string{
		`[{"candidates":[{"content":{"parts":[{"text":"ab"}]}}]},{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7}}]`,
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]}}]}\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
		`[{"promptFeedback":{"blockReason":"X"}}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]} {"error":{"code":503}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := decoded(t, strings.NewReader(body), true)
		isSound(t, body, resp, err)
		slow, err2 := decoded(t, iotest.OneByteReader(strings.NewReader(body)), true)
		if !reflect.DeepEqual(resp, slow) || (err == nil) != (err2 == nil) {
			t.Errorf("%q: %+v, %v; byte by byte %+v, %v", body, resp, err, slow, err2)
		}
	})
}
