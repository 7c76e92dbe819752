package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Registry is a set of tools in a fixed order. It never changes, and is safe
// for concurrent use.
type Registry struct {
	list  []entry
	index map[string]int
}

type entry struct {
	tool   Tool
	info   Info
	schema *schema
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New returns a registry of the tools. A name that is not 1–64 of
// A-Za-z0-9_-, one that two tools have, and a schema that cannot be used are
// errors.
func New(list ...Tool) (*Registry, error) {
	r := &Registry{index: make(map[string]int, len(list))}
	for _, t := range list {
		info := t.Info()
		if !validName.MatchString(info.Name) {
			return nil, fmt.Errorf("tool %q: a name is 1 to 64 of the characters A-Z, a-z, 0-9, _ and -", info.Name)
		}
		if _, taken := r.index[info.Name]; taken {
			return nil, fmt.Errorf("tool %q: two tools have this name; rename one", info.Name)
		}
		s, err := compileSchema(info.Schema)
		if err != nil {
			return nil, fmt.Errorf("tool %q: its schema cannot be used: %w", info.Name, err)
		}
		r.index[info.Name] = len(r.list)
		r.list = append(r.list, entry{tool: t, info: info, schema: s})
	}
	return r, nil
}

// List returns the tools in their order.
func (r *Registry) List() []Info {
	infos := make([]Info, len(r.list))
	for i, e := range r.list {
		infos[i] = e.info
	}
	return infos
}

// Names returns the tools' names in their order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.list))
	for i, e := range r.list {
		names[i] = e.info.Name
	}
	return names
}

// Subset returns a registry of the named tools, in the order of r.
func (r *Registry) Subset(names []string) (*Registry, error) {
	for _, n := range names {
		if _, ok := r.index[n]; !ok {
			return nil, fmt.Errorf("there is no tool %q; the tools are: %s", n, r.told())
		}
	}
	sub := &Registry{index: make(map[string]int, len(names))}
	for _, e := range r.list {
		if slices.Contains(names, e.info.Name) {
			sub.index[e.info.Name] = len(sub.list)
			sub.list = append(sub.list, e)
		}
	}
	return sub, nil
}

// told is the list of names for a message.
func (r *Registry) told() string {
	if len(r.list) == 0 {
		return "none"
	}
	return strings.Join(r.Names(), ", ")
}

func (r *Registry) find(name string) (entry, bool) {
	i, ok := r.index[name]
	if !ok {
		return entry{}, false
	}
	return r.list[i], true
}

// CheckInput returns what is wrong with the input of a tool step as it is
// written in a plan: an object, or a text for the tool's only or first required
// text argument. A text that holds a reference may become anything, so it is
// accepted wherever it stands.
func (r *Registry) CheckInput(name string, input json.RawMessage) []string {
	e, ok := r.find(name)
	if !ok {
		return []string{"there is no tool " + name}
	}
	args, err := e.arguments(input)
	if err != nil {
		return []string{err.Error()}
	}
	return e.schema.problems(args, holdsReference)
}

func holdsReference(text string) bool { return strings.Contains(text, "${") }

// Arguments returns the input of a tool step as the object that the tool is
// called with.
func (r *Registry) Arguments(name string, input json.RawMessage) (json.RawMessage, error) {
	e, ok := r.find(name)
	if !ok {
		return nil, fmt.Errorf("there is no tool %q; the tools are: %s", name, r.told())
	}
	args, err := e.arguments(input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(args)
}

// arguments reads an input as an object, putting a text into the argument that
// is meant for it.
func (e entry) arguments(input json.RawMessage) (map[string]any, error) {
	if len(input) == 0 || string(input) == "null" {
		return map[string]any{}, nil
	}
	v, err := decode(input)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case string:
		field := e.schema.textField()
		if field == "" {
			return nil, fmt.Errorf("it is a text, and %s has no one argument that takes a text; write an object", e.info.Name)
		}
		return map[string]any{field: v}, nil
	}
	return nil, fmt.Errorf("it must be an object or a text")
}

// Call calls a tool by name. What the caller can mend, as an unknown name or
// wrong arguments, is a [Result] that says so; an error is a tool that broke.
// Arguments are coerced where the meaning is unmistakable, and checked before
// the tool sees them.
func (r *Registry) Call(ctx context.Context, name string, arguments json.RawMessage) (result Result, err error) {
	e, ok := r.find(name)
	if !ok {
		return failed("There is no tool %q. The tools are: %s.", name, r.told()), nil
	}
	args, err := e.arguments(arguments)
	if err != nil {
		return failed("The arguments of %s cannot be used: %v.", name, err), nil
	}
	e.schema.coerce(args)
	if problems := e.schema.problems(args, nil); len(problems) > 0 {
		return failed("The arguments of %s are wrong: %s. Its schema is %s", name, strings.Join(problems, "; "), e.info.Schema), nil
	}
	clean, err := json.Marshal(args)
	if err != nil {
		return Result{}, fmt.Errorf("encode the arguments of %s: %w", name, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool %s crashed: %v", name, p)
		}
	}()
	return e.tool.Call(ctx, clean)
}

func failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// ResultLimit is how much of a tool's result, in characters, goes to a model.
const ResultLimit = 20_000

// Cut returns at most limit characters of a result for a model, with a notice
// of how much there is. The whole result is kept in the trace.
func Cut(text string, limit int) string {
	n := 0
	cut := len(text)
	for i := range text {
		if n == limit {
			cut = i
		}
		n++
	}
	if n <= limit {
		return text
	}
	return fmt.Sprintf("%s\n… cut here: these are the first %d of %d characters. The whole result is kept in the trace.", text[:cut], limit, n)
}
