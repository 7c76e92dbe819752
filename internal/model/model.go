// Package model is what the agents know of language models: one interface, the
// words of a request and its answer, typed failures, and the registry that
// turns provider:model into something that can be asked. The providers are in
// packages below it.
package model

import (
	"context"
	"encoding/json"

	"planwave/internal/plan"
)

// Model answers one request. An implementation is safe for concurrent use,
// gives up at once when ctx ends, closing its connection, and returns a
// [*Error] for every failure.
type Model interface {
	Generate(ctx context.Context, req Request) (Response, error)
}

// Request is one model request.
type Request struct {
	// Model is the part of the name after the provider.
	Model string `json:"model"`
	// Role is the part played. Providers of real models ignore it.
	Role     plan.Role `json:"role"`
	System   string    `json:"system,omitempty"`
	Messages []Message `json:"messages"`
	// Tools are what the model may call.
	Tools []Tool `json:"tools,omitempty"`
	// Schema is the JSON Schema of the output, where one is wanted. It is a
	// wish: what comes back is checked by whoever asked.
	Schema *Schema `json:"schema,omitempty"`
	// MaxOutputTokens is the most the model may write, thinking included.
	MaxOutputTokens int `json:"max_output_tokens,omitempty"`
	// OnText is told the text of the answer while it is written, where someone
	// watches: it may be nil, and a model that cannot stream calls it once or
	// never. An empty piece says that what was told so far is void, and begins
	// every attempt. When Generate succeeds and has told anything, the pieces
	// since the last empty one are the text of the response. It is called by the
	// goroutine that asks, and not after Generate has returned.
	OnText func(piece string) `json:"-"`
}

// Schema is a named JSON Schema of an object.
type Schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Speaker says whose turn a message is.
type Speaker string

// The speakers of a conversation; the system prompt is not a turn.
const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	// ToolSpeaker carries the results of the tool calls of the turn before.
	ToolSpeaker Speaker = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Speaker Speaker      `json:"speaker"`
	Text    string       `json:"text,omitempty"`
	Calls   []ToolCall   `json:"calls,omitempty"`   // of the assistant
	Results []ToolResult `json:"results,omitempty"` // of the tools, one for each call, in order
}

// Tool is a tool as models are told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of the arguments: an object
}

// ToolCall is a model's wish to call a tool. IDs are unique in their turn.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON object
	// Signature is what the provider wants back with the call, unread.
	Signature string `json:"signature,omitempty"`
}

// ToolResult answers the call with the same ID.
type ToolResult struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// Response is a model's whole answer. It holds text, calls, or both.
type Response struct {
	Text  string     `json:"text,omitempty"`
	Calls []ToolCall `json:"calls,omitempty"`
	Usage plan.Usage `json:"usage"`
	// Model is the name that the server says answered.
	Model string `json:"model,omitempty"`
}
