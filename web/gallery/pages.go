package main

import (
	"strconv"
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

func options() templates.AskProps {
	return templates.AskProps{
		Nonce: "n1", Approval: "manual", Schedule: "waves", Strategy: "plan", Replan: plan.ReplanNever, MaxReplans: "3", ReplanApproval: "same", MaxSteps: "6", MaxParallel: "5", Requests: "40", Tokens: "200000",
		Model: "gemini:gemini-3.1-flash-lite", Models: []string{"gemini:gemini-3.1-flash-lite", "openai:gpt-5-mini", "demo"},
	}
}

func examples() []string {
	return []string{
		question,
		"By how many percent is Ashwick larger than Brindlemoor?",
		"What is the combined population of Quillhaven and Atlantis?",
	}
}

// rows are runs in every status.
func rows() []templates.RunRow {
	questions := append(examples(), "What changed between the 2019 and the 2024 edition of the standard, clause by clause, and which changes need work from us?")
	var all []templates.RunRow
	for i, s := range plan.RunStatuses() {
		r := templates.RunRow{
			ID: "r" + strconv.Itoa(i), URL: runURL, Question: questions[i%len(questions)], Status: s,
			CreatedAt: ago(time.Duration(i*i*i+1) * 9 * time.Minute), Calls: i + 1, Tokens: 640 * (i + 1), Cost: "$0.0021",
		}
		if s.Ended() {
			r.Took, r.Corrections = 6200*time.Millisecond, 1
		}
		switch s {
		case plan.RunStatusSucceeded, plan.RunStatusPartial:
			r.Answer = "Quillhaven is the most densely populated of the three, with 1,200.0 people per km²."
		case plan.RunStatusFailed:
			r.Answer = "No step succeeded: the model could not be reached."
		default:
		}
		all = append(all, r)
	}
	return all
}

func home(p templates.PageProps) templates.HomeProps {
	p.Nav, p.Title = "home", "Home"
	return templates.HomeProps{
		Page: p, Ask: options(), Examples: examples(),
		Latest: templates.LatestProps{Runs: rows()[2:7], URL: "/", Live: true, Now: now()},
	}
}

func homeDemo(p templates.PageProps) templates.HomeProps {
	h := home(p)
	h.DemoOnly, h.Latest = true, templates.LatestProps{}
	h.Ask.Model, h.Ask.Models = "demo", []string{"demo"}
	h.Ask.Question = "How old is Tarnby?"
	return h
}

func homeProblem(p templates.PageProps) templates.HomeProps {
	h := home(p)
	h.Ask.Open, h.Ask.MaxSteps, h.Ask.Approval = true, "many", "auto"
	h.Ask.Problems = []templates.FieldProblem{
		{Field: "question", Message: "The question is empty. Write what you want to know."},
		{Field: "max_steps", Message: "“many” is not a number from 1 to 2,000."},
	}
	return h
}

func history(p templates.PageProps) templates.HistoryProps {
	p.Nav, p.Title = "history", "History"
	chips := []templates.FilterChip{{Label: "All", URL: "/runs", On: true}}
	for _, s := range plan.RunStatuses() {
		chips = append(chips, templates.FilterChip{Label: templates.StatusWord(s), URL: "/runs?status=" + string(s)})
	}
	return templates.HistoryProps{Page: p, Filters: chips, Runs: rows(), Next: "/runs?cursor=abc"}
}

func historyNone(p templates.PageProps, filtered bool) templates.HistoryProps {
	h := history(p)
	h.Runs, h.Next, h.Filtered = nil, "", filtered
	if filtered {
		h.Query = "Atlantis"
	} else {
		h.Filters = nil
	}
	return h
}

func errorPage(p templates.PageProps, status int) templates.ErrorPageProps {
	e := templates.ErrorPageProps{Page: p, Status: status, RequestID: "0198c0de-7a"}
	switch status {
	case 404:
		e.Title, e.Text = "There is no such run", "It may have been deleted, or the address is not complete."
		e.Back, e.BackLabel = "/runs", "Look in the history"
	case 409:
		e.Title, e.Text = "The plan has changed meanwhile", "You approved version 1, but version 2 is the newest: it was saved by somebody else, or in another tab."
		e.Lost, e.Todo = "Nothing was started.", "Look at the newest version and approve that."
		e.Back, e.BackLabel = runURL, "Show the newest version"
	case 422:
		e.Title, e.Text = "The plan breaks two rules", "It cannot run like this."
		e.Problems = []string{"s1, s2 and s3 are loose ends: let s4 depend on them.", "s4 uses the tool get_town, which is not there. There are: get_city, calculate."}
		e.Lost = "Your edit is still in the form: go back with your browser's back button."
	default:
		e.Title, e.Text = "Something went wrong here", "This is not your fault. What had been saved is still there."
		e.Todo = "Try again. If it happens again, look for the request below in the log."
	}
	return e
}
