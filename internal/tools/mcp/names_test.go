package mcp

import (
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// DESIGN, traps: two MCP servers with one tool name.
func TestNamesOfTools(t *testing.T) {
	tests := map[string]struct{ server, tool, want, says string }{
		"plain":         {server: "files", tool: "read_file", want: "files__read_file"},
		"cleaned":       {server: "my server", tool: "get.user/name", want: "my_server__get_user_name"},
		"underscores":   {server: "__a__b__", tool: "__c__d", want: "a_b____c__d"},
		"as long as":    {server: "s", tool: strings.Repeat("t", 61), want: "s__" + strings.Repeat("t", 61)},
		"too long":      {server: "s", tool: strings.Repeat("t", 62), says: "1 characters too long; shorten the name of the server"},
		"without a one": {server: "s", tool: "…", says: "A-Z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := nameOf(test.server, test.tool)
			if test.says != "" {
				if err == nil {
					t.Fatalf("it is called %s", got)
				}
				mentions(t, err.Error(), test.says)
				return
			}
			if err != nil || got != test.want {
				t.Errorf("it is called %q (%v), not %q", got, err, test.want)
			}
		})
	}
}

// The tools of servers with different prefixes never have one name, whatever
// the tools are called.
func TestNamesOfDifferentServersNeverMeet(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab_-.é ")))
	rapid.Check(t, func(t *rapid.T) {
		one, other := text.Draw(t, "server"), text.Draw(t, "other server")
		if prefixOf(one) == prefixOf(other) || prefixOf(one) == "" || prefixOf(other) == "" {
			return // the configuration refuses them
		}
		first, err := nameOf(one, text.Draw(t, "tool"))
		if err != nil {
			return
		}
		second, err := nameOf(other, text.Draw(t, "other tool"))
		if err == nil && first == second {
			t.Errorf("servers %q and %q both have a tool %q", one, other, first)
		}
		if !valid.MatchString(first) {
			t.Errorf("%q is no name", first)
		}
	})
}

func TestToolsThatCannotBeUsedAreLeftOutAndTold(t *testing.T) {
	s := newServer(ServerConfig{Name: "srv", secrets: []string{"hidden-secret"}}, quick().filled(), func() {})
	object := map[string]any{"type": "object"}
	good, problems := s.gather([]*sdk.Tool{
		{Name: "fine", InputSchema: object, Title: "A title"},
		{Name: "get.x", InputSchema: object},
		{Name: "get_x", InputSchema: object},
		{Name: "same", InputSchema: object},
		{Name: "same", InputSchema: object},
		{Name: strings.Repeat("l", 70), InputSchema: object},
		{Name: "…", InputSchema: object},
		{Name: "texts", InputSchema: map[string]any{"type": "string"}},
		{Name: "odd", InputSchema: "hidden-secret"},
		{Name: "big", InputSchema: map[string]any{"description": strings.Repeat("x", mostSchema)}},
		{Name: "last", Description: "told", Title: "not told", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
	})
	if len(good) != 2 || good[0].info.Name != "srv__fine" || good[1].info.Name != "srv__last" {
		t.Fatalf("these are taken: %+v", good)
	}
	if good[0].info.Description != "A title" || good[0].info.ReadOnly || good[1].info.Description != "told" || !good[1].info.ReadOnly {
		t.Errorf("they are told as %+v and %+v", good[0].info, good[1].info)
	}
	if len(problems) != 7 {
		t.Errorf("%d tools are told of: %q", len(problems), problems)
	}
	all := strings.Join(problems, "\n")
	mentions(t, all, "srv__get_x here (get.x, get_x)", "srv__same here (same, same)", "characters too long", "A-Z", `"texts"`, "***", `"big"`)
	if strings.Contains(all, "hidden-secret") {
		t.Errorf("a secret is told: %s", all)
	}
}

// BEHAVIOUR 4.6: what does not say that it only reads waits for a person.
func TestOnlyToolsThatSaySoAreReadOnly(t *testing.T) {
	yes, no := true, false
	tests := map[string]struct {
		told *sdk.ToolAnnotations
		want bool
	}{
		"nothing":         {nil, false},
		"an empty hint":   {&sdk.ToolAnnotations{}, false},
		"it adds only":    {&sdk.ToolAnnotations{DestructiveHint: &no}, false},
		"it reads":        {&sdk.ToolAnnotations{ReadOnlyHint: true}, true},
		"it reads, twice": {&sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}, true},
		"a contradiction": {&sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := readOnly(test.told); got != test.want {
				t.Errorf("it is read-only: %v", got)
			}
		})
	}
}
