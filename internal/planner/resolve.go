package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planwave/internal/plan"
)

// resolve turns names of steps that are written as a title, or in other case,
// into the ids they mean, where exactly one step can be meant.
func (r *reader) resolve() {
	known, called := map[string]bool{}, map[string][]string{}
	for i, s := range r.plan.Steps {
		known[s.ID] = true
		for _, name := range []string{s.ID, r.titles[i], s.Instruction} {
			if key := folded(name); key != "" && !slices.Contains(called[key], s.ID) {
				called[key] = append(called[key], s.ID)
			}
		}
	}
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		s.DependsOn = r.apart(s.DependsOn, s.ID, known)
		for k, dep := range s.DependsOn {
			if !known[dep] {
				s.DependsOn[k] = r.meant(dep, called[folded(dep)], s.ID)
			}
		}
		r.edges(s.ID, r.extra[i], known)
		r.works(s.ID, r.extra[i])
	}
	if d := r.plan.Deliverable; d != "" && !known[d] {
		r.plan.Deliverable = r.meant(d, called[folded(d)], "")
	}
}

// apart takes names that stand in one text, between commas or as a list, apart
// where all of them are ids of other steps, since no id holds a comma.
func (r *reader) apart(deps []string, by string, known map[string]bool) []string {
	out := make([]string, 0, len(deps))
	for _, dep := range deps {
		names := idsIn(dep)
		if known[dep] || len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return !known[n] || n == by }) {
			out = append(out, dep)
			continue
		}
		r.mends = append(r.mends, fmt.Sprintf("Step %s depends on %q, read as %s.", plan.Short(by, mostQuoted), plan.Short(dep, mostQuoted), strings.Join(shortened(names), " and ")))
		out = append(out, names...)
	}
	return out
}

// idsIn are the names in a text that lists several.
func idsIn(text string) []string {
	if strings.HasPrefix(text, "[") {
		var names []string
		for _, v := range listOf(json.RawMessage(text)) {
			name, ok := idOf(v)
			if !ok {
				return nil
			}
			names = append(names, name)
		}
		return names
	}
	if !strings.Contains(text, ",") {
		return nil
	}
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// folded is a name without case and with single spaces.
func folded(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// meant is the step that a name means, of those it fits. A name that fits none
// stays, and the check reports it.
func (r *reader) meant(name string, fits []string, by string) string {
	short := plan.Short(name, mostQuoted)
	whose := "The deliverable"
	if by != "" {
		whose = "Step " + plan.Short(by, mostQuoted) + " depends on"
	}
	switch {
	case len(fits) > 1:
		var steps []string
		if by != "" {
			steps = []string{by}
		}
		r.wrong(steps, "%s %q, which can mean %s. Write the id of the one that is meant.", whose, short, strings.Join(shortened(fits), " or "))
	case len(fits) == 1 && fits[0] != by && fits[0] != "":
		r.mends = append(r.mends, fmt.Sprintf("%s %q, read as %s.", whose, short, plan.Short(fits[0], mostQuoted)))
		return fits[0]
	}
	return name
}

// edges holds that no other key of a step says what it depends on: such a key
// would be passed over, and the edge with it.
func (r *reader) edges(id string, extra object, known map[string]bool) {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if v := extra[key]; !empty(v) && (saysDepends(key) || namesSteps(v, id, known)) {
			var steps []string
			if id != "" {
				steps = []string{id}
			}
			r.wrong(steps, "Step %s names steps under %q, which is no key of a step. Write what it depends on in depends_on, and leave %q out.",
				plan.Short(id, mostQuoted), plan.Short(key, mostQuoted), plan.Short(key, mostQuoted))
		}
	}
}

// works holds that no other key of a step names its tool or what it is given:
// without them it would be other work.
func (r *reader) works(id string, extra object) {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		meant := wordFor(key)
		if meant == "" || empty(extra[key]) {
			continue
		}
		var steps []string
		if id != "" {
			steps = []string{id}
		}
		r.wrong(steps, "Step %s has %q, which is no key of a step. Write that in %s, or leave it out.", plan.Short(id, mostQuoted), plan.Short(key, mostQuoted), meant)
	}
}

// wordFor is the key of a step that another is a word for, or "".
func wordFor(key string) string {
	for meant, words := range map[string][]string{
		"tool":  {"tools", "tool_name", "tool_call", "tool_calls", "function", "function_name", "function_call"},
		"input": {"inputs", "tool_input", "action_input", "arguments", "args", "tool_arguments", "tool_args", "function_args", "parameters", "tool_parameters", "params", "tool_params", "kwargs"},
	} {
		if slices.ContainsFunc(words, func(word string) bool { return sameKey(key, word) }) {
			return meant
		}
	}
	return ""
}

// saysDepends says whether a key is another word for depends_on.
func saysDepends(key string) bool {
	return slices.ContainsFunc([]string{
		"dependencies", "dependency", "depends", "dependent", "deps", "requires", "needs", "after", "prerequisites", "parents", "blocked_by",
	}, func(word string) bool { return sameKey(key, word) })
}

// namesSteps says whether a value is the id of another step, or a list of such.
func namesSteps(v json.RawMessage, id string, known map[string]bool) bool {
	if v[0] != '[' {
		var name string
		return json.Unmarshal(v, &name) == nil && known[name] && name != id && name != ""
	}
	list := listOf(v)
	return len(list) > 0 && !slices.ContainsFunc(list, func(e json.RawMessage) bool {
		name, ok := idIn(e)
		return !ok || !known[name] || name == id
	})
}
