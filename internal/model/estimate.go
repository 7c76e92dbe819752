package model

import (
	"unicode/utf8"

	"planwave/internal/plan"
)

// charactersPerToken is on the safe side: English has about four characters a
// token, JSON and other languages fewer.
const charactersPerToken = 3

// Estimate returns what a request is reserved with before it is made: one
// request, the tokens of everything that is sent, by its length, and all that
// the model may write.
func Estimate(req Request) plan.Amount {
	n := utf8.RuneCountInString(req.System)
	for _, m := range req.Messages {
		n += utf8.RuneCountInString(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + utf8.RuneCount(c.Arguments)
		}
		for _, r := range m.Results {
			n += len(r.Name) + utf8.RuneCountInString(r.Text)
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
	}
	if req.Schema != nil {
		n += len(req.Schema.Name) + utf8.RuneCount(req.Schema.Schema)
	}
	return plan.Amount{Requests: 1, Tokens: (n+charactersPerToken-1)/charactersPerToken + max(req.MaxOutputTokens, 0)}
}

// EstimateUsage counts the tokens of a request and its answer by their length,
// for models that do not tell.
func EstimateUsage(req Request, resp Response) plan.Usage {
	req.MaxOutputTokens = 0
	n := utf8.RuneCountInString(resp.Text)
	for _, c := range resp.Calls {
		n += len(c.Name) + utf8.RuneCount(c.Arguments)
	}
	u := plan.Usage{Requests: 1, InputTokens: Estimate(req).Tokens, OutputTokens: (n + charactersPerToken - 1) / charactersPerToken}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
