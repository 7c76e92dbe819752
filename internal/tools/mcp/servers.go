package mcp

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"planwave/internal/tools"
)

// Options say how servers are treated. What is 0 or nil is as it says.
type Options struct {
	// Clock tells the time of states. It is required.
	Clock func() time.Time
	// Logger is told when servers come and go; nil means nobody is.
	Logger *slog.Logger
	// Lookup finds variables of the environment; nil means the program's.
	Lookup func(name string) (string, bool)
	// Version is the program's, which servers are told.
	Version string
	// StartTimeout is how long a server has until it answers: 30 s, since npx
	// may have to get it first.
	StartTimeout time.Duration
	// CallTimeout is how long a call may take: 60 s.
	CallTimeout time.Duration
	// CheckTimeout is how long a server has to show that it lives: 5 s.
	CheckTimeout time.Duration
	// CheckEvery is how often a server is looked at that nobody calls: 1 min.
	CheckEvery time.Duration
	// Grace is how long a server has to end by itself before it is asked to,
	// and again before it is made to: 2 s.
	Grace time.Duration
	// BackoffLeast and BackoffMost bound the time until a server is started
	// again: 500 ms and 1 min.
	BackoffLeast, BackoffMost time.Duration
	// Random is what the waits are spread by, from 0 up to 1; nil means random.
	Random func() float64
	// MaxResult is how much, in bytes, of a result is kept, of its text and of
	// its data each: 1 MiB.
	MaxResult int
	// MaxMessage is how much, in bytes, a server may send in one message: 64
	// MiB. One that sends more is started again.
	MaxMessage int

	// dial opens the way to a server.
	dial func(ServerConfig, Options) (link, error)
}

// filled returns the options with everything set.
func (o Options) filled() Options {
	for _, d := range []struct {
		value   *time.Duration
		usually time.Duration
	}{
		{&o.StartTimeout, 30 * time.Second},
		{&o.CallTimeout, time.Minute},
		{&o.CheckTimeout, 5 * time.Second},
		{&o.CheckEvery, time.Minute},
		{&o.Grace, 2 * time.Second},
		{&o.BackoffLeast, 500 * time.Millisecond},
		{&o.BackoffMost, time.Minute},
	} {
		if *d.value <= 0 {
			*d.value = d.usually
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.MaxResult <= 0 {
		o.MaxResult = 1 << 20
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 64 << 20
	}
	if o.dial == nil {
		o.dial = dial
	}
	return o
}

// dial starts a server, or makes ready to speak to one on the web.
func dial(c ServerConfig, o Options) (link, error) {
	if c.remote() {
		return newWeb(c, o)
	}
	return startProcess(c, o)
}

// Servers are the MCP servers of the program. They are safe for concurrent use.
type Servers struct {
	list []*server
	stop context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex
	watchers map[int]func()
	last     int
	telling  sync.Mutex
}

// Start starts all servers at the same time, and returns at once. A server that
// cannot be started is tried again, and concerns nobody else. They go on until
// ctx ends or [Servers.Close] is called, which is called in any case.
func Start(ctx context.Context, c Config, o Options) *Servers {
	o = o.filled()
	ctx, stop := context.WithCancel(ctx)
	s := &Servers{stop: stop, watchers: map[int]func(){}}
	for _, config := range c.Servers {
		s.list = append(s.list, newServer(config, o, s.tell))
	}
	for _, one := range s.list {
		s.all.Go(func() { one.run(ctx) })
	}
	return s
}

// Settled waits until every server was connected, or has failed, at least once,
// or until ctx ends.
func (s *Servers) Settled(ctx context.Context) {
	for _, one := range s.list {
		select {
		case <-one.tried:
		case <-ctx.Done():
			return
		}
	}
}

// States returns what has become of every server, in the order of the
// configuration.
func (s *Servers) States() []State {
	states := make([]State, len(s.list))
	for i, one := range s.list {
		states[i], _ = one.snapshot()
	}
	return states
}

// Tools returns the tools there are at this moment, server by server in the
// order of the configuration. Those of a server that ended are among them while
// it is started again, and are not once that has failed. A tool can be called
// as long as the servers are not closed: it is the same tool after its server
// was started again.
func (s *Servers) Tools() []tools.Tool {
	var all []tools.Tool
	for _, one := range s.list {
		all = append(all, one.offered()...)
	}
	return all
}

// Watch has changed called after every change of [Servers.Tools] or
// [Servers.States], one call at a time, until unwatch is called. It must not
// wait for anything, and must not call Watch, unwatch or Close.
func (s *Servers) Watch(changed func()) (unwatch func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	key := s.last
	s.watchers[key] = changed
	return func() {
		s.telling.Lock() // so that it is not called any more when this returns
		defer s.telling.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, key)
	}
}

// tell tells everybody who watches.
func (s *Servers) tell() {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	watchers := make([]func(), 0, len(s.watchers))
	for _, w := range s.watchers {
		watchers = append(watchers, w)
	}
	s.mu.Unlock()
	for _, w := range watchers {
		w()
	}
}

// Close ends all calls and all servers, and returns when nothing of them is
// left.
func (s *Servers) Close() {
	s.stop()
	s.all.Wait()
}
