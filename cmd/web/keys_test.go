package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The secrets of this test. No text but the requests to their servers may hold
// one.
const (
	openAISecret = "sk-canary-OPENAI-5f3e8a1b9c"
	geminiSecret = "AIza-canary-GEMINI-77d20c4e"
	mcpSecret    = "canary-MCP-header-0a91be33"
	envSecret    = "canary-MCP-env-4417cd2f"
)

// parrot is a server of models and of tools that repeats what it was sent,
// secrets included, wherever a server can.
type parrot struct {
	*httptest.Server
	mu    sync.Mutex
	asked int
	seen  map[string]bool // the secrets that reached it
}

func newParrot(t *testing.T) *parrot {
	p := &parrot{seen: map[string]bool{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *parrot) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	repeated := fmt.Sprint(r.URL, r.Header)
	p.mu.Lock()
	p.asked++
	n := p.asked
	for _, s := range []string{openAISecret, geminiSecret, mcpSecret} {
		p.seen[s] = p.seen[s] || strings.Contains(repeated, s)
	}
	p.mu.Unlock()
	w.Header().Set("WWW-Authenticate", repeated[:min(len(repeated), 2000)])
	if !strings.Contains(r.URL.Path, "models") && !strings.Contains(r.URL.Path, "chat") {
		http.Error(w, "this tool server refuses "+repeated, http.StatusForbidden)
		return
	}
	content, err := json.Marshal(map[string]any{"result": "your key is " + repeated, "key": r.Header})
	if err != nil {
		return
	}
	said := map[string]any{
		"choices":    []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": string(content)}}},
		"candidates": []any{map[string]any{"finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{map[string]string{"text": string(content)}}}}},
	}
	w.Header().Set("Content-Type", "application/json")
	switch n % 4 {
	case 0: // an answer that repeats the key
		_ = json.NewEncoder(w).Encode(said)
	case 1:
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "wrong key " + repeated}})
	case 2:
		http.Error(w, "<html>"+repeated, http.StatusBadGateway)
	default:
		_, _ = io.WriteString(w, `{"broken": "`+strings.ReplaceAll(repeated, `"`, "'"))
	}
}

// leaks fails the test where a text holds a secret.
func leaks(t *testing.T, where string, text []byte) {
	t.Helper()
	for _, secret := range []string{openAISecret, geminiSecret, mcpSecret, envSecret} {
		if at := bytes.Index(text, []byte(secret)); at >= 0 {
			t.Errorf("%s holds a secret: …%s…", where, text[max(0, at-120):min(len(text), at+len(secret)+20)])
		}
	}
}

// syncBuffer is a log that is read when the program has ended.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// secretive runs the program with keys for everything, and its log at the level
// that says most.
func secretive(t *testing.T, p *parrot, file string, log io.Writer) (a *app, end func()) {
	t.Helper()
	mcpFile := mcpConfig(t, map[string]any{
		"remote": map[string]any{"url": p.URL + "/tools", "headers": map[string]string{"Authorization": "Bearer " + mcpSecret}},
		"local":  map[string]any{"command": "sh", "args": []string{"-c", `echo "started with $SECRET" >&2; echo "$SECRET"; exit 3`}, "env": map[string]string{"SECRET": envSecret}},
	})
	env := map[string]string{
		"OPENAI_API_KEY": openAISecret, "OPENAI_BASE_URL": p.URL + "/v1", "GEMINI_API_KEY": geminiSecret, "GEMINI_BASE_URL": p.URL,
		"PLANWAVE_MODEL": "openai:m", "PLANWAVE_MCP": mcpFile, "PLANWAVE_TRIES": "1", "PLANWAVE_SAMPLES": "off", "PLANWAVE_LOG_LEVEL": "debug",
	}
	c, err := readConfig([]string{"-addr", "127.0.0.1:0", "-db", file}, func(k string) string { return env[k] }, log)
	if err != nil {
		t.Fatal(err)
	}
	a, err = newApp(context.Background(), c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	return a, func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Keys are sent to their servers and are nowhere else: not in the database, the
// trace, the log or a page, even where a server repeats them.
func TestKeysAreNowhere(t *testing.T) {
	p, log, file := newParrot(t), &syncBuffer{}, filepath.Join(t.TempDir(), "planwave.db")
	a, end := secretive(t, p, file, log)
	hidden := 0
	for i := range 8 {
		model := []string{"openai:m", "gemini:gemini-3.1-flash-lite"}[i/4]
		body := fmt.Sprintf(`{"question":"What is the key?","approval":"auto","models":{"planner":%q,"executor":%q,"synthesizer":%q},"plan":%s}`, model, model, model, densest)
		id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", body)["id"])
		a.until(t, id, "done")
		for _, path := range []string{
			"/api/v1/runs/" + id, "/api/v1/runs/" + id + "/trace", "/api/v1/runs/" + id + "/events", "/api/v1/runs/" + id + "/export?format=json",
			"/runs/" + id, "/runs/" + id + "?step=s1", "/runs/" + id + "/panel?step=s2",
		} {
			status, answer := a.send(t, http.MethodGet, path, "")
			if status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
			leaks(t, path, []byte(answer))
			hidden += strings.Count(answer, "[key]")
		}
		_, tested := a.send(t, http.MethodPost, "/settings/test?model="+model, "")
		leaks(t, "the test of a model", []byte(tested))
	}
	for _, path := range []string{"/", "/runs", "/settings", "/api/v1/runs", "/api/v1/models", "/api/v1/tools", "/readyz"} {
		_, answer := a.send(t, http.MethodGet, path, "")
		leaks(t, path, []byte(answer))
	}
	files, err := filepath.Glob(file + "*")
	if err != nil || !slices.Contains(files, file) {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files { // with the log that is written ahead, which the end takes away
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		leaks(t, f, b)
	}
	if hidden == 0 {
		t.Error("no server repeated a key, so this test shows nothing")
	}
	end()
	leaks(t, "the log", log.b.Bytes())
	for _, s := range []string{openAISecret, geminiSecret, mcpSecret} {
		if !p.seen[s] {
			t.Errorf("%s never reached its server, so this test shows nothing", s)
		}
	}
}
