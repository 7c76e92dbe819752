package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// BEHAVIOUR 4.4: a server on its standard input and output.
func TestAServerOnStandardInputAndOutput(t *testing.T) {
	s := started(t, quick(), itself(t, "srv", "plain"))
	if result := call(t, s, "srv__echo", `{"a":1}`); result.Text != `{"a":1}` {
		t.Errorf("it answers %+v", result)
	}
}

func TestAServerThatDiesInACallTakesOnlyThatCall(t *testing.T) {
	s := started(t, quick(), itself(t, "mortal", "plain"), itself(t, "other", "plain"))
	before := named(t, s, "mortal__echo")
	_, err := named(t, s, "mortal__die").Call(t.Context(), nil)
	if err == nil {
		t.Fatal("a server that died has answered")
	}
	mentions(t, err.Error(), `MCP server "mortal"`, "die was called", "exit status 3", "out of memory", "not known")
	if result := call(t, s, "other__echo", `{"a":1}`); result.Text != `{"a":1}` {
		t.Errorf("the other server answers %+v", result)
	}
	until(t, s, 0, func(state State) bool { return state.Phase == Connected })
	result, err := before.Call(t.Context(), nil)
	if err != nil || result.Text != `{}` {
		t.Errorf("after it was started again, it answers %+v (%v)", result, err)
	}
}

func TestAServerThatFreezesIsStartedAgain(t *testing.T) {
	o := quick()
	o.CheckTimeout = 500 * time.Millisecond
	s := started(t, o, itself(t, "frozen", "plain"))
	before := s.States()[0].Since
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := named(t, s, "frozen__freeze").Call(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the error is %v", err)
	}
	mentions(t, err.Error(), `MCP server "frozen"`)
	until(t, s, 0, func(state State) bool { return state.Phase == Connected && state.Since.After(before) })
	if result := call(t, s, "frozen__echo", `{}`); result.Text != `{}` {
		t.Errorf("after it was started again, it answers %+v", result)
	}
}

func TestAServerThatDoesNotReadIsStartedAgain(t *testing.T) {
	o := quick()
	o.CheckTimeout = 500 * time.Millisecond
	s := started(t, o, itself(t, "deaf", "deaf"))
	before := s.States()[0].Since
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := named(t, s, "deaf__echo").Call(ctx, json.RawMessage(`{"long":"`+strings.Repeat("x", 1<<20)+`"}`))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the error is %v", err)
	}
	until(t, s, 0, func(state State) bool { return state.Phase == Connected && state.Since.After(before) })
}

func TestJunkOnStandardOutputIsPassedOver(t *testing.T) {
	s := started(t, quick(), itself(t, "srv", "junk"))
	for range 3 {
		if result := call(t, s, "srv__echo", `{"a":1}`); result.Text != `{"a":1}` {
			t.Errorf("it answers %+v", result)
		}
	}
}

func TestAServerThatStartsSlowlyIsWaitedFor(t *testing.T) {
	path := fifo(t)
	late := itself(t, "late", "late")
	late.Env[atFIFO] = path
	s := start(t, quick(), late, itself(t, "early", "plain"))
	until(t, s, 1, func(state State) bool { return state.Phase == Connected })
	call(t, s, "early__echo", `{}`)
	if state := s.States()[0]; state.Phase != Connecting || state.Tools != 0 {
		t.Errorf("the slow one is %+v", state)
	}
	other, err := os.Open(path) // it goes on now
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	until(t, s, 0, func(state State) bool { return state.Phase == Connected })
	call(t, s, "late__echo", `{}`)
}

