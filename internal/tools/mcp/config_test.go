package mcp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func env(vars map[string]string) lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// BEHAVIOUR 4.4: servers are configured with the customary mcpServers JSON.
func TestReadConfigReadsWhatOtherProgramsWrite(t *testing.T) {
	t.Setenv("TEST_KEY", "k-123456")
	path := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"globalShortcut": "", "mcpServers": {
		"zeta": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "cwd": "/srv", "startTimeout": "1m30s", "autoApprove": ["a"], "timeout": 60,
			"env": {"TOKEN": "${TEST_KEY}", "MODE": "${TEST_MODE:-fast}", "PRICE": "$5 {x} ${", "OTHER": "${env:TEST_KEY}!"}},
		"alpha": {"type": "streamableHttp", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TEST_KEY}"}},
		"off": {"command": "x", "disabled": true, "env": {"A": "${NOT_SET}"}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Servers) != 2 || config.Servers[0].Name != "zeta" || config.Servers[1].Name != "alpha" {
		t.Fatalf("the servers are not the two that are switched on, in their order: %+v", config.Servers)
	}
	zeta, alpha := config.Servers[0], config.Servers[1]
	if want := map[string]string{"TOKEN": "k-123456", "MODE": "fast", "PRICE": "$5 {x} ${", "OTHER": "k-123456!"}; !maps.Equal(zeta.Env, want) {
		t.Errorf("env is %v, not %v", zeta.Env, want)
	}
	if zeta.Command != "npx" || !slices.Equal(zeta.Args, []string{"-y", "x"}) || zeta.Dir != "/srv" || zeta.remote() || zeta.StartTimeout != 90*time.Second || alpha.StartTimeout != 0 {
		t.Errorf("zeta is %+v", zeta)
	}
	if alpha.URL != "https://example.com/mcp" || alpha.Headers["Authorization"] != "Bearer k-123456" || !alpha.remote() {
		t.Errorf("alpha is %+v", alpha)
	}
}

func TestReadConfigNamesEverythingThatIsWrong(t *testing.T) {
	tests := map[string]struct {
		text string
		says []string
	}{
		"not JSON":          {"{\n\"mcpServers\": {\n,", []string{"line 3", "JSON"}},
		"a list":            {`[]`, []string{"line 1", "JSON"}},
		"nothing":           {`{}`, []string{`"mcpServers"`, "write"}},
		"no object":         {`{"mcpServers": []}`, []string{`"mcpServers" is not an object`}},
		"twice":             {`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, []string{`"a"`, "twice", "rename"}},
		"a start of hours":  {`{"mcpServers": {"a": {"command": "x", "startTimeout": "3h"}}}`, []string{`"a"`, `"startTimeout" is "3h"`, `as "90s"`}},
		"a start of words":  {`{"mcpServers": {"a": {"command": "x", "startTimeout": "soon"}}}`, []string{`"soon"`, "10m0s"}},
		"a start below 0":   {`{"mcpServers": {"a": {"command": "x", "startTimeout": "-1s"}}}`, []string{`"-1s"`}},
		"a start of number": {`{"mcpServers": {"a": {"command": "x", "startTimeout": 90}}}`, []string{`"startTimeout"`, "string"}},
		"neither":           {`{"mcpServers": {"a": {}}}`, []string{`"a"`, "neither", `"command"`, `"url"`}},
		"both":              {`{"mcpServers": {"a": {"command": "x", "url": "http://h/"}}}`, []string{`"a"`, "both", "keep one"}},
		"sse":               {`{"mcpServers": {"a": {"type": "sse", "url": "http://h/"}}}`, []string{`"a"`, `"sse"`, "streamable HTTP"}},
		"stdio by url":      {`{"mcpServers": {"a": {"type": "stdio", "url": "http://h/"}}}`, []string{`"a"`, "stdio", `"command"`}},
		"http by command":   {`{"mcpServers": {"a": {"type": "http", "command": "x"}}}`, []string{`"a"`, "HTTP", `"url"`}},
		"an address":        {`{"mcpServers": {"a": {"url": "example.com/mcp"}}}`, []string{`"a"`, `"url"`, "https://"}},
		"a wrong type":      {`{"mcpServers": {"a": {"command": ["x"]}}}`, []string{`"a"`, `"command"`, "array"}},
		"no name":           {`{"mcpServers": {"…": {"command": "x"}}}`, []string{`"…"`, "A-Z"}},
		"a long name":       {`{"mcpServers": {"` + strings.Repeat("n", 49) + `": {"command": "x"}}}`, []string{"48", "shorten"}},
		"names that meet":   {`{"mcpServers": {"a.b": {"command": "x"}, "a__b": {"command": "y"}}}`, []string{`"a__b"`, `"a.b"`, "rename"}},
		"a variable":        {`{"mcpServers": {"a": {"command": "x", "env": {"T": "${GONE}"}}}}`, []string{`"a"`, "env T", "${GONE}", "set it"}},
		"a header":          {`{"mcpServers": {"a": {"url": "http://h/", "headers": {"K": "${GONE}"}}}}`, []string{`"a"`, "headers K", "${GONE}"}},
		"several at a time": {`{"mcpServers": {"a": {}, "b": {"type": "ws"}, "c": {"command": "x"}}}`, []string{`"a"`, `"b"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseConfig([]byte(test.text), env(nil))
			if err == nil {
				t.Fatal("nothing is said to be wrong")
			}
			mentions(t, err.Error(), test.says...)
		})
	}
	t.Run("no file", func(t *testing.T) {
		_, err := ReadConfig(filepath.Join(t.TempDir(), "gone.json"))
		if err == nil {
			t.Fatal("a file that is not there is read")
		}
		mentions(t, err.Error(), "MCP servers", "gone.json")
	})
}

func TestSecretsOfAServerAreHidden(t *testing.T) {
	config, err := parseConfig([]byte(`{"mcpServers": {"a": {"url": "https://u:pass%20word@h/mcp?api_key=q-key-1&page=2345678",
		"headers": {"Authorization": "Bearer t-\"oken"}}, "b": {"command": "x", "env": {"API_KEY": "written", "DIR": "/srv/data",
		"FROM": "${V}", "SHORT": "${S}"}}}}`), env(map[string]string{"V": "filled-in", "S": "abc"}))
	if err != nil {
		t.Fatal(err)
	}
	a, b := config.Servers[0].hider(), config.Servers[1].hider()
	tests := map[string]struct{ got, want string }{
		"a header":         {a.Replace(`sent Bearer t-"oken`), "sent ***"},
		"a token alone":    {a.Replace(`got t-"oken`), "got ***"},
		"written as JSON":  {a.Replace(`{"t":"t-\"oken"}`), `{"t":"***"}`},
		"in an address":    {a.Replace(config.Servers[0].URL), "https://u:pass%20word@h/mcp?api_key=***&page=2345678"},
		"a password":       {a.Replace("pass word pass+word"), "*** ***"},
		"by name":          {b.Replace("written /srv/data"), "*** /srv/data"},
		"by variable":      {b.Replace("filled-in"), "***"},
		"too short to say": {b.Replace("abc"), "abc"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("it is told as %q, not %q", test.got, test.want)
			}
		})
	}
}
