package db

import (
	"strings"
	"unicode"
)

// mostWords is how many words of a query are looked for; further ones are not.
const mostWords = 32

// where is the condition of a list, put together from constant texts.
type where struct {
	parts   []string
	args    []any
	nothing bool // no run can pass
}

func (w *where) and(condition string, args ...any) {
	w.parts = append(w.parts, condition)
	w.args = append(w.args, args...)
}

func (w *where) sql() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// where turns the filter into a condition.
func (f Filter) where() (*where, error) {
	w := &where{}
	f.words(w)
	f.kinds(w)
	if !f.From.IsZero() {
		w.and("created_at >= ?", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		w.and("created_at < ?", f.To.UnixMilli())
	}
	if f.MinCost != nil {
		w.and("cost >= ?", int64(*f.MinCost))
	}
	if f.MaxCost != nil {
		w.and("cost <= ?", int64(*f.MaxCost))
	}
	if f.Cursor != "" {
		at, id, err := readCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		w.and("(created_at, id) < (?, ?)", at, id)
	}
	return w, nil
}

// kinds adds what a run is to the condition.
func (f Filter) kinds(w *where) {
	if len(f.Statuses) > 0 {
		args := make([]any, len(f.Statuses))
		for i, s := range f.Statuses {
			args[i] = string(s)
		}
		w.and("status IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
	}
	if f.Strategy != "" {
		w.and("strategy = ?", string(f.Strategy))
	}
	if f.Owner != "" {
		w.and("owner = ?", f.Owner)
	}
	if f.Model != "" {
		w.and("EXISTS (SELECT 1 FROM json_each(models) AS m WHERE m.value = ?)", f.Model)
	}
	if f.Recorded != nil {
		w.and("recorded = ?", *f.Recorded)
	}
}

// words adds what a person typed to the condition: every word must be in some
// text of the run, whichever. A query without any letter, digit or symbol
// finds nothing.
func (f Filter) words(w *where) {
	typed := strings.Fields(f.Query)
	found := 0
	for _, word := range typed {
		if found == mostWords || !strings.ContainsFunc(word, indexed) {
			continue
		}
		found++
		w.and("n IN (SELECT rowid >> 24 FROM search WHERE search MATCH ?)", quoted(word))
	}
	w.nothing = len(typed) > 0 && found == 0
}

// indexed says whether the index keeps a character. The others only part words.
func indexed(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Co, unicode.So)
}

// quoted is a word as text to search for, whatever it means in the language of
// FTS5, or the beginning of one.
func quoted(word string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(word, "\x00", " "), `"`, `""`) + `" *`
}
