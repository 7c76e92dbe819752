package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"planwave/internal/tools"
)

// program finds the program of a server that others wrote.
func program(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("PLANWAVE_NPM")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "tmp", "npm")
	}
	path, err := filepath.Abs(filepath.Join(folder, "node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js"))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: get the MCP servers with scripts/npm.sh; make test does", err)
	}
	return path
}

// real is a server that others wrote, started with node.
func real(t *testing.T, name string, args ...string) ServerConfig {
	t.Helper()
	return ServerConfig{Name: name, Command: "node", Args: append([]string{program(t, name)}, args...)}
}

// BEHAVIOUR 4.4: servers that no one here wrote, in one registry.
func TestTwoRealServersInOneRegistry(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "note.txt"), []byte("Almar has 1,200 people."), 0o600); err != nil {
		t.Fatal(err)
	}
	memory := real(t, "memory")
	memory.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}
	s := started(t, quick(), real(t, "filesystem", folder), memory)
	registry, err := tools.New(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range s.States() {
		if state.Tools == 0 || len(state.Problems) != 0 {
			t.Errorf("%s gives %d tools, and leaves out %q", state.Name, state.Tools, state.Problems)
		}
	}
	note := ask(t, registry, "filesystem__read_text_file", map[string]any{"path": filepath.Join(folder, "note.txt")})
	mentions(t, note.Text, "1,200 people")
	ask(t, registry, "memory__create_entities", map[string]any{"entities": []any{
		map[string]any{"name": "Almar", "entityType": "city", "observations": []any{note.Text}},
	}})
	graph := ask(t, registry, "memory__read_graph", map[string]any{})
	mentions(t, graph.Text, "Almar", "1,200 people")
	if !json.Valid(graph.Data) {
		t.Errorf("its data is %q", graph.Data)
	}
}

func ask(t *testing.T, r *tools.Registry, name string, args any) tools.Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Call(t.Context(), name, raw)
	if err != nil || result.IsError {
		t.Fatalf("%s answers %+v (%v)", name, result, err)
	}
	return result
}

// BEHAVIOUR 4.3, 4.6, with the server for files.
func TestTheRealFilesystemServer(t *testing.T) {
	folder := t.TempDir()
	s := started(t, quick(), real(t, "filesystem", folder))
	refused := call(t, s, "filesystem__read_text_file", `{"path":"/etc/passwd"}`)
	if !refused.IsError {
		t.Errorf("a file outside is read: %+v", refused)
	}
	mentions(t, refused.Text, "denied")
	for name, reads := range map[string]bool{"read_text_file": true, "list_directory": true, "write_file": false, "edit_file": false, "move_file": false} {
		if got := named(t, s, "filesystem__"+name).Info().ReadOnly; got != reads {
			t.Errorf("%s is read-only: %v", name, got)
		}
	}
	call(t, s, "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"written"}`, filepath.Join(folder, "new.txt")))
	if got, err := os.ReadFile(filepath.Join(folder, "new.txt")); err != nil || string(got) != "written" {
		t.Errorf("in the file is %q (%v)", got, err)
	}
}

// BEHAVIOUR 4.4, with the server that has everything.
func TestTheRealServerOfEverything(t *testing.T) {
	s := started(t, quick(), real(t, "everything"))
	everything(t, s)
	result := call(t, s, "everything__get-env", `{}`)
	for _, line := range os.Environ() {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LANG"}, name) && strings.Contains(result.Text, `"`+name+`"`) {
			t.Errorf("it knows our %s", name)
		}
	}
}

// everything asks the server for all kinds of results.
func everything(t *testing.T, s *Servers) {
	t.Helper()
	tests := map[string]struct {
		args  string
		says  []string
		data  string
		fails bool
	}{
		"echo":                   {args: `{"message":"hello"}`, says: []string{"hello"}},
		"get-sum":                {args: `{"a":2,"b":3}`, says: []string{"5"}},
		"get-tiny-image":         {args: `{}`, says: []string{"[image image/png, ", " bytes]"}, data: `"mimeType":"image/png"`},
		"get-structured-content": {args: `{"location":"Chicago"}`, says: []string{"temperature"}, data: `"temperature"`},
		"get-resource-links":     {args: `{"count":2}`, says: []string{"[link demo://"}, data: `resource_link`},
		"get-resource-reference": {args: `{"resourceType":"Text","resourceId":1}`, says: []string{"[resource demo://"}, data: `"resource"`},
		"get-annotated-message":  {args: `{"messageType":"error","includeImage":true}`, says: []string{"Error", "[image image/png"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := call(t, s, "everything__"+name, test.args)
			mentions(t, result.Text, test.says...)
			mentions(t, string(result.Data), test.data)
			if result.IsError {
				t.Errorf("it answers %+v", result)
			}
		})
	}
	t.Run("wrong arguments", func(t *testing.T) {
		if result := call(t, s, "everything__get-sum", `{"a":"x"}`); !result.IsError {
			t.Errorf("it answers %+v", result)
		}
	})
	t.Run("progress", func(t *testing.T) {
		var told []tools.Progress
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ctx = tools.OnProgress(ctx, func(p tools.Progress) { told = append(told, p); cancel() })
		_, err := named(t, s, "everything__trigger-long-running-operation").Call(ctx, json.RawMessage(`{"duration":3600,"steps":72000}`))
		if !errors.Is(err, context.Canceled) || len(told) == 0 || told[0].Total != 72000 || told[0].Done != 1 {
			t.Errorf("told is %+v (%v)", told, err)
		}
	})
}

// BEHAVIOUR 5.7, with the server that has everything.
func TestARealServerIsCancelledAndKilledInACall(t *testing.T) {
	s := started(t, quick(), real(t, "everything"))
	long := named(t, s, "everything__trigger-long-running-operation")
	args := json.RawMessage(`{"duration":3600,"steps":72000}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := long.Call(tools.OnProgress(ctx, func(tools.Progress) { cancel() }), args); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call ends with %v", err)
	}
	link, ok := s.list[0].conn.link.(*process)
	if !ok {
		t.Fatal("it is no process")
	}
	_, err := long.Call(tools.OnProgress(t.Context(), func(tools.Progress) { link.kill() }), args)
	if err == nil {
		t.Fatal("a server that was killed has answered")
	}
	mentions(t, err.Error(), `MCP server "everything"`, "signal: killed")
	until(t, s, 0, func(state State) bool { return state.Phase == Connected })
	if result := call(t, s, "everything__echo", `{"message":"again"}`); !strings.Contains(result.Text, "again") {
		t.Errorf("after it was started again, it answers %+v", result)
	}
}

// BEHAVIOUR 4.4: the same server by streamable HTTP.
func TestTheRealServerOfEverythingOnTheWeb(t *testing.T) {
	port := freePort(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "node", program(t, "everything"), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	s := start(t, quick(), ServerConfig{Name: "everything", URL: "http://127.0.0.1:" + port + "/mcp"})
	until(t, s, 0, func(state State) bool { return state.Phase == Connected })
	everything(t, s)
}

// freePort is a port that nobody listens to at this moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
