package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"planwave/internal/model"
)

type chatRequest struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Tools               []tool    `json:"tools,omitempty"`
	ToolChoice          any       `json:"tool_choice,omitempty"`
	ResponseFormat      any       `json:"response_format,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Stream              bool      `json:"stream,omitempty"`
	StreamOptions       any       `json:"stream_options,omitempty"`
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string      `json:"type"`
	Function declaration `json:"function"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// request writes a request in the form that the model is known to accept.
func (m *memory) request(req model.Request, h habit) ([]byte, error) {
	out := chatRequest{Model: req.Model}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, toolOf(t.Name, t.Description, t.Schema))
	}
	switch m.limits[h.limit] {
	case "max_tokens":
		out.MaxTokens = req.MaxOutputTokens
	case "max_completion_tokens":
		out.MaxCompletionTokens = req.MaxOutputTokens
	}
	if h.stream < whole {
		out.Stream = true
	}
	if h.stream == streamWithUsage {
		out.StreamOptions = map[string]any{"include_usage": true}
	}
	system := req.System
	if s := req.Schema; s != nil {
		system = out.ask(*s, h.form, system)
	}
	if system != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: system})
	}
	for _, said := range req.Messages {
		out.Messages = append(out.Messages, messagesOf(said)...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return nil, &model.Error{Kind: model.BadResponse, Message: "The request cannot be written: a schema or the arguments of a call are not JSON.", Cause: err}
	}
	return b.Bytes(), nil
}

// ask asks for output by a schema and returns the system prompt for that.
func (r *chatRequest) ask(s model.Schema, form int, system string) string {
	switch form {
	case jsonSchema:
		r.ResponseFormat = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": s.Name, "schema": s.Schema}}
		return system
	case forcedTool:
		r.Tools = append(r.Tools, toolOf(s.Name, "Takes the answer.", s.Schema))
		r.ToolChoice = map[string]any{"type": "function", "function": map[string]any{"name": s.Name}}
		return system
	case jsonObject:
		r.ResponseFormat = map[string]any{"type": "json_object"}
	}
	return s.InPrompt(system)
}

func toolOf(name, description string, schema json.RawMessage) tool {
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return tool{Type: "function", Function: declaration{Name: name, Description: description, Parameters: schema}}
}

// messagesOf writes a turn: one message, or one for each result of a tool.
func messagesOf(said model.Message) []message {
	switch said.Speaker {
	case model.ToolSpeaker:
		out := make([]message, len(said.Results))
		for i, r := range said.Results {
			text := r.Text
			if r.IsError {
				text = "Error: " + text
			}
			out[i] = message{Role: "tool", ToolCallID: r.ID, Content: text}
		}
		return out
	case model.Assistant:
		m := message{Role: "assistant", Content: said.Text}
		for _, c := range said.Calls {
			m.ToolCalls = append(m.ToolCalls, call{ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: object(c.Arguments)}})
		}
		return []message{m}
	case model.User:
	}
	return []message{{Role: "user", Content: said.Text}}
}

// object is the arguments of a call as they are sent back: always an object,
// since servers read them.
func object(arguments json.RawMessage) string {
	trimmed := bytes.TrimSpace(arguments)
	switch {
	case len(trimmed) == 0 || !json.Valid(trimmed):
		return "{}"
	case trimmed[0] == '{':
		return string(trimmed)
	}
	return fmt.Sprintf(`{"arguments":%s}`, trimmed)
}
