package main

import (
	"strconv"
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// views are the ways to look at a run, with one of them shown.
func views(on string) templates.ViewsProps {
	all := []templates.ViewProps{
		{Label: "Graph", URL: runURL},
		{Label: "Timeline", URL: runURL + "?view=timeline"},
		{Label: "Trace", URL: runURL + "?view=trace"},
		{Label: "Rejections", Count: 1, URL: runURL + "?view=rejections"},
		{Label: "Replay", URL: runURL + "?view=replay"},
	}
	for i := range all {
		all[i].On = all[i].Label == on
	}
	return templates.ViewsProps{Views: all}
}

// replay is a moment of a run that has ended.
func replay(playing int) templates.ReplayProps {
	p := templates.ReplayProps{
		RunURL: runURL, At: 31, Last: 49, Took: 3400 * time.Millisecond, Type: string(plan.EventStepSucceeded), Steps: []string{"s2"},
		Kept: []templates.Field{{Name: "step", Value: "s2"}}, Playing: playing, PauseURL: runURL + "?at=31",
	}
	for _, speed := range []int{1, 4, 16} {
		p.Plays = append(p.Plays, templates.PlayProps{Speed: speed, URL: runURL + "?at=31&play=" + strconv.Itoa(speed)})
	}
	return p
}

func runReplay(p templates.PageProps) templates.RunPageProps {
	r := runRunning(p)
	r.Stream, r.Actions, r.Views, r.Replay = templates.StreamProps{}, templates.RunActionsProps{}, views("Replay"), replay(4)
	return r
}

// stacked is a fan whose siblings are one node, and one that is open.
func stacked(p templates.PageProps) templates.RunPageProps {
	r := runRunning(p)
	n := &r.Graph.Nodes[1]
	ids := make([]string, 0, 24)
	for i := range cap(ids) {
		ids = append(ids, "read-"+strconv.Itoa(i+1))
	}
	n.PanelURL, n.URL = "", runURL+"?open=s2"
	n.Stack = &templates.StackProps{IDs: ids, Counts: []templates.StatusCount{
		{Status: plan.StepStatusSucceeded, Count: 12}, {Status: plan.StepStatusRunning, Count: 5}, {Status: plan.StepStatusFailed, Count: 1}, {Status: plan.StepStatusPending, Count: 6},
	}}
	first := r.Graph.Nodes[0]
	r.Graph.Folds = []templates.FoldProps{{ID: first.ID, Count: 13, X: first.X, Y: first.Y, URL: runURL}}
	r.Graph.TurnURL = runURL + "?dir=right"
	return r
}

func runTimeline(p templates.PageProps) templates.RunPageProps {
	r := runSucceeded(p)
	r.Views, r.Graph, r.Rejections, r.Trace = views("Timeline"), templates.GraphProps{Away: true}, templates.RejectionsProps{}, templates.TraceProps{}
	return r
}

// shares are the links that were given out to a run.
func shares() *templates.ShareProps {
	return &templates.ShareProps{URL: runURL + "/shares", Links: []templates.LinkProps{
		{RevokeURL: runURL + "/shares/1/revoke", Created: ago(time.Hour), Expires: ago(-7 * 24 * time.Hour), Trace: true},
		{RevokeURL: runURL + "/shares/2/revoke", Created: ago(48 * time.Hour)},
	}}
}

// runShared is a run as whoever has a link to it sees it.
func runShared(p templates.PageProps) templates.RunPageProps {
	p.Shared = &templates.SharedProps{By: "Ada", Expires: ago(-7 * 24 * time.Hour)}
	r := runSucceeded(p)
	r.Actions = templates.RunActionsProps{Exports: []templates.ExportProps{{URL: "/s/token/export?format=md", Label: "Markdown, a report"}}}
	r.Panel.Step, r.Panel.Plan, r.Rejections, r.Trace = nil, planDetail(cities()), templates.RejectionsProps{}, templates.TraceProps{}
	r.Views = templates.ViewsProps{Views: views("Graph").Views[:2]}
	return r
}

// compared are two runs of one question side by side.
func compared(p templates.PageProps) templates.ComparePageProps {
	p.Wide, p.Nav, p.Styles = true, "history", []string{"css/versions.css", "css/compare.css"}
	was, now := "Quillhaven is the densest, with 1,200.0 people per km².", "Quillhaven is the densest of the three, with 1,200 people per km²."
	run := func(status plan.RunStatus, answer []plan.Span) templates.ComparedRun {
		return templates.ComparedRun{
			Question: question, URL: runURL, Status: status, Facts: []string{"plan", "waves", "gemini:gemini-3.1-flash-lite"}, Answer: answer,
			Subject: "Quillhaven", Value: "1,200.0", Bars: waves(true).Waves[0].Bars,
		}
	}
	second := run(plan.RunStatusPartial, plan.Words(was, now))
	v := versions(p)
	second.Changes, second.Lines = v.Counts, v.Steps
	third := run(plan.RunStatusFailed, nil)
	third.Missing, third.Subject, third.Value = "There is no answer: failed.", "", ""
	cell := templates.StepCell{There: true, Link: link("s1"), Status: plan.StepStatusSucceeded, Took: 1900 * time.Millisecond, Tokens: 612}
	return templates.ComparePageProps{
		Page: p, AgainURL: "/?q=again", Runs: []templates.ComparedRun{run(plan.RunStatusSucceeded, plan.Words(was, was)), second, third},
		Verdict: []string{"Against the first run, the second took 0.48 times the time, 2.00 times the model calls and 1.61 times the tokens; it was answered in part, the first succeeded."},
		Figures: []templates.FigureRow{
			{Name: "Time, question to end", Values: []string{"6.2 s", "3.0 s", "4.1 s"}, Best: []bool{false, true, false}},
			{Name: "Cost", Values: []string{"$0.0021", "unknown", "$0.0013"}, Best: make([]bool, 3)},
		},
		Steps: []templates.AlignedStep{{ID: "s1", Cells: []templates.StepCell{cell, cell, {}}}},
	}
}
