package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/tools"
)

// BEHAVIOUR 4.4: tools of MCP servers are tools like all others.
func TestToolsOfTwoServersInOneRegistry(t *testing.T) {
	one, two := fake(nil), fake(nil)
	offer(one, "echo", echo)
	offer(two, "echo", echo)
	s := startedInside(t, quick(), map[string]*sdk.Server{"one": one, "two": two})
	registry, err := tools.New(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	if got := registry.Names(); !slices.Equal(got, []string{"one__echo", "two__echo"}) {
		t.Errorf("the tools are %v", got)
	}
	result, err := registry.Call(t.Context(), "two__echo", json.RawMessage(`{"n": 12345678901234567890}`))
	if err != nil || result.Text != `{"n":12345678901234567890}` || result.IsError {
		t.Errorf("it answers %+v (%v)", result, err)
	}
	state := s.States()[1]
	if state.Name != "two" || state.Tools != 1 || state.Software != "fake 1" || state.Why != "" || len(state.Problems) != 0 || state.Remote {
		t.Errorf("the state is %+v", state)
	}
}

// BEHAVIOUR 4.3: what a tool answers as an error can be read.
func TestErrorsThatAServerAnswersAreResults(t *testing.T) {
	server := fake(nil)
	offer(server, "refuse", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such file"}}}, nil
	})
	offer(server, "throw", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("it threw")
	})
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	for name, says := range map[string]string{"srv__refuse": "no such file", "srv__throw": "it threw"} {
		result := call(t, s, name, `{}`)
		if !result.IsError {
			t.Errorf("%s answers %+v, which is no error", name, result)
		}
		mentions(t, result.Text, says)
	}
}

func TestProgressIsToldToTheCallThatMadeIt(t *testing.T) {
	server, seen := fake(nil), make(chan struct{})
	offer(server, "work", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 3 {
			if token := r.Params.GetProgressToken(); token != nil {
				n := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: 3, Message: "at it"}
				if err := r.Session.NotifyProgress(ctx, n); err != nil {
					return nil, err
				}
				<-seen
			}
		}
		return say("done with %v", r.Params.GetProgressToken())
	})
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	told := make(chan tools.Progress, 10)
	ctx := tools.OnProgress(t.Context(), func(p tools.Progress) { told <- p; seen <- struct{}{} })
	if _, err := named(t, s, "srv__work").Call(ctx, nil); err != nil {
		t.Fatal(err)
	}
	close(told) // a call that has returned tells nothing more
	n := 0
	for p := range told {
		n++
		if want := (tools.Progress{Tool: "srv__work", Done: float64(n), Total: 3, Message: "at it"}); p != want {
			t.Errorf("told is %+v, not %+v", p, want)
		}
	}
	if n != 3 {
		t.Errorf("it is told %d times", n)
	}
	if result := call(t, s, "srv__work", `{}`); result.Text != "done with <nil>" {
		t.Errorf("a call that wants no progress asks for it: %s", result.Text)
	}
}

// BEHAVIOUR 5.7: cancelling cancels what is in flight.
func TestCancellingACallIsSentToTheServer(t *testing.T) {
	called, gone := make(chan struct{}), make(chan struct{})
	server := fake(nil)
	offer(server, "hang", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(called)
		defer close(gone)
		return hang(ctx, r)
	})
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-called; cancel() }()
	_, err := named(t, s, "srv__hang").Call(ctx, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	<-gone
	if state := s.States()[0]; state.Phase != Connected {
		t.Errorf("the server is %+v", state)
	}
}

func TestACallHasALimitAndOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fake(nil)
		offer(server, "hang", hang)
		offer(server, "echo", echo)
		o := quick()
		o.CallTimeout = 7 * time.Second
		s := Start(context.Background(), Config{Servers: []ServerConfig{{Name: "srv"}}}, inside(o, map[string]*sdk.Server{"srv": server}))
		defer s.Close()
		s.Settled(t.Context())
		var other sync.WaitGroup
		other.Go(func() { call(t, s, "srv__echo", `{}`) })
		_, err := named(t, s, "srv__hang").Call(t.Context(), nil)
		if err == nil {
			t.Fatal("a call without end has ended")
		}
		mentions(t, err.Error(), `MCP server "srv"`, "hang did not answer within 7s")
		other.Wait()
		synctest.Wait()
		if state := s.States()[0]; state.Phase != Connected {
			t.Errorf("a server that lives is given up: %+v", state)
		}
	})
}

