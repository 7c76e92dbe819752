package plan

import "errors"

// Code is the stable name of a failure or of a broken rule. Programs act on
// codes; people read the message beside it.
type Code string

// Codes of failed runs and steps.
const (
	CodePlanInvalid      Code = "plan_invalid"
	CodeAllStepsFailed   Code = "all_steps_failed"
	CodeBudgetExhausted  Code = "budget_exhausted"
	CodeBeyondDemo       Code = "beyond_demo"
	CodeNoGoal           Code = "no_goal"
	CodeModelUnreachable Code = "model_unreachable"
	CodeModelRateLimited Code = "model_rate_limited"
	CodeModelAuth        Code = "model_auth"
	CodeContentFiltered  Code = "content_filtered"
	CodeOutputTruncated  Code = "output_truncated"
	CodeModelBadResponse Code = "model_bad_response"
	CodeToolFailed       Code = "tool_failed"
	CodeToolDenied       Code = "tool_denied"
	CodeAddressRefused   Code = "address_refused"
	CodeContractBroken   Code = "contract_broken"
	CodeBadReference     Code = "bad_reference"
	CodeInternal         Code = "internal"
)

// Codes of refused requests.
const (
	CodeInvalid    Code = "invalid_request"
	CodeNotFound   Code = "not_found"
	CodeConflict   Code = "conflict"
	CodeStale      Code = "stale_version"
	CodeTooLarge   Code = "too_large"
	CodeUnexpected Code = "unexpected_state"
)

// Error is the one error that people are shown. Message names the operation,
// the offender and what to do, and is safe to show; the cause is for the log.
type Error struct {
	Code    Code
	Message string
	// Violations are the single things wrong with the input, if it was input.
	Violations []Violation
	cause      error
}

// NewError returns an error with a message that is safe to show and a cause,
// which may be nil, that is only logged.
func NewError(code Code, message string, cause error) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// Error returns the code, the message and the cause, for the log.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// AsError returns err as an [Error]. What is not one is an internal error
// whose text is not shown.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return NewError(CodeInternal, "Something went wrong inside Planwave. The log has the details.", err)
}

// CodeOf returns the code of err, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// Fault is an error as it is kept in events and shown: a code and a message.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// FaultOf turns an error into what is kept of it.
func FaultOf(err error) Fault {
	e := AsError(err)
	return Fault{Code: e.Code, Message: e.Message}
}
