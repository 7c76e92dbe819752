package mcp

import (
	"cmp"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

const (
	// mostDescription is how much, in characters, of a description is told.
	mostDescription = 4_000
	// mostSchema is how large, in bytes, a schema may be.
	mostSchema = 64 << 10
	// mostShown is how much, in characters, of a foreign name is told.
	mostShown = 80
)

// gather makes what a server lists into tools of ours. A tool that cannot be
// used is left out, and told of. So are all that come to the same name: which
// of them a plan means nobody could say.
func (s *server) gather(list []*sdk.Tool) (good []tool, problems []string) {
	owners := map[string][]string{} // name → the tools that come to it
	for _, t := range list {
		if name, err := nameOf(s.config.Name, t.Name); err == nil {
			owners[name] = append(owners[name], t.Name)
		}
	}
	told := map[string]bool{}
	for _, t := range list {
		made, err := s.tool(t)
		if err == nil {
			if all := owners[made.info.Name]; len(all) > 1 {
				if told[made.info.Name] {
					continue
				}
				told[made.info.Name] = true
				err = fmt.Errorf("%d of its tools would be called %s here (%s); none of them is used until they have different names",
					len(all), made.info.Name, plan.Short(strings.Join(all, ", "), mostShown))
			}
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("tool %q is left out: %s", plan.Short(t.Name, mostShown), s.hide(err.Error())))
			continue
		}
		good = append(good, made)
	}
	return good, problems
}

// tool makes one tool, and is an error where it cannot be used.
func (s *server) tool(t *sdk.Tool) (tool, error) {
	name, err := nameOf(s.config.Name, t.Name)
	if err != nil {
		return tool{}, err
	}
	schema, err := inline(t.InputSchema)
	if err != nil {
		return tool{}, err
	}
	if len(schema) > mostSchema {
		return tool{}, fmt.Errorf("its schema has %d bytes, more than %d", len(schema), mostSchema)
	}
	title := t.Title
	if t.Annotations != nil {
		title = cmp.Or(title, t.Annotations.Title)
	}
	made := tool{server: s, remote: t.Name, info: tools.Info{
		Name: name, Schema: schema, ReadOnly: readOnly(t.Annotations),
		Description: plan.Short(strings.ToValidUTF8(cmp.Or(t.Description, title), "\uFFFD"), mostDescription),
	}}
	if _, err := tools.New(made); err != nil {
		return tool{}, err
	}
	return made, nil
}

// readOnly says whether a tool says of itself that it changes nothing. One that
// says nothing, or contradicts itself, waits for a person.
func readOnly(a *sdk.ToolAnnotations) bool {
	return a != nil && a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint)
}
