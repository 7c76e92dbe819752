// Package contract holds what a step returned against the contract that its
// plan gives it: keys that must be there, and boolean expressions (expr-lang)
// over the output's keys. Contracts and outputs are untrusted: an expression is
// bounded in size, memory and time, and knows nothing but the output.
package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"planwave/internal/plan"
)

// quoted is how much of a key, an expression or a reason, in characters, is
// repeated in a message.
const quoted = 300

// Validate returns what is wrong with an output: that it is no object, and
// then nothing else; else one error for each missing key and one for each
// check that is false or cannot be evaluated, numbered from 1.
func Validate(output json.RawMessage, c plan.Contract) []string {
	return validate(output, c, longest)
}

// validate lets the loops of all checks together take so long.
func validate(output json.RawMessage, c plan.Contract, most time.Duration) []string {
	var problems []string
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%d. ", len(problems)+1)+fmt.Sprintf(format, args...))
	}
	object, ok := readObject(output)
	if !ok {
		wrong("The output is not a JSON object, which the contract asks for.")
		return problems
	}
	for _, key := range c.Required {
		if _, ok := object[key]; !ok {
			wrong("The key %q is missing.", plan.Short(key, quoted))
		}
	}
	w, stop := newWatch(most)
	defer stop()
	for _, check := range c.Checks {
		switch held, err := evaluate(check, object, w); {
		case err != nil:
			wrong("The check %q cannot be evaluated: %s.", plan.Short(check, quoted), reason(err))
		case !held:
			wrong("The check %q is false.", plan.Short(check, quoted))
		}
	}
	return problems
}

// CheckContract returns what is wrong with a contract itself: empty keys, and
// checks that are no boolean expressions.
func CheckContract(c plan.Contract) []string {
	var problems []string
	for _, key := range c.Required {
		if strings.TrimSpace(key) == "" {
			problems = append(problems, "a required key is empty")
		}
	}
	if len(c.Checks) > mostChecks {
		return append(problems, fmt.Sprintf("it has %d checks and %d is the limit", len(c.Checks), mostChecks))
	}
	for _, check := range c.Checks {
		if _, err := compile(check, nil); err != nil {
			problems = append(problems, fmt.Sprintf("the check %q is not a yes-or-no expression: %s", plan.Short(check, quoted), reason(err)))
		}
	}
	return problems
}

// reason is what went wrong in one line.
func reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return plan.Short(line, quoted)
}
