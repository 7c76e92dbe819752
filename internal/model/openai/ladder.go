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

// habit is how a request is made.
type habit struct {
	form  int
	limit int // which name of the token limit, in memory.limits
}

// memory is what models are known to accept, while the process runs.
type memory struct {
	limits []string // names of the token limit, in the order they are tried
	form   model.Ladder
	limit  model.Ladder
}

// of is how a request is first made.
func (m *memory) of(req model.Request) habit {
	return habit{form: possible(m.form.At(req.Model), req), limit: m.limit.At(req.Model)}
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
// anything about its form.
func (m *memory) keep(req model.Request, h habit) {
	m.limit.Keep(req.Model, h.limit)
	if req.Schema != nil && len(req.Tools) == 0 {
		m.form.Keep(req.Model, h.form)
	}
}

// after is how a refused request is made again, if another form can help.
func (m *memory) after(h habit, req model.Request, r refusal) (habit, bool) {
	switch {
	case req.MaxOutputTokens > 0 && refusesName(r, m.limits[h.limit]):
		h.limit++
		return h, true
	case req.Schema != nil && h.form < promptOnly && model.RefusesForm(r.status, r.detail):
		h.form = possible(h.form+1, req)
		return h, true
	}
	return h, false
}

// refusesName says whether a server does not know the token limit by a name. A
// limit that is too large is another matter.
func refusesName(r refusal, name string) bool {
	said := strings.ToLower(r.detail)
	if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity || name == "" || !strings.Contains(said, name) {
		return false
	}
	size := []string{"too large", "at most", "exceed", "greater", "less than", "too long", "context"}
	return !slices.ContainsFunc(size, func(w string) bool { return strings.Contains(said, w) })
}
