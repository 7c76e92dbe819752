package planner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/plan"
)

func (r *reader) read(list []json.RawMessage) {
	r.plan.Steps = make([]plan.Step, 0, len(list))
	for i, raw := range list {
		o := objectOf(raw)
		if o == nil {
			r.wrong(nil, "Step %d is not an object. Write each step as an object with id, instruction and depends_on.", i+1)
			continue
		}
		r.step(i, o)
	}
}

// keys are those that a step is read from.
func keys() []string {
	return []string{"id", "instruction", "depends_on", "tool", "input", "contract", "strategy", "title", "name"}
}

// step reads one step. Keys that say nothing about the work are passed over.
func (r *reader) step(i int, o object) {
	f := &fields{reader: r, object: o, name: fmt.Sprintf("Step number %d", i+1)}
	s := plan.Step{ID: f.id()}
	if s.ID != "" {
		f.steps, f.name = []string{s.ID}, "Step "+plan.Short(s.ID, mostQuoted)
	}
	s.Instruction = f.text("instruction")
	s.Tool = f.text("tool")
	s.Strategy = plan.Strategy(f.text("strategy"))
	s.DependsOn = f.dependencies()
	s.Input = f.get("input")
	if s.Tool == "" && (string(s.Input) == "{}" || string(s.Input) == `""`) {
		s.Input = nil
	}
	s.Contract = f.contract()
	f.inner()
	r.plan.Steps = append(r.plan.Steps, s)
	r.titles = append(r.titles, f.title())
	for _, key := range slices.Collect(maps.Keys(o)) {
		if slices.ContainsFunc(keys(), func(name string) bool { return sameKey(name, key) }) {
			delete(o, key)
		}
	}
	r.extra = append(r.extra, o)
}

// fields reads the keys of one step.
type fields struct {
	*reader
	object object
	name   string // how messages call the step
	steps  []string
}

func (f *fields) get(key string) json.RawMessage { return f.field(f.object, key, f.steps, f.name) }

func (f *fields) bad(format string, args ...any) {
	f.wrong(f.steps, "%s "+format, append([]any{f.name}, args...)...)
}

// id reads the step's id. One that is not there is reported by the check.
func (f *fields) id() string {
	raw := f.get("id")
	id, ok := idOf(raw)
	if raw != nil && !ok && string(raw) != `""` {
		f.bad("has an id that is neither a text nor a number. Give it an id such as \"s1\".")
	}
	return id
}

// text reads a key that must be a text where it is there.
func (f *fields) text(key string) string {
	raw := f.get(key)
	var text string
	if raw != nil && json.Unmarshal(raw, &text) != nil {
		f.bad("has %s %s that is not a text. Write it in quotes.", article(key), key)
	}
	return text
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}

// title is what a step is called beside its id. One that is no text names
// nothing.
func (f *fields) title() string {
	for _, key := range []string{"title", "name"} {
		raw, _ := f.object.get(key)
		var title string
		if json.Unmarshal(raw, &title) == nil && title != "" {
			return title
		}
	}
	return ""
}

func (f *fields) contract() *plan.Contract {
	raw := f.get("contract")
	if raw == nil || string(raw) == "{}" {
		return nil
	}
	var c *plan.Contract
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		f.bad(`has a contract that cannot be read. Write {"required": ["key"], "checks": ["key > 0"]} or leave it out.`)
	}
	return c
}

func (f *fields) dependencies() []string {
	raw := f.get("depends_on")
	if raw == nil || string(raw) == "{}" || string(raw) == `""` {
		return []string{}
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		list = listOf(raw)
	}
	deps := make([]string, 0, len(list))
	for _, v := range list {
		dep, ok := idIn(v)
		if !ok {
			f.bad("has %s in depends_on, which names no step. Write a list of ids, as [\"s1\", \"s2\"].", plan.Short(string(v), mostQuoted))
			continue
		}
		deps = append(deps, dep)
	}
	return deps
}

// inner holds that a step has no steps of its own.
func (f *fields) inner() {
	for _, key := range slices.Sorted(maps.Keys(f.object)) {
		v := f.object[key]
		mine := slices.ContainsFunc(keys(), func(name string) bool { return sameKey(name, key) })
		if !mine && (holdsSteps(v) || holdsPlan(objectOf(v)) || sameKey(key, "steps") && !empty(v)) {
			f.bad("has steps of its own under %q. Write all steps in one list, joined by depends_on.", plan.Short(key, mostQuoted))
			delete(f.object, key)
		}
	}
}

// empty says whether a value says nothing.
func empty(v json.RawMessage) bool {
	return slices.Contains([]string{"", "null", "[]", "{}", `""`, "false"}, string(v))
}

// idOf reads an id, which may be written as a number.
func idOf(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text), true
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil && n != "" {
		return integer(n), true
	}
	return "", false
}

// integer is a number as it is written, and 2.0 and 2e0 as 2.
func integer(n json.Number) string {
	const most = 1 << 53 // above which floats are no longer exact
	if f, err := n.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < most {
		return strconv.FormatFloat(f+0, 'f', -1, 64)
	}
	return n.String()
}

// idIn reads an id, or an object that names a step by "id" or "step".
func idIn(raw json.RawMessage) (string, bool) {
	if id, ok := idOf(raw); ok {
		return id, true
	}
	o := objectOf(raw)
	id, byID := idOf(o["id"])
	step, byStep := idOf(o["step"])
	switch {
	case byID && byStep:
		return id, id == step
	case byID:
		return id, true
	}
	return step, byStep
}