func TestServersThatCannotBeStartedSayWhy(t *testing.T) {
	broken := itself(t, "srv", "broken")
	broken.Env["TEST_TOKEN"], broken.secrets = "a-secret-token", []string{"a-secret-token"}
	lost := itself(t, "srv", "plain")
	lost.Dir = "/gone/away"
	tests := map[string]struct {
		config ServerConfig
		says   []string
	}{
		"no such command":  {ServerConfig{Name: "srv", Command: "planwave-no-such-command"}, []string{"planwave-no-such-command", "install it", "whole path"}},
		"no such folder":   {lost, []string{"cannot be started", "/gone/away"}},
		"it ends":          {broken, []string{"it ended (exit status 1)", "no key was given: ***"}},
		"it says nothing":  {itself(t, "srv", "mute"), []string{"within 700ms", "check that its command"}},
		"it is no server":  {ServerConfig{Name: "srv", Command: "echo", Args: []string{"hello"}}, []string{"it ended (exit status 0)", "it wrote: hello"}},
		"it may not start": {ServerConfig{Name: "srv", Command: "/dev/null"}, []string{"/dev/null cannot be started", "permission denied"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := quick()
			if name == "it says nothing" {
				test.config.StartTimeout = 700 * time.Millisecond // its own, not that of all
			}
			s := start(t, o, test.config, itself(t, "other", "plain"))
			state := until(t, s, 0, func(state State) bool { return state.Phase == Failed })
			mentions(t, state.Why, test.says...)
			if strings.Contains(state.Why, "a-secret-token") {
				t.Errorf("a secret is told: %s", state.Why)
			}
		})
	}
}

// A server of 2024 that does not answer to what it does not know is spoken to
// as it is used to.
func TestAnOldServerIsSpokenToAsItIsUsedTo(t *testing.T) {
	o := quick()
	o.StartTimeout = 4 * time.Second
	s := started(t, o, itself(t, "srv", "old"))
	if result := call(t, s, "srv__echo", `{}`); result.Text != "as ever" {
		t.Errorf("it answers %+v", result)
	}
	if named(t, s, "srv__echo").Info().ReadOnly {
		t.Error("a tool that says nothing is taken to read only")
	}
}

// Keys of models are no business of servers.
func TestAServerGetsASmallEnvironment(t *testing.T) {
	t.Setenv("PLANWAVE_TEST_API_KEY", "a-key")
	t.Setenv("LANG", "C.UTF-8")
	config := itself(t, "srv", "plain")
	config.Env["MODE"] = "fast"
	s := started(t, quick(), config)
	result := call(t, s, "srv__env", `{}`)
	mentions(t, result.Text, "PATH="+os.Getenv("PATH"), "HOME=", "LANG=C.UTF-8", "MODE=fast")
	if strings.Contains(result.Text, "a-key") {
		t.Errorf("it knows %s", result.Text)
	}
}

func TestAMessageThatIsTooLongTakesOnlyItsCall(t *testing.T) {
	o := quick()
	o.MaxMessage = 64 << 10
	s := started(t, o, itself(t, "srv", "plain"))
	echo := named(t, s, "srv__echo")
	_, err := named(t, s, "srv__huge").Call(t.Context(), nil)
	if err == nil {
		t.Fatal("a message of 1 MiB is taken")
	}
	mentions(t, err.Error(), `MCP server "srv"`, "more than 65536 bytes")
	if _, err := echo.Call(t.Context(), nil); err != nil {
		t.Errorf("after that, %v", err)
	}
}

func TestClosingLeavesNoProcess(t *testing.T) {
	for _, kind := range []string{"plain", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			config := itself(t, "srv", kind)
			config.Env[atFIFO] = fifo(t)
			s := started(t, quick(), config)
			held := make(chan error, 1)
			opened := make(chan struct{})
			go func() {
				f, err := os.Open(config.Env[atFIFO])
				close(opened)
				if err == nil {
					defer func() { _ = f.Close() }()
					_, err = io.Copy(io.Discard, f) // until nobody holds it
				}
				held <- err
			}()
			if result := call(t, s, "srv__spawn", `{}`); result.Text != "<nil>" {
				t.Fatalf("it answers %+v", result)
			}
			<-opened
			process, ok := s.list[0].conn.link.(*process)
			if !ok {
				t.Fatal("it is no process")
			}
			s.Close()
			if err := <-held; err != nil {
				t.Error(err)
			}
			if process.cmd.ProcessState == nil {
				t.Error("the process was not waited for")
			}
		})
	}
}
