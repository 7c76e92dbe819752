package modeltest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"planwave/internal/model"
)

// Failure is what a server answers instead of an answer, and what becomes of it.
type Failure struct {
	Name   string
	Status int
	Header http.Header
	Body   string

	Kind  model.Kind
	Final bool
	Wait  time.Duration
	// Says is what the message says.
	Says []string
}

// Hold holds a provider to the failure.
func (f Failure) Hold(t *testing.T, s Subject) {
	t.Helper()
	m, _ := s.start(t, InTurn(Reply{Status: f.Status, Header: f.Header, Body: f.Body}))
	_, err := m.Generate(t.Context(), ask("Hi"))
	e := failure(t, err)
	if e.Kind != f.Kind || e.Final != f.Final || e.RetryAfter != f.Wait {
		t.Errorf("%s, final %v, wait %s; want %s, %v, %s (%s)", e.Kind, e.Final, e.RetryAfter, f.Kind, f.Final, f.Wait, e.Message)
	}
	for _, says := range f.Says {
		if !strings.Contains(e.Message, says) {
			t.Errorf("the message %q does not say %q", e.Message, says)
		}
	}
	whole := strings.HasSuffix(e.Message, ".") || strings.HasSuffix(e.Message, "?")
	if !whole || strings.Contains(e.Message, "<") || strings.Contains(e.Message, "..") {
		t.Errorf("the message is %q", e.Message)
	}
}
