package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"planwave/internal/tools"
)

// Phase is what a server is at.
type Phase string

const (
	// Connecting is a server that is being started for the first time, or again
	// after it ended. Calls wait for it.
	Connecting Phase = "connecting"
	// Connected is a server whose tools can be called.
	Connected Phase = "connected"
	// Failed is a server that could not be started, or ended again soon after.
	// It is tried again; calls fail until then.
	Failed Phase = "failed"
)

// State is what people are told of a server.
type State struct {
	Name string
	// Remote servers are reached by HTTP; the others are started here.
	Remote bool
	Phase  Phase
	// Why says what is wrong and what to do, where the server is not connected.
	Why string
	// Since is when the phase began, Next when the server is tried again.
	Since, Next time.Time
	// Tools is how many tools the server gives.
	Tools int
	// Problems are the tools that were left out, each with the reason and what
	// to do.
	Problems []string
	// Software is what the server calls itself.
	Software string
}

// server is one server, whatever has become of it.
type server struct {
	config  ServerConfig
	options Options
	log     *slog.Logger
	hide    func(string) string
	tell    func() // tells those who watch

	mu      sync.Mutex
	state   State
	conn    *connection // nil unless connected
	tools   []tool
	changed chan struct{} // closed at the next change
	tried   chan struct{} // closed when it was connected or has failed once
}

func newServer(c ServerConfig, o Options, tell func()) *server {
	if c.StartTimeout > 0 {
		o.StartTimeout = c.StartTimeout
	}
	return &server{
		config: c, options: o, tell: tell, hide: c.hider().Replace,
		log:     o.Logger.With("mcp_server", c.Name),
		state:   State{Name: c.Name, Remote: c.remote(), Phase: Connecting, Since: o.Clock()},
		changed: make(chan struct{}), tried: make(chan struct{}),
	}
}

// run keeps the server going until ctx ends.
func (s *server) run(ctx context.Context) {
	defer s.finish()
	failures, old := 0, false
	for ctx.Err() == nil {
		conn, err := s.start(ctx, old)
		since := s.options.Clock()
		if err != nil {
			old = !old
		} else {
			err = conn.watch(ctx, func() { s.relist(ctx, conn) })
			s.lost(conn)
			conn.close(err)
			err = conn.reason
			if s.options.Clock().Sub(since) >= s.options.BackoffMost {
				failures = 0
			}
		}
		if ctx.Err() != nil {
			return
		}
		failures++
		s.wait(ctx, conn != nil && failures == 1, err, backoff(failures, s.options.BackoffLeast, s.options.BackoffMost, s.options.Random()))
	}
}

// start connects and lists the tools.
func (s *server) start(ctx context.Context, old bool) (*connection, error) {
	conn, err := connect(ctx, s.config, s.options, old)
	if err != nil {
		return nil, err
	}
	list, err := conn.list(ctx, s.options.StartTimeout)
	if err != nil {
		conn.close(err)
		return nil, conn.reason
	}
	good, problems := s.gather(list)
	s.change(func() {
		s.conn, s.tools = conn, good
		s.state = State{
			Name: s.config.Name, Remote: s.config.remote(), Phase: Connected, Since: s.options.Clock(),
			Tools: len(good), Problems: problems, Software: conn.software(),
		}
	})
	s.log.InfoContext(ctx, "MCP server connected", "tools", len(good), "left_out", len(problems))
	return conn, nil
}

// software is what the server calls itself.
func (c *connection) software() string {
	r := c.session.InitializeResult()
	if r == nil || r.ServerInfo == nil {
		return ""
	}
	return fmt.Sprintf("%s %s", r.ServerInfo.Name, r.ServerInfo.Version)
}

// relist takes over the tools that the server has now. One that does not list
// them keeps those it had, and is looked at whether it lives.
func (s *server) relist(ctx context.Context, conn *connection) {
	list, err := conn.list(ctx, s.options.StartTimeout)
	if err != nil {
		s.log.WarnContext(ctx, "MCP server does not list its tools", "error", s.hide(err.Error()))
		conn.doubt()
		return
	}
	good, problems := s.gather(list)
	s.change(func() {
		s.tools = good
		s.state.Tools, s.state.Problems = len(good), problems
	})
	s.log.InfoContext(ctx, "MCP server changed its tools", "tools", len(good), "left_out", len(problems))
}

// lost takes the connection away from those who call from now on. Its tools
// stay: the server is about to be started again.
func (s *server) lost(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
		s.state.Phase, s.state.Since = Connecting, s.options.Clock()
	}
}

// wait tells what happened, and waits until the server is tried again.
func (s *server) wait(ctx context.Context, soon bool, why error, pause time.Duration) {
	phase := Failed
	if soon {
		phase = Connecting
	}
	told := s.hide(why.Error())
	s.change(func() {
		now := s.options.Clock()
		s.state.Phase, s.state.Why, s.state.Since, s.state.Next = phase, told, now, now.Add(pause)
		if !soon {
			s.tools, s.state.Tools, s.state.Problems = nil, 0, nil
		}
	})
	s.log.WarnContext(ctx, "MCP server is not connected", "error", told, "again_in", pause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// finish says that the server will not come back.
func (s *server) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.become(func() {
		s.state.Phase, s.state.Why, s.state.Since, s.state.Next = Failed, errClosed.Error(), s.options.Clock(), time.Time{}
	})
}

// change changes what the server has become, and tells everybody.
func (s *server) change(do func()) {
	s.mu.Lock()
	s.become(do)
	s.mu.Unlock()
	s.tell()
}

// become changes what the server has become, and wakes the calls that wait.
func (s *server) become(do func()) {
	do()
	close(s.changed)
	s.changed = make(chan struct{})
	if s.state.Phase != Connecting {
		select {
		case <-s.tried:
		default:
			close(s.tried)
		}
	}
}

// snapshot returns the state and the tools of this moment.
func (s *server) snapshot() (State, []tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Problems = slices.Clone(state.Problems)
	return state, s.tools
}

// connected returns the connection to call a tool on. It waits for a server
// that is being started, and is an error for one that has failed, and for a
// tool that is no longer what it was when the caller was told of it.
func (s *server) connected(ctx context.Context, t tool) (*connection, error) {
	for {
		s.mu.Lock()
		conn, state, now, changed := s.conn, s.state, s.tools, s.changed
		s.mu.Unlock()
		if conn != nil {
			return conn, still(t, now)
		}
		if state.Phase == Failed {
			return nil, fmt.Errorf("it is not connected: %s", state.Why)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// still is an error where a tool is gone, or where it said that it only reads
// and does not say so any more: nobody was asked about it.
func still(t tool, now []tool) error {
	i := slices.IndexFunc(now, func(other tool) bool { return other.remote == t.remote })
	if i < 0 {
		return fmt.Errorf("it has no tool %q any more", t.remote)
	}
	if t.info.ReadOnly && !now[i].info.ReadOnly {
		return fmt.Errorf("its tool %q said that it only reads, and does not say so any more; run it again to be asked", t.remote)
	}
	return nil
}

// offered are the tools of this moment, as tools of ours.
func (s *server) offered() []tools.Tool {
	_, own := s.snapshot()
	list := make([]tools.Tool, len(own))
	for i, t := range own {
		list[i] = t
	}
	return list
}
