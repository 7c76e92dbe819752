package plan

import (
	"encoding/json"
	"time"
)

// Call is one model request as it was sent and answered: the unit of a trace.
type Call struct {
	ID      string
	Agent   Role
	Step    string // empty outside a step
	Attempt int    // of the step, from 1; of the agent outside a step
	Model   string // provider:model
	// Request and Response are the recorded JSON of both sides, without keys.
	Request    json.RawMessage
	Response   json.RawMessage
	ToolCalls  []ToolCall
	Usage      Usage
	Error      *Fault
	StartedAt  time.Time
	FinishedAt time.Time // zero while the call is in flight
}

// ToolCall is one use of a tool, by an agent or by a tool step.
type ToolCall struct {
	ID string
	// CallID is the model call that asked for it; empty for a tool step.
	CallID    string
	Step      string
	Attempt   int
	Tool      string
	Arguments json.RawMessage
	// Result is kept whole, whatever was cut for the model.
	Result     string
	Data       json.RawMessage // the structured result, if there is one
	Error      string
	StartedAt  time.Time
	FinishedAt time.Time
}
