package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"planwave/internal/model"
)

// failure types what went wrong with a request.
func (c *Client) failure(ctx context.Context, err error) *model.Error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	refused, ok := errors.AsType[*statusError](err)
	if !ok {
		return c.server.FromTransport(ctx, err)
	}
	detail := model.ErrorDetail(refused.body)
	e := c.server.FromStatus(refused.status, refused.header, detail, asked(refused.body))
	e.Usage = refused.usage
	// What is used up for the day is not back after the wait that it names.
	if e.Kind == model.RateLimited && strings.Contains(string(refused.body), "PerDay") {
		e.Final = true
		e.Message = fmt.Sprintf("Gemini has no quota left for this model today (HTTP %d). Use another model, come back tomorrow, or check the plan behind GEMINI_API_KEY.", refused.status)
	}
	// A wrong key is a bad request to Gemini.
	if e.Kind == model.BadResponse && (strings.Contains(string(refused.body), "API_KEY_INVALID") || strings.Contains(detail, "API key")) {
		e.Kind = model.Auth
		e.Message = fmt.Sprintf("Gemini refused the key (HTTP %d). Check GEMINI_API_KEY.", refused.status)
	}
	return e
}

// asked is the wait in the body of a refusal (google.rpc.RetryInfo), 0 if there
// is none.
func asked(body []byte) time.Duration {
	var in struct {
		Error struct {
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	if json.Unmarshal(body, &in) != nil {
		return 0
	}
	for _, d := range in.Error.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}
