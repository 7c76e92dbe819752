package mcp

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// mostName is how long the name of a tool may be, for the providers.
	mostName = 64
	// mostPrefix is how long the part before the tool's own name may be.
	mostPrefix = 48
	between    = "__"
)

// clean returns a text with _ for every character that names do not have.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, text)
}

// prefixOf returns what the names of a server's tools start with. It has no
// two _ in a row and none at its ends, so that the name of a tool says which
// server it belongs to: what is before the first __ of it.
func prefixOf(server string) string {
	p := clean(server)
	for strings.Contains(p, between) {
		p = strings.ReplaceAll(p, between, "_")
	}
	return strings.Trim(p, "_-")
}

// nameOf returns the name under which the tool of a server is known here.
func nameOf(server, tool string) (string, error) {
	own := clean(tool)
	if strings.Trim(own, "_-") == "" {
		return "", errors.New("its name has none of A-Z, a-z and 0-9")
	}
	name := prefixOf(server) + between + own
	if n := len(name) - mostName; n > 0 {
		return "", fmt.Errorf("its name here, %s, is %d characters too long; shorten the name of the server in the configuration", name, n)
	}
	return name, nil
}
