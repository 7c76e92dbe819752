package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"planwave/internal/plan"
)

// Server is how messages about a provider's failures name it.
type Server struct {
	// Name is what people call it, as Gemini.
	Name string
	// Address is its host, for those who run their own.
	Address string
	// KeyVariable and URLVariable are where it is configured.
	KeyVariable, URLVariable string
	// Key is never shown.
	Key string
}

// FromContext is the failure of a request whose context ended.
func FromContext(ctx context.Context) *Error {
	return &Error{Kind: Cancelled, Message: "The request was given up.", Cause: context.Cause(ctx)}
}

// FromTransport is the failure of a request that got no answer.
func (s Server) FromTransport(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return FromContext(ctx)
	}
	return &Error{
		Kind:  Unreachable,
		Cause: errors.New(s.Scrub(err.Error())),
		Message: fmt.Sprintf("%s at %s cannot be reached: %s. Check that it runs, the network, and %s.",
			s.Name, s.Address, s.Scrub(reason(err)), s.URLVariable),
	}
}

// reason says in few words why a connection failed.
func reason(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was broken off"
	case errors.As(err, &dns):
		return "there is no host " + dns.Name
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return plan.Short(err.Error(), 200)
}

// FromStatus is the failure that an HTTP status from 300 up stands for. Detail
// is what the server says, wait what it asks for beyond its header.
func (s Server) FromStatus(status int, header http.Header, detail string, wait time.Duration) *Error {
	e := &Error{Status: status, RetryAfter: max(wait, retryAfter(header))}
	does := ""
	e.Kind, does = s.meaning(status)
	if e.Kind == RateLimited && e.RetryAfter > 0 {
		does += fmt.Sprintf(" It asks to wait %s.", e.RetryAfter.Round(time.Second))
	}
	said := ""
	if detail = plan.Short(s.Scrub(strings.TrimSpace(detail)), 300); detail != "" {
		said = ": " + strings.TrimRight(detail, ". ")
	}
	what, do, _ := strings.Cut(does, "|")
	e.Message = fmt.Sprintf("%s %s (HTTP %d)%s.%s", s.Name, what, status, said, do)
	return e
}

// meaning is the kind of a status, what the server does and, after a bar, what
// to do about it.
func (s Server) meaning(status int) (Kind, string) {
	switch {
	case status == http.StatusUnauthorized:
		return Auth, "refused the key| Check " + s.KeyVariable + "."
	case status == http.StatusForbidden:
		return Auth, "does not allow this with the key| Check " + s.KeyVariable + " and what it may do."
	case status == http.StatusPaymentRequired:
		return Auth, "wants to be paid first| Check the account behind " + s.KeyVariable + "."
	case status == http.StatusTooManyRequests:
		return RateLimited, "has had too many requests or the quota is used up| Try again later, or ask for less at once."
	case status == http.StatusNotFound:
		return BadResponse, "does not know what was asked for| Check the model's name and " + s.URLVariable + "."
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return Unavailable, "has a failure of its own| Try again later."
	case status < http.StatusBadRequest:
		return BadResponse, "points elsewhere, which is not followed| Check " + s.URLVariable + "."
	}
	return BadResponse, "refused the request as wrong| Check the model's name and what it can do."
}

// retryAfter reads the header of that name: seconds, or a date against the
// server's own clock.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		if n <= 0 || n > (365*24*time.Hour).Seconds() {
			return 0
		}
		return time.Duration(n * float64(time.Second))
	}
	then, err := http.ParseTime(v)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return max(then.Sub(now), 0)
}

// shortestKey is the length from which a key is one. Servers on one's own
// machine are given a word that means nothing.
const shortestKey = 4

// Scrub takes the key out of a foreign text.
func (s Server) Scrub(text string) string {
	if len(s.Key) < shortestKey {
		return text
	}
	return strings.ReplaceAll(text, s.Key, "[key]")
}

// Bad is an answer that cannot be used. What in it is foreign is scrubbed by
// the caller.
func (s Server) Bad(format string, args ...any) *Error {
	return &Error{Kind: BadResponse, Message: s.Name + " " + fmt.Sprintf(format, args...)}
}

// ErrorDetail finds what a server says in the body of a failure, in the forms
// that servers have: an object or a text under "error" and its like, in a list
// or not, or plain text. The page of a proxy says nothing.
func ErrorDetail(body []byte) string {
	text := strings.TrimSpace(string(body))
	if text == "" || text[0] == '<' {
		return ""
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return detailIn(v)
}

func detailIn(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, item := range v {
			if d := detailIn(item); d != "" {
				return d
			}
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "detail", "msg", "error_description"} {
			if d := detailIn(v[key]); d != "" {
				return d
			}
		}
	}
	return ""
}

// MostAnswer is the longest answer that is read, in bytes.
const MostAnswer = 16 << 20

// errTooLong is an answer over [MostAnswer].
var errTooLong = errors.New("the answer is too long")

// ReadAnswer reads a whole answer.
func (s Server) ReadAnswer(ctx context.Context, body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, MostAnswer+1))
	switch {
	case err != nil:
		return nil, s.FromTransport(ctx, err)
	case len(b) > MostAnswer:
		e := s.Bad("sent an answer of more than %d MB, which is not read. Ask for less.", MostAnswer>>20)
		e.Cause = errTooLong
		return nil, e
	}
	return b, nil
}

// HTTPClient returns a client for one provider over the transport, or over one
// of its own when it is nil. It follows no redirect, since that would carry the
// key to another server, and has no timeout: contexts end requests.
func HTTPClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 2 * DefaultInFlight, IdleConnTimeout: idleConnection, TLSHandshakeTimeout: handshake,
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Times of connections.
const (
	idleConnection = 90 * time.Second
	handshake      = 10 * time.Second
)
