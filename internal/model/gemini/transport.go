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
	if isStream(body) { // although nobody asked for that
		m := &merger{server: t.server, tell: model.NewTeller(model.Request{})}
		if err = m.read(ctx, bytes.NewReader(body), stop); err != nil {
			return err
		}
		ex.answer = &m.answer
		return nil
	}
	if err = json.NewDecoder(bytes.NewReader(body)).Decode(&in); err != nil { // what comes after the answer means nothing
		return unreadable(t.server, fmt.Errorf("read an answer of %d bytes: %w", len(body), err))
	}
	if isThere(in.Error) {
		return reported(in)
	}
	ex.answer = &in
	return nil
}

// isStream says whether a body is that of a stream: a list of answers, or
// server-sent events.
func isStream(body []byte) bool {
	bare := strings.Join(strings.Fields(string(body[:min(len(body), longestStart)])), "")
	return strings.HasPrefix(bare, "[{") || strings.HasPrefix(bare, "data:")
}

// longestStart is how much of a body is looked at to tell what it is.
const longestStart = 64

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
		Code   count  `json:"code"`
		Status string `json:"status"`
	}
	status := http.StatusBadRequest
	if json.Unmarshal(in.Error, &told) == nil {
		status = statusOf(int(told.Code), told.Status)
	}
	return &statusError{status: status, body: fmt.Appendf(nil, `{"error":%s}`, in.Error), usage: in.UsageMetadata.counted()}
}

// statusOf is the HTTP status of an error that came with one of success.
func statusOf(code int, name string) int {
	if code >= http.StatusBadRequest && code < 600 {
		return code
	}
	switch name {
	case "UNAUTHENTICATED":
		return http.StatusUnauthorized
	case "PERMISSION_DENIED":
		return http.StatusForbidden
	case "NOT_FOUND":
		return http.StatusNotFound
	case "RESOURCE_EXHAUSTED":
		return http.StatusTooManyRequests
	case "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED":
		return http.StatusInternalServerError
	case "UNAVAILABLE":
		return http.StatusServiceUnavailable
	case "DEADLINE_EXCEEDED":
		return http.StatusGatewayTimeout
	}
	return http.StatusBadRequest
}

// CloseIdleConnections lets go of connections that nobody uses.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.below.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
