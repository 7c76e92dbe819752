package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"planwave/internal/model"
)

// merger puts a streamed answer together, to be read as one that came whole.
type merger struct {
	server model.Server
	tell   *model.Teller
	answer answer
	size   int
}

// cutError is a failure in the middle of an answer.
type cutError struct {
	error
	soFar answer
}

// Unwrap returns the failure.
func (e *cutError) Unwrap() error { return e.error }

// read reads the whole stream. An answer that nobody finished or blocked is
// none.
func (m *merger) read(ctx context.Context, body io.Reader, stop func()) error {
	_, err := m.server.ReadStream(ctx, model.Stream{Body: body, Stop: stop, Each: m.add})
	switch {
	case errors.Is(err, model.ErrNoStream):
		return unreadable(m.server, err)
	case err == nil && m.ended():
		return nil
	case err == nil:
		err = m.server.Cut(nil)
	}
	if m.size == 0 {
		return err
	}
	return &cutError{err, m.answer}
}

// ended says whether the answer has an end.
func (m *merger) ended() bool {
	if len(m.answer.Candidates) > 0 && m.answer.Candidates[0].FinishReason != "" {
		return true
	}
	return m.answer.PromptFeedback.BlockReason != ""
}

// add takes an event.
func (m *merger) add(event json.RawMessage) (bool, error) {
	var in answer
	if err := json.Unmarshal(event, &in); err != nil {
		return false, unreadable(m.server, err)
	}
	if isThere(in.Error) {
		return false, reported(in)
	}
	if in.ModelVersion != "" {
		m.answer.ModelVersion = in.ModelVersion
	}
	if in.PromptFeedback.BlockReason != "" {
		m.answer.PromptFeedback = in.PromptFeedback
	}
	m.answer.UsageMetadata = m.answer.UsageMetadata.and(in.UsageMetadata)
	for _, c := range in.Candidates {
		if c.Index == 0 {
			m.candidate(c)
		}
	}
	if m.size > model.MostAnswer {
		return false, m.server.TooLong()
	}
	return m.ended(), nil
}

// candidate takes a piece of the first candidate.
func (m *merger) candidate(c candidate) {
	if len(m.answer.Candidates) == 0 {
		m.answer.Candidates = []candidate{{}}
	}
	all := &m.answer.Candidates[0]
	if c.FinishReason != "" {
		all.FinishReason = c.FinishReason
	}
	all.Content.Parts = append(all.Content.Parts, c.Content.Parts...)
	for _, p := range c.Content.Parts {
		m.size += len(p.Text)
		if p.FunctionCall != nil {
			m.size += len(p.FunctionCall.Name) + len(p.FunctionCall.Args)
		}
	}
	m.tell.Add(c.text())
}

// and is what is told of the usage later on top of what was told before: each
// event tells all of it, though not always every number.
func (u *usage) and(later *usage) *usage {
	if u == nil || later == nil {
		if later != nil {
			return later
		}
		return u
	}
	over := func(n, by count) count {
		if by != 0 {
			return by
		}
		return n
	}
	return &usage{
		Prompt: over(u.Prompt, later.Prompt), Candidates: over(u.Candidates, later.Candidates), Thoughts: over(u.Thoughts, later.Thoughts),
		Cached: over(u.Cached, later.Cached), Total: over(u.Total, later.Total),
	}
}

// charged is a failure in the middle of an answer with what that used, by its
// length if the server did not tell. It is no refusal of the request any more.
func (c *Client) charged(ctx context.Context, err error, req model.Request) error {
	cut, ok := errors.AsType[*cutError](err)
	if !ok {
		return err
	}
	e := c.failure(ctx, cut.error)
	e.Usage = cut.soFar.UsageMetadata.counted()
	if e.Usage.TotalTokens == 0 && len(cut.soFar.Candidates) > 0 {
		first := cut.soFar.Candidates[0]
		e.Usage = model.EstimateUsage(req, model.Response{Text: first.text(), Calls: first.calls()})
	}
	return e
}
