package db

import (
	"planwave/internal/plan"
)

// kind says which text of a call or tool call a row of texts is.
type kind string

const (
	kindRequest   kind = "request"
	kindResponse  kind = "response"
	kindArguments kind = "arguments"
	kindResult    kind = "result"
	kindData      kind = "data"
)

// trace writes the calls and tool calls of a batch.
func (s *session) trace(run int64, b Batch) error {
	for i := range b.Calls {
		if err := s.saveCall(run, &b.Calls[i]); err != nil {
			return err
		}
	}
	for i := range b.ToolCalls {
		if err := s.saveToolCall(run, &b.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

// saveCall writes a call when it is made and again when it is answered. The
// request is written once.
func (s *session) saveCall(run int64, c *plan.Call) error {
	var code, message any
	if c.Error != nil {
		code, message = string(c.Error.Code), c.Error.Message
	}
	if err := s.saveText(run, c.ID, kindRequest, string(c.Request)); err != nil {
		return err
	}
	u := c.Usage
	_, err := s.exec(`
		INSERT INTO calls (
			run, id, agent, step, attempt, model,
			requests, input_tokens, output_tokens, cached_tokens, thinking_tokens, total_tokens, cost,
			error_code, error_message, started_at, finished_at
		) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
		ON CONFLICT (run, id) DO UPDATE SET
			requests = ?7, input_tokens = ?8, output_tokens = ?9, cached_tokens = ?10,
			thinking_tokens = ?11, total_tokens = ?12, cost = ?13,
			error_code = ?14, error_message = ?15, finished_at = ?17`,
		run, c.ID, string(c.Agent), c.Step, c.Attempt, c.Model,
		u.Requests, u.InputTokens, u.OutputTokens, u.CachedTokens, u.ThinkingTokens, u.TotalTokens, cost(u.CostUSD),
		code, message, c.StartedAt.UnixMilli(), millis(c.FinishedAt))
	if err != nil {
		return err
	}
	if err := s.saveText(run, c.ID, kindResponse, string(c.Response)); err != nil {
		return err
	}
	for i := range c.ToolCalls {
		if err := s.saveToolCall(run, &c.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) saveToolCall(run int64, t *plan.ToolCall) error {
	_, err := s.exec(`
		INSERT INTO tool_calls (run, id, call, step, attempt, tool, error, started_at, finished_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (run, id) DO UPDATE SET
			error = ?7, finished_at = ?9`,
		run, t.ID, t.CallID, t.Step, t.Attempt, t.Tool, t.Error, t.StartedAt.UnixMilli(), millis(t.FinishedAt))
	if err != nil {
		return err
	}
	if err := s.saveText(run, t.ID, kindArguments, string(t.Arguments)); err != nil {
		return err
	}
	if err := s.saveText(run, t.ID, kindData, string(t.Data)); err != nil {
		return err
	}
	return s.saveText(run, t.ID, kindResult, t.Result)
}

// saveText keeps a big text. An empty one is not kept, and a request never
// changes.
func (s *session) saveText(run int64, owner string, k kind, body string) error {
	if body == "" {
		return nil
	}
	_, err := s.exec(`
		INSERT INTO texts (run, owner, kind, body)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (run, owner, kind) DO UPDATE SET
			body = excluded.body
		WHERE kind <> 'request'`,
		run, owner, string(k), body)
	return err
}
