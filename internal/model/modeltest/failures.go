package modeltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/model"
)

func failuresAreTyped(t *testing.T, s Subject) {
	for status, kind := range map[int]model.Kind{
		http.StatusUnauthorized:          model.Auth,
		http.StatusForbidden:             model.Auth,
		http.StatusTooManyRequests:       model.RateLimited,
		http.StatusInternalServerError:   model.Unavailable,
		http.StatusBadGateway:            model.Unavailable,
		http.StatusServiceUnavailable:    model.Unavailable,
		http.StatusGatewayTimeout:        model.Unavailable,
		http.StatusBadRequest:            model.BadResponse,
		http.StatusNotFound:              model.BadResponse,
		http.StatusRequestEntityTooLarge: model.BadResponse,
	} {
		// A careless server gives the key away.
		for name, body := range map[string]string{
			"json": `{"error":{"code":1,"message":"it went wrong with ` + Key + `"}}`,
			"text": "it went wrong with " + Key,
			"page": "<html>it went wrong with " + Key + "</html>",
			"none": "",
		} {
			t.Run(fmt.Sprintf("%d %s", status, name), func(t *testing.T) {
				m, server := s.start(t, Fails(status, body))
				e := s.fails(t, m, kind)
				if e.Status != status || !strings.Contains(e.Message, fmt.Sprint(status)) {
					t.Errorf("status %d, %q", e.Status, e.Message)
				}
				said := strings.Contains(e.Message, "it went wrong")
				if want := name == "json" || name == "text"; said != want {
					t.Errorf("the message %q has the server's words: %v, want %v", e.Message, said, want)
				}
				// A watched one may ask whether it is the stream that is wrong.
				if n := len(server.Asked()); n != 1 && (n != 2 || !s.watched || said && status != http.StatusNotFound) {
					t.Errorf("%d requests, want one", n)
				}
			})
		}
	}
}

func waitIsTold(t *testing.T, s Subject) {
	const date = "Tue, 01 Dec 2026 10:00:00 GMT"
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"seconds":  {http.Header{"Retry-After": {"3"}}, 3 * time.Second},
		"date":     {http.Header{"Retry-After": {"Tue, 01 Dec 2026 10:00:38 GMT"}, "Date": {date}}, 38 * time.Second},
		"past":     {http.Header{"Retry-After": {"Tue, 01 Dec 2026 09:00:00 GMT"}, "Date": {date}}, 0},
		"nonsense": {http.Header{"Retry-After": {"soon"}}, 0},
		"negative": {http.Header{"Retry-After": {"-1"}}, 0},
		"endless":  {http.Header{"Retry-After": {"1e300"}}, 0},
		"none":     {nil, 0},
		"of none":  {http.Header{"X-Ratelimit-Reset-Requests": {"1m2s"}, "X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"}, "X-Ratelimit-Remaining-Tokens": {"9"}}, 62 * time.Second},
		"a moment": {http.Header{"X-Ratelimit-Reset": {"1796119238"}, "Date": {date}}, 38 * time.Second},
		"in ms":    {http.Header{"X-Ratelimit-Reset": {"1796119238000"}, "Date": {date}}, 38 * time.Second},
		"a while":  {http.Header{"X-Ratelimit-Reset": {"38"}}, 38 * time.Second},
		"gone":     {http.Header{"X-Ratelimit-Reset": {"1796119199"}, "Date": {date}}, 0},
		"first":    {http.Header{"X-Ratelimit-Reset": {"38"}, "Retry-After": {"3"}}, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := s.start(t, InTurn(Reply{Status: http.StatusTooManyRequests, Header: c.header, Body: "{}"}))
			if e := s.fails(t, m, model.RateLimited); e.RetryAfter != c.want {
				t.Errorf("wait = %s, want %s", e.RetryAfter, c.want)
			}
		})
	}
}

func unusableAnswers(t *testing.T, s Subject) {
	endless := []string{"empty", "cut off", "nothing", "nothing inside", "null inside", "null choice", "empty choice"} // as streams
	for name, body := range map[string]string{
		"empty": "", "junk": "{{{", "cut off": `{"choices":[{"mess`, "null": "null", "nothing": "{}", "list": "[]", "text": `"hello"`,
		"page": "<!doctype html><title>Welcome</title>", "number": "12",
		"nothing inside": `{"choices":[],"candidates":[]}`, "null inside": `{"choices":null,"candidates":null}`,
		"null choice": `{"choices":[null],"candidates":[null]}`, "empty choice": `{"choices":[{}],"candidates":[{}]}`,
		"wrong types": `{"choices":{"a":1},"candidates":{"a":1},"usage":"x","usageMetadata":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := s.start(t, InTurn(Reply{Status: http.StatusOK, Body: body}))
			kind := model.BadResponse
			if s.watched && slices.Contains(endless, name) {
				kind = model.Unreachable
			}
			s.fails(t, m, kind)
		})
	}
}

func unreachable(t *testing.T, s Subject) {
	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	e := s.fails(t, s.New(t, url, Key), model.Unreachable)
	if host := strings.TrimPrefix(url, "http://"); !strings.Contains(e.Message, host) || !strings.Contains(e.Message, "refused") {
		t.Errorf("the message is %q; it names %s and the reason", e.Message, host)
	}
}

func brokenOff(t *testing.T, s Subject) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"choices":[`)
	}))
	t.Cleanup(server.Close)
	s.fails(t, s.New(t, server.URL, Key), model.Unreachable)
}

func redirectIsNotFollowed(t *testing.T, s Subject) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked, with the headers %v", r.Header)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		m, _ := s.start(t, InTurn(Reply{Status: status, Header: http.Header{"Location": {other.URL + "/v1"}}}))
		s.fails(t, m, model.BadResponse)
	}
}

func tooLong(t *testing.T, s Subject) {
	m, _ := s.start(t, InTurn(Reply{Status: http.StatusOK, Body: strings.Repeat(" ", model.MostAnswer+1)}))
	if e := s.fails(t, m, model.BadResponse); !strings.Contains(e.Message, "MB") {
		t.Errorf("the message is %q", e.Message)
	}
}

// hanging is a script that says when a request is there, and waits until its
// client is gone.
func hanging() (script Script, there, gone chan struct{}) {
	there, gone = make(chan struct{}), make(chan struct{})
	return func(ctx context.Context, _ Asked) Reply {
		close(there)
		<-ctx.Done()
		close(gone)
		return Reply{Text: "too late"}
	}, there, gone
}

func slowIsUnreachable(t *testing.T, s Subject) {
	script, _, gone := hanging()
	m, _ := s.start(t, script)
	const soon = 100 * time.Millisecond
	e := s.fails(t, model.Timeout(soon)(m), model.Unreachable)
	<-gone
	if !strings.Contains(e.Message, soon.String()) {
		t.Errorf("the message is %q", e.Message)
	}
}

func cancelClosesTheConnection(t *testing.T, s Subject) {
	script, there, gone := hanging()
	m, _ := s.start(t, script)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.Generate(ctx, ask("Hi"))
		done <- err
	}()
	<-there
	cancel()
	if e := failure(t, <-done); e.Kind != model.Cancelled {
		t.Errorf("kind = %s, want cancelled", e.Kind)
	}
	<-gone // the server saw it
	if _, err := m.Generate(ctx, ask("Hi")); failure(t, err).Kind != model.Cancelled {
		t.Errorf("with an ended context: %v", err)
	}
}
