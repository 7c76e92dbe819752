package model

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // an address may hold a password
	}
	said, final := reason(err)
	return &Error{
		Kind:  Unreachable,
		Final: final,
		Cause: errors.New(s.Scrub(err.Error())),
		Message: fmt.Sprintf("%s at %s cannot be reached: %s. Check that it runs, the network, and %s.",
			s.Name, s.Address, s.Scrub(said), s.URLVariable),
	}
}

// reason says in few words why a connection failed, and whether the next one
// will, too.
func reason(err error) (said string, final bool) {
	dns, noHost := errors.AsType[*net.DNSError](err)
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused", false
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was broken off", false
	case noHost && dns.IsTimeout || noHost && dns.IsTemporary:
		return "the name of the host " + dns.Name + " could not be looked up", false
	case noHost:
		return "there is no host " + dns.Name, true
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	said = plan.Short(err.Error(), 200)
	return said, distrusted || strings.Contains(said, "server gave HTTP response to HTTPS client")
}

// FromStatus is the failure that an HTTP status from 300 up stands for. Detail
// is what the server says, wait what it asks for beyond its header.
func (s Server) FromStatus(status int, header http.Header, detail string, wait time.Duration) *Error {
	e := &Error{Status: status}
	does := ""
	e.Kind, does = s.meaning(status, strings.ToLower(detail))
	if e.passes() {
		e.RetryAfter = max(wait, toldWait(header, detail))
	}
	switch {
	case e.RetryAfter > 0:
		does += fmt.Sprintf(" It asks to wait %s.", e.RetryAfter.Round(roundedTo(e.RetryAfter)))
	case e.Kind == RateLimited && mentions(strings.ToLower(detail), "current quota", "insufficient_quota", "insufficient quota", "insufficient balance", "billing details", "billing_not_active", "billing_hard_limit_reached", "credits"):
		e.Final, does = true, "has no quota left for the key| Check the plan and the account behind "+s.KeyVariable+", or use another model."
	}
	if strings.Contains(header.Get("Content-Type"), "text/html") {
		does += " What came back is a web page, so a proxy or another server may have answered: check " + s.URLVariable + "."
	}
	said := ""
	if detail = plan.Short(s.Scrub(strings.TrimSpace(detail)), 300); detail != "" {
		said = ": " + strings.TrimRight(detail, ". ")
	}
	what, do, _ := strings.Cut(does, "|")
	e.Message = fmt.Sprintf("%s %s (HTTP %d)%s.%s", s.Name, what, status, said, do)
	return e
}

// roundedTo is what a wait is rounded to when it is said.
func roundedTo(wait time.Duration) time.Duration {
	if wait < time.Second {
		return time.Millisecond
	}
	return time.Second
}

// meaning is the kind of a status with what the server says, in small letters;
// what the server does and, after a bar, what to do about it.
func (s Server) meaning(status int, said string) (Kind, string) {
	switch status {
	case http.StatusUnauthorized:
		return Auth, "refused the key| Check " + s.KeyVariable + "."
	case http.StatusForbidden:
		return Auth, "does not allow this with the key| Check " + s.KeyVariable + " and what it may do."
	case http.StatusPaymentRequired:
		return Auth, "wants to be paid first| Check the account behind " + s.KeyVariable + "."
	case http.StatusTooManyRequests:
		return RateLimited, "has had too many requests or the quota is used up| Try again later, or ask for less at once."
	case http.StatusNotFound:
		return BadResponse, "does not know what was asked for| Check the model's name and " + s.URLVariable + "."
	case http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return BadResponse, "does not do what was asked| Check " + s.URLVariable + ": is it the address of such an API?"
	case http.StatusProxyAuthRequired:
		return Auth, "cannot be asked, since the proxy wants a log-in| Check HTTP_PROXY and HTTPS_PROXY."
	case http.StatusRequestEntityTooLarge:
		return BadResponse, tooLong
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, noCapacity, givenUp:
		return Unavailable, failsItself
	}
	switch {
	case status >= http.StatusInternalServerError:
		return Unavailable, failsItself
	case status < http.StatusBadRequest:
		return BadResponse, "points elsewhere, which is not followed| Check " + s.URLVariable + "."
	case mentions(said, filterWords()...):
		return Filtered, "held the request back for its content| Put the question in other words, or use another model."
	case mentions(said, "incorrect api key", "invalid api key", "invalid_api_key"):
		return Auth, "refused the key| Check " + s.KeyVariable + "."
	case mentions(said, "context length", "context window", "maximum context", "context size", "too many tokens", "prompt is too long", "input token count", "context_length"):
		return BadResponse, tooLong
	}
	return BadResponse, "refused the request as wrong| Check the model's name and what it can do."
}

// Statuses without a name: of Groq, and of nginx and Google.
const (
	noCapacity = 498
	givenUp    = 499
)

// What servers do in more than one way.
const (
	tooLong     = "takes no request of this length| Ask for less at once, or use a model with a longer context."
	failsItself = "has a failure of its own| Try again later."
)

// filterWords are those with which servers refuse a request for its content.
func filterWords() []string {
	return []string{"content management policy", "content_filter", "content policy", "content_policy", "safety system", "usage policy", "responsible ai"}
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
		for _, key := range []string{"error", "message", "detail", "msg", "error_description", "errors"} {
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
			MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: idleConnection, TLSHandshakeTimeout: handshake,
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Connections that wait to be used again, and how long they do. There are never
// more than were in flight at once, which is limited elsewhere.
const (
	idleConnections = 4_096
	idleConnection  = 90 * time.Second
	handshake       = 10 * time.Second
)
