package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// onWeb serves a fake by streamable HTTP. first sees every request.
func onWeb(t *testing.T, server *sdk.Server, o *sdk.StreamableHTTPOptions, first func(w http.ResponseWriter, r *http.Request) bool) *httptest.Server {
	t.Helper()
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first == nil || first(w, r) {
			mcp.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		web.Close()
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	return web
}

// BEHAVIOUR 4.4: a server by streamable HTTP.
func TestAServerOnTheWeb(t *testing.T) {
	for name, o := range map[string]*sdk.StreamableHTTPOptions{
		"with sessions": nil, "without": {Stateless: true}, "with JSON": {JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := fake(nil)
			offer(server, "echo", echo)
			var missing atomic.Int64
			web := onWeb(t, server, o, func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("X-Key") != "k-123456" {
					missing.Add(1)
				}
				return true
			})
			s := started(t, quick(), ServerConfig{Name: "web", URL: web.URL, Headers: map[string]string{"X-Key": "k-123456"}})
			if result := call(t, s, "web__echo", `{"a":1}`); result.Text != `{"a":1}` {
				t.Errorf("it answers %+v", result)
			}
			if !s.States()[0].Remote {
				t.Error("it is told as a server that was started here")
			}
			s.Close()
			if n := missing.Load(); n != 0 {
				t.Errorf("%d requests come without the header", n)
			}
		})
	}
}

// asOld refuses the question by which newer servers are known.
func asOld(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil || strings.Contains(string(body), "server/discover") {
		w.WriteHeader(http.StatusBadRequest)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func TestChangesOfTheListAreFollowedOnTheWeb(t *testing.T) {
	for name, first := range map[string]func(http.ResponseWriter, *http.Request) bool{"new": nil, "old": asOld} {
		t.Run(name, func(t *testing.T) {
			server := fake(nil)
			offer(server, "first", echo)
			web := onWeb(t, server, nil, first)
			s := started(t, quick(), ServerConfig{Name: "web", URL: web.URL})
			offer(server, "second", echo)
			until(t, s, 0, func(state State) bool { return state.Tools == 2 })
			s.Close()
		})
	}
}

func TestAStreamThatDoesNotBeginKeepsNobodyWaiting(t *testing.T) {
	server := fake(nil)
	offer(server, "echo", echo)
	var asked atomic.Int64
	web := onWeb(t, server, nil, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			asked.Add(1)
			<-r.Context().Done()
			return false
		}
		return asOld(w, r)
	})
	o := quick()
	o.StartTimeout = 4 * time.Second
	s := started(t, o, ServerConfig{Name: "web", URL: web.URL})
	call(t, s, "web__echo", `{}`)
	s.Close()
	if asked.Load() == 0 {
		t.Error("no stream is asked for")
	}
}

func TestServersOnTheWebThatCannotBeReachedSayWhy(t *testing.T) {
	answers := func(status int) string {
		web := onWeb(t, fake(nil), nil, func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return false })
		return web.URL
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	tests := map[string]struct {
		url  string
		says []string
	}{
		"nobody is there":  {gone.URL + "/?api_key=very-secret", []string{"connection refused", "start the server"}},
		"the key is wrong": {answers(http.StatusUnauthorized), []string{"Unauthorized", `"headers"`}},
		"another page":     {answers(http.StatusNotFound), []string{"Not Found", `"url"`}},
		"no endpoint":      {answers(http.StatusMethodNotAllowed), []string{"Method Not Allowed", `"url"`}},
		"it is ill":        {answers(http.StatusBadGateway), []string{"Bad Gateway"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, quick(), ServerConfig{Name: "web", URL: test.url, secrets: []string{"very-secret"}})
			state := until(t, s, 0, func(state State) bool { return state.Phase == Failed })
			mentions(t, state.Why, test.says...)
			if strings.Contains(state.Why, "very-secret") {
				t.Errorf("a secret is told: %s", state.Why)
			}
		})
	}
}

func TestAServerOnTheWebThatGoesAwayInACall(t *testing.T) {
	var down atomic.Bool
	called := make(chan struct{}, 1)
	server := fake(nil)
	offer(server, "echo", echo)
	offer(server, "hang", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		called <- struct{}{}
		select {
		case <-ctx.Done():
		case <-t.Context().Done(): // nobody tells the server that the call is given up
		}
		return nil, context.Canceled
	})
	web := onWeb(t, server, nil, func(w http.ResponseWriter, _ *http.Request) bool {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return !down.Load()
	})
	s := started(t, quick(), ServerConfig{Name: "web", URL: web.URL})
	echo := named(t, s, "web__echo")
	go func() {
		<-called
		down.Store(true)
		web.CloseClientConnections()
	}()
	_, err := named(t, s, "web__hang").Call(t.Context(), nil)
	if err == nil {
		t.Fatal("a server that went away has answered")
	}
	mentions(t, err.Error(), `MCP server "web"`)
	until(t, s, 0, func(state State) bool { return state.Phase == Failed })
	down.Store(false)
	until(t, s, 0, func(state State) bool { return state.Phase == Connected })
	if result, err := echo.Call(t.Context(), nil); err != nil || result.Text != `{}` {
		t.Errorf("after it came back, it answers %+v (%v)", result, err)
	}
	s.Close()
}

// What is configured for one host is told to no other.
func TestHeadersAreNotToldToOtherHosts(t *testing.T) {
	var leaked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "" {
			leaked.Add(1)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(other.Close)
	web := onWeb(t, fake(nil), nil, func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		return false
	})
	s := start(t, quick(), ServerConfig{Name: "web", URL: web.URL, Headers: map[string]string{"X-Key": "k-123456"}})
	until(t, s, 0, func(state State) bool { return state.Phase == Failed })
	s.Close()
	if n := leaked.Load(); n != 0 {
		t.Errorf("%d requests tell another host the key", n)
	}
}

func TestAnAnswerOnTheWebThatIsTooLong(t *testing.T) {
	server := fake(nil)
	offer(server, "echo", echo)
	offer(server, "huge", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("%s", strings.Repeat("x", 1<<20))
	})
	for name, o := range map[string]*sdk.StreamableHTTPOptions{"a stream": nil, "JSON": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			web := onWeb(t, server, o, nil)
			options := quick()
			options.MaxMessage = 64 << 10
			s := started(t, options, ServerConfig{Name: "web", URL: web.URL})
			echo := named(t, s, "web__echo")
			if _, err := named(t, s, "web__huge").Call(t.Context(), nil); err == nil {
				t.Error("a message of 1 MiB is taken")
			}
			if _, err := echo.Call(t.Context(), nil); err != nil {
				t.Errorf("after that, %v", err)
			}
			s.Close()
		})
	}
}
