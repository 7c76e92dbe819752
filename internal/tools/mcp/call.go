package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

// tool is one tool of a server. It outlives connections: a call goes out on the
// connection there is.
type tool struct {
	server *server
	remote string // its name at the server
	info   tools.Info
}

// Info describes the tool.
func (t tool) Info() tools.Info { return t.info }

// Call calls the tool on its server. A server that is being started is waited
// for. What the server answers, errors too, is a result; an error is a server
// that could not be asked or did not answer, and names it. The call is never
// made twice.
func (t tool) Call(ctx context.Context, arguments json.RawMessage) (tools.Result, error) {
	result, err := t.server.call(ctx, t, arguments)
	if err != nil {
		return tools.Result{}, fmt.Errorf("MCP server %q: %w", t.server.config.Name, err)
	}
	return result, nil
}

// errTooLong is the cause of the end of a call that took too long.
var errTooLong = errors.New("the call took too long")

func (s *server) call(ctx context.Context, t tool, arguments json.RawMessage) (tools.Result, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.options.CallTimeout, errTooLong)
	defer cancel()
	conn, err := s.connected(limited, t)
	if err == nil {
		var answer *sdk.CallToolResult
		answer, err = conn.call(limited, t, arguments, s.hide)
		if said, ok := answerOf(err); ok {
			return tools.Result{Text: plan.Short(s.hide(said.Message), mostRefusal), IsError: true}, nil
		}
		if err == nil {
			return hidden(readResult(answer, s.options.MaxResult), s.hide), nil
		}
	}
	switch cause := context.Cause(limited); {
	case cause == nil:
		return tools.Result{}, errors.New(s.hide(err.Error()))
	case errors.Is(cause, errTooLong):
		return tools.Result{}, fmt.Errorf("%s did not answer within %v; it was told to stop", t.remote, s.options.CallTimeout)
	default:
		return tools.Result{}, fmt.Errorf("%s was stopped: %w", t.remote, ctx.Err())
	}
}

// mostRefusal is how much, in characters, of a server's refusal is told.
const mostRefusal = 4_000

// call calls a tool on this connection. It returns at once when ctx ends: the
// server is told that the call is given up, and looked at whether it lives if
// it was for the time.
func (c *connection) call(
	ctx context.Context, t tool, arguments json.RawMessage, hide func(string) string,
) (*sdk.CallToolResult, error) {
	if !c.begin() {
		<-c.over
		return nil, c.died(t, c.reason)
	}
	token, stop := c.waiting.expect(ctx, t.info.Name, hide)
	defer stop()
	answers := make(chan answer, 1)
	go func() {
		defer c.calls.Done()
		answers <- c.ask(ctx, t, arguments, token)
	}()
	select {
	case a := <-answers:
		if _, said := answerOf(a.err); a.err == nil || said {
			return a.result, a.err
		}
		if ctx.Err() == nil {
			return nil, c.failed(ctx, t, a.err)
		}
	case <-ctx.Done():
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		c.doubt()
	}
	return nil, context.Cause(ctx)
}

// answer is what a call came to.
type answer struct {
	result *sdk.CallToolResult
	err    error
}

// begin counts a call in, unless the connection is being closed.
func (c *connection) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.calls.Add(1)
	c.running++
	return true
}

// idle says whether no call is under way.
func (c *connection) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == 0
}

// ask makes the call. It ends with ctx and with the connection.
func (c *connection) ask(ctx context.Context, t tool, arguments json.RawMessage, token string) answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
	}()
	params := &sdk.CallToolParams{Name: t.remote}
	if len(arguments) > 0 {
		params.Arguments = arguments
	}
	if token != "" {
		params.SetProgressToken(token)
	}
	result, err := c.session.CallTool(ctx, params)
	return answer{result, err}
}

// failed says what became of a call that got no answer: whether its server has
// died of it.
func (c *connection) failed(ctx context.Context, t tool, err error) error {
	if reason := c.verdict(ctx); reason != nil {
		return c.died(t, reason)
	}
	return fmt.Errorf("%s got no answer that can be used: %w", t.remote, err)
}

// died says that a server ended while it was asked.
func (c *connection) died(t tool, reason error) error {
	if errors.Is(reason, errClosed) {
		return fmt.Errorf("%s was stopped: %w", t.remote, reason)
	}
	return fmt.Errorf("it went away while %s was called, and is started again; whether the call was carried out is not known: %w",
		t.remote, reason)
}
