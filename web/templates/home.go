package templates

import (
	"strconv"
	"time"

	"planwave/internal/plan"
)

// HomeProps is the home page.
type HomeProps struct {
	Page     PageProps
	Ask      AskProps
	Examples []string
	// Latest are the newest runs, at most a handful.
	Latest LatestProps
	// DemoOnly shows what the demo model can do and how to set a real one.
	DemoOnly bool
}

// AskProps is the form that asks a question. Values are texts, so that what a
// person typed wrongly is shown again as it was.
type AskProps struct {
	Question string
	// Nonce makes a form that is sent twice one run.
	Nonce string
	// Approval is manual or auto, Schedule is waves or ready.
	Approval, Schedule string
	// Strategy is plan or rounds.
	Strategy string
	// Replan is never, on_failure or every_round, at most MaxReplans times;
	// ReplanApproval is same or auto.
	Replan, MaxReplans, ReplanApproval string
	MaxSteps, MaxParallel              string
	// Requests, Tokens and Cost (in dollars) are the budget; empty is unlimited.
	Requests, Tokens, Cost string
	// Model is the chosen one of Models, each provider:model.
	Model  string
	Models []string
	// Problems are what was wrong with the form when it was sent.
	Problems []FieldProblem
	// Open shows the options, as after a problem with one of them.
	Open bool
}

// FieldProblem is what is wrong with one field of a form, by the field's name.
type FieldProblem struct{ Field, Message string }

// problem returns what is wrong with a field, or "".
func (a AskProps) problem(field string) string {
	for _, p := range a.Problems {
		if p.Field == field {
			return p.Message
		}
	}
	return ""
}

// summary says the options in force in one line.
func (a AskProps) summary() []string {
	s := []string{
		either(a.Strategy == string(plan.StrategyRounds), "round by round", "the whole plan first"),
		either(a.Approval == string(plan.ApprovalAuto), "runs at once", "waits for your approval"),
		either(a.Schedule == string(plan.ScheduleReady), "steps as ready", "wave by wave"),
		"at most " + a.MaxSteps + " steps, " + a.MaxParallel + " at once",
	}
	if note := a.replanning(); note != "" {
		s = append(s, note)
	}
	budget := either(a.Requests == "", "any number of", thousands(a.Requests)) + " calls, " + either(a.Tokens == "", "unlimited", thousands(a.Tokens)) + " tokens"
	if a.Cost != "" {
		budget += ", $" + a.Cost
	}
	s = append(s, budget)
	if a.Model != "" {
		s = append(s, a.Model)
	}
	return s
}

// replanning says when the planner is asked again, or "".
func (a AskProps) replanning() string {
	switch {
	case a.Strategy == string(plan.StrategyRounds):
		return ""
	case a.Replan == plan.ReplanOnFailure:
		return "plans again on failure"
	case a.Replan == plan.ReplanEveryRound:
		return "plans again after every round"
	}
	return ""
}

// thousands writes a typed number as Count does, and leaves other text as it is.
func thousands(typed string) string {
	if n, err := strconv.Atoi(typed); err == nil {
		return Count(n)
	}
	return typed
}

// fieldProps is one field of the options.
type fieldProps struct {
	Name, Label, Value, Hint, Problem string
	Mode                              string // of the keyboard: numeric or decimal
}

// replanChoices are the times at which the planner can be asked again.
func replanChoices() []Field {
	return []Field{
		{"never", plan.ReplanNever}, {"when a step failed", plan.ReplanOnFailure}, {"after every round", plan.ReplanEveryRound},
	}
}

// LatestProps are the newest runs on the home page.
type LatestProps struct {
	Runs []RunRow
	// URL is where the list is asked for again; it is, while Live, every few
	// seconds. Live is set while one of the runs has not ended.
	URL  string
	Live bool
	Now  time.Time
}

// RunRow is a run in a list.
type RunRow struct {
	ID       string
	URL      string
	Question string
	Status   plan.RunStatus
	// Answer is the beginning of the answer as plain text, or the error.
	Answer    string
	CreatedAt time.Time
	// Took is zero while the run goes on.
	Took time.Duration
	// Calls and Tokens are what was used, Cost is as Money writes it.
	Calls, Tokens int
	Cost          string
	Model         string
	Corrections   int
	Recorded      bool
	// Pick lets it be chosen for a comparison.
	Pick bool
}

// facts are the short facts beside a run in a list.
func (r RunRow) facts() []string {
	facts := []string{}
	if r.Recorded {
		facts = append(facts, "a recording")
	}
	if r.Took > 0 {
		facts = append(facts, Duration(r.Took))
	}
	if r.Calls > 0 {
		facts = append(facts, Counted(r.Calls, "call", "calls"))
	}
	if r.Tokens > 0 {
		facts = append(facts, Count(r.Tokens)+" tokens")
	}
	if r.Cost != "" {
		facts = append(facts, r.Cost)
	}
	if r.Corrections > 0 {
		facts = append(facts, Counted(r.Corrections, "correction", "corrections"))
	}
	return facts
}

// HistoryProps is the list of all runs.
type HistoryProps struct {
	Page  PageProps
	Query string
	// Filters are the chips above the list.
	Filters []FilterChip
	// Hidden are the filters in force, kept when the search field is sent.
	Hidden []Field
	Runs   []RunRow
	// Next is the address of the older runs; empty at the end of the list.
	Next string
	// Filtered says that a search or a filter is in force, for the empty state.
	Filtered bool
}

// FilterChip is one filter that can be switched by its link.
type FilterChip struct {
	Label, URL string
	On         bool
}

// Field is a name and a value of a form.
type Field struct{ Name, Value string }
