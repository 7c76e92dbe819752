package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// send makes a request to the app.
func (a *app) send(t *testing.T, method, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// call makes a request that must be answered well, and returns its answer.
func (a *app) call(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	status, answer := a.send(t, method, path, body)
	if status >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// until waits for an event of a run, woken by its stream, and returns the run.
func (a *app) until(t *testing.T, id string, event string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+"/api/v1/runs/"+id+"/events?after=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	seen, wanted := make([]byte, 0, 1<<16), []byte("event: "+event+"\n")
	for part := make([]byte, 1<<12); !bytes.Contains(seen, wanted); {
		n, err := resp.Body.Read(part)
		if seen = append(seen, part[:n]...); err != nil && !bytes.Contains(seen, wanted) {
			t.Fatalf("the run never came to %s: %v\n%s", event, err, seen)
		}
	}
	return a.call(t, http.MethodGet, "/api/v1/runs/"+id, "")
}

// mcpConfig writes a file that configures MCP servers, and returns its path.
func mcpConfig(t *testing.T, servers map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAPlanOverTwoServers runs a plan over two MCP servers that no one here
// wrote, in the whole program. One of them writes a file, and a person sees
// exactly what before it does.
func TestAPlanOverTwoServers(t *testing.T) { // BEHAVIOUR 4.2, 4.4, 4.6
	servers := os.Getenv("PLANWAVE_NPM")
	if servers == "" {
		t.Fatal("PLANWAVE_NPM names no folder with MCP servers: make test sets it")
	}
	folder := t.TempDir()
	bin := func(name string) string { return filepath.Join(servers, "node_modules", ".bin", name) }
	mcpFile := mcpConfig(t, map[string]any{
		"files": map[string]any{"command": bin("mcp-server-filesystem"), "args": []string{folder}},
		"every": map[string]any{"command": bin("mcp-server-everything")},
	})
	a := serve(t, func(s *config) { s.MCP, s.demoAtOnce = mcpFile, true })
	a.tools.settled(t.Context())
	letter := filepath.Join(folder, "sum.txt")
	p := fmt.Sprintf(`{"question":"When was Tarnby founded?","approval":"auto","plan":{"steps":[
		{"id":"sum","instruction":"add","tool":"every__get-sum","input":{"a":2,"b":3},"depends_on":[]},
		{"id":"write","instruction":"write","tool":"files__write_file","input":{"path":%q,"content":"${sum}"},"depends_on":["sum"]}]}}`, letter)
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", p)["id"])
	r := a.until(t, id, "run.waiting")
	waiting, _ := r["pending_approvals"].([]any)
	if len(waiting) != 1 || r["status"] != "awaiting_tool_approval" {
		t.Fatalf("the run is %v and waits for %v", r["status"], waiting)
	}
	call, _ := waiting[0].(map[string]any)
	args, _ := call["arguments"].(map[string]any)
	if call["tool"] != "files__write_file" || args["path"] != letter || !strings.Contains(fmt.Sprint(args["content"]), "5") {
		t.Errorf("a person is asked about %v", call)
	}
	if _, err := os.Stat(letter); err == nil {
		t.Error("the file is there before anyone allowed it")
	}
	a.call(t, http.MethodPost, "/api/v1/runs/"+id+"/approvals/"+fmt.Sprint(call["id"]), `{"decision":"allow"}`)
	a.until(t, id, "answer.started")
	written, err := os.ReadFile(letter)
	if err != nil || string(written) != args["content"] {
		t.Errorf("written is %q, %v", written, err)
	}
}

// A tool server that dies in the middle of a call takes down the step that
// called it, and nothing else.
func TestAToolServerThatDiesTakesDownItsStep(t *testing.T) { // BEHAVIOUR 5.5, 11
	// The server answers until it is called, and ends then.
	server := `while read -r line; do
		id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
		case "$line" in
		*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"frail","version":"1"}}}' ;;
		*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}}' ;;
		*'"tools/call"'*) exit 1 ;;
		*'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}' ;;
		esac
	done`
	mcpFile := mcpConfig(t, map[string]any{"frail": map[string]any{"command": "sh", "args": []string{"-c", server}}})
	a := serve(t, func(s *config) { s.MCP, s.demoAtOnce = mcpFile, true })
	a.tools.settled(t.Context())
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", `{"question":"When was Tarnby founded?","approval":"auto","plan":{"steps":[
		{"id":"look","instruction":"look","tool":"frail__look","input":{},"depends_on":[]},
		{"id":"city","instruction":"city","tool":"get_city","input":{"name":"Tarnby"},"depends_on":[]},
		{"id":"end","instruction":"join","depends_on":["look","city"]}]}}`)["id"])
	r := a.until(t, id, "done")
	steps, _ := r["steps"].(map[string]any)
	for step, want := range map[string]string{"look": "failed", "city": "succeeded", "end": "skipped"} {
		if one, _ := steps[step].(map[string]any); one["status"] != want {
			t.Errorf("%s is %v (%v), want %s", step, one["status"], one["error"], want)
		}
	}
}
