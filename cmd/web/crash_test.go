package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// chat is an OpenAI-compatible server whose answers are code.
type chat struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // by step, or "synthesizer"
}

// newChat answers executors through step, which may hang until its context
// ends, and the synthesizer with a fixed answer.
func newChat(t *testing.T, step func(ctx context.Context, id string) string) *chat {
	c := &chat{asked: map[string]int{}}
	tag := regexp.MustCompile(`<step id="([^"]+)">`)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var req struct {
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(body, &req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		who, answer := "synthesizer", `{"result":"all done"}`
		for _, m := range req.Messages {
			if found := tag.FindStringSubmatch(m.Content); found != nil {
				who = found[1]
			}
		}
		c.mu.Lock()
		c.asked[who]++
		c.mu.Unlock()
		if who != "synthesizer" {
			answer = step(r.Context(), who)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "m", "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": answer}}},
		})
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *chat) count(who string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[who]
}

// program is the real program in a process of its own.
type program struct {
	cmd *exec.Cmd
	url string
}

func startProgram(t *testing.T, dbFile, models string) *program {
	t.Helper()
	p, err := launch(dbFile, models, "k", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// launch starts the program on a database. The key is what it shows the model
// server; what it says besides its address goes to said.
func launch(dbFile, models, key string, said io.Writer) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), self, "-addr", "127.0.0.1:0", "-db", dbFile,
		"-openai-base-url", models, "-model", "openai:m", "-log-level", "warn")
	cmd.Env = append(os.Environ(), asProgram+"=1", "PLANWAVE_SAMPLES=off", "OPENAI_API_KEY="+key)
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "Planwave is at ")
	if err != nil || !ok {
		p.kill()
		return nil, fmt.Errorf("the program said %q and not where it is: %w", line, err)
	}
	p.url = url
	return p, nil
}

// kill ends the process as kill -9 does. A process that is gone already is fine.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *program) call(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var doc map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %v", method, path, resp.StatusCode, doc)
	}
	return doc
}

// follow reads the run's event stream until an event that is wanted, or to its
// end, and returns the types in order.
func (p *program) follow(t *testing.T, id string, until func(event, data string) bool) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/runs/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var events []string
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			events = append(events, e)
		}
		if d, ok := strings.CutPrefix(lines.Text(), "data: "); ok && until != nil && until(events[len(events)-1], d) {
			return events
		}
	}
	return events
}

func TestKillInTheMiddleOfAWave(t *testing.T) { // BEHAVIOUR 12.1
	dead := make(chan struct{}) // closed when the first process is dead
	inFlight := make(chan string, 8)
	models := newChat(t, func(ctx context.Context, id string) string {
		select {
		case <-dead:
		default:
			if id != "a" {
				inFlight <- id
				<-ctx.Done() // the connection breaks with the process
			}
		}
		return fmt.Sprintf(`{"result":"result of %s"}`, id)
	})
	file := filepath.Join(t.TempDir(), "p.db")
	first := startProgram(t, file, models.URL)
	run := first.call(t, http.MethodPost, "/api/v1/runs", `{"question":"q","approval":"auto","plan":{"steps":[
		{"id":"a","instruction":"a","depends_on":[]},{"id":"b","instruction":"b","depends_on":[]},
		{"id":"c","instruction":"c","depends_on":[]},{"id":"end","instruction":"end","depends_on":["a","b","c"]}]}}`)
	id, _ := run["id"].(string)
	waiting := first.call(t, http.MethodPost, "/api/v1/runs", `{"question":"later","plan":{"steps":[{"id":"w","instruction":"w","depends_on":[]}]}}`)
	<-inFlight
	<-inFlight
	first.follow(t, id, func(event, data string) bool { return event == "step.succeeded" && strings.Contains(data, `"a"`) })
	first.kill()
	close(dead)

	second := startProgram(t, file, models.URL)
	events := second.follow(t, id, nil)
	if events[len(events)-1] != "done" || events[len(events)-2] != "run.succeeded" {
		t.Errorf("events = %v", events)
	}
	after := second.call(t, http.MethodGet, "/api/v1/runs/"+id, "")
	if after["status"] != "succeeded" {
		t.Errorf("the run is %v: %v", after["status"], after["error"])
	}
	for who, want := range map[string]int{"a": 1, "b": 2, "c": 2, "end": 1, "synthesizer": 1} {
		if got := models.count(who); got != want {
			t.Errorf("%s was asked %d times, want %d", who, got, want)
		}
	}
	if w := second.call(t, http.MethodGet, "/api/v1/runs/"+fmt.Sprint(waiting["id"]), ""); w["status"] != "awaiting_approval" {
		t.Errorf("the waiting run is %v", w["status"])
	}
}
