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
	"planwave/internal/plan"
)

// exchange is what the transport is told of a request, and what it brings back.
type exchange struct {
	calls []model.ToolCall // of all turns, in order
	tell  *model.Teller    // of the answer while it is streamed, nil if it is not
	// The answer, once there is one, is read, or was merged from pieces.
	answer *answer
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
	usage  plan.Usage
}

// Error names the status.
func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// RoundTrip makes one request: generateContent unless somebody watches the
// stream, the key in a header, and in the body what the library cannot write.
// The library is given an empty answer.
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
	ctx2, stop := context.WithCancel(ctx)
	defer stop()
	out := r.Clone(ctx2)
	if ex.tell == nil {
		out.URL.Path = strings.Replace(out.URL.Path, streaming, ":generateContent", 1)
	}
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
	if err = t.receive(ctx, resp, stop, ex); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(strings.NewReader("[{}]"))
	return resp, nil
}

// streaming ends the path of the library's requests.
const streaming = ":streamGenerateContent"

// receive reads what came back.
func (t *transport) receive(ctx context.Context, resp *http.Response, stop func(), ex *exchange) error {
	var in answer
	if ex.tell != nil && resp.StatusCode < http.StatusMultipleChoices {
		m := &merger{server: t.server, tell: ex.tell}
		if err := m.read(ctx, resp.Body, stop); err != nil {
			return err
		}
		ex.answer = &m.answer
		return nil
	}
	body, err := t.server.ReadAnswer(ctx, resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return &statusError{status: resp.StatusCode, header: resp.Header, body: body}
	}
	if err = json.Unmarshal(body, &in); err != nil {
		return unreadable(t.server, fmt.Errorf("read an answer of %d bytes: %w", len(body), err))
	}
	if isThere(in.Error) {
		return reported(in)
	}
	ex.answer = &in
	return nil
}

// unreadable is an answer that is none.
func unreadable(s model.Server, cause error) *model.Error {
	e := s.Bad("sent an answer that cannot be read. Try again, or check GEMINI_BASE_URL.")
	e.Cause = cause
	return e
}

func isThere(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// reported is an error that came with a status of success.
func reported(in answer) *statusError {
	var told struct {
		Code int `json:"code"`
	}
	status := http.StatusBadRequest
	if json.Unmarshal(in.Error, &told) == nil && told.Code >= http.StatusBadRequest && told.Code < 600 {
		status = told.Code
	}
	return &statusError{status: status, body: fmt.Appendf(nil, `{"error":%s}`, in.Error), usage: in.UsageMetadata.counted()}
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
	e.Usage = refused.usage
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
