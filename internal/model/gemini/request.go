package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/google/generative-ai-go/genai"

	"planwave/internal/model"
)

// The roles of contents.
const (
	user      = "user"
	modelRole = "model"
)

// contentsOf turns a conversation into contents. User and model take turns, so
// neighbours of one role become one.
func contentsOf(messages []model.Message) []*genai.Content {
	var out []*genai.Content
	for _, m := range messages {
		role := user
		if m.Speaker == model.Assistant {
			role = modelRole
		}
		parts := partsOf(m)
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Parts = append(out[last].Parts, parts...)
			continue
		}
		out = append(out, &genai.Content{Role: role, Parts: parts})
	}
	return out
}

// partsOf is one turn. Gemini matches results to calls by name and order.
func partsOf(m model.Message) []genai.Part {
	var parts []genai.Part
	if m.Text != "" {
		parts = append(parts, genai.Text(m.Text))
	}
	for _, c := range m.Calls {
		parts = append(parts, genai.FunctionCall{Name: c.Name, Args: map[string]any{}}) // the transport writes the arguments
	}
	for _, r := range m.Results {
		key := "output"
		if r.IsError {
			key = "error"
		}
		parts = append(parts, genai.FunctionResponse{Name: r.Name, Response: map[string]any{key: r.Text}})
	}
	if len(parts) == 0 {
		parts = append(parts, genai.Text("(nothing)")) // an empty turn is refused
	}
	return parts
}

// callsOf are the calls of all turns, in order.
func callsOf(messages []model.Message) []model.ToolCall {
	var out []model.ToolCall
	for _, m := range messages {
		out = append(out, m.Calls...)
	}
	return out
}

// objectOf is the arguments of a call as they are sent back: always an object.
func objectOf(arguments json.RawMessage) any {
	trimmed := bytes.TrimSpace(arguments)
	switch {
	case len(trimmed) == 0 || !json.Valid(trimmed):
		return map[string]any{}
	case trimmed[0] == '{':
		return json.RawMessage(trimmed)
	}
	return map[string]any{"arguments": json.RawMessage(trimmed)}
}

// toolsOf turns tools into function declarations.
func toolsOf(tools []model.Tool) []*genai.Tool {
	if len(tools) == 0 {
		return nil
	}
	out := &genai.Tool{}
	for _, t := range tools {
		parameters, _ := convert(t.Schema)
		if parameters != nil && (parameters.Type != genai.TypeObject || len(parameters.Properties) == 0) {
			parameters = nil // a function without arguments has none
		}
		out.FunctionDeclarations = append(out.FunctionDeclarations, &genai.FunctionDeclaration{
			Name: t.Name, Description: t.Description, Parameters: parameters,
		})
	}
	return []*genai.Tool{out}
}
