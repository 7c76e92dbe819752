package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"planwave/internal/model"
)

// chunk is an event of a streamed answer.
type chunk struct {
	Model   string          `json:"model"`
	Choices []chunkChoice   `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
	Error json.RawMessage `json:"error"`
}

type chunkChoice struct {
	Index        int             `json:"index"`
	Delta        *reply          `json:"delta"`
	Message      json.RawMessage `json:"message"` // of a server that does not stream
	FinishReason *string         `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// stream reads a streamed answer as the whole one that it comes to.
func (c *Client) stream(ctx context.Context, body io.Reader, stop func(), req model.Request, h habit, tell *model.Teller) (completion, error) {
	a := &assembly{client: c, tell: tell, choice: -1}
	if req.Schema != nil && h.form == forcedTool {
		a.forced = req.Schema.Name
	}
	done, err := c.server.ReadStream(ctx, model.Stream{Body: body, Stop: stop, Each: a.add})
	if errors.Is(err, model.ErrNoStream) {
		err = c.unreadable(err)
	}
	switch {
	case err == nil && a.whole != nil:
		return c.parse(a.whole)
	case err == nil && a.finish != "":
		return a.completion(), nil
	case err == nil:
		err = c.server.Cut(nil)
		if done { // it never says why it stopped, so its cuts cannot be told
			c.habits.stream.Keep(streamed(req), whole)
		}
	}
	if a.size == 0 {
		return completion{}, err
	}
	return completion{}, a.charged(err, req)
}

// assembly puts a streamed answer together.
type assembly struct {
	client *Client
	tell   *model.Teller
	forced string // the tool whose arguments are the text

	model   string
	usage   json.RawMessage
	choice  int // the one that is read, -1 before the first
	text    literal
	refusal literal
	thought bool
	calls   []*callPieces
	older   *callPieces // function_call
	finish  string
	whole   json.RawMessage // an answer that was not streamed
	size    int             // of all pieces
}

// add takes an event.
func (a *assembly) add(event json.RawMessage) (bool, error) {
	var in chunk
	if err := json.Unmarshal(event, &in); err != nil {
		return false, a.client.unreadable(err)
	}
	if isThere(in.Error) {
		return false, a.client.reported(in.Error, in.Usage)
	}
	if in.Model != "" {
		a.model = in.Model
	}
	a.used(in.Usage, in.Groq.Usage)
	for _, c := range in.Choices {
		if a.choice < 0 {
			a.choice = c.Index
		}
		if c.Index != a.choice {
			continue
		}
		if isThere(c.Error) {
			return false, a.client.reported(c.Error, in.Usage)
		}
		if c.Delta == nil && isThere(c.Message) {
			a.whole = event
			continue
		}
		a.used(c.Usage)
		if err := a.piece(c); err != nil {
			return false, err
		}
	}
	return a.finish != "" || a.whole != nil, nil
}

// used keeps the last that is told of what the answer used.
func (a *assembly) used(told ...json.RawMessage) {
	for _, u := range told {
		if _, ok := usageOf(u); ok {
			a.usage = u
		}
	}
}

// piece takes a piece of the answer.
func (a *assembly) piece(c chunkChoice) error {
	if r := c.FinishReason; r != nil && *r != "" && *r != "null" {
		a.finish = *r
	}
	if c.Delta == nil {
		return nil
	}
	d := c.Delta
	a.size += a.text.add(d.Content)
	a.tell.Add(a.text.fresh())
	if d.Refusal != nil {
		refused, _ := json.Marshal(*d.Refusal) //nolint:errchkjson // a text always encodes
		a.size += a.refusal.add(refused)
	}
	if isThere(d.ReasoningContent) || isThere(d.Reasoning) {
		a.thought = true
		a.size++
	}
	for _, call := range d.ToolCalls {
		a.call(call)
	}
	if f := d.FunctionCall; f != nil {
		if a.older == nil {
			a.older = &callPieces{}
		}
		a.size += a.older.add(rawCall{Function: *f})
	}
	if a.size > model.MostAnswer {
		return a.client.server.TooLong()
	}
	return nil
}

// call takes a piece of a call.
func (a *assembly) call(d rawCall) {
	d = d.inFunction()
	c := a.of(d)
	if c == nil || c.isAnother(d) {
		c = &callPieces{index: d.Index}
		a.calls = append(a.calls, c)
	}
	a.size += c.add(d)
	if a.forced != "" && c.name == a.forced {
		a.tell.Add(c.arguments.fresh())
	}
}

// of is the call that a piece is part of, as far as its index tells: the last
// one if it has none.
func (a *assembly) of(d rawCall) *callPieces {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if d.Index == nil || c.index != nil && *c.index == *d.Index {
			return c
		}
	}
	return nil
}

// completion is the answer as it would have come whole.
func (a *assembly) completion() completion {
	var first choice
	first.FinishReason = &a.finish
	first.Message.Content = a.text.raw()
	if refused := a.refusal.text(); refused != "" {
		first.Message.Refusal = &refused
	}
	if a.thought {
		first.Message.Reasoning = json.RawMessage("true")
	}
	for _, c := range a.calls {
		first.Message.ToolCalls = append(first.Message.ToolCalls, c.call())
	}
	if a.older != nil {
		f := a.older.call().Function
		first.Message.FunctionCall = &f
	}
	return completion{Model: a.model, Choices: []choice{first}, Usage: a.usage}
}

// charged is a failure in the middle of an answer with what that used, by its
// length if the server did not tell. It is no refusal of the request any more.
func (a *assembly) charged(err error, req model.Request) error {
	if r, ok := errors.AsType[*refusal](err); ok {
		err = r.failure
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return err
	}
	in := a.completion()
	u, told := usageOf(in.Usage)
	if !told {
		u = model.EstimateUsage(req, model.Response{Text: a.text.text(), Calls: in.Choices[0].calls()})
	}
	e.Usage = u
	return e
}
