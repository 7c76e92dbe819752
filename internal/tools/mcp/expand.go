package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// filler fills variables of the environment into texts.
type filler struct {
	env      lookup
	problems []error
}

// all fills in every value.
func (f *filler) all(where string, values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	filled := make(map[string]string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		filled[key] = f.one(where+" "+key, values[key])
	}
	return filled
}

// one fills in ${VAR}, ${env:VAR} and ${VAR:-default}. A dollar that starts
// none of these stands for itself.
func (f *filler) one(where, text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(before)
		out.WriteString(f.variable(where, name))
		text = after
	}
}

func (f *filler) variable(where, name string) string {
	name, otherwise, has := strings.Cut(strings.TrimPrefix(name, "env:"), ":-")
	if value, set := f.env(name); set && (value != "" || !has) {
		return value
	}
	if !has {
		f.problems = append(f.problems,
			fmt.Errorf("%s needs ${%s}, which is not set; set it before the program is started", where, name))
	}
	return otherwise
}

// leastSecret is how long, in bytes, a text must be to be kept out: shorter
// ones stand everywhere.
const leastSecret = 6

// secretsOf returns the texts of a server that are not told to anybody: its
// headers, what was filled into its environment, and what a name calls secret.
func secretsOf(written file, filled ServerConfig) []string {
	var found []string
	for _, value := range filled.Headers {
		found = append(found, value)
		if _, token, ok := strings.Cut(value, " "); ok {
			found = append(found, token) // without "Bearer"
		}
	}
	for name, value := range filled.Env {
		if written.Env[name] != value || soundsSecret(name) {
			found = append(found, value)
		}
	}
	if u, err := url.Parse(filled.URL); err == nil {
		password, _ := u.User.Password()
		found = append(found, password, url.QueryEscape(password))
		for name, values := range u.Query() {
			if soundsSecret(name) {
				found = append(found, values...)
				found = append(found, url.QueryEscape(values[0]))
			}
		}
	}
	found = slices.DeleteFunc(found, func(s string) bool { return len(s) < leastSecret })
	slices.Sort(found)
	return slices.Compact(found)
}

// soundsSecret says whether the name of a value calls it a secret.
func soundsSecret(name string) bool {
	return regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential`).MatchString(name)
}

// hider returns what replaces the secrets of a server by ***, as they are and
// as JSON writes them.
func (c ServerConfig) hider() *strings.Replacer {
	var pairs []string
	for _, s := range c.secrets {
		pairs = append(pairs, s, "***")
		if quoted, err := json.Marshal(s); err == nil {
			if inner := string(quoted[1 : len(quoted)-1]); inner != s {
				pairs = append(pairs, inner, "***")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}
