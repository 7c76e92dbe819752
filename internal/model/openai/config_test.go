package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/model/openai"
)

func TestBaseURLs(t *testing.T) {
	for suffix, want := range map[string]string{
		"": "/chat/completions", "/": "/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/v1beta/openai": "/v1beta/openai/chat/completions", "/v1/chat/completions": "/v1/chat/completions",
	} {
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Says("ok"))
		base := strings.TrimSuffix(server.URL, "/v1")
		if _, e := generate(t, newClient(t, base+suffix, "k"), question()); e != nil || server.Asked()[0].Path != want {
			t.Errorf("%q asks %q, want %q (%v)", suffix, server.Asked()[0].Path, want, e)
		}
	}
	for _, wrong := range []string{"localhost:11434", "ftp://host/v1", "http://", "://", "http://a b"} {
		if _, err := openai.New(openai.Config{BaseURL: wrong}); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:11434/v1") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	c, err := openai.New(openai.Config{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, e := c.Generate(ctx, question()); e == nil { // it is OpenAI's own address: it is not asked here
		t.Error("an ended context was not noticed")
	}
}

func TestAProxysPageIsNotShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html><h1>Bad gateway</h1></html>"))
	}))
	t.Cleanup(server.Close)
	_, e := generate(t, newClient(t, server.URL, "k"), question())
	if e == nil || e.Kind != model.Unavailable || strings.Contains(e.Error(), "<h1>") {
		t.Errorf("error = %v", e)
	}
}

func TestRequestsThatCannotBeWritten(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Says("ok"))
	req := structured()
	req.Schema.Schema = []byte(`{"type":`)
	if _, e := generate(t, newClient(t, server.URL, "k"), req); e == nil || e.Kind != model.BadResponse || len(server.Asked()) != 0 {
		t.Errorf("a broken schema: %v", e)
	}
}

func TestCallsAreSentBackAsObjects(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Says("ok"))
	req := question()
	calls := model.Message{Speaker: model.Assistant}
	results := model.Message{Speaker: model.ToolSpeaker}
	for i, arguments := range []string{`{"a":1}`, `"3+4"`, `[1]`, ``, `{"a":`} {
		id := string(rune('a' + i))
		calls.Calls = append(calls.Calls, model.ToolCall{ID: id, Name: "f", Arguments: []byte(arguments)})
		results.Results = append(results.Results, model.ToolResult{ID: id, Name: "f", Text: "r", IsError: i == 1})
	}
	req.Messages = append(req.Messages, calls, results)
	if _, e := generate(t, newClient(t, server.URL, "k"), req); e != nil {
		t.Fatal(e)
	}
	got := server.Asked()[0].Messages
	for i, want := range []string{`{"a":1}`, `{"arguments":"3+4"}`, `{"arguments":[1]}`, `{}`, `{}`} {
		if s := string(got[1].Calls[i].Arguments); s != want {
			t.Errorf("call %d was sent as %s, want %s", i, s, want)
		}
	}
	if got[2].Results[0].Text != "r" || got[2].Results[1].Text != "Error: r" {
		t.Errorf("results = %+v", got[2].Results)
	}
}
