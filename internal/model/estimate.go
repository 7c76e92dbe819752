package model

import (
	"unicode/utf8"

	"planwave/internal/plan"
)

// Characters a token. English has about four, JSON and other languages fewer:
// what is reserved is rather too much.
const (
	usualCharacters = 4
	fewCharacters   = 3
)

// Estimate returns what a request is reserved with before it is made: one
// request, the tokens of everything that is sent, by its length, and all that
// the model may write.
func Estimate(req Request) plan.Amount {
	return plan.Amount{Requests: 1, Tokens: tokens(sent(req), fewCharacters) + max(req.MaxOutputTokens, 0)}
}

// EstimateUsage counts what a request and its answer used by their length, for
// models that do not tell.
func EstimateUsage(req Request, resp Response) plan.Usage {
	written := utf8.RuneCountInString(resp.Text)
	for _, c := range resp.Calls {
		written += len(c.Name) + utf8.RuneCount(c.Arguments)
	}
	u := plan.Usage{Requests: 1, InputTokens: tokens(sent(req), usualCharacters), OutputTokens: tokens(written, usualCharacters)}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

func tokens(characters, perToken int) int { return (characters + perToken - 1) / perToken }

// sent is the number of characters that a request sends.
func sent(req Request) int {
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
	return n
}
