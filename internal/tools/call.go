package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"planwave/internal/plan"
)

// BrokenError is a tool that broke, as against one that answered with an error
// that the caller can mend.
type BrokenError struct {
	Tool  string
	Cause error
}

// Error names the tool and what happened to it.
func (e *BrokenError) Error() string { return "tool " + e.Tool + ": " + e.Cause.Error() }

// Unwrap returns what happened.
func (e *BrokenError) Unwrap() error { return e.Cause }

// mostSchema is how much of a schema, in characters, is told with an error.
const mostSchema = 2_000

// Coerced returns the arguments as the tool will see them, or as they are where
// a call with them would not reach the tool.
func (r *Registry) Coerced(name string, arguments json.RawMessage) (clean json.RawMessage, reaches bool) {
	e, err := r.find(name)
	if err != nil {
		return arguments, false
	}
	args, err := e.arguments(arguments)
	if err != nil {
		return arguments, false
	}
	coerce(e.schema.compiled, args)
	clean, err = json.Marshal(args)
	if err != nil || len(e.schema.problems(args, nil)) > 0 {
		return arguments, false
	}
	return clean, true
}

// Call calls a tool by name. What the caller can mend, as an unknown name or
// wrong arguments, is a [Result] that says so; an error is a [*BrokenError].
// Arguments are coerced where the meaning is unmistakable, and checked before
// the tool sees them.
func (r *Registry) Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error) {
	e, err := r.find(name)
	if err != nil {
		return failed("%s.", sentence(err)), nil
	}
	args, err := e.arguments(arguments)
	if err != nil {
		return failed("The arguments of %s cannot be used: %v.", name, err), nil
	}
	coerce(e.schema.compiled, args)
	if problems := e.schema.problems(args, nil); len(problems) > 0 {
		return failed("The arguments of %s are wrong: %s. Its schema is %s",
			name, strings.Join(problems, "; "), plan.Short(string(e.info.Schema), mostSchema)), nil
	}
	clean, err := json.Marshal(args)
	if err != nil {
		return failed("The arguments of %s cannot be used: %v.", name, err), nil
	}
	result, err := e.call(ctx, clean)
	if err != nil {
		return Result{}, &BrokenError{Tool: name, Cause: err}
	}
	return result, nil
}

// call calls the tool, and is an error also where it crashes or answers with
// data that cannot be kept.
func (e entry) call(ctx context.Context, arguments json.RawMessage) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it crashed: %v", p)
		}
	}()
	result, err = e.tool.Call(ctx, arguments)
	if err == nil && len(result.Data) > 0 && !json.Valid(result.Data) {
		err = errors.New("its data is not JSON")
	}
	return result, err
}

func failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// sentence is an error with a capital letter.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
