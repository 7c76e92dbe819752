package tools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"planwave/internal/plan"
)

// Registry is a set of tools in a fixed order. It is safe for concurrent use.
// The set may be replaced; what was taken from it as a [Registry.Subset] stays.
type Registry struct{ now atomic.Pointer[set] }

// set is what a registry holds at one time. It never changes.
type set struct {
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
	r := &Registry{}
	return r, r.Replace(list...)
}

// Replace makes these the tools, under the rules of [New], or changes nothing.
func (r *Registry) Replace(list ...Tool) error {
	s := &set{index: make(map[string]int, len(list))}
	for _, t := range list {
		info := t.Info()
		if !validName.MatchString(info.Name) {
			return fmt.Errorf("tool %q: a name is 1 to 64 of the characters A-Z, a-z, 0-9, _ and -", info.Name)
		}
		if _, taken := s.index[info.Name]; taken {
			return fmt.Errorf("tool %q: two tools have this name; rename one", info.Name)
		}
		compiled, err := compileSchema(info.Schema)
		if err != nil {
			return fmt.Errorf("tool %q: its schema cannot be used: %w", info.Name, err)
		}
		s.add(entry{tool: t, info: info, schema: compiled})
	}
	r.now.Store(s)
	return nil
}

// add is called while the set is made, never after.
func (s *set) add(e entry) {
	s.index[e.info.Name] = len(s.list)
	s.list = append(s.list, e)
}

// List returns the tools in their order.
func (r *Registry) List() []Info {
	list := r.now.Load().list
	infos := make([]Info, len(list))
	for i, e := range list {
		infos[i] = e.info
	}
	return infos
}

// Names returns the tools' names in their order.
func (r *Registry) Names() []string {
	return r.now.Load().names()
}

func (s *set) names() []string {
	names := make([]string, len(s.list))
	for i, e := range s.list {
		names[i] = e.info.Name
	}
	return names
}

// Get returns what is told of a tool, and whether there is one of that name.
func (r *Registry) Get(name string) (Info, bool) {
	e, err := r.find(name)
	return e.info, err == nil
}

// Subset returns a registry of the named tools, in the order of r.
func (r *Registry) Subset(names []string) (*Registry, error) {
	now := r.now.Load()
	for _, n := range names {
		if _, err := now.find(n); err != nil {
			return nil, err
		}
	}
	return now.some(names), nil
}

// Present returns a registry of those of the named tools that are there: a
// server that has gone takes down the steps that call it, not the run.
func (r *Registry) Present(names []string) *Registry { return r.now.Load().some(names) }

func (s *set) some(names []string) *Registry {
	sub := &set{index: make(map[string]int, len(names))}
	for _, e := range s.list {
		if slices.Contains(names, e.info.Name) {
			sub.add(e)
		}
	}
	some := &Registry{}
	some.now.Store(sub)
	return some
}

// mostNamed is how much, in characters, of a name that is not there is told.
const mostNamed = 80

// find returns the tool of that name. The error lists the names there are.
func (r *Registry) find(name string) (entry, error) { return r.now.Load().find(name) }

func (s *set) find(name string) (entry, error) {
	if i, ok := s.index[name]; ok {
		return s.list[i], nil
	}
	told := "none"
	if len(s.list) > 0 {
		told = strings.Join(s.names(), ", ")
	}
	return entry{}, fmt.Errorf("there is no tool %q; the tools are: %s", plan.Short(name, mostNamed), told)
}

// Check returns what is wrong with the arguments of a call.
func (r *Registry) Check(name string, arguments json.RawMessage) []string {
	return r.check(name, arguments, nil)
}

// CheckInput returns what is wrong with the input of a tool step as it is
// written in a plan: an object, or a text for the tool's only or first required
// text argument. A text that holds a reference may become anything, so it is
// accepted wherever it stands.
func (r *Registry) CheckInput(name string, input json.RawMessage) []string {
	return r.check(name, input, holdsReference)
}

func (r *Registry) check(name string, raw json.RawMessage, free func(any) bool) []string {
	e, err := r.find(name)
	if err != nil {
		return []string{err.Error()}
	}
	args, err := e.arguments(raw)
	if err != nil {
		return []string{err.Error()}
	}
	coerce(e.schema.compiled, args)
	return e.schema.problems(args, free)
}

// holdsReference says whether a value is a text with a reference to a result.
func holdsReference(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return false
	}
	refs, err := plan.References(raw)
	return err == nil && len(refs) > 0
}

// Arguments returns the input of a tool step as the object that the tool is
// called with: a text is put into the argument that is meant for it. It is
// called before references are filled in, so that a result never decides which
// argument it becomes.
func (r *Registry) Arguments(name string, input json.RawMessage) (json.RawMessage, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, err
	}
	args, err := e.arguments(input)
	if err != nil {
		return nil, fmt.Errorf("the input of %s cannot be used: %w", name, err)
	}
	return json.Marshal(args)
}
