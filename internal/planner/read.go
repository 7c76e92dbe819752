package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/looseread"
	"planwave/internal/plan"
)

// Reading is what could be read of a planner's answer. What is ambiguous is a
// violation; no edge and no step is ever dropped in silence.
type Reading struct {
	Plan       plan.Plan
	Finalize   bool
	Mends      []string // what was resolved, in words
	Violations []plan.Violation
	NoJSON     bool
}

// Read reads a plan from what a model wrote: JSON alone, in a fence or in
// prose; a list of steps, an object with steps, or that in one wrapper; ids as
// numbers; depends_on as null, one id, a list of ids, or objects with an id.
func Read(text string) Reading {
	raw, err := looseread.Find(text, isPlan)
	if errors.Is(err, looseread.ErrNoJSON) {
		// A lone object that is no plan is told about as such.
		if any, anyErr := looseread.Find(text, nil); anyErr == nil && any[0] == '{' {
			raw, err = any, nil
		}
	}
	if err != nil {
		return Reading{Violations: []plan.Violation{readingProblem(err)}, NoJSON: errors.Is(err, looseread.ErrNoJSON)}
	}
	r := &reader{}
	steps, ok := r.unwrap(raw)
	if !ok {
		return Reading{Finalize: r.finalize, Violations: r.violations}
	}
	r.read(steps)
	r.resolve()
	return Reading{Plan: r.plan, Finalize: r.finalize, Mends: r.mends, Violations: r.violations}
}

// isPlan says whether a value can be meant as a plan.
func isPlan(v json.RawMessage) bool {
	if v[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return true // told as broken later
		}
		return len(list) == 0 || slices.ContainsFunc(list, func(e json.RawMessage) bool { return e[0] == '{' })
	}
	_, _, ok := stepsIn(v)
	return ok
}

// stepsIn finds the steps of an object: its own, those of the one plan in it,
// or that it finalizes.
func stepsIn(raw json.RawMessage) (steps json.RawMessage, finalize, ok bool) {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil, false, false
	}
	_ = json.Unmarshal(o["finalize"], &finalize) // anything but true is no wish to finalize
	if s, has := o["steps"]; has {
		return s, finalize, true
	}
	for _, wrapper := range []string{"plan", "result", "output", "tasks"} {
		inner, has := o[wrapper]
		if !has || len(inner) == 0 {
			continue
		}
		if inner[0] == '[' {
			return inner, finalize, true
		}
		if s, fin, ok := stepsIn(inner); ok {
			return s, finalize || fin, true
		}
	}
	return nil, finalize, finalize
}

// reader gathers one reading.
type reader struct {
	plan       plan.Plan
	titles     []string // by step: what it is called beside its id, or ""
	finalize   bool
	mends      []string
	violations []plan.Violation
}

func (r *reader) wrong(steps []string, format string, args ...any) {
	r.violations = append(r.violations, unreadable(fmt.Sprintf(format, args...), steps...))
}

