package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

type geminiRequest struct {
	Model             string          `json:"model"`
	Contents          []geminiContent `json:"contents"`
	SystemInstruction *geminiContent  `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	GenerationConfig struct {
		CandidateCount   int             `json:"candidateCount"`
		MaxOutputTokens  int             `json:"maxOutputTokens"`
		ResponseMIMEType string          `json:"responseMimeType"`
		ResponseSchema   json.RawMessage `json:"responseSchema"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string         `json:"text,omitempty"`
	FunctionCall     *geminiCall     `json:"functionCall,omitempty"`
	FunctionResponse *geminiResponse `json:"functionResponse,omitempty"`
	ThoughtSignature string          `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResponse struct {
	Name     string `json:"name"`
	Response struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	} `json:"response"`
}

// readGemini reads a request of generateContent, or of its stream.
func readGemini(r *http.Request, asked *Asked) error {
	name, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	name, whole := strings.CutSuffix(name, ":generateContent")
	name, asked.Stream = strings.CutSuffix(name, ":streamGenerateContent")
	if !ok || whole == asked.Stream {
		return fmt.Errorf("the path is %s", r.URL.Path)
	}
	if r.URL.Query().Has("key") {
		return errors.New("the key is in the URL, and from there in logs")
	}
	asked.Key = r.Header.Get("X-Goog-Api-Key")
	var in geminiRequest
	if err := strict(asked.Body, &in); err != nil {
		return err
	}
	asked.Model, asked.MaxOutputTokens = name, in.GenerationConfig.MaxOutputTokens
	if in.SystemInstruction != nil {
		asked.System = said(in.SystemInstruction.Parts)
	}
	if c := in.GenerationConfig; len(c.ResponseSchema) > 0 || c.ResponseMIMEType != "" {
		if len(in.Tools) > 0 || c.ResponseMIMEType != "application/json" {
			return errors.New("output by a schema is application/json and goes with no tools")
		}
		asked.Form, asked.Schema = "json_schema", &model.Schema{Schema: c.ResponseSchema}
		if err := geminiSchema(c.ResponseSchema); err != nil {
			return err
		}
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			if err := geminiSchema(f.Parameters); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			asked.Tools = append(asked.Tools, model.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
		}
	}
	return geminiConversation(in.Contents, asked)
}

// geminiSchema holds that a schema has nothing in it that Gemini refuses.
func geminiSchema(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var s struct {
		Type        string                     `json:"type"`
		Format      string                     `json:"format"`
		Description string                     `json:"description"`
		Nullable    bool                       `json:"nullable"`
		Enum        []string                   `json:"enum"`
		Items       json.RawMessage            `json:"items"`
		Properties  map[string]json.RawMessage `json:"properties"`
		Required    []string                   `json:"required"`
	}
	if err := strict(raw, &s); err != nil {
		return fmt.Errorf("the schema %s is refused: %w", raw, err)
	}
	switch {
	case s.Type == "OBJECT" && len(s.Properties) == 0:
		return fmt.Errorf("the schema %s is refused: properties: should be non-empty for OBJECT type", raw)
	case s.Type == "ARRAY" && len(s.Items) == 0:
		return fmt.Errorf("the schema %s is refused: items: missing field", raw)
	case len(s.Enum) > 0 && s.Type != "STRING":
		return fmt.Errorf("the schema %s is refused: enum: only allowed for STRING type", raw)
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return fmt.Errorf("the schema %s is refused: required: property %s is not defined", raw, name)
		}
	}
	for _, p := range s.Properties {
		if err := geminiSchema(p); err != nil {
			return err
		}
	}
	return geminiSchema(s.Items)
}

// said is the text of parts.
func said(parts []geminiPart) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Text != nil {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

// signature is what this server gives with a call and wants back with it.
func signature(call string) string { return "c2ln" + strings.Repeat("a", 4*len(call)) }

// geminiConversation reads the contents. User and model take turns, and every
// call is answered by its name in the turn after it.
func geminiConversation(contents []geminiContent, asked *Asked) error {
	var open []string
	for i, c := range contents {
		if len(c.Parts) == 0 || c.Role != []string{"user", "model"}[i%2] {
			return fmt.Errorf("contents[%d]: the role is %q with %d parts", i, c.Role, len(c.Parts))
		}
		turn := model.Message{Speaker: model.User, Text: said(c.Parts)}
		if c.Role == "model" {
			turn.Speaker = model.Assistant
		}
		for _, p := range c.Parts {
			if f := p.FunctionResponse; f != nil {
				r, err := f.result()
				if err != nil || len(open) == 0 || open[0] != f.Name {
					return fmt.Errorf("contents[%d]: the response of %s does not answer the calls %v: %w", i, f.Name, open, err)
				}
				open = open[1:]
				turn.Speaker, turn.Results = model.ToolSpeaker, append(turn.Results, r)
			}
		}
		if len(open) > 0 {
			return fmt.Errorf("contents[%d]: the calls %v are not answered", i, open)
		}
		for _, p := range c.Parts {
			if f := p.FunctionCall; f != nil {
				if p.ThoughtSignature != signature(f.Name) {
					return fmt.Errorf("contents[%d]: function call %s is missing a thought_signature", i, f.Name)
				}
				open = append(open, f.Name)
				turn.Calls = append(turn.Calls, model.ToolCall{Name: f.Name, Arguments: f.Args})
			}
		}
		asked.Messages = append(asked.Messages, turn)
	}
	if len(open) > 0 || len(contents)%2 == 0 {
		return errors.New("the last turn is not the user's")
	}
	return nil
}

func (f geminiResponse) result() (model.ToolResult, error) {
	switch {
	case f.Response.Output != nil && f.Response.Error == nil:
		return model.ToolResult{Name: f.Name, Text: *f.Response.Output}, nil
	case f.Response.Error != nil && f.Response.Output == nil:
		return model.ToolResult{Name: f.Name, Text: *f.Response.Error, IsError: true}, nil
	}
	return model.ToolResult{}, errors.New("a response has output or error")
}

// writeGemini writes the answer of generateContent.
func writeGemini(asked Asked, reply Reply) string {
	candidate := map[string]any{"index": 0, "finishReason": "STOP"}
	var parts []geminiPart
	if reply.Text != "" {
		parts = append(parts, geminiPart{Text: &reply.Text})
	}
	for _, c := range reply.Calls {
		parts = append(parts, geminiPart{FunctionCall: &geminiCall{Name: c.Name, Args: c.Arguments}, ThoughtSignature: signature(c.Name)})
	}
	if len(parts) > 0 {
		candidate["content"] = geminiContent{Role: "model", Parts: parts}
	}
	switch reply.Finish {
	case Length:
		candidate["finishReason"] = "MAX_TOKENS"
	case Filtered:
		candidate["finishReason"] = "SAFETY"
		delete(candidate, "content")
	}
	out := map[string]any{"candidates": []any{candidate}, "modelVersion": asked.Model}
	if u := reply.Usage; u != nil {
		out["usageMetadata"] = geminiUsage(*u)
	}
	return text(out)
}

func geminiUsage(u plan.Usage) map[string]any {
	return map[string]any{
		"promptTokenCount": u.InputTokens, "candidatesTokenCount": u.OutputTokens - u.ThinkingTokens,
		"thoughtsTokenCount": u.ThinkingTokens, "cachedContentTokenCount": u.CachedTokens, "totalTokenCount": u.TotalTokens,
	}
}
