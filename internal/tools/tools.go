// Package tools holds what executors can do: the registry of tools, the checks
// of their arguments, and the tools that are built in.
package tools

import (
	"context"
	"encoding/json"

	"planwave/internal/plan"
)

// Info is what planners, models and people are told of a tool.
type Info struct {
	// Name is 1–64 characters of A-Za-z0-9_-.
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments: an object.
	Schema json.RawMessage
	// ReadOnly tools change nothing and need no person's word.
	ReadOnly bool
}

// Result is what a tool answered. A result that IsError is one the caller can
// read and act on, such as "not found".
type Result struct {
	Text    string
	Data    json.RawMessage // the structured result, if there is one
	IsError bool
	// Code names the kind of error where there is a more telling one than
	// [plan.CodeToolFailed], which "" stands for.
	Code plan.Code
}

// Tool is one thing that can be done. It is safe for concurrent use. An error
// means the tool itself broke; what the caller can mend is a Result.
type Tool interface {
	Info() Info
	Call(ctx context.Context, arguments json.RawMessage) (Result, error)
}
