// Package contract holds what a step returned against the contract that its
// plan gives it: keys that must be there, and boolean expressions (expr-lang)
// over the output's keys.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"planwave/internal/plan"
)

const (
	// mostNodes bounds the size of an expression, memory what evaluating one
	// may allocate. Expressions come from models and people.
	mostNodes = 500
	memory    = 100_000
)

// Validate returns what is wrong with an output: that it is no object, and
// then nothing else; else one error for each missing key and one for each
// check that is false or cannot be evaluated, numbered from 1.
func Validate(output json.RawMessage, c plan.Contract) []string {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(output))
	if err := d.Decode(&object); err != nil || object == nil {
		return []string{"1. The output is not a JSON object, which the contract asks for."}
	}
	var problems []string
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%d. ", len(problems)+1)+fmt.Sprintf(format, args...))
	}
	for _, key := range c.Required {
		if _, ok := object[key]; !ok {
			wrong("The key %q is missing.", key)
		}
	}
	for _, check := range c.Checks {
		held, err := evaluate(check, object)
		switch {
		case err != nil:
			wrong("The check %q cannot be evaluated: %s.", check, firstLine(err))
		case !held:
			wrong("The check %q is false.", check)
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
	for _, check := range c.Checks {
		if _, err := compile(check); err != nil {
			problems = append(problems, fmt.Sprintf("the check %q is not a yes-or-no expression: %s", plan.Short(check, 200), firstLine(err)))
		}
	}
	return problems
}

// compile reads an expression whose names are the output's keys, of any type.
func compile(check string) (*vm.Program, error) {
	return expr.Compile(check, expr.AllowUndefinedVariables(), expr.AsBool(), expr.MaxNodes(mostNodes))
}

// evaluate runs a check over an output. A key that is not there makes it an
// error, not false.
func evaluate(check string, object map[string]any) (held bool, err error) {
	program, err := compile(check)
	if err != nil {
		return false, err
	}
	for _, name := range names(program) {
		if _, ok := object[name]; !ok {
			return false, fmt.Errorf("the output has no key %q", name)
		}
	}
	machine := vm.VM{MemoryBudget: memory}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	out, err := machine.Run(program, object)
	if err != nil {
		return false, err
	}
	held, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("it is %T, not yes or no", out)
	}
	return held, nil
}

// names lists the variables that an expression reads.
func names(p *vm.Program) []string {
	v := &identifiers{}
	node := p.Node()
	ast.Walk(&node, v)
	return v.found
}

type identifiers struct{ found []string }

// Visit notes identifiers.
func (v *identifiers) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		v.found = append(v.found, id.Value)
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
