package plan

import (
	"encoding/json"
	"time"
)

// Call is one model request as it was sent and answered: the unit of a trace.
type Call struct {
	ID      string `json:"id"`
	Agent   Role   `json:"agent"`
	Step    string `json:"step,omitempty"` // empty outside a step
	Attempt int    `json:"attempt"`        // of the step, from 1; of the agent outside a step
	Model   string `json:"model"`          // provider:model
	// Request and Response are the recorded JSON of both sides, without keys.
	Request    json.RawMessage `json:"request,omitempty"`
	Response   json.RawMessage `json:"response,omitempty"`
	ToolCalls  []ToolCall      `json:"tool_calls,omitempty"`
	Usage      Usage           `json:"usage"`
	Error      *Fault          `json:"error,omitempty"`
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt time.Time       `json:"finished_at"` // zero while the call is in flight
}

// ToolCall is one use of a tool, by an agent or by a tool step.
type ToolCall struct {
	ID string `json:"id"`
	// CallID is the model call that asked for it; empty for a tool step.
	CallID    string          `json:"call,omitempty"`
	Step      string          `json:"step"`
	Attempt   int             `json:"attempt"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Result is kept whole, whatever was cut for the model.
	Result     string          `json:"result"`
	Data       json.RawMessage `json:"data,omitempty"` // the structured result, if there is one
	Error      string          `json:"error,omitempty"`
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt time.Time       `json:"finished_at"`
}
