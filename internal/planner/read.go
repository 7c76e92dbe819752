package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
		// Something else that may be meant as the answer is told about as such.
		if other, otherErr := looseread.Find(text, isOther(text)); !errors.Is(otherErr, looseread.ErrNoJSON) {
			raw, err = other, otherErr
		}
	}
	if err != nil {
		return Reading{Violations: []plan.Violation{readingProblem(err)}, NoJSON: errors.Is(err, looseread.ErrNoJSON)}
	}
	r := &reader{}
	if list, ok := r.unwrap(raw); ok {
		r.read(list)
		r.resolve()
	}
	return Reading{Plan: r.plan, Finalize: r.finalize, Mends: r.mends, Violations: r.violations}
}

// readingProblem turns an error of finding JSON into a violation.
func readingProblem(err error) plan.Violation {
	switch {
	case errors.Is(err, looseread.ErrThoughts):
		return unreadable("The answer begins with thoughts and has no end of them, so that no plan can be told from them. Write the plan alone, as one JSON object.")
	case errors.Is(err, looseread.ErrTruncated):
		return unreadable("The plan is cut off before its end. Write it whole, with shorter instructions or fewer steps.")
	case errors.Is(err, looseread.ErrNoJSON):
		return unreadable("There is no JSON in the answer. Answer with the plan as one JSON object and nothing else.")
	}
	return unreadable(fmt.Sprintf("The plan cannot be read: %v. Write it again as one JSON object.", err))
}

func unreadable(message string, steps ...string) plan.Violation {
	if steps == nil {
		steps = []string{}
	}
	return plan.Violation{Code: plan.CodeUnreadable, Steps: steps, Message: message}
}

// isPlan says whether a value between prose can be meant as the plan.
func isPlan(v json.RawMessage) bool {
	if v[0] == '[' {
		return slices.ContainsFunc(listOf(v), func(e json.RawMessage) bool { return e[0] == '{' })
	}
	o := objectOf(v)
	return holdsPlan(o) || len(wrapped(o)) > 0
}

// isOther says whether a value that is no plan can be meant as the answer. The
// empty ones of a plan in another language, as "depends_on: []", cannot.
func isOther(text string) func(json.RawMessage) bool {
	another := strings.Contains(text, "depends_on:")
	return func(v json.RawMessage) bool {
		if len(v) == len("{}") {
			return !another
		}
		return v[0] == '{'
	}
}

// holdsPlan says whether an object is the plan itself.
func holdsPlan(o object) bool {
	_, steps := o.get("steps")
	_, finalize := o.get("finalize")
	return len(steps)+len(finalize) > 0
}

// wrapped lists the keys under which an object that is no plan holds one.
func wrapped(o object) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if v := o[key]; holdsPlan(objectOf(v)) || holdsSteps(v) {
			keys = append(keys, key)
		}
	}
	return keys
}

// holdsSteps says whether a value is a list with a step in it.
func holdsSteps(v json.RawMessage) bool {
	return slices.ContainsFunc(listOf(v), func(e json.RawMessage) bool { return isStep(objectOf(e)) })
}

// isStep says whether an object can be a step.
func isStep(o object) bool {
	return o["id"] != nil || o["instruction"] != nil || o["depends_on"] != nil
}

// opened is an object with the plans and lists of steps that stand in it as
// texts.
func opened(o object) object {
	for key, v := range o {
		var text string
		if json.Unmarshal(v, &text) != nil {
			continue
		}
		if inside, err := looseread.Find(text, isPlan); err == nil && strings.IndexByte("[{", strings.TrimSpace(text)[0]) >= 0 {
			o[key] = inside
		}
	}
	return o
}

// reader gathers one reading.
type reader struct {
	plan       plan.Plan
	titles     []string // by step: what it is called beside its id, or ""
	extra      []object // by step: what its other keys say
	finalize   bool
	mends      []string
	violations []plan.Violation
}

func (r *reader) wrong(steps []string, format string, args ...any) {
	r.violations = append(r.violations, unreadable(fmt.Sprintf(format, args...), steps...))
}

