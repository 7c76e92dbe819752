package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// answer is what generateContent answers, as far as it matters here.
type answer struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason reason `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *usage          `json:"usageMetadata"`
	ModelVersion  string          `json:"modelVersion"`
	Error         json.RawMessage `json:"error"`
}

type candidate struct {
	Index         int    `json:"index"`
	FinishReason  reason `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
	Content       struct {
		Parts []part `json:"parts"`
	} `json:"content"`
}

type part struct {
	Text         string        `json:"text"`
	Thought      bool          `json:"thought"`
	FunctionCall *functionCall `json:"functionCall"`
	Signature    string        `json:"thoughtSignature"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type usage struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Total      int `json:"totalTokenCount"`
}

// reason is why generation stopped or a prompt was blocked.
type reason string

// UnmarshalJSON reads a name, or a number as it is.
func (r *reason) UnmarshalJSON(b []byte) error {
	*r = reason(strings.Trim(string(b), `"`))
	if *r == "null" || strings.HasSuffix(string(*r), "_UNSPECIFIED") {
		*r = ""
	}
	return nil
}

// counted is what a request used. Thinking is charged as output and is not part
// of the candidates' tokens; the library does not know it, the total does.
func (u *usage) counted() plan.Usage {
	if u == nil {
		return plan.Usage{Requests: 1}
	}
	prompt := max(u.Prompt, 0)
	total := max(u.Total, prompt+max(u.Candidates, 0)+max(u.Thoughts, 0))
	out := plan.Usage{Requests: 1, InputTokens: prompt, OutputTokens: total - prompt, TotalTokens: total}
	out.CachedTokens = min(max(u.Cached, 0), prompt)
	out.ThinkingTokens = out.OutputTokens - max(u.Candidates, 0)
	return out
}

// read turns an answer into a response or a failure.
func (c *Client) read(in answer, req model.Request) (model.Response, error) {
	u := in.UsageMetadata.counted()
	failed := func(kind model.Kind, format string, args ...any) (model.Response, error) {
		e := c.server.Bad(format, args...)
		e.Kind, e.Usage = kind, u
		return model.Response{}, e
	}
	switch {
	case in.PromptFeedback.BlockReason != "" && len(in.Candidates) == 0:
		return failed(model.Filtered, "blocked the prompt (%s). Put the question in other words.", in.PromptFeedback.BlockReason)
	case len(in.Candidates) == 0:
		return failed(model.BadResponse, "sent an empty answer, without any candidates. Try again or use another model.")
	}
	first := in.Candidates[0]
	resp := model.Response{Text: first.text(), Calls: first.calls(), Usage: u, Model: in.ModelVersion}
	empty := strings.TrimSpace(resp.Text) == "" && len(resp.Calls) == 0
	switch why := first.FinishReason; {
	case why == "MAX_TOKENS" && empty:
		return failed(model.Truncated, "used its whole output allowance on thinking (%d tokens) and wrote nothing. Allow more output tokens.", u.ThinkingTokens)
	case why == "MAX_TOKENS":
		return failed(model.Truncated, "was cut off at its output token limit, so the answer is not whole. Allow more output tokens, or ask for less at once.")
	case slices.Contains(withheld(), why):
		return failed(model.Filtered, "blocked the answer (%s). Put the question in other words.", why)
	case why != "" && why != "STOP":
		return failed(model.BadResponse, "gave up the answer (%s). Try again or use another model.", why)
	case empty:
		return failed(model.BadResponse, "sent an empty answer. Try again or use another model.")
	}
	if in.UsageMetadata == nil {
		resp.Usage = model.EstimateUsage(req, resp)
	}
	return resp, nil
}

// withheld are the reasons that are about the content.
func withheld() []reason {
	return []reason{"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
}

// text is what the model wrote, without its thoughts.
func (c candidate) text() string {
	var b strings.Builder
	for _, p := range c.Content.Parts {
		if !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// calls are the model's calls. Those without an id get one.
func (c candidate) calls() []model.ToolCall {
	var out []model.ToolCall
	taken := map[string]bool{}
	for _, p := range c.Content.Parts {
		f := p.FunctionCall
		if f == nil {
			continue
		}
		id := f.ID
		for n := len(out) + 1; id == "" || taken[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		taken[id] = true
		call := model.ToolCall{ID: id, Name: f.Name, Arguments: json.RawMessage(string([]rune(string(f.Args)))), Signature: p.Signature}
		if len(f.Args) == 0 || string(f.Args) == "null" {
			call.Arguments = json.RawMessage("{}")
		}
		out = append(out, call)
	}
	return out
}
