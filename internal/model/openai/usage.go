package openai

import (
	"encoding/json"

	"planwave/internal/plan"
)

// usageOf reads what an answer used, and says whether the server told.
func usageOf(raw json.RawMessage) (plan.Usage, bool) {
	var in struct {
		Prompt        *float64 `json:"prompt_tokens"`
		Completion    *float64 `json:"completion_tokens"`
		Input         *float64 `json:"input_tokens"` // of servers that mix this API with others
		Output        *float64 `json:"output_tokens"`
		CacheHit      float64  `json:"prompt_cache_hit_tokens"` // of DeepSeek
		Cached        float64  `json:"cached_tokens"`           // of Moonshot
		Reasoning     float64  `json:"reasoning_tokens"`
		Total         float64  `json:"total_tokens"`
		PromptDetails struct {
			Cached float64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning float64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	none := plan.Usage{Requests: 1}
	unread := json.Unmarshal(raw, &in) != nil
	if in.Prompt == nil && in.Completion == nil {
		in.Prompt, in.Completion = in.Input, in.Output
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
	u.CachedTokens = min(count(max(in.PromptDetails.Cached, in.CacheHit, in.Cached)), u.InputTokens)
	u.ThinkingTokens = min(count(max(in.CompletionDetails.Reasoning, in.Reasoning)), u.OutputTokens)
	return u, true
}

// count is a number of tokens. What cannot be one is none.
func count(n float64) int {
	const most = 1 << 40
	if !(n > 0 && n < most) {
		return 0
	}
	return int(n)
}
