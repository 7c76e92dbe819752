// Package modeltest has what tests of models and of those who use them need: a
// scripted server that speaks a provider's protocol over real HTTP and is
// strict about what it is sent, and the conformance suite that every provider
// passes.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// Protocol is what a server speaks.
type Protocol string

// The protocols.
const (
	// OpenAI is POST …/v1/chat/completions.
	OpenAI Protocol = "openai"
	// Gemini is POST …/v1beta/models/MODEL:generateContent, and
	// :streamGenerateContent.
	Gemini Protocol = "gemini"
)

// Asked is a request as the server read it. Its role is unknown: tests that
// need one give each role a model of its own name.
type Asked struct {
	model.Request
	Key    string
	Path   string
	Header http.Header
	Body   []byte
	// Form is how output by a schema was asked for: json_schema, tool,
	// json_object, or nothing.
	Form string
	// Stream is whether the answer is wanted in pieces, and IncludeUsage whether
	// what it used is wanted at its end.
	Stream, IncludeUsage bool
}

// Finish is why a model stopped.
type Finish string

// The reasons to stop. The zero value is that the model was done.
const (
	Length   Finish = "length"
	Filtered Finish = "filtered"
)

// Reply is what the server answers.
type Reply struct {
	Text   string
	Calls  []model.ToolCall
	Finish Finish
	// Usage is left out of the answer when it is nil.
	Usage *plan.Usage
	// Status and Body replace the protocol's own answer when Status is not 0.
	Status int
	Header http.Header
	Body   string
	// Pieces replace the body. Each is sent at once.
	Pieces iter.Seq[string]
	// Cut breaks off the connection at the end.
	Cut bool
}

// Script decides what the server answers. It may wait; ctx ends when the
// client is gone.
type Script func(ctx context.Context, asked Asked) Reply

// Server is a scripted model server.
type Server struct {
	// URL is the base URL as it is configured for a provider.
	URL string

	t        testing.TB
	protocol Protocol
	script   Script
	mu       sync.Mutex
	asked    []Asked
}

// NewServer starts a server that ends with the test. A request that breaks the
// protocol fails the test and is answered 400.
func NewServer(t testing.TB, p Protocol, script Script) *Server {
	t.Helper()
	s := &Server{t: t, protocol: p, script: script}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL
	if p == OpenAI {
		s.URL += "/v1"
	}
	return s
}

// Asked returns the requests so far, in order of arrival.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	asked := Asked{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	if err := s.read(r, &asked); err != nil {
		s.t.Errorf("the %s server was sent a wrong request: %v\n%s", s.protocol, err, body)
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, err.Error()), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	reply := s.script(r.Context(), asked)
	w.Header().Set("Content-Type", "application/json")
	switch whole := ""; {
	case reply.Status != 0 || reply.Pieces != nil:
	case asked.Stream:
		whole, w.Header()["Content-Type"] = s.write(asked, reply), []string{s.protocol.streamType()}
		reply.Pieces = slices.Values(StreamOf(s.protocol, whole))
	default:
		reply.Body = s.write(asked, reply)
	}
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	if reply.Pieces == nil {
		reply.Pieces = slices.Values([]string{reply.Body})
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(reply.Status)
	for piece := range reply.Pieces {
		_, _ = io.WriteString(w, piece) // a client that is gone is no failure of the server
		_ = http.NewResponseController(w).Flush()
	}
	if reply.Cut {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) read(r *http.Request, asked *Asked) error {
	if r.Method != http.MethodPost {
		return fmt.Errorf("the method is %s", r.Method)
	}
	if s.protocol == Gemini {
		return readGemini(r, asked)
	}
	return readOpenAI(r, asked)
}

func (s *Server) write(asked Asked, reply Reply) string { return Body(s.protocol, asked, reply) }

// Body is a reply as a server of the protocol writes it when it is not
// streamed.
func Body(p Protocol, asked Asked, reply Reply) string {
	if p == Gemini {
		return writeGemini(asked, reply)
	}
	return writeOpenAI(asked, reply)
}

// strict reads JSON that may hold nothing unknown.
func strict(data []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// text is a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own values always encode
	}
	return string(b)
}

// Says is a script that answers every request with the same text.
func Says(text string) Script {
	return func(context.Context, Asked) Reply { return Reply{Text: text} }
}

// Fails is a script that answers every request with a status and a body.
func Fails(status int, body string) Script {
	return func(context.Context, Asked) Reply { return Reply{Status: status, Body: body} }
}

// InTurn is a script of one reply a request. The last is repeated.
func InTurn(replies ...Reply) Script {
	var mu sync.Mutex
	next := 0
	return func(context.Context, Asked) Reply {
		mu.Lock()
		defer mu.Unlock()
		r := replies[min(next, len(replies)-1)]
		next++
		return r
	}
}

// Answer is a script that answers with the body of the moment. It is for fuzz
// targets, which ask one request at a time.
func Answer(body *string) Script {
	return func(context.Context, Asked) Reply { return Reply{Status: http.StatusOK, Body: *body} }
}

// Accepting is a script that answers {} to what is accepted, and else 400 with
// the body.
func Accepting(accepts func(Asked) bool, body string) Script {
	return func(_ context.Context, asked Asked) Reply {
		if accepts(asked) {
			return Reply{Text: "{}"}
		}
		return Reply{Status: http.StatusBadRequest, Body: body}
	}
}