// unwrap finds the list of steps.
func (r *reader) unwrap(raw json.RawMessage) ([]json.RawMessage, bool) {
	if raw[0] == '{' {
		steps, finalize, ok := stepsIn(raw)
		r.finalize = finalize
		if ok && steps == nil {
			return nil, false // finalizes and has no steps
		}
		if !ok {
			r.wrong(nil, `The answer is an object without "steps". Write {"steps": […]}.`)
			return nil, false
		}
		var o struct {
			Deliverable string `json:"deliverable"`
		}
		if json.Unmarshal(raw, &o) == nil {
			r.plan.Deliverable = o.Deliverable
		}
		raw = steps
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || string(raw) == "null" {
		r.wrong(nil, `"steps" is not a list. Write {"steps": [{"id": …, "instruction": …, "depends_on": […]}, …]}.`)
		return nil, false
	}
	return list, true
}

func (r *reader) read(list []json.RawMessage) {
	for i, raw := range list {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil || o == nil {
			r.wrong(nil, "Step %d is not an object. Write each step as an object with id, instruction and depends_on.", i+1)
			continue
		}
		r.step(i, o)
	}
}

// step reads one step. Keys that say nothing about the work are passed over.
func (r *reader) step(i int, o map[string]json.RawMessage) {
	id, ok := idOf(o["id"])
	if !ok {
		r.wrong(nil, "Step %d has no id that can be read. Give each step an id of its own, as \"s%d\".", i+1, i+1)
	}
	s := plan.Step{ID: id}
	for _, inner := range []string{"steps", "substeps", "sub_steps", "subtasks", "children"} {
		if v, has := o[inner]; has && string(v) != "null" && string(v) != "[]" {
			r.wrong(ids(id), "Step %s has steps of its own under %q. Write all steps in one list, joined by depends_on.", name(id, i), inner)
		}
	}
	s.Instruction = r.text(o, "instruction", id, i)
	s.Tool = r.text(o, "tool", id, i)
	s.DependsOn = r.dependencies(o["depends_on"], id, i)
	if v, has := o["input"]; has && string(v) != "null" {
		s.Input = v
		if s.Tool == "" && string(v) == "{}" {
			s.Input = nil
		}
	}
	if v, has := o["contract"]; has && string(v) != "null" {
		d := json.NewDecoder(bytes.NewReader(v))
		d.DisallowUnknownFields()
		if err := d.Decode(&s.Contract); err != nil {
			r.wrong(ids(id), `The contract of step %s cannot be read. Write {"required": ["key"], "checks": ["key > 0"]} or leave it out.`, name(id, i))
		}
	}
	if v, has := o["strategy"]; has && string(v) != "null" {
		s.Strategy = plan.Strategy(r.text(o, "strategy", id, i))
	}
	title := ""
	_ = json.Unmarshal(o["title"], &title) // a title that is no text names nothing
	r.plan.Steps = append(r.plan.Steps, s)
	r.titles = append(r.titles, title)
}

// text reads a key that must be a text where it is there.
func (r *reader) text(o map[string]json.RawMessage, key, id string, i int) string {
	v, has := o[key]
	if !has || string(v) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		r.wrong(ids(id), "The %s of step %s is not a text. Write it in quotes.", key, name(id, i))
	}
	return text
}

func (r *reader) dependencies(raw json.RawMessage, id string, i int) []string {
	if len(raw) == 0 || string(raw) == "null" {
		return []string{}
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		if json.Unmarshal(raw, &list) != nil {
			return []string{} // it was read as JSON before
		}
	}
	deps := make([]string, 0, len(list))
	for _, v := range list {
		dep, ok := idOf(v)
		if !ok {
			dep, ok = idIn(v)
		}
		if !ok {
			r.wrong(ids(id), "depends_on of step %s holds %s, which names no step. Write a list of ids, as [\"s1\", \"s2\"].", name(id, i), plan.Short(string(v), 80))
			continue
		}
		deps = append(deps, dep)
	}
	return deps
}

// idOf reads an id, which may be written as a number.
func idOf(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text), true
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" && len(raw) > 0 && raw[0] != '"' {
		return n.String(), true
	}
	return "", false
}

// idIn reads an object that names a step by "id" or "step".
func idIn(raw json.RawMessage) (string, bool) {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return "", false
	}
	if id, ok := idOf(o["id"]); ok {
		return id, true
	}
	return idOf(o["step"])
}

// resolve turns dependencies that are written as a title, or in other case,
// into the ids they mean, where exactly one step can be meant.
func (r *reader) resolve() {
	known := make(map[string]bool, len(r.plan.Steps))
	for _, s := range r.plan.Steps {
		known[s.ID] = true
	}
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		for k, dep := range s.DependsOn {
			if known[dep] {
				continue
			}
			meant := r.meant(dep)
			if len(meant) != 1 || meant[0] == s.ID {
				continue // the check reports it
			}
			r.mends = append(r.mends, fmt.Sprintf("Step %s depends on %q, read as %s.", s.ID, plan.Short(dep, 80), meant[0]))
			s.DependsOn[k] = meant[0]
		}
	}
}

// meant lists the ids of the steps that a name can mean.
func (r *reader) meant(dep string) []string {
	var found []string
	for i, s := range r.plan.Steps {
		if strings.EqualFold(s.ID, dep) || r.titles[i] != "" && strings.EqualFold(strings.TrimSpace(r.titles[i]), dep) ||
			strings.EqualFold(strings.TrimSpace(s.Instruction), dep) {
			found = append(found, s.ID)
		}
	}
	return found
}

func ids(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// name is how a message calls a step.
func name(id string, i int) string {
	if id == "" {
		return fmt.Sprintf("number %d", i+1)
	}
	return plan.Short(id, 80)
}
