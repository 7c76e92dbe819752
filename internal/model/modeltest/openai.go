package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

type openaiRequest struct {
	Model               string          `json:"model"`
	Messages            []openaiMessage `json:"messages"`
	Tools               []openaiTool    `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ResponseFormat      *openaiFormat   `json:"response_format"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type openaiMessage struct {
	Role       string       `json:"role"`
	Content    *string      `json:"content"`
	ToolCalls  []openaiCall `json:"tool_calls"`
	ToolCallID string       `json:"tool_call_id"`
}

type openaiCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openaiTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type openaiFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// readOpenAI reads a request of chat completions.
func readOpenAI(r *http.Request, asked *Asked) error {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return fmt.Errorf("the path is %s", r.URL.Path)
	}
	asked.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var in openaiRequest
	if err := strict(asked.Body, &in); err != nil {
		return err
	}
	if in.Model == "" || len(in.Messages) == 0 {
		return errors.New("model and messages are required")
	}
	if in.StreamOptions != nil && !in.Stream {
		return errors.New("stream_options are only for streams")
	}
	asked.Stream, asked.IncludeUsage = in.Stream, in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	asked.Model, asked.MaxOutputTokens = in.Model, max(in.MaxTokens, in.MaxCompletionTokens)
	for _, t := range in.Tools {
		if t.Type != "function" || t.Function.Name == "" || len(t.Function.Parameters) == 0 {
			return fmt.Errorf("tools: %s is not a whole function", text(t))
		}
		asked.Tools = append(asked.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	if err := in.form(asked); err != nil {
		return err
	}
	return in.conversation(asked)
}

// form finds how output by a schema is asked for.
func (in openaiRequest) form(asked *Asked) error {
	if f := in.ResponseFormat; f != nil {
		asked.Form = f.Type
		switch {
		case f.Type == "json_schema" && f.JSONSchema != nil && f.JSONSchema.Name != "" && len(f.JSONSchema.Schema) > 0:
			asked.Schema = &model.Schema{Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
		case f.Type == "json_object" && strings.Contains(string(asked.Body), "JSON"):
		default:
			return fmt.Errorf("response_format is %s; json_object needs the word JSON in a message", text(f))
		}
	}
	var choice struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if len(in.ToolChoice) == 0 {
		return nil
	}
	if err := json.Unmarshal(in.ToolChoice, &choice); err != nil {
		return fmt.Errorf("tool_choice is %s: %w", in.ToolChoice, err)
	}
	at := slices.IndexFunc(asked.Tools, func(t model.Tool) bool { return t.Name == choice.Function.Name })
	if at < 0 || choice.Type != "function" {
		return fmt.Errorf("tool_choice is %s", in.ToolChoice)
	}
	asked.Form = "tool"
	asked.Schema = &model.Schema{Name: asked.Tools[at].Name, Schema: asked.Tools[at].Schema}
	return nil
}

// conversation reads the messages. Every call of an assistant is answered once,
// by its id, before anything else is said.
func (in openaiRequest) conversation(asked *Asked) error {
	var open []string
	for i, m := range in.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: the calls %v are not answered", i, open)
		}
		content := ""
		if m.Content != nil {
			content = *m.Content
		}
		switch m.Role {
		case "system":
			asked.System = content
		case "user":
			asked.Messages = append(asked.Messages, model.Message{Speaker: model.User, Text: content})
		case "assistant":
			said := model.Message{Speaker: model.Assistant, Text: content}
			for _, c := range m.ToolCalls {
				if c.ID == "" || c.Type != "function" || slices.Contains(open, c.ID) || !json.Valid([]byte(c.Function.Arguments)) {
					return fmt.Errorf("messages[%d]: the call %s is not whole, or its id is there twice", i, text(c))
				}
				open = append(open, c.ID)
				said.Calls = append(said.Calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
			}
			asked.Messages = append(asked.Messages, said)
		case "tool":
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("messages[%d]: no call has the id %q", i, m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			asked.answered(model.ToolResult{ID: m.ToolCallID, Text: content})
		default:
			return fmt.Errorf("messages[%d].role: unknown variant `%s`, expected one of `system`, `user`, `assistant`, `tool`", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %v are not answered", open)
	}
	return nil
}

// answered adds a tool's result to the turn of the tools.
func (a *Asked) answered(r model.ToolResult) {
	if last := len(a.Messages) - 1; last >= 0 && a.Messages[last].Speaker == model.ToolSpeaker {
		a.Messages[last].Results = append(a.Messages[last].Results, r)
		return
	}
	a.Messages = append(a.Messages, model.Message{Speaker: model.ToolSpeaker, Results: []model.ToolResult{r}})
}

// writeOpenAI writes a chat completion.
func writeOpenAI(asked Asked, reply Reply) string {
	message := map[string]any{"role": "assistant", "content": nil}
	finish := "stop"
	var calls []openaiCall
	for i, c := range reply.Calls {
		calls = append(calls, openaiCallOf(c, i))
	}
	switch {
	case asked.Form == "tool" && len(calls) == 0 && reply.Text != "":
		calls = append(calls, openaiCallOf(model.ToolCall{Name: asked.Schema.Name, Arguments: json.RawMessage(reply.Text)}, 0))
	case reply.Text != "":
		message["content"] = reply.Text
	}
	if len(calls) > 0 {
		message["tool_calls"], finish = calls, "tool_calls"
	}
	switch reply.Finish {
	case Length:
		finish = "length"
	case Filtered:
		finish = "content_filter"
	}
	out := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
	}
	if u := reply.Usage; u != nil && (asked.IncludeUsage || !asked.Stream) {
		out["usage"] = openaiUsage(*u)
	}
	return text(out)
}

func openaiCallOf(c model.ToolCall, i int) openaiCall {
	out := openaiCall{ID: c.ID, Type: "function"}
	if out.ID == "" {
		out.ID = fmt.Sprintf("call_%d", i+1)
	}
	out.Function.Name, out.Function.Arguments = c.Name, string(c.Arguments)
	return out
}

func openaiUsage(u plan.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.TotalTokens,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedTokens},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.ThinkingTokens},
	}
}
