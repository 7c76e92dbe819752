package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Lengths from which a word is a key. Servers on one's own machine are given a
// word that means nothing, as ollama, and answers may well hold it.
const (
	shortestKey       = 4  // taken out of the texts of failures
	shortestInAnswers = 16 // taken out of answers
	shortestPiece     = 8  // the beginning of a key, taken out of the texts of failures
)

// hidden is what stands where a key was.
const hidden = "[key]"

// Scrub takes the key out of a foreign text about a failure: whole, as URLs
// and JSON write it, cut off, or masked as servers do (sk-ab***yz).
func (s Server) Scrub(text string) string {
	if len(s.Key) < shortestKey {
		return text
	}
	text = withoutKey(text, s.Key)
	if len(s.Key) >= shortestPiece {
		text = withoutBeginning(text, s.Key)
	}
	masked := `[^\s"'=:]*\*{3,}[^\s"',.]*`
	dotted := regexp.QuoteMeta(s.Key[:3]) + `[^\s"'.…]{0,12}(\.{2,}|…)[^\s"',.]*`
	return regexp.MustCompile(masked+"|"+dotted).ReplaceAllLiteralString(text, hidden)
}

// withoutKey takes a key out, as it is and as URLs and JSON write it.
func withoutKey(text, key string) string {
	for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key), inJSON(key)} {
		text = strings.ReplaceAll(text, form, hidden)
	}
	return text
}

func inJSON(key string) string {
	b, err := json.Marshal(key)
	if err != nil {
		return key
	}
	return strings.Trim(string(b), `"`)
}

// withoutBeginning takes out what is left of a key that was cut off.
func withoutBeginning(text, key string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, key[:shortestPiece])
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		n := shortestPiece
		for n < len(key) && at+n < len(text) && text[at+n] == key[n] {
			n++
		}
		out.WriteString(text[:at] + hidden)
		text = text[at+n:]
	}
}

// keyless takes a provider's key out of all that comes back, so that it cannot
// be recorded or shown, whatever a server repeats of what it was sent.
func keyless(key string) Middleware {
	return func(next Model) Model {
		if len(key) < shortestKey {
			return next
		}
		return Func(func(ctx context.Context, req Request) (Response, error) {
			h := hearer{key: key, to: req.OnText}
			if h.to != nil && len(key) >= shortestInAnswers {
				req.OnText = h.hear
			}
			resp, err := next.Generate(ctx, req)
			if err != nil {
				return resp, keylessError(err, key)
			}
			resp = keylessResponse(resp, key)
			h.end(resp.Text)
			return resp, nil
		})
	}
}

// hearer stands before the OnText of a request and holds back what may be the
// beginning of the key.
type hearer struct {
	key     string
	to      func(string)
	told    strings.Builder
	pending string
	heard   bool
}

func (h *hearer) hear(piece string) {
	h.heard = true
	if piece == "" {
		h.told.Reset()
		h.pending = ""
		h.to("")
		return
	}
	h.pending = withoutKey(h.pending+piece, h.key)
	held := min(len(h.key)-1, len(h.pending))
	for !strings.HasPrefix(h.key, h.pending[len(h.pending)-held:]) {
		held--
	}
	h.tell(h.pending[:len(h.pending)-held])
	h.pending = h.pending[len(h.pending)-held:]
}

func (h *hearer) tell(piece string) {
	if piece != "" {
		h.told.WriteString(piece)
		h.to(piece)
	}
}

// end tells what is missing of the text of the response, or all of it anew.
func (h *hearer) end(text string) {
	if !h.heard {
		return
	}
	rest, ok := strings.CutPrefix(text, h.told.String())
	if !ok {
		h.told.Reset()
		rest = text
		h.to("")
	}
	h.tell(rest)
}

func keylessResponse(resp Response, key string) Response {
	if len(key) < shortestInAnswers {
		return resp
	}
	resp.Text, resp.Model = withoutKey(resp.Text, key), withoutKey(resp.Model, key)
	for i, c := range resp.Calls {
		resp.Calls[i].ID, resp.Calls[i].Name = withoutKey(c.ID, key), withoutKey(c.Name, key)
		resp.Calls[i].Arguments = json.RawMessage(withoutKey(string(c.Arguments), key))
	}
	return resp
}

// keylessError returns the error as it is when it does not hold the key.
func keylessError(err error, key string) error {
	scrub := Server{Key: key}.Scrub
	if said := err.Error(); scrub(said) == said {
		return err
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return errors.New(scrub(err.Error()))
	}
	out := *e
	out.Message = scrub(e.Message)
	if e.Cause != nil {
		out.Cause = errors.New(scrub(e.Cause.Error()))
	}
	return &out
}
