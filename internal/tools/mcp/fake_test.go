package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fake is a server made with the same SDK. What it does is up to its tools.
func fake(options *sdk.ServerOptions) *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, options)
}

// handler is what a tool of a fake does.
type handler func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// offer adds a tool that only reads to a fake.
func offer(s *sdk.Server, name string, do handler) {
	s.AddTool(&sdk.Tool{
		Name: name, Description: "does " + name, InputSchema: map[string]any{"type": "object"},
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, sdk.ToolHandler(do))
}

// say answers with a text.
func say(format string, args ...any) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil
}

// echo answers with the arguments.
func echo(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return say("%s", r.Params.Arguments)
}

// hang answers when the call is given up.
func hang(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// serve is this program as a server on its standard input and output.
func serve(kind string) error {
	switch kind {
	case "mute":
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case "broken":
		return fmt.Errorf("no key was given: %s", os.Getenv("TEST_TOKEN"))
	case "old":
		return serveOld(false)
	case "deaf":
		return serveOld(true)
	case "late":
		if err := meet(); err != nil {
			return err
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	s := fake(nil)
	offer(s, "echo", echo)
	offer(s, "env", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("%s", strings.Join(os.Environ(), "\n"))
	})
	offer(s, "die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil, nil
	})
	offer(s, "freeze", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	})
	offer(s, "spawn", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("%v", spawn()) })
	offer(s, "hang", hang)
	offer(s, "huge", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("%s", strings.Repeat("x", 1<<20))
	})
	out := io.WriteCloser(os.Stdout)
	if kind == "junk" {
		out = chatty{os.Stdout}
	}
	err := s.Run(context.Background(), &sdk.IOTransport{Reader: os.Stdin, Writer: out})
	if kind == "stubborn" {
		<-time.After(time.Hour) // it is ended by force before
	}
	return err
}

// chatty is a standard output to which more is written than messages.
type chatty struct{ io.WriteCloser }

func (c chatty) Write(p []byte) (int, error) {
	const junk = "Server is running!\n\n[INFO] a request\n{\"level\":\"debug\"}\n[]\n"
	if _, err := io.WriteString(c.WriteCloser, junk); err != nil {
		return 0, err
	}
	n, err := c.WriteCloser.Write(p)
	_, _ = io.WriteString(c.WriteCloser, "{not JSON\n")
	return n, err
}

// meet waits until a test has opened the other end of the pipe.
func meet() error {
	f, err := os.OpenFile(os.Getenv(atFIFO), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// spawn starts a program that holds the pipe as long as it lives.
func spawn() error {
	f, err := os.OpenFile(os.Getenv(atFIFO), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	cmd := exec.CommandContext(context.Background(), "sleep", "3600")
	cmd.Stdout = f
	return cmd.Start()
}

// serveOld answers to what servers knew in 2024, and to nothing else. A deaf
// one says so, and reads nothing any more once it has listed its tools.
func serveOld(deaf bool) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`,
			"tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"as ever"}]}`,
			"ping":       `{}`,
		}[m.Method]
		switch {
		case result == "" && deaf && m.ID != nil:
			_, _ = fmt.Fprintf(os.Stdout, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"what?\"}}\n", m.ID)
		case result != "":
			_, _ = fmt.Fprintf(os.Stdout, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, result)
		}
		if deaf && m.Method == "tools/list" {
			<-time.After(time.Hour) // it is ended by force before
		}
	}
	return lines.Err()
}