// unwrap finds the list of steps, and reads what stands beside it. It says
// false when there is none.
func (r *reader) unwrap(raw json.RawMessage) ([]json.RawMessage, bool) {
	if raw[0] == '[' {
		list := listOf(raw)
		if len(list) != 1 || !holdsPlan(objectOf(list[0])) || isStep(objectOf(list[0])) {
			return list, true
		}
		raw = list[0] // the plan in a list of its own
	}
	o := r.flat(opened(objectOf(raw)))
	others := slices.DeleteFunc(wrapped(o), func(key string) bool { return sameKey(key, "steps") })
	if len(others) > 0 {
		r.wrong(nil, `The answer has more than one list of steps (under %s). Write one plan, {"steps": […]}.`, strings.Join(shortened(others), ", "))
	}
	if !holdsPlan(o) {
		if len(others) == 0 {
			r.wrong(nil, `The answer is an object without "steps". Write {"steps": […]}.`)
		}
		return nil, false
	}
	return r.unwrapPlan(o)
}

// flat takes a plan out of its one wrapper, and puts what stands around it
// beside it.
func (r *reader) flat(o object) object {
	inside := wrapped(o)
	if _, has := o.get("steps"); len(has) > 0 || len(inside) != 1 {
		return o
	}
	wrapper := inside[0]
	out := maps.Clone(o)
	delete(out, wrapper)
	if o[wrapper][0] == '[' {
		out["steps"] = o[wrapper]
		return out
	}
	inner := objectOf(o[wrapper])
	for _, key := range []string{"deliverable", "finalize"} {
		outside, spelled := out.get(key)
		if within, _ := inner.get(key); outside != nil && within != nil && string(outside) != string(within) {
			r.wrong(nil, "%s stands in the plan and beside it, and differs. Write it once.", strings.Join(shortened(spelled), ", "))
		}
	}
	maps.Copy(out, inner)
	return out
}

// unwrapPlan reads the object that is the plan itself.
func (r *reader) unwrapPlan(o object) ([]json.RawMessage, bool) {
	if v := r.field(o, "deliverable", nil, "The plan"); v != nil {
		id, ok := idOf(v)
		if !ok && string(v) != `""` {
			r.wrong(nil, "The deliverable is not the id of a step. Write an id or leave it out.")
		}
		r.plan.Deliverable = id
	}
	switch v := r.field(o, "finalize", nil, "The plan"); string(v) {
	case "true":
		r.finalize = true
	case "", "false":
	default:
		r.wrong(nil, `"finalize" is neither true nor false. Write {"finalize": true} or leave it out.`)
	}
	raw := r.field(o, "steps", nil, "The plan")
	r.strayEdges(o)
	r.strayStep(o)
	list := listOf(raw)
	switch {
	case r.finalize && (raw == nil || string(raw) == "[]"):
		return nil, false
	case r.finalize:
		r.wrong(nil, `The answer both finalizes and has steps. Write {"finalize": true} alone, or the steps without it.`)
		return list, list != nil
	case list == nil:
		r.wrong(nil, `"steps" is not a list. Write {"steps": [{"id": …, "instruction": …, "depends_on": […]}, …]}.`)
		return nil, false
	}
	return list, true
}

// strayEdges refuses dependencies that stand beside the steps: they would be dropped.
func (r *reader) strayEdges(o object) {
	for _, name := range []string{"edges", "links", "connections", "dependencies", "depends_on"} {
		if v, spelled := o.get(name); v != nil && string(v) != "[]" && string(v) != "{}" {
			r.wrong(nil, "The plan has dependencies under %s, beside its steps. Write what a step needs in its own depends_on, and leave %[1]s out.", shortened(spelled)[0])
		}
	}
}

// strayStep refuses a step that stands beside the steps, as the final one may.
func (r *reader) strayStep(o object) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if step := objectOf(o[key]); isStep(step) && !holdsPlan(step) {
			r.wrong(nil, "The plan has a step under %s, beside its steps. Write it as one of the steps.", shortened([]string{key})[0])
		}
	}
}

// field returns the value of a key, nil when it is not there or null. Two
// spellings of one key are ambiguous.
func (r *reader) field(o object, name string, steps []string, whose string) json.RawMessage {
	v, spelled := o.get(name)
	if len(spelled) > 1 {
		r.wrong(steps, "%s has the keys %s, which mean the same. Write %s only.", whose, strings.Join(shortened(spelled), ", "), name)
	}
	return v
}

// mostQuoted is how much of a foreign text, in characters, a message repeats.
const mostQuoted = 80

func shortened(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = fmt.Sprintf("%q", plan.Short(t, mostQuoted))
	}
	return out
}
