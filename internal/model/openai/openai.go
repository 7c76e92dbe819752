// Package openai asks OpenAI and every server that speaks its chat
// completions: Ollama, vLLM, llama.cpp, LM Studio, and many more. They differ
// in what they accept and in what they send, so the client is strict in
// neither: it climbs down from what a server refuses, remembers that for each
// model, and reads what is unmistakable in whatever form it comes.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"planwave/internal/model"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config is what a client is set up with.
type Config struct {
	// Key may be empty: servers on one's own machine need none.
	Key string
	// BaseURL is what comes before /chat/completions; empty means
	// [DefaultBaseURL].
	BaseURL string
}

// Client is a [model.Model] over HTTP. Use [New] to make one.
type Client struct {
	server model.Server
	url    string
	http   *http.Client
	habits *memory
}

// New returns a client.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up the OpenAI-compatible provider: the base URL %q is not an http or https address; write it as http://127.0.0.1:11434/v1", c.BaseURL)
	}
	const path = "/chat/completions"
	name := "The model server"
	order := []string{"max_tokens", "max_completion_tokens", ""}
	if u.Hostname() == "api.openai.com" {
		name, order = "OpenAI", []string{"max_completion_tokens", "max_tokens", ""}
	}
	return &Client{
		server: model.Server{Name: name, Address: u.Host, KeyVariable: "OPENAI_API_KEY", URLVariable: "OPENAI_BASE_URL", Key: c.Key},
		url:    strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), path) + path,
		http:   model.HTTPClient(nil),
		habits: &memory{limits: order},
	}, nil
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Generate asks the server. What it refuses about the form of the request is
// asked for in the next lower form at once.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	tell := model.NewTeller(req)
	for h := c.habits.of(req); ; {
		resp, err := c.ask(ctx, req, h, tell)
		var refused *refusal
		if !errors.As(err, &refused) {
			if err == nil {
				tell.End(resp.Text)
			}
			return resp, err
		}
		next, ok := c.habits.after(h, req, refused)
		if !ok {
			return model.Response{}, refused.failure
		}
		h = next
	}
}

// refusal is an answer that is no success, and what the server says.
type refusal struct {
	status  int
	detail  string
	failure *model.Error
}

// Error is that of the failure.
func (r *refusal) Error() string { return r.failure.Error() }

// ask makes a request in one form. What the server refuses is a [refusal].
func (c *Client) ask(ctx context.Context, req model.Request, h habit, tell *model.Teller) (model.Response, error) {
	body, err := c.habits.request(req, h)
	if err != nil {
		return model.Response{}, err
	}
	ctx2, stop := context.WithCancel(ctx)
	defer stop()
	answer, err := c.post(ctx2, body)
	if err != nil {
		return model.Response{}, c.typed(ctx, err)
	}
	defer answer.Body.Close() //nolint:errcheck // the answer has been read
	if answer.StatusCode >= http.StatusMultipleChoices {
		return model.Response{}, c.refused(ctx, answer)
	}
	var in completion
	if h.stream < whole {
		in, err = c.stream(ctx, answer.Body, stop, req, h, tell)
	} else if body, err = c.server.ReadAnswer(ctx, answer.Body); err == nil {
		in, err = c.parse(body)
		if isStream(body) { // although nobody asked for that
			in, err = c.stream(ctx, bytes.NewReader(body), stop, req, h, tell)
		}
	}
	if err != nil {
		return model.Response{}, err
	}
	c.habits.keep(req, h)
	return c.read(in, req, h)
}

// isStream says whether a body is that of server-sent events.
func isStream(body []byte) bool {
	body = bytes.TrimSpace(body)
	return bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) || bytes.HasPrefix(body, []byte(":"))
}

// typed is the failure of a request without an answer.
func (c *Client) typed(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	return c.server.FromTransport(ctx, err)
}

// post makes one request.
func (c *Client) post(ctx context.Context, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, c.server.Bad("cannot be asked: %v.", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.server.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.server.Key)
	}
	return c.http.Do(r) //nolint:wrapcheck // it is typed by the caller
}

// refused reads what a status that is no success comes with.
func (c *Client) refused(ctx context.Context, answer *http.Response) error {
	body, err := c.server.ReadAnswer(ctx, answer.Body)
	if err != nil {
		return err //nolint:wrapcheck // it is typed
	}
	detail := withCode(model.ErrorDetail(body), body)
	return &refusal{
		status: answer.StatusCode, detail: detail + " " + parameters(body),
		failure: c.server.FromStatus(answer.StatusCode, answer.Header, detail, 0),
	}
}

// withCode adds to what a server says the code of it that tells more.
func withCode(detail string, body []byte) string {
	var in struct {
		Error json.RawMessage `json:"error"`
		named
	}
	_ = json.Unmarshal(body, &in) // what cannot be read has no code
	all := in.named
	if inside := (named{}); json.Unmarshal(in.Error, &inside) == nil {
		all = inside
	}
	telling := []string{"insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "content_filter", "content_policy_violation", "context_length_exceeded", "invalid_api_key"}
	for _, raw := range []json.RawMessage{all.Code, all.Type} {
		code := strings.Trim(string(raw), `"`)
		if slices.Contains(telling, code) && !strings.Contains(detail, code) {
			return strings.TrimSpace(strings.TrimRight(detail, ". ") + " (" + code + ")")
		}
	}
	return detail
}

// named is how an error calls itself.
type named struct {
	Code json.RawMessage `json:"code"`
	Type json.RawMessage `json:"type"`
}

// parameters are the fields of the request that an error names, in the forms of
// OpenAI and of FastAPI.
func parameters(body []byte) string {
	var in struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
		Detail []struct {
			Loc []any `json:"loc"`
		} `json:"detail"`
	}
	_ = json.Unmarshal(body, &in) // what cannot be read names nothing
	names := []string{in.Error.Param}
	for _, d := range in.Detail {
		for _, l := range d.Loc {
			if name, ok := l.(string); ok && name != "body" {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

var _ io.Closer = (*Client)(nil)
