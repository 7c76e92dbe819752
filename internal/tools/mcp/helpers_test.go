package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/tools"
)

// patience is how long a test waits for what should happen at once.
const patience = 2 * time.Minute

// quick are options for tests: servers come back soon, and have time enough.
func quick() Options {
	return Options{
		Clock: time.Now, StartTimeout: patience, CheckTimeout: patience, CallTimeout: patience,
		Grace: 200 * time.Millisecond, BackoffLeast: time.Millisecond, BackoffMost: 20 * time.Millisecond,
	}
}

// itself is a server that is this program.
func itself(t testing.TB, name, kind string) ServerConfig {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return ServerConfig{Name: name, Command: program, Env: map[string]string{asServer: kind}}
}

// start starts servers, and ends them with the test.
func start(t *testing.T, o Options, servers ...ServerConfig) *Servers {
	t.Helper()
	s := Start(t.Context(), Config{Servers: servers}, o)
	t.Cleanup(s.Close)
	return s
}

// started starts servers and waits until all are connected.
func started(t *testing.T, o Options, servers ...ServerConfig) *Servers {
	t.Helper()
	s := start(t, o, servers...)
	for i := range servers {
		until(t, s, i, func(state State) bool { return state.Phase == Connected })
	}
	return s
}

// until waits until the state of a server is as it should be.
func until(t *testing.T, s *Servers, i int, is func(State) bool) State {
	t.Helper()
	changed := make(chan struct{}, 1)
	defer s.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		state := s.States()[i]
		if is(state) {
			return state
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the server does not get there: %+v", state)
		}
	}
}

// named returns the tool of that name.
func named(t testing.TB, s *Servers, name string) tools.Tool {
	t.Helper()
	var all []string
	for _, tool := range s.Tools() {
		if tool.Info().Name == name {
			return tool
		}
		all = append(all, tool.Info().Name)
	}
	t.Fatalf("there is no tool %s: %v", name, all)
	return nil
}

// call calls a tool that is expected to answer.
func call(t *testing.T, s *Servers, name, args string) tools.Result {
	t.Helper()
	result, err := named(t, s, name).Call(t.Context(), json.RawMessage(args))
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	return result
}

// mentions fails unless text holds every one of the words.
func mentions(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%.2000q does not mention %q", text, w)
		}
	}
}

// fifo makes a pipe with a name.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// memory is the way to a server in this program.
type memory struct {
	way sdk.Transport
	far *sdk.ServerSession
	cut sync.Once
}

func (m *memory) transport() sdk.Transport { return m.way }
func (m *memory) kill()                    { go m.stop() }
func (m *memory) stop()                    { m.cut.Do(func() { _ = m.far.Close() }) }
func (m *memory) explain(err error) error  { return err }

// inside lets servers be reached that are in this program, by their names.
func inside(o Options, servers map[string]*sdk.Server) Options {
	o.dial = func(c ServerConfig, _ Options) (link, error) {
		far, near := sdk.NewInMemoryTransports()
		session, err := servers[c.Name].Connect(context.Background(), far, nil)
		return &memory{way: near, far: session}, err
	}
	return o
}

// startedInside starts servers that are in this program.
func startedInside(t *testing.T, o Options, servers map[string]*sdk.Server) *Servers {
	t.Helper()
	var configs []ServerConfig
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		configs = append(configs, ServerConfig{Name: name, Command: name})
	}
	return started(t, inside(o, servers), configs...)
}

// names are the names of the tools there are.
func names(s *Servers) []string {
	var all []string
	for _, tool := range s.Tools() {
		all = append(all, tool.Info().Name)
	}
	return all
}
