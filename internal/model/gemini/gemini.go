// Package gemini asks Google's Gemini models through the given library,
// github.com/google/generative-ai-go.
//
// The library is at its end of life, so it is kept to what it does well:
// building requests. Under it lies a transport of ours, which sends the key in
// a header, makes one attempt, and takes the answer: the library repeats 503
// for ten minutes, panics on parts it does not know, and loses the thinking
// tokens, what a blocked answer used, and reasons that are younger than it.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/generative-ai-go/genai"
	"google.golang.org/api/option"
	"google.golang.org/api/option/internaloption"
	"google.golang.org/api/transport/grpc"

	"planwave/internal/model"
)

// DefaultBaseURL is Google's own address.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// DefaultModel is asked when nothing else is configured.
const DefaultModel = "gemini-3.1-flash-lite"

// Config is what a client is set up with.
type Config struct {
	Key string
	// BaseURL is what comes before /v1beta; empty means [DefaultBaseURL].
	BaseURL string
}

// Client is a [model.Model] over HTTP. Use [New] to make one.
type Client struct {
	server model.Server
	genai  *genai.Client
	http   *http.Client
	forms  model.Ladder
	whole  model.Ladder // 1 for models that are not streamed
}

// New returns a client.
func New(ctx context.Context, c Config) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1beta")
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up the Gemini provider: the base URL %q is not an http or https address; leave GEMINI_BASE_URL empty for Google's", c.BaseURL)
	}
	out := &Client{server: model.Server{
		Name: "Gemini", Address: u.Host, KeyVariable: "GEMINI_API_KEY", URLVariable: "GEMINI_BASE_URL", Key: c.Key,
	}}
	below := model.HTTPClient(nil)
	out.http = model.HTTPClient(&transport{server: out.server, below: below.Transport})
	// The library wants a key although the transport sends the real one.
	out.genai, err = genai.NewClient(ctx, option.WithAPIKey("placeholder"), option.WithHTTPClient(out.http), option.WithEndpoint(base),
		grpc.WithConnPool(unused{}), internaloption.SkipDialSettingsValidation())
	if err != nil {
		return nil, fmt.Errorf("set up the Gemini provider: %s", out.server.Scrub(err.Error()))
	}
	return out, nil
}

// unused stands in for the gRPC connection of the library's client of caches.
// Nothing here uses caches, and without a stand-in that client dials the server
// for ever and cannot be closed.
type unused struct{ grpc.ConnPool }

// Close lets go of connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	if err := c.genai.Close(); err != nil {
		return fmt.Errorf("close the Gemini provider: %w", err)
	}
	return nil
}

// How output by a schema is asked for, from the best form down.
const (
	responseSchema = iota
	jsonMode       // the schema in the prompt
	promptOnly     // the schema in the prompt
)

// Generate asks Gemini. A form of request that a model refuses is asked for in
// the next lower form at once, and so is a stream.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	tell := model.NewTeller(req)
	stream := tell.Listens() && c.whole.At(req.Model) == 0
	for form := c.form(req); ; {
		answer, err := c.ask(ctx, req, form, tell, stream)
		if err == nil {
			c.keep(req, form, stream)
			resp, err := c.read(answer, req)
			if err == nil {
				tell.End(resp.Text)
			}
			return resp, err
		}
		e := c.failure(ctx, err)
		refused, ok := errors.AsType[*statusError](err)
		if !ok {
			return model.Response{}, e
		}
		detail := model.ErrorDetail(refused.body)
		switch {
		case stream && refusesStream(refused.status, detail):
			stream = false
		case req.Schema != nil && form < promptOnly && e.Kind == model.BadResponse && model.RefusesForm(refused.status, detail):
			form++
		default:
			return model.Response{}, e
		}
	}
}

// refusesStream says whether a server does not stream. One that knows no such
// method says not found, and so does one that does not know the model.
func refusesStream(status int, detail string) bool {
	return status == http.StatusNotFound && !strings.Contains(detail, "models/") || model.RefusesStream(status, detail)
}

// keep remembers what was accepted.
func (c *Client) keep(req model.Request, form int, stream bool) {
	if req.Schema != nil && len(req.Tools) == 0 {
		c.forms.Keep(req.Model, form)
	}
	if req.OnText != nil && !stream {
		c.whole.Keep(req.Model, 1)
	}
}

// form is how a request is first made. Output by a schema does not go together
// with tools, and not every schema can be told.
func (c *Client) form(req model.Request) int {
	switch {
	case req.Schema == nil:
		return responseSchema
	case len(req.Tools) > 0:
		return promptOnly
	}
	told, whole := convert(req.Schema.Schema)
	if !whole || told == nil || told.Type == genai.TypeObject && len(told.Properties) == 0 { // which is refused
		return max(jsonMode, c.forms.At(req.Model))
	}
	return c.forms.At(req.Model)
}

// ask makes one request.
func (c *Client) ask(ctx context.Context, req model.Request, form int, tell *model.Teller, stream bool) (answer, error) {
	history := contentsOf(req.Messages)
	if len(history) == 0 || history[len(history)-1].Role != user {
		return answer{}, c.server.Bad("cannot be asked: the conversation does not end with the user's turn.")
	}
	last := len(history) - 1
	chat := c.configured(req, form).StartChat()
	chat.History = history[:last]
	ex := &exchange{calls: callsOf(req.Messages)}
	if stream {
		ex.tell = tell
	}
	_, err := chat.SendMessage(context.WithValue(ctx, exchangeKey{}, ex), history[last].Parts...)
	if ex.answer != nil {
		return *ex.answer, nil
	}
	if err == nil {
		err = errors.New("the library made no request")
	}
	return answer{}, c.charged(ctx, err, req)
}

// configured is the model with everything but the conversation.
func (c *Client) configured(req model.Request, form int) *genai.GenerativeModel {
	m := c.genai.GenerativeModel(req.Model)
	m.Tools = toolsOf(req.Tools)
	if req.MaxOutputTokens > 0 {
		m.SetMaxOutputTokens(int32(min(req.MaxOutputTokens, 1<<30)))
	}
	system := req.System
	if s := req.Schema; s != nil {
		if form < promptOnly {
			m.ResponseMIMEType = "application/json"
		}
		if form == responseSchema {
			m.ResponseSchema, _ = convert(s.Schema)
		} else {
			system = s.InPrompt(system)
		}
	}
	if system != "" {
		m.SystemInstruction = &genai.Content{Parts: []genai.Part{genai.Text(system)}}
	}
	return m
}
