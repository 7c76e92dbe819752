package model

import (
	"fmt"
	"time"

	"planwave/internal/plan"
)

// Kind is the kind of a failed request.
type Kind string

// The kinds of failure.
const (
	// Unreachable is a server that could not be reached or did not answer.
	Unreachable Kind = "unreachable"
	// RateLimited is a server that asks to come back later.
	RateLimited Kind = "rate_limited"
	// Auth is a key that is missing, wrong or not allowed to.
	Auth Kind = "auth"
	// Filtered is an answer held back for its content.
	Filtered Kind = "filtered"
	// Truncated is an answer cut off at its token limit.
	Truncated Kind = "truncated"
	// Unavailable is a server that fails for its own reasons (5xx).
	Unavailable Kind = "unavailable"
	// BadResponse is an answer that cannot be read, or a request refused as wrong.
	BadResponse Kind = "bad_response"
	// Cancelled is a request that was given up because its context ended.
	Cancelled Kind = "cancelled"
	// BeyondDemo is a question that the demo model does not know.
	BeyondDemo Kind = "beyond_demo"
)

// Code is the stable code of the kind, as runs and steps report it.
func (k Kind) Code() plan.Code {
	switch k {
	case Unreachable, Unavailable:
		return plan.CodeModelUnreachable
	case RateLimited:
		return plan.CodeModelRateLimited
	case Auth:
		return plan.CodeModelAuth
	case Filtered:
		return plan.CodeContentFiltered
	case Truncated:
		return plan.CodeOutputTruncated
	case BeyondDemo:
		return plan.CodeBeyondDemo
	case BadResponse, Cancelled:
	}
	return plan.CodeModelBadResponse
}

// Error is a failed model request.
type Error struct {
	Kind Kind
	// Message says in words safe to show what failed and what to do.
	Message string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// RetryAfter is the wait that the server asked for, 0 if it named none.
	RetryAfter time.Duration
	// Final says that asking again soon does not help, although the kind may
	// pass: a quota that is used up, a host that does not exist.
	Final bool
	// Once says that asking again at once may help, and no more than once: an
	// answer that came out empty or as a call that nobody can read.
	Once bool
	// Unsent says that the request was given up before it went out.
	Unsent bool
	// Usage is what the failed call is known to have used.
	Usage plan.Usage
	// Cause is for the log. It never holds a key.
	Cause error
}

// Error returns kind, message and cause.
func (e *Error) Error() string {
	s := fmt.Sprintf("model: %s: %s", e.Kind, e.Message)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Shown returns the failure as people and programs are shown it.
func (e *Error) Shown() *plan.Error { return plan.NewError(e.Kind.Code(), e.Message, e) }
