package model

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Ladder remembers how far down each model had to be asked, from the best form
// of a request to the plainest. The zero value is ready and safe for concurrent
// use.
type Ladder struct {
	mu sync.Mutex
	at map[string]int
}

// At returns the rung that a model is known to accept; 0 is the top.
func (l *Ladder) At(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at[name]
}

// Keep remembers that a model accepted a rung. It never climbs up again.
func (l *Ladder) Keep(name string, rung int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rung <= l.at[name] {
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	l.at[name] = rung
}

// RefusesForm says whether a server refuses how output by a schema was asked
// for. A refusal without a reason may be about that; one about something else
// is not.
func RefusesForm(status int, detail string) bool {
	said := strings.ToLower(detail)
	if mentions(said, filterWords()...) {
		return false
	}
	if mentions(said, "response_format", "response format", "json", "schema", "mime", "structured", "grammar", "tool", "function", "parameter") {
		other := []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests}
		return status >= http.StatusBadRequest && status <= http.StatusNotImplemented && !slices.Contains(other, status)
	}
	if mentions(said, "context", "too long", "does not exist", "not found", "key", "quota", "billing", "credit", "role", "max_") {
		return false
	}
	vague := []int{http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusNotImplemented}
	return slices.Contains(vague, status)
}

func mentions(said string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
}

// InPrompt adds to a system prompt what stands in for a schema that the server
// takes in no other way.
func (s Schema) InPrompt(system string) string {
	if system != "" {
		system += "\n\n"
	}
	return system + "Answer with one JSON object and nothing else. It fits this JSON Schema:\n" + string(s.Schema)
}
