package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"planwave/internal/handlers"
	"planwave/internal/people"
)

func TestWrongAccessStopsTheStart(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"no way to log in":      {"-auth passwort", `PLANWAVE_AUTH is "passwort": it is off, password or header`},
		"open to all":           {"-addr 0.0.0.0:8080", "PLANWAVE_AUTH=password or header lets people log in"},
		"base URL without":      {"-base-url https://x.example", "without log-in Planwave answers to loopback only"},
		"nowhere to be found":   {"-auth password -addr :8080", `PLANWAVE_BASE_URL is "": it must say`},
		"a path":                {"-auth password -base-url https://x.example/planwave", "without a path"},
		"no host":               {"-auth password -base-url https://", "http or https and a host"},
		"no scheme":             {"-auth password -base-url x.example", "http or https and a host"},
		"no header":             {"-auth header -auth-proxies 127.0.0.1", `PLANWAVE_AUTH_HEADER is "": it must name the header`},
		"a header with meaning": {"-auth header -auth-proxies 127.0.0.1 -auth-header cookie", "as X-Remote-User"},
		"nobody believed":       {"-auth header -auth-header X-Remote-User", `PLANWAVE_AUTH_PROXIES is "": it must name the proxies`},
		"no network":            {"-auth header -auth-header X-Remote-User -auth-proxies nginx", `PLANWAVE_AUTH_PROXIES is "nginx"`},
		"a header for nothing":  {"-auth password -auth-header X-Remote-User", "with PLANWAVE_AUTH=header only"},
	}
	for name, tt := range tests {
		if _, err := readConfig(strings.Fields(tt.args), func(string) string { return "" }, io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestAccessIsRead(t *testing.T) {
	args := "-auth header -addr 0.0.0.0:80 -auth-header X-Remote-User -auth-proxies 127.0.0.1,10.0.0.0/8 -base-url https://Planwave.example.com/"
	c, err := readConfig(strings.Fields(args), func(string) string { return "" }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if c.Access.Auth != handlers.AuthHeader || c.Access.Header != "X-Remote-User" || len(c.Access.Proxies) != 2 || c.Access.BaseURL.String() != "https://planwave.example.com" {
		t.Errorf("%+v", c.Access)
	}
	off, err := readConfig(nil, func(string) string { return "" }, io.Discard)
	if err != nil || off.Access.Auth != handlers.AuthOff || off.Access.BaseURL != nil {
		t.Errorf("without a setting: %+v, %v", off.Access, err)
	}
}

// The first start says in the log and on the terminal how the first owner joins,
// every start does so until there is one, and none after that.
func TestTheFirstOwnerJoinsByALink(t *testing.T) {
	args := []string{"-auth", "password", "-addr", "127.0.0.1:0", "-db", filepath.Join(t.TempDir(), "p.db"), "-samples", "off"}
	c, err := readConfig(args, func(string) string { return "" }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c.Access.Cost = people.Cost{Memory: 8, Times: 1, Threads: 1}
	var links []string
	for start := range 3 {
		var log bytes.Buffer
		a, err := newApp(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if a.setUp != "" && !strings.Contains(log.String(), a.setUp) {
			t.Errorf("start %d: the log does not have %q", start, a.setUp)
		}
		links = append(links, a.setUp)
		if start == 1 {
			for _, tt := range []struct {
				link, name string
				want       int
			}{{links[0], "eve", http.StatusNotFound}, {a.setUp, "olga", http.StatusSeeOther}, {a.setUp, "eve", http.StatusNotFound}} {
				if got := joinAs(t, a.server.Handler, tt.link, tt.name); got != tt.want {
					t.Errorf("%s joins: answered %d, want %d", tt.name, got, tt.want)
				}
			}
		}
		if err := errors.Join(a.Close(), a.listener.Close()); err != nil {
			t.Error(err)
		}
	}
	if links[0] == "" || links[1] == "" || links[0] == links[1] || links[2] != "" {
		t.Errorf("the links are %q", links)
	}
}

// joinAs fills in the form of a link.
func joinAs(t *testing.T, server http.Handler, link, name string) int {
	t.Helper()
	form := "password=correct+horse+battery&again=correct+horse+battery&name=" + name
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, link, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w.Code
}
