package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"planwave/internal/model"
)

// exchange is what the transport is told of a request, and what it brings back.
type exchange struct {
	calls  []model.ToolCall // of all turns, in order
	answer []byte
}

type exchangeKey struct{}

// transport is the way from the library to the server.
type transport struct {
	server model.Server
	below  http.RoundTripper
}

// statusError is an HTTP status that is no success.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

// Error names the status.
func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// RoundTrip makes one request: generateContent rather than its stream, the key
// in a header, and in the body what the library cannot write. The library is
// given an empty answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	ex, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok || r.Body == nil {
		return nil, errors.New("the library made a request that nobody asked for")
	}
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the library's request: %w", err)
	}
	if body, err = complete(body, ex.calls); err != nil {
		return nil, err
	}
	out := r.Clone(ctx)
	out.URL.Path = strings.Replace(out.URL.Path, ":streamGenerateContent", ":generateContent", 1)
	out.URL.RawQuery = ""
	out.Header.Set("X-Goog-Api-Key", t.server.Key)
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.ContentLength = int64(len(body))
	if out.Body, err = out.GetBody(); err != nil {
		return nil, err
	}
	resp, err := t.below.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // the answer has been read
	answer, err := t.server.ReadAnswer(ctx, resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, &statusError{status: resp.StatusCode, header: resp.Header, body: answer}
	}
	ex.answer = answer
	resp.Body = io.NopCloser(strings.NewReader("[{}]"))
	return resp, nil
}

// CloseIdleConnections lets go of connections that nobody uses.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.below.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// complete writes into a request what the library cannot: the arguments of
// calls as they are (it makes all numbers floats) with the signatures that
// Gemini wants back, and the types of schemas as names.
func complete(body []byte, calls []model.ToolCall) ([]byte, error) {
	var req map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&req); err != nil {
		return nil, fmt.Errorf("read the library's request: %w", err)
	}
	next := 0
	for content := range objects(req["contents"]) {
		for part := range objects(content["parts"]) {
			call, ok := part["functionCall"].(map[string]any)
			if !ok || next >= len(calls) {
				continue
			}
			call["args"] = objectOf(calls[next].Arguments)
			if s := calls[next].Signature; s != "" {
				part["thoughtSignature"] = s
			}
			next++
		}
	}
	for tool := range objects(req["tools"]) {
		for f := range objects(tool["functionDeclarations"]) {
			nameTypes(f["parameters"])
		}
	}
	if c, ok := req["generationConfig"].(map[string]any); ok {
		nameTypes(c["responseSchema"])
	}
	return json.Marshal(req)
}

// objects goes through the objects of a JSON list.
func objects(list any) func(yield func(map[string]any) bool) {
	items, _ := list.([]any)
	return func(yield func(map[string]any) bool) {
		for _, item := range items {
			if o, ok := item.(map[string]any); ok && !yield(o) {
				return
			}
		}
	}
}

// nameTypes turns the numbers that the library writes for types into names.
func nameTypes(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	names := []string{"TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}
	if n, ok := s["type"].(json.Number); ok {
		if i, err := n.Int64(); err == nil && i >= 0 && int(i) < len(names) {
			s["type"] = names[i]
		}
	}
	nameTypes(s["items"])
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		nameTypes(p)
	}
}

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
