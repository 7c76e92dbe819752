package openai

import (
	"encoding/json"
	"strconv"
	"strings"

	"planwave/internal/plan"
)

// usageOf reads what an answer used, and says whether the server told.
func usageOf(raw json.RawMessage) (plan.Usage, bool) {
	var in struct {
		Prompt        *tokens `json:"prompt_tokens"`
		Completion    *tokens `json:"completion_tokens"`
		Input         *tokens `json:"input_tokens"` // of servers that mix this API with others
		Output        *tokens `json:"output_tokens"`
		CacheHit      tokens  `json:"prompt_cache_hit_tokens"` // of DeepSeek
		Cached        tokens  `json:"cached_tokens"`           // of Moonshot
		Reasoning     tokens  `json:"reasoning_tokens"`
		Total         tokens  `json:"total_tokens"`
		PromptDetails struct {
			Cached tokens `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning tokens `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	none := plan.Usage{Requests: 1}
	unread := json.Unmarshal(raw, &in) != nil
	if in.Prompt == nil && in.Completion == nil {
		in.Prompt, in.Completion = in.Input, in.Output
	}
	if in.Prompt == nil && in.Completion == nil && in.Total > 0 {
		in.Prompt = &in.Total // all that is told
	}
	if unread || in.Prompt == nil && in.Completion == nil {
		return none, false
	}
	u := none
	if in.Prompt != nil {
		u.InputTokens = count(*in.Prompt)
	}
	if in.Completion != nil {
		u.OutputTokens = count(*in.Completion)
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	// A server that counts thinking beside the output says so by its total.
	if total := count(in.Total); total > u.TotalTokens {
		u.OutputTokens += total - u.TotalTokens
		u.TotalTokens = total
	}
	if u.TotalTokens == 0 {
		return none, false // no request uses nothing
	}
	u.CachedTokens = min(count(max(in.PromptDetails.Cached, in.CacheHit, in.Cached)), u.InputTokens)
	u.ThinkingTokens = min(count(max(in.CompletionDetails.Reasoning, in.Reasoning)), u.OutputTokens)
	return u, true
}

// tokens is a number of them, in quotes or not.
type tokens float64

// UnmarshalJSON reads a number. Anything else is none.
func (n *tokens) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		f = 0
	}
	*n = tokens(f)
	return nil
}

// count is a number of tokens. What cannot be one is none.
func count(n tokens) int {
	const most = 1 << 40
	if !(n > 0 && n < most) {
		return 0
	}
	return int(n)
}