func TestChangesOfTheListAreFollowed(t *testing.T) {
	server := fake(nil)
	offer(server, "first", echo)
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	first := named(t, s, "srv__first")
	offer(server, "second", echo)
	until(t, s, 0, func(state State) bool { return state.Tools == 2 })
	if got := names(s); !slices.Equal(got, []string{"srv__first", "srv__second"}) {
		t.Errorf("the tools are %v", got)
	}
	server.RemoveTools("second")
	until(t, s, 0, func(state State) bool { return state.Tools == 1 })

	// A tool that only read and does not any more is not called unasked.
	server.AddTool(&sdk.Tool{Name: "first", InputSchema: map[string]any{"type": "object"}}, echo)
	until(t, s, 0, func(State) bool { return !s.Tools()[0].Info().ReadOnly })
	if _, err := first.Call(t.Context(), nil); err == nil {
		t.Error("a tool that now writes is called as one that reads")
	} else {
		mentions(t, err.Error(), `MCP server "srv"`, `"first"`, "only reads")
	}
	server.RemoveTools("first")
	until(t, s, 0, func(state State) bool { return state.Tools == 0 })
	if _, err := first.Call(t.Context(), nil); err == nil {
		t.Error("a tool that is gone is called")
	} else {
		mentions(t, err.Error(), `no tool "first" any more`)
	}
}

func TestAServerWithoutToolsIsConnected(t *testing.T) {
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": fake(&sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})})
	if got := names(s); len(got) != 0 {
		t.Errorf("it has %v", got)
	}
}

func TestAServerWithTooManyToolsIsNotTaken(t *testing.T) {
	server := fake(nil)
	for i := range mostTools + 1 {
		offer(server, fmt.Sprintf("t%d", i), echo)
	}
	s := start(t, inside(quick(), map[string]*sdk.Server{"srv": server}), ServerConfig{Name: "srv"})
	state := until(t, s, 0, func(state State) bool { return state.Phase == Failed })
	mentions(t, state.Why, "does not list its tools", "more than 500")
}

func TestAServerThatDoesNotListItsToolsIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fake(nil)
		offer(server, "echo", echo)
		server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "tools/list" {
					<-ctx.Done()
				}
				return next(ctx, method, r)
			}
		})
		o := quick()
		o.StartTimeout = 10 * time.Second
		s := Start(context.Background(), Config{Servers: []ServerConfig{{Name: "srv"}}}, inside(o, map[string]*sdk.Server{"srv": server}))
		defer s.Close()
		s.Settled(t.Context())
		state := s.States()[0]
		if state.Phase != Failed || state.Why != "it did not list its tools within 10s" {
			t.Errorf("it is %+v", state)
		}
	})
}

func TestResultsAreBoundedAndKeepNoSecrets(t *testing.T) {
	server := fake(nil)
	offer(server, "tell", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("the key is s3cret-key and %s", strings.Repeat("x", 500))
	})
	o := quick()
	o.MaxResult = 100
	s := started(t, inside(o, map[string]*sdk.Server{"srv": server}), ServerConfig{Name: "srv", secrets: []string{"s3cret-key"}})
	result := call(t, s, "srv__tell", `{}`)
	mentions(t, result.Text, "the key is *** and xxx", "cut: the first 100 of")
	if strings.Contains(result.Text, "s3cret") {
		t.Errorf("it answers %s", result.Text)
	}
}

func TestAServerIsTriedAgainWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fake(nil)
		offer(server, "echo", echo)
		begin := time.Now()
		var tried []time.Duration
		o := quick()
		o.BackoffLeast, o.BackoffMost, o.Random = time.Second, 5*time.Second, func() float64 { return 0 }
		o = inside(o, map[string]*sdk.Server{"srv": server})
		connects := o.dial
		o.dial = func(c ServerConfig, o Options) (link, error) {
			tried = append(tried, time.Since(begin))
			if len(tried) <= 5 {
				return nil, errors.New("it is not there yet")
			}
			return connects(c, o)
		}
		s := Start(context.Background(), Config{Servers: []ServerConfig{{Name: "srv"}}}, o)
		defer s.Close()
		s.Settled(t.Context())
		state := s.States()[0]
		if state.Phase != Failed || state.Next.Sub(begin) != time.Second || state.Why != "it is not there yet" {
			t.Errorf("after the first time it is %+v", state)
		}
		<-time.After(time.Minute) // of the bubble's time
		synctest.Wait()
		if state := s.States()[0]; state.Phase != Connected || state.Tools != 1 {
			t.Errorf("at the end it is %+v", state)
		}
		want := []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 12 * time.Second, 17 * time.Second}
		if !slices.Equal(tried, want) {
			t.Errorf("it is tried at %v, not at %v", tried, want)
		}
	})
}

func TestAnIdleServerThatDoesNotAnswerIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fake(nil)
		offer(server, "echo", echo)
		dead := make(chan struct{})
		server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				select {
				case <-dead:
					if !strings.HasPrefix(method, "notifications/") {
						<-ctx.Done()
					}
					return nil, ctx.Err()
				default:
					return next(ctx, method, r)
				}
			}
		})
		o := quick()
		o.CheckEvery, o.CheckTimeout, o.StartTimeout, o.BackoffMost = time.Minute, 5*time.Second, 10*time.Second, time.Second
		s := Start(context.Background(), Config{Servers: []ServerConfig{{Name: "srv"}}}, inside(o, map[string]*sdk.Server{"srv": server}))
		defer s.Close()
		<-time.After(5*time.Minute + time.Second) // of the bubble's time
		if state := s.States()[0]; state.Phase != Connected {
			t.Fatalf("it lives, and is %+v", state)
		}
		echo := named(t, s, "srv__echo")
		close(dead)
		<-time.After(2 * time.Minute) // of the bubble's time
		state := s.States()[0]
		if state.Phase != Failed || len(s.Tools()) != 0 {
			t.Errorf("it is dead, and is %+v", state)
		}
		_, err := echo.Call(t.Context(), nil)
		if err == nil {
			t.Fatal("a dead server answers")
		}
		mentions(t, err.Error(), `MCP server "srv"`, "not connected", "did not answer as an MCP server within 10s")
	})
}

func TestClosingEndsCallsThatRunAndThatWait(t *testing.T) {
	called := make(chan struct{})
	server := fake(nil)
	offer(server, "hang", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		close(called)
		return hang(ctx, r)
	})
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	tool := named(t, s, "srv__hang")
	ended := make(chan error)
	go func() {
		_, err := tool.Call(context.WithoutCancel(t.Context()), nil)
		ended <- err
	}()
	<-called
	s.Close()
	s.Close()
	if err := <-ended; err == nil || strings.Contains(err.Error(), "started again") {
		t.Errorf("the call ends with %v", err)
	}
	if _, err := tool.Call(t.Context(), nil); err == nil {
		t.Error("a tool of closed servers can be called")
	} else {
		mentions(t, err.Error(), `MCP server "srv"`, "the program is ending")
	}
}

func TestWatchersAreToldUntilTheyStop(t *testing.T) {
	server := fake(nil)
	offer(server, "first", echo)
	s := startedInside(t, quick(), map[string]*sdk.Server{"srv": server})
	var stopped, going int
	seen := make(chan struct{}, 10)
	stop := s.Watch(func() { stopped++ })
	stop()
	defer s.Watch(func() { going++; seen <- struct{}{} })()
	offer(server, "second", echo)
	<-seen
	if stopped != 0 {
		t.Error("a watcher that stopped is told")
	}
	if got := names(s); len(got) != 2 {
		t.Errorf("when it is told, the tools are %v", got)
	}
}
