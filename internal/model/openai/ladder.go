package openai

import (
	"net/http"
	"slices"
	"strings"

	"planwave/internal/model"
)

// How output by a schema is asked for, from the best form down.
const (
	jsonSchema = iota // response_format json_schema
	forcedTool        // a tool that takes the output, which must be called
	jsonObject        // response_format json_object, the schema in the prompt
	promptOnly        // the schema in the prompt
)

// How an answer that somebody watches is asked for, from the best way down.
const (
	streamWithUsage = iota // and what it used at its end
	stream
	whole // not streamed
)

// habit is how a request is made.
type habit struct {
	form   int
	limit  int // which name of the token limit, in memory.limits
	stream int
	// once is set when the limit is left out of this request only, since it is
	// above what the server allows after what the request already has in it.
	once bool
}

// memory is what models are known to accept, while the process runs.
type memory struct {
	limits []string // names of the token limit, in the order they are tried
	form   model.Ladder
	limit  model.Ladder
	stream model.Ladder
}

// of is how a request is first made.
func (m *memory) of(req model.Request) habit {
	h := habit{form: possible(m.form.At(req.Model), req), limit: m.limit.At(req.Model), stream: whole}
	if req.OnText != nil {
		h.stream = m.stream.At(streamed(req))
	}
	return h
}

// streamed is under which name it is kept how a request is streamed: there are
// servers that stream, but not with tools.
func streamed(req model.Request) string {
	if len(req.Tools) > 0 {
		return req.Model + " with tools"
	}
	return req.Model
}

// possible is the first form from at on that a request can have: one with tools
// of its own cannot be forced to call another.
func possible(at int, req model.Request) int {
	if at == forcedTool && len(req.Tools) > 0 {
		return jsonObject
	}
	return at
}

// keep remembers what was accepted. Only a request that wants a schema says
// anything about its form, and only one that is watched about streams.
func (m *memory) keep(req model.Request, h habit) {
	if !h.once {
		m.limit.Keep(req.Model, h.limit)
	}
	if req.Schema != nil && len(req.Tools) == 0 {
		m.form.Keep(req.Model, h.form)
	}
	if req.OnText != nil {
		m.stream.Keep(streamed(req), h.stream)
	}
}

// after is how a refused request is made again, if another form can help.
func (m *memory) after(h habit, req model.Request, r *refusal) (habit, bool) {
	switch refusesStream := h.stream < whole && model.RefusesStream(r.status, r.detail); {
	case req.MaxOutputTokens > 0 && refusesName(r, m.limits[h.limit]):
		h.limit++
	case req.MaxOutputTokens > 0 && isTooLarge(r, m.limits[h.limit]):
		h.limit, h.once = len(m.limits)-1, true
	case refusesStream && strings.TrimSpace(r.detail) != "":
		h.stream = below(h.stream, r.detail)
	case req.Schema != nil && h.form < promptOnly && model.RefusesForm(r.status, r.detail):
		h.form = possible(h.form+1, req)
	case refusesStream:
		h.stream = whole
	default:
		return h, false
	}
	return h, true
}

// below is the next way down from one that a server refuses in these words.
func below(way int, detail string) int {
	if way == streamWithUsage && (strings.Contains(detail, "stream_options") || strings.Contains(detail, "include_usage")) {
		return stream
	}
	return whole
}

// refusesName says whether a server does not know the token limit by a name. A
// limit that is too large is another matter.
func refusesName(r *refusal, name string) bool { return namesLimit(r, name) && !namesSize(r) }

// isTooLarge says whether a server finds the token limit too large. Its own is
// lower then, and holds when none is named.
func isTooLarge(r *refusal, name string) bool { return namesLimit(r, name) && namesSize(r) }

func namesLimit(r *refusal, name string) bool {
	wrong := r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity
	return wrong && name != "" && strings.Contains(strings.ToLower(r.detail), name)
}

func namesSize(r *refusal) bool {
	said := strings.ToLower(r.detail)
	size := []string{"too large", "at most", "exceed", "greater", "less than", "too long", "context", "maximum", "range"}
	return slices.ContainsFunc(size, func(w string) bool { return strings.Contains(said, w) })
}
