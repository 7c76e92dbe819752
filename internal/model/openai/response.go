package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// completion is an answer. What servers write in more than one form is raw.
type completion struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	FinishReason *string         `json:"finish_reason"`
	Message      reply           `json:"message"`
	Error        json.RawMessage `json:"error"`
}

// reply is a message of the model, or a piece of one.
type reply struct {
	Content      json.RawMessage `json:"content"`
	Refusal      *string         `json:"refusal"`
	ToolCalls    []rawCall       `json:"tool_calls"`
	FunctionCall *rawFunction    `json:"function_call"` // of older servers
	// What the model thought, under the names that servers give it. It is
	// never an answer.
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
}

type rawCall struct {
	Index    *int            `json:"index"` // in a piece
	ID       json.RawMessage `json:"id"`
	Function rawFunction     `json:"function"`
	// What belongs into function, of servers that leave that out.
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type rawFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// parse reads an answer with a status of success. An error in it is a refusal.
func (c *Client) parse(body []byte) (completion, error) {
	var in completion
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&in); err != nil { // what comes after the answer means nothing
		return in, c.unreadable(fmt.Errorf("read a chat completion of %d bytes: %w", len(body), err))
	}
	if isThere(in.Error) {
		return in, c.reported(in.Error, in.Usage)
	}
	if len(in.Choices) > 0 && isThere(in.Choices[0].Error) {
		return in, c.reported(in.Choices[0].Error, in.Usage)
	}
	if len(in.Choices) == 0 && model.ErrorDetail(body) != "" {
		return in, c.reported(body, in.Usage)
	}
	return in, nil
}

// unreadable is an answer that is none.
func (c *Client) unreadable(cause error) error {
	e := c.server.Bad("sent an answer that cannot be read. Check %s: is it the address of an OpenAI-compatible API, often ending in /v1?", c.server.URLVariable)
	e.Cause = cause
	return e
}

// read turns an answer into a response or a failure.
func (c *Client) read(in completion, req model.Request, h habit) (model.Response, error) {
	usage, told := usageOf(in.Usage)
	if len(in.Choices) == 0 {
		return model.Response{}, c.empty(usage, "sent an empty answer, without any choices. Try again or use another model.")
	}
	first := in.Choices[0]
	resp := model.Response{Text: textOf(first.Message.Content), Calls: first.calls(), Usage: usage, Model: in.Model}
	if !told && !isEmpty(resp) {
		resp.Usage = model.EstimateUsage(req, resp)
	}
	if err := c.stopped(first, resp); err != nil {
		return model.Response{}, err
	}
	if req.Schema != nil && h.form == forcedTool {
		resp = unwrapped(resp, req.Schema.Name)
	}
	if isEmpty(resp) {
		what := "sent an empty answer. Try again or use another model."
		if isThere(first.Message.ReasoningContent) || isThere(first.Message.Reasoning) {
			what = "sent an empty answer: the model thought and then wrote nothing. Try again, allow more output tokens, or use another model."
		}
		return model.Response{}, c.empty(usage, what)
	}
	return resp, nil
}

// isEmpty says whether a model wrote nothing and calls nothing.
func isEmpty(r model.Response) bool { return len(r.Calls) == 0 && strings.TrimSpace(r.Text) == "" }

// stopped is the failure that a reason to stop stands for, in the words of all
// the servers there are.
func (c *Client) stopped(first choice, resp model.Response) error {
	reason := ""
	if first.FinishReason != nil {
		reason, _, _ = strings.Cut(strings.ToLower(*first.FinishReason), ":")
	}
	switch reason {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		if isEmpty(resp) {
			return c.failed(resp.Usage, model.Truncated, "used the whole output allowance before it wrote anything, most likely on thinking. Allow more output tokens.")
		}
		return c.failed(resp.Usage, model.Truncated, "was cut off at its output token limit, so the answer is not whole. Allow more output tokens, or ask for less at once.")
	case "content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive":
		return c.failed(resp.Usage, model.Filtered, "held the answer back for its content ("+reason+"). Put the question in other words.")
	case "error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource":
		return c.failed(resp.Usage, model.Unavailable, "gave up in the middle of its answer ("+reason+"). Try again later, or use another model.")
	case "malformed_function_call", "malformed_response", "unexpected_tool_call":
		return c.empty(resp.Usage, "gave up the answer ("+reason+"). Try again or use another model.")
	}
	refused := refusalIn(first.Message.Content)
	if r := first.Message.Refusal; r != nil && *r != "" {
		refused = *r
	}
	if refused != "" && isEmpty(resp) {
		return c.failed(resp.Usage, model.Filtered, "refused to answer: "+plan.Short(c.server.Scrub(refused), 300))
	}
	return nil
}

// empty is the failure of an answer that says nothing, or nothing that can be
// read.
func (c *Client) empty(u plan.Usage, what string) error {
	err := c.failed(u, model.BadResponse, what)
	err.Once = true
	return err
}

func (c *Client) failed(u plan.Usage, kind model.Kind, what string) *model.Error {
	e := c.server.Bad("%s", what)
	e.Kind, e.Usage = kind, u
	return e
}

// reported is an error that came with a status of success.
func (c *Client) reported(raw, used json.RawMessage) *refusal {
	var in struct {
		Code   json.RawMessage `json:"code"`
		Status json.RawMessage `json:"status"`
	}
	status := http.StatusBadRequest
	if json.Unmarshal(raw, &in) == nil {
		for _, v := range []json.RawMessage{in.Status, in.Code} {
			n, err := strconv.Atoi(strings.Trim(string(v), `"`))
			if err == nil && n >= http.StatusBadRequest && n < 600 {
				status = n
			}
		}
	}
	detail := withCode(model.ErrorDetail(raw), raw)
	if status == http.StatusBadRequest && strings.Contains(detail, "quota") {
		status = http.StatusTooManyRequests
	}
	r := &refusal{status: status, detail: detail, failure: c.server.FromStatus(status, nil, detail, 0)}
	r.failure.Usage, _ = usageOf(used)
	return r
}
