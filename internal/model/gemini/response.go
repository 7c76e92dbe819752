package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
	Prompt     count `json:"promptTokenCount"`
	Candidates count `json:"candidatesTokenCount"`
	Thoughts   count `json:"thoughtsTokenCount"`
	Cached     count `json:"cachedContentTokenCount"`
	Total      count `json:"totalTokenCount"`
}

// count is a number of tokens.
type count int

// UnmarshalJSON reads a number, in quotes or not. What cannot be one is none.
func (n *count) UnmarshalJSON(b []byte) error {
	const most = 1 << 40
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || !(f > 0 && f < most) {
		f = 0
	}
	*n = count(f)
	return nil
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

// named is a reason to finish as Gemini names it: some servers write it in small
// letters, or as a number.
func (r reason) named() reason {
	numbered := []reason{"", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION"}
	if n, err := strconv.Atoi(string(r)); err == nil && n >= 0 && n < len(numbered) {
		return numbered[n]
	}
	for _, known := range slices.Concat(numbered[1:], withheld()) {
		if strings.EqualFold(string(r), string(known)) {
			return known
		}
	}
	return r
}

// counted is what a request used. Thinking is charged as output and is not part
// of the candidates' tokens; the library does not know it, the total does.
func (u *usage) counted() plan.Usage {
	if u == nil {
		return plan.Usage{Requests: 1}
	}
	prompt, total := int(u.Prompt), int(max(u.Total, u.Prompt+u.Candidates+u.Thoughts))
	out := plan.Usage{Requests: 1, InputTokens: prompt, OutputTokens: total - prompt, TotalTokens: total}
	out.CachedTokens = min(int(u.Cached), prompt)
	out.ThinkingTokens = out.OutputTokens - int(u.Candidates)
	return out
}

// read turns an answer into a response or a failure.
func (c *Client) read(in answer, req model.Request) (model.Response, error) {
	u := in.UsageMetadata.counted()
	failed := func(kind model.Kind, format string, args ...any) (model.Response, error) {
		e := c.server.Bad(format, args...)
		e.Kind, e.Usage = kind, u
		e.Once = kind == model.BadResponse
		return model.Response{}, e
	}
	switch {
	case in.PromptFeedback.BlockReason != "" && (len(in.Candidates) == 0 || in.Candidates[0].FinishReason == ""):
		return failed(model.Filtered, "blocked the prompt (%s). Put the question in other words.", in.PromptFeedback.BlockReason)
	case len(in.Candidates) == 0:
		return failed(model.BadResponse, "sent an empty answer, without any candidates. Try again or use another model.")
	}
	first := in.Candidates[0]
	resp := model.Response{Text: first.text(), Calls: first.calls(), Usage: u, Model: in.ModelVersion}
	empty := strings.TrimSpace(resp.Text) == "" && len(resp.Calls) == 0
	if u.TotalTokens == 0 && !empty { // it does not tell: no request uses nothing
		u = model.EstimateUsage(req, resp)
		resp.Usage = u
	}
	switch why := first.FinishReason.named(); {
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
