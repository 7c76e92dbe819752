package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// runEntry is a run in a list: what its document has, without what can be
// large. Question and answer are their beginnings.
type runEntry struct {
	ID          string         `json:"id"`
	Question    string         `json:"question"`
	Status      plan.RunStatus `json:"status"`
	Strategy    plan.Strategy  `json:"strategy"`
	Owner       *string        `json:"owner"`
	Models      []string       `json:"models"`
	Recorded    bool           `json:"recorded"`
	CreatedAt   stamp          `json:"created_at"`
	StartedAt   stamp          `json:"started_at"`
	FinishedAt  stamp          `json:"finished_at"`
	Corrections int            `json:"corrections"`
	Answer      *entryAnswer   `json:"answer"`
	Error       *entryError    `json:"error"`
	Usage       plan.Usage     `json:"usage"`
	Seq         int64          `json:"seq"`
}

type entryAnswer struct {
	Result  string       `json:"result"`
	Subject *string      `json:"subject"`
	Value   *json.Number `json:"value"`
}

type entryError struct {
	Code plan.Code `json:"code"`
}

// listRuns answers a page of the runs, newest first.
func (a *api) listRuns(c echo.Context) error {
	f, err := readFilter(c.QueryParams())
	if err != nil {
		return err
	}
	page, err := a.Store.List(c.Request().Context(), f)
	if err != nil {
		return err
	}
	entries := make([]runEntry, 0, len(page.Runs))
	for _, r := range page.Runs {
		entries = append(entries, newRunEntry(r))
	}
	return writeJSON(c, http.StatusOK, map[string]any{"runs": entries, "next_cursor": orNull(page.Next)})
}

func newRunEntry(r db.Summary) runEntry {
	e := runEntry{
		ID: r.ID, Question: r.Question, Status: r.Status, Strategy: r.Strategy, Owner: orNull(r.Owner),
		Models: orEmpty(r.Models), Recorded: r.Recorded, Corrections: r.Corrections, Usage: known(r.Usage), Seq: r.Seq,
		CreatedAt: stamp(r.CreatedAt), StartedAt: stamp(r.StartedAt), FinishedAt: stamp(r.FinishedAt),
	}
	if r.Answer != "" {
		e.Answer = &entryAnswer{Result: r.Answer, Subject: orNull(r.Subject), Value: oneDecimal(r.Value)}
	}
	if r.ErrorCode != "" {
		e.Error = &entryError{Code: r.ErrorCode}
	}
	return e
}

// readFilter reads which runs are asked for. Everything that is wrong is
// reported at once; an unknown name is wrong, since a filter that is not
// heeded would list too much.
func readFilter(q url.Values) (db.Filter, error) {
	r := filterReader{query: q}
	f := db.Filter{
		Query: r.text("q"), Model: r.text("model"), Owner: r.text("owner"), Cursor: r.text("cursor"),
		From: r.time("from", 0), To: r.time("to", 24*time.Hour),
		MinCost: r.dollars("min_cost"), MaxCost: r.dollars("max_cost"),
		Strategy: one(&r, "strategy", strategies()), Statuses: words(&r, "status", plan.RunStatuses()),
		Recorded: r.flag("recorded"), Limit: r.number("limit", db.MostLimit),
	}
	for name := range q {
		if !slices.Contains(r.known, name) {
			r.bad(name, "%s is not a parameter that is known here; there are %s.", name, strings.Join(r.known, ", "))
		}
	}
	if len(r.violations) == 0 {
		return f, nil
	}
	slices.SortFunc(r.violations, func(a, b plan.Violation) int { return strings.Compare(a.Field, b.Field) })
	e := plan.NewError(plan.CodeInvalid, "The list cannot be made: "+r.violations[0].Message, nil)
	e.Violations = r.violations
	return db.Filter{}, e
}

func strategies() []plan.Strategy {
	return []plan.Strategy{plan.StrategyPlan, plan.StrategyRounds, plan.StrategyReact, plan.StrategyTree}
}

// filterReader reads parameters and gathers what is wrong with them.
type filterReader struct {
	query      url.Values
	known      []string
	violations []plan.Violation
}

func (r *filterReader) bad(field, format string, args ...any) {
	r.violations = append(r.violations, plan.Violation{
		Code: plan.CodeInvalid, Steps: []string{}, Field: plan.Short(field, 80), Message: fmt.Sprintf(format, args...),
	})
}

func (r *filterReader) text(name string) string {
	r.known = append(r.known, name)
	return r.query.Get(name)
}

// time reads a time, or a date in UTC, of which the end of the day is meant
// where a span is given.
func (r *filterReader) time(name string, span time.Duration) time.Time {
	text := r.text(name)
	if text == "" {
		return time.Time{}
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.Add(span)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		r.bad(name, "%s is %q; write a date as 2026-01-31, or a time as 2026-01-31T15:04:05Z.", name, plan.Short(text, 40))
	}
	return t
}

func (r *filterReader) dollars(name string) *plan.USD {
	text := r.text(name)
	if text == "" {
		return nil
	}
	var usd plan.USD
	if err := usd.UnmarshalJSON([]byte(text)); err != nil {
		r.bad(name, "%s is %q; write an amount in dollars, as 0.05.", name, plan.Short(text, 40))
	}
	return &usd
}

func (r *filterReader) flag(name string) *bool {
	text := r.text(name)
	if text == "" {
		return nil
	}
	yes := text == "true"
	if !yes && text != "false" {
		r.bad(name, "%s is %q; it is true or false.", name, plan.Short(text, 40))
	}
	return &yes
}

func (r *filterReader) number(name string, most int) int {
	text := r.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		r.bad(name, "%s is %q; it can be 1 to %d.", name, plan.Short(text, 40), most)
	}
	return n
}

// words reads a parameter that may be repeated, of a set of words.
func words[T ~string](r *filterReader, name string, set []T) []T {
	r.known = append(r.known, name)
	var out []T
	for _, text := range r.query[name] {
		if text == "" {
			continue
		}
		if !slices.Contains(set, T(text)) {
			r.bad(name, "%s is %q; it is one of %s.", name, plan.Short(text, 40), oneOf(set))
		}
		out = append(out, T(text))
	}
	return out
}

// one reads a parameter that names one word of a set.
func one[T ~string](r *filterReader, name string, set []T) T {
	if found := words(r, name, set); len(found) > 0 {
		return found[0]
	}
	return ""
}
