package db

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"planwave/internal/plan"
)

// How many runs a page has when none is asked for, and at most.
const (
	DefaultLimit = 50
	MostLimit    = 200
)

// Filter says which runs are listed. The zero filter lists all.
type Filter struct {
	// Query is what a person typed: runs are found whose question, answer and
	// results have every word of it, or a word that begins so.
	Query    string
	Statuses []plan.RunStatus
	Strategy plan.Strategy
	// Model is one bound to a role that takes part in the run.
	Model string
	Owner string
	// From and To bound the creation: from From on, before To.
	From, To time.Time
	// MinCost and MaxCost bound the cost, both included. A run of unknown cost
	// is within no bounds.
	MinCost, MaxCost *plan.USD
	Recorded         *bool
	Limit            int
	// Cursor is the Next of the page before.
	Cursor string
}

// Page is a part of a list, newest first.
type Page struct {
	Runs []Summary
	// Next is the cursor of the next page, "" when this is the last.
	Next string
}

// Summary is a run as lists show it.
type Summary struct {
	ID  string
	Seq int64
	// Question is the beginning of the question, at most 300 characters of it.
	Question   string
	Status     plan.RunStatus
	Strategy   plan.Strategy
	Owner      string
	Models     []string // of the roles that take part, each once
	Recorded   bool
	CreatedAt  time.Time
	StartedAt  time.Time // zero before approval
	FinishedAt time.Time // zero while the run goes on
	// Version is the number of the newest plan, 0 before there is one.
	Version     int
	Corrections int
	Steps       int // of the newest plan
	Succeeded   int // of them
	Usage       plan.Usage
	// Answer is the first line of the answer, "" before there is one.
	Answer    string
	Subject   string
	Value     *float64
	ErrorCode plan.Code
}

// List returns a page of the runs that pass the filter, newest first. Runs
// that come while somebody pages through change no later page.
func (d *DB) List(ctx context.Context, f Filter) (Page, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MostLimit)
	w, err := f.where()
	if err != nil {
		return Page{}, fmt.Errorf("list runs: %w", err)
	}
	if w.nothing {
		return Page{Runs: []Summary{}}, nil
	}
	runs, err := readAll(ctx, d.readers, scanSummary, `
		SELECT
			id, seq, question, status, strategy, owner, models, recorded,
			created_at, started_at, finished_at, version, corrections, steps, succeeded,
			requests, input_tokens, output_tokens, cached_tokens, thinking_tokens, total_tokens, cost,
			answer, subject, value, error_code
		FROM runs`+w.sql()+`
		ORDER BY created_at DESC, id DESC
		LIMIT ?`, append(w.args, limit+1)...)
	if err != nil {
		return Page{}, failed(err, "list runs")
	}
	p := Page{Runs: runs}
	if len(runs) > limit {
		p.Runs = runs[:limit]
		p.Next = cursorAfter(p.Runs[limit-1])
	}
	if p.Runs == nil {
		p.Runs = []Summary{}
	}
	return p, nil
}

// cursorAfter names the place behind a run. It holds whatever is added or
// deleted, since it is a place in the order and not a count.
func cursorAfter(s Summary) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(s.CreatedAt.UnixMilli(), 10) + "." + s.ID))
}

func readCursor(cursor string) (at int64, id string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, "", ErrCursor
	}
	ms, id, ok := strings.Cut(string(b), ".")
	if at, err = strconv.ParseInt(ms, 10, 64); err != nil || !ok {
		return 0, "", ErrCursor
	}
	return at, id, nil
}

func scanSummary(rows *sql.Rows) (Summary, error) {
	var (
		s                          Summary
		u                          usageColumns
		models                     []byte
		created, started, finished sql.NullInt64
		answer, subject, code      sql.NullString
		value                      sql.NullFloat64
	)
	columns := []any{&s.ID, &s.Seq, &s.Question, &s.Status, &s.Strategy, &s.Owner, &models, &s.Recorded}
	columns = append(columns, &created, &started, &finished, &s.Version, &s.Corrections, &s.Steps, &s.Succeeded)
	columns = append(columns, u.columns()...)
	columns = append(columns, &answer, &subject, &value, &code)
	if err := rows.Scan(columns...); err != nil {
		return s, err
	}
	s.CreatedAt, s.StartedAt, s.FinishedAt = moment(created), moment(started), moment(finished)
	s.Usage = u.usage()
	s.Answer, s.Subject, s.ErrorCode = answer.String, subject.String, plan.Code(code.String)
	if value.Valid {
		s.Value = &value.Float64
	}
	return s, json.Unmarshal(models, &s.Models)
}
