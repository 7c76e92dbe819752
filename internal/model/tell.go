package model

import (
	"net/http"
	"slices"
	"strings"
)

// Teller tells the OnText of a request what is written, and sees to it that
// what it was told is in the end the text of the response.
type Teller struct {
	to   func(string)
	told strings.Builder
}

// NewTeller begins an attempt.
func NewTeller(req Request) *Teller {
	if req.OnText != nil {
		req.OnText("")
	}
	return &Teller{to: req.OnText}
}

// Listens says whether somebody is told anything.
func (t *Teller) Listens() bool { return t.to != nil }

// Add tells a piece.
func (t *Teller) Add(piece string) {
	if t.to == nil || piece == "" {
		return
	}
	t.told.WriteString(piece)
	t.to(piece)
}

// End tells what is missing of the text of the response, or all of it anew if
// something else was told.
func (t *Teller) End(text string) {
	if t.to == nil {
		return
	}
	rest, ok := strings.CutPrefix(text, t.told.String())
	if !ok {
		t.told.Reset()
		t.to("")
		rest = text
	}
	t.Add(rest)
}

// RefusesStream says whether a server refuses to stream an answer. A refusal
// without a reason may be about that. Failures that name a stream which broke
// are no refusals.
func RefusesStream(status int, detail string) bool {
	said := strings.ToLower(detail)
	asked := []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests}
	switch {
	case status < http.StatusBadRequest || slices.Contains(asked, status):
		return false
	case strings.TrimSpace(said) == "":
		none := []int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusNotImplemented}
		return slices.Contains(none, status)
	case !mentions(said, "stream"):
		return false
	}
	return status < http.StatusInternalServerError || status == http.StatusNotImplemented || mentions(said, "support", "implement", "allow", "disabled", "unavailable for")
}
