package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is the way to a server: a process, or a place on the web.
type link interface {
	transport() sdk.Transport
	// kill cuts the way at once.
	kill()
	// stop ends the server as gently as it can be, and returns when nothing of
	// it is left.
	stop()
	// explain adds to an error what is known of its cause and what to do.
	explain(err error) error
}

// connection is one connection to a server, from its start to its end.
type connection struct {
	link    link
	session *sdk.ClientSession
	options Options
	waiting progress

	life context.Context //nolint:containedctx // the life of the connection, which calls end with
	end  context.CancelFunc

	relist chan struct{}      // the list of tools has changed
	doubts chan chan struct{} // somebody doubts that the server lives

	mu      sync.Mutex
	closing bool
	running int // calls under way
	calls   sync.WaitGroup

	over   chan struct{} // closed when it has ended and reason is set
	reason error
}

// oldProtocol is what a server is spoken to with that did not answer to the
// newer one: some do not answer at all to what they do not know.
const oldProtocol = "2025-11-25"

// connect opens a connection within the time that a start may take. An error
// leaves nothing behind.
func connect(ctx context.Context, c ServerConfig, o Options, old bool) (*connection, error) {
	way, err := o.dial(c, o)
	if err != nil {
		return nil, err
	}
	conn := &connection{
		link: way, options: o,
		relist: make(chan struct{}, 1), doubts: make(chan chan struct{}, 1), over: make(chan struct{}),
	}
	conn.life, conn.end = context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	cut := context.AfterFunc(ctx, way.kill)
	hold := &held{Transport: way.transport()}
	version := ""
	if old {
		version = oldProtocol
	}
	conn.session, err = conn.client().Connect(ctx, hold, &sdk.ClientSessionOptions{ProtocolVersion: version})
	inTime := cut()
	if err == nil && inTime {
		return conn, nil
	}
	if ctx.Err() != nil {
		err = tooSlow(ctx, o.StartTimeout)
	}
	hold.drop()
	way.stop()
	return nil, way.explain(err)
}

// tooSlow says that a server did not start in time, or that it was stopped
// before it had.
func tooSlow(ctx context.Context, limit time.Duration) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("it did not answer as an MCP server within %v; check that its command or address is one", limit)
}

// held keeps what a transport opened, so that it can be closed where the
// handshake fails.
type held struct {
	sdk.Transport
	opened sdk.Connection
}

// Connect opens the transport.
func (h *held) Connect(ctx context.Context) (sdk.Connection, error) {
	var err error
	h.opened, err = h.Transport.Connect(ctx)
	return h.opened, err
}

func (h *held) drop() {
	if h.opened != nil {
		_ = h.opened.Close() // it failed before, which is told
	}
}

// client is what speaks for this connection. It offers servers nothing: no
// folders, no questions to people, no models.
func (c *connection) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "planwave", Version: c.options.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case c.relist <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			c.waiting.tell(r.Params)
		},
	})
}

// mostTools is how many tools of one server are taken.
const mostTools = 500

// list asks for all tools of the server.
func (c *connection) list(ctx context.Context, within time.Duration) ([]*sdk.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	list, err := promptly(ctx, func() ([]*sdk.Tool, error) { return c.allTools(ctx) })
	switch _, said := answerOf(err); {
	case err == nil:
		return list, nil
	case said && !c.saysTools():
		return nil, nil // it has none, and does not know the question
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it did not list its tools within %v", within)
	}
	return nil, fmt.Errorf("it does not list its tools: %w", err)
}

// allTools reads the list page by page.
func (c *connection) allTools(ctx context.Context) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if all = append(all, t); len(all) > mostTools {
			return nil, fmt.Errorf("there are more than %d; switch some of them off", mostTools)
		}
	}
	return all, nil
}

// promptly returns what do returns, or the error of ctx when that ends first:
// the SDK waits without end to write to a server that does not read. do then
// ends with the connection.
func promptly[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := do()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// saysTools says whether the server says that it has tools.
func (c *connection) saysTools() bool {
	r := c.session.InitializeResult()
	return r != nil && r.Capabilities != nil && r.Capabilities.Tools != nil
}

// alive is an error where the server does not answer any more. Any answer will
// do: newer servers do not know a ping.
func (c *connection) alive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.CheckTimeout)
	defer cancel()
	_, err := promptly(ctx, func() (any, error) { return nil, c.session.Ping(ctx, nil) })
	if _, answered := answerOf(err); err == nil || answered {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it does not answer any more: nothing came within %v", c.options.CheckTimeout)
	}
	return fmt.Errorf("it cannot be reached any more: %w", err)
}

// answerOf returns the error that a server answered with, if it is the server
// that did, and not the way to it.
func answerOf(err error) (*jsonrpc.Error, bool) {
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return nil, false
	}
	const clientClosing, serverClosing, rejected = -32003, -32004, -32005 // what the SDK says of the way
	switch answer.Code {
	case clientClosing, serverClosing, rejected:
		return nil, false
	}
	return answer, true
}

// watch returns why the connection has ended: because ctx has, because the
// server closed it, or because the server does not answer any more. It calls
// changed when the server says that its tools have changed.
func (c *connection) watch(ctx context.Context, changed func()) error {
	closed := make(chan error, 1)
	go func() { closed <- c.session.Wait() }()
	every := time.NewTicker(c.options.CheckEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return errClosed
		case err := <-closed:
			return cmp.Or(err, errHungUp)
		case <-c.relist:
			changed()
		case <-every.C:
			if c.idle() {
				select {
				case c.doubts <- nil:
				default:
				}
			}
		case answer := <-c.doubts:
			if err := c.alive(ctx); errors.Is(err, sdk.ErrConnectionClosed) {
				return cmp.Or(<-closed, errHungUp) // which says more
			} else if err != nil {
				return err
			}
			if answer != nil {
				close(answer)
			}
		}
	}
}

// errHungUp is a server that closed the connection.
var errHungUp = errors.New("it closed the connection")

// errClosed is why calls and servers end when the program does.
var errClosed = errors.New("the program is ending")

// doubt asks, without waiting, whether the server still lives.
func (c *connection) doubt() {
	select {
	case c.doubts <- nil:
	default:
	}
}

// verdict waits until it is known whether the server lives. It returns nil
// where it does, and where ctx ends first; else why it does not.
func (c *connection) verdict(ctx context.Context) error {
	answer := make(chan struct{})
	select {
	case c.doubts <- answer:
	case <-c.over:
		return c.reason
	case <-ctx.Done():
		return nil
	}
	select {
	case <-answer:
		return nil
	case <-c.over:
		return c.reason
	case <-ctx.Done():
		return nil
	}
}

// close ends the connection, the calls on it and the server. Those who wait for
// the verdict are told why.
func (c *connection) close(why error) {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.end()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = c.session.Close() // it may be closed already
	}()
	timer := time.NewTimer(c.options.Grace)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
		c.link.kill()
		<-closed
	}
	c.link.stop()
	c.reason = why
	if !errors.Is(why, errClosed) {
		c.reason = c.link.explain(why)
	}
	close(c.over)
	c.calls.Wait()
}
