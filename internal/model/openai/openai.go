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
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	h := c.habits.of(req)
	for {
		body, err := c.habits.request(req, h)
		if err != nil {
			return model.Response{}, err
		}
		answer, refused, err := c.post(ctx, body)
		if err == nil {
			c.habits.keep(req, h)
			return c.read(answer, req, h)
		}
		if refused == nil {
			return model.Response{}, err
		}
		next, ok := c.habits.after(h, req, *refused)
		if !ok {
			return model.Response{}, err
		}
		h = next
	}
}

// refusal is an HTTP status that is no success, and what the server says.
type refusal struct {
	status int
	detail string
}

// post makes one request and returns the body of the answer.
func (c *Client) post(ctx context.Context, body []byte) ([]byte, *refusal, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, c.server.Bad("cannot be asked: %v.", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if c.server.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.server.Key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, nil, c.server.FromTransport(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // the answer has been read
	answer, err := c.server.ReadAnswer(ctx, resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		return answer, nil, nil
	}
	detail := model.ErrorDetail(answer)
	refused := &refusal{status: resp.StatusCode, detail: detail + " " + parameter(answer)}
	return nil, refused, c.server.FromStatus(resp.StatusCode, resp.Header, detail, 0)
}

// parameter is the request's field that an error names.
func parameter(body []byte) string {
	var in struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	return in.Error.Param
}

var _ io.Closer = (*Client)(nil)
