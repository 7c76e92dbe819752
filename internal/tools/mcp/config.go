package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Config says which servers there are.
type Config struct {
	// Servers are in the order in which they are written.
	Servers []ServerConfig
}

// ServerConfig says how one server is reached: by Command, which is started
// here and spoken to over its standard input and output, or at URL, by
// streamable HTTP.
type ServerConfig struct {
	Name    string
	Command string
	Args    []string
	// Env is what the command's environment has beside the few variables that
	// every command gets.
	Env map[string]string
	// Dir is the folder in which the command is started; empty means ours.
	Dir     string
	URL     string
	Headers map[string]string
	// StartTimeout is how long the server has until it answers; 0 is that of
	// the options.
	StartTimeout time.Duration

	// secrets are texts that are kept out of everything that is told or kept.
	secrets []string
}

// remote says whether the server is reached by HTTP.
func (c ServerConfig) remote() bool { return c.URL != "" }

// ReadConfig reads the customary file of MCP servers:
//
//	{"mcpServers": {"files": {"command": "npx", "args": ["…"], "env": {"TOKEN": "${TOKEN}"}, "startTimeout": "90s"},
//	                "search": {"url": "https://…/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}}
//
// Keys of other programs are passed over, and so is a server that is
// "disabled". ${VAR}, ${env:VAR} and ${VAR:-default} in env and headers are
// filled in from the environment. A server has 30 s until it answers, or its
// "startTimeout" (at most 10 min). The error names everything that is wrong, and
// what to do about it.
func ReadConfig(path string) (Config, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the path is what the person who starts the program wrote
	if err != nil {
		return Config{}, fmt.Errorf("read the MCP servers: %w", err)
	}
	config, err := parseConfig(raw, os.LookupEnv)
	if err != nil {
		return Config{}, fmt.Errorf("the MCP servers in %s cannot be used: %w", path, err)
	}
	return config, nil
}

// lookup finds a variable of the environment.
type lookup func(name string) (string, bool)

func parseConfig(raw []byte, env lookup) (Config, error) {
	entries, err := readEntries(raw)
	if err != nil {
		return Config{}, err
	}
	var config Config
	var problems []error
	taken := map[string]string{} // prefix of tool names → server
	for _, e := range entries {
		server, off, err := e.read(env)
		prefix := prefixOf(e.name)
		other, double := taken[prefix]
		switch {
		case off:
			continue
		case err != nil:
		case prefix == "":
			err = errors.New("its name has none of A-Z, a-z and 0-9; give it a name that has")
		case len(prefix) > mostPrefix:
			err = fmt.Errorf("its name is longer than %d characters; shorten it, since it starts the names of its tools", mostPrefix)
		case double:
			err = fmt.Errorf("its tools would have the same names as those of server %q; rename one of the two", other)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("server %q: %w", e.name, err))
			continue
		}
		taken[prefix] = e.name
		config.Servers = append(config.Servers, server)
	}
	return config, errors.Join(problems...)
}

// file is what is read of a server. Keys of other programs are passed over.
type file struct {
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Dir      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Type     string            `json:"type"`
	Disabled bool              `json:"disabled"`
	Start    string            `json:"startTimeout"`
}

// entry is a server as it is written.
type entry struct {
	name string
	raw  json.RawMessage
}

// readEntries reads the servers in their order.
func readEntries(raw []byte) ([]entry, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, notJSON(raw, err)
	}
	servers, ok := top["mcpServers"]
	if !ok {
		return nil, errors.New(`there is no "mcpServers" in it; write {"mcpServers": {"a name": {"command": "…"}}}`)
	}
	d := json.NewDecoder(bytes.NewReader(servers))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New(`"mcpServers" is not an object; write {"mcpServers": {"a name": {"command": "…"}}}`)
	}
	var entries []entry
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		e := entry{}
		e.name, _ = key.(string) // keys always are texts
		if err := d.Decode(&e.raw); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(other entry) bool { return other.name == e.name }) {
			return nil, fmt.Errorf("server %q is there twice; rename one of the two", e.name)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// notJSON says in which line a text stops being JSON.
func notJSON(raw []byte, err error) error {
	at := int64(0)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = kind.Offset
	}
	at = min(max(at, 0), int64(len(raw)))
	return fmt.Errorf("line %d is not JSON as it should be: %w", 1+bytes.Count(raw[:at], []byte("\n")), err)
}

// read reads what is written of a server, and says whether it is switched off.
func (e entry) read(env lookup) (server ServerConfig, off bool, err error) {
	var f file
	if err := json.Unmarshal(e.raw, &f); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return server, false, fmt.Errorf("%q cannot be a JSON %s; it is a %s", kind.Field, kind.Value, kind.Type)
		}
		return server, false, err
	}
	if f.Disabled {
		return server, true, nil
	}
	server = ServerConfig{Name: e.name, Command: f.Command, Args: f.Args, Dir: f.Dir, URL: f.URL}
	start, err := f.start()
	server.StartTimeout = start
	problems := []error{f.check(), err}
	fill := filler{env: env}
	server.Env = fill.all("env", f.Env)
	server.Headers = fill.all("headers", f.Headers)
	server.secrets = secretsOf(f, server)
	return server, false, errors.Join(append(problems, fill.problems...)...)
}

// mostStart is the longest time to start in.
const mostStart = 10 * time.Minute

// start reads how long a server has until it answers, 0 where nothing is said.
func (f file) start() (time.Duration, error) {
	if f.Start == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(f.Start)
	if err != nil || d <= 0 || d > mostStart {
		return 0, fmt.Errorf(`its "startTimeout" is %q; write a time up to %v, as "90s"`, f.Start, mostStart)
	}
	return d, nil
}

// check says whether a server is reached in one of the two ways.
func (f file) check() error {
	switch kind := strings.ToLower(f.Type); kind {
	case "", "stdio", "http", "streamable-http", "streamablehttp", "streamable_http":
		if kind == "stdio" && f.Command == "" {
			return errors.New(`its "type" is stdio and it has no "command"; write the program to start`)
		}
		if kind != "" && kind != "stdio" && f.URL == "" {
			return errors.New(`its "type" is HTTP and it has no "url"; write the address of the server`)
		}
	default:
		return fmt.Errorf(`its "type" is %q; stdio (with "command") and http (with "url", streamable HTTP) are spoken`, f.Type)
	}
	switch {
	case f.Command == "" && f.URL == "":
		return errors.New(`it has neither "command" nor "url"; write the program to start, or the address of the server`)
	case f.Command != "" && f.URL != "":
		return errors.New(`it has both "command" and "url"; keep one of the two`)
	case f.URL == "":
		return nil
	}
	u, err := url.Parse(f.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return errors.New(`its "url" is not an address; write it whole, as in "https://example.com/mcp"`)
	}
	return nil
}
