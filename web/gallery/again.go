package main

import (
	"time"

	"planwave/internal/plan"
	"planwave/web/markdown"
	"planwave/web/templates"
)

// estimate is what the sample plan will take; it is more than is left.
func estimate(over bool) *templates.EstimateProps {
	return &templates.EstimateProps{
		Waves: 2, CriticalPath: []templates.StepLink{link("s1"), link("s4")},
		Rows: []templates.EstimateRow{
			{Label: "Calls", About: "6", Left: "38"},
			{Label: "Tokens", About: "5,900", Left: map[bool]string{false: "198,722", true: "4,100"}[over], Over: over},
			{Label: "Cost", About: map[bool]string{false: "$0.0031", true: "unknown"}[over], Left: "no limit"},
		},
	}
}

// estimated adds what each step will take.
func estimated(r templates.RunPageProps) templates.RunPageProps {
	r.Panel.Plan.Estimate = estimate(false)
	for i := range r.Panel.Plan.Steps {
		r.Panel.Plan.Steps[i].Estimate = []string{"about 2 calls, 1,900 tokens, $0.0012", "about 2 calls, 1,900 tokens, $0.0012", "no model call", "about 1 call, 1,200 tokens, $0.0004"}[i]
		r.Graph.Nodes[i].Estimate = []string{"about 1,900 tok", "about 1,900 tok", "no call", "about 1,200 tok"}[i]
		r.Graph.Nodes[i].Critical = i == 0 || i == 3
	}
	r.Graph.Edges[0].Critical = true
	return r
}

func runOverBudget(p templates.PageProps) templates.RunPageProps {
	r := runWaiting(p)
	r.Panel.Plan.Estimate = estimate(true)
	return r
}

func failedStates() map[string]stepState {
	return map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612},
		"s2": {status: plan.StepStatusFailed, took: 3100 * time.Millisecond, tokens: 80},
		"s3": {status: plan.StepStatusSucceeded, took: 12 * time.Millisecond}, "s4": {status: plan.StepStatusSkipped, cause: "s2"},
	}
}

func retry(step string) templates.RetryProps {
	return templates.RetryProps{URL: runURL + "/retry", Step: step, Attempt: 1}
}

func fork(step string) *templates.ForkProps {
	return &templates.ForkProps{URL: runURL + "/fork", Step: step, Nonce: "n2"}
}

// offered adds what can be done with the selected step again.
func offered(d *templates.StepDetail, tried bool) *templates.StepDetail {
	d.Fork, d.Again = fork(d.ID), "With it s4 runs again; every other result is kept."
	if tried {
		r := retry(d.ID)
		d.Retry = &r
	}
	return d
}

func budgetFields() []templates.BudgetField {
	return []templates.BudgetField{
		{Name: "requests", Label: "Calls", Value: "80", Used: "40"},
		{Name: "tokens", Label: "Tokens", Value: "400000", Used: "5,278"},
		{Name: "cost", Label: "US dollars", Value: "", Used: "$0.0021", Decimal: true},
	}
}

func runBudgetProblem(p templates.PageProps) templates.RunPageProps {
	r := runFailed(p)
	fields := budgetFields()
	fields[0].Value, fields[0].Problem = "forty", "Write a whole number."
	fields = append(fields, templates.BudgetField{Name: "steps", Label: "Attempts", Value: "4", Used: "4", Problem: "budget.steps is 4 and 4 are used already; give more, or null for no limit."})
	r.Notice.Budget.Fields, r.Notice.Budget.AnswerURL = fields, ""
	return r
}

func runTwoFailed(p templates.PageProps) templates.RunPageProps {
	r := runPartial(p)
	states := failedStates()
	states["s1"] = stepState{status: plan.StepStatusInvalid, took: time.Second, tokens: 410}
	r.Graph = graph("cities", cities(), states, "")
	r.Panel.Step, r.Panel.Plan = nil, planDetail(cities())
	r.Actions.Retries = []templates.RetryProps{retry("s1"), retry("s2")}
	return r
}

func approvals() templates.ApprovalsProps {
	return templates.ApprovalsProps{Approvals: []templates.ApprovalProps{
		{
			ID: "a1", Step: link("s2"), Tool: "send_mail", Description: "Sends a message to one address.", URL: runURL + "/decide",
			Arguments: "{\n  \"to\": \"mayor@quillhaven.example\",\n  \"subject\": \"Density\",\n  \"text\": \"A long line that wraps: the town has 156,000 people on 130.0 km², which is more than any of its neighbours has, and we would like to know when that was counted.\"\n}",
		},
		{ID: "a2", Step: link("s3"), Tool: "write_file", Arguments: "{\n  \"path\": \"densities.md\"\n}", Again: true, URL: runURL + "/decide"},
	}}
}

func runToolApproval(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusAwaitingToolApproval, "Waiting for your word on 2 tool calls")
	r.Graph = graph("cities", cities(), map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612},
		"s2": {status: plan.StepStatusAwaitingApproval, took: 2300 * time.Millisecond, tokens: 240},
		"s3": {status: plan.StepStatusAwaitingApproval, took: 12 * time.Millisecond},
	}, "")
	r.Approvals, r.Panel.Plan, r.Trace = approvals(), planDetail(cities()), trace(4)
	return r
}

// replanned is the sample plan as it was planned again after s2 failed.
func replanned() plan.Plan {
	p := cities()
	p.Steps[1] = plan.Step{ID: "s5", Instruction: "Look up Quillhaven with get_city instead, and work out its density.", Tool: "get_city", Input: []byte(`"Quillhaven"`)}
	p.Steps[3].DependsOn = []string{"s1", "s5", "s3"}
	return p
}

func runPlanningAgain(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusPlanning, "Planning again: step s2 failed")
	r.Graph = graph("cities", cities(), failedStates(), "")
	r.Head.Facts = append(r.Head.Facts, "replan 1 of 3 at most")
	r.Panel.Plan, r.Waves, r.Trace = planDetail(cities()), waves(true), trace(5)
	return r
}

func runReplanned(p templates.PageProps) templates.RunPageProps {
	r := runWaiting(p)
	r.Head.Facts = append(r.Head.Facts, "replan 1 of 3 at most")
	r.Graph = graph("replanned", replanned(), map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612, kept: true},
		"s3": {status: plan.StepStatusSucceeded, took: 12 * time.Millisecond, kept: true},
	}, "")
	r.Graph.Nodes[1].Change, r.Graph.Nodes[3].Change = "added", "changed"
	r.Graph.Nodes[1].Estimate, r.Graph.Nodes[3].Estimate = "no call", "about 1,200 tok"
	r.Panel.Plan = planDetail(replanned())
	d := r.Panel.Plan
	d.Version, d.Reason, d.Estimate = 2, "replan 1: step s2 failed", estimate(false)
	d.Changes = &templates.ChangesProps{From: 1, Steps: []templates.ChangeProps{
		{Step: link("s1"), Change: "kept"},
		{Step: link("s5"), Change: "added"},
		{Step: link("s3"), Change: "kept"},
		{Step: link("s4"), Change: "changed"},
		{Step: templates.StepLink{ID: "s2"}, Change: "removed"},
	}}
	r.Notice = templates.NoticeProps{
		Tone: "waiting", Title: "Planned again: step s2 failed",
		Text: "Version 2 waits for your approval. It adds s5, changes s4, removes s2, keeps s1 and s3.",
	}
	return r
}

func runForked(p templates.PageProps) templates.RunPageProps {
	r := runRunning(p)
	r.Head.ParentURL, r.Head.Kept = runURL, 2
	r.Graph = graph("cities", cities(), map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, kept: true}, "s2": {status: plan.StepStatusRunning, took: 2300 * time.Millisecond, tokens: 240},
		"s3": {status: plan.StepStatusSucceeded, kept: true},
	}, "s1")
	r.Panel.Step = offered(step("s1", plan.StepStatusSucceeded), false)
	r.Panel.Step.Kept, r.Panel.Step.Attempts = true, nil
	return r
}

func runStands(p templates.PageProps) templates.RunPageProps {
	r := runSucceeded(p)
	r.Notice = templates.NoticeProps{
		Tone: "waiting", Title: "The answer could not be written again", Text: "The model could not be reached: connection refused at 127.0.0.1:11434.",
		Lost: "The answer that was there before stands.",
	}
	return r
}

// runFinalized is a run whose planner found that nothing more is worth doing.
func runFinalized(p templates.PageProps) templates.RunPageProps {
	r := runPartial(p)
	states := failedStates()
	states["s4"] = stepState{status: plan.StepStatusCancelled}
	r.Graph = graph("cities", cities(), states, "s4")
	d := step("s4", plan.StepStatusCancelled)
	d.Started, d.Contract, d.Calls, d.ToolCalls, d.Tokens, d.Cost = time.Time{}, nil, nil, nil, 0, ""
	d.Reason = "the planner found that nothing more is worth doing"
	r.Panel.Step = offered(d, true)
	r.Answer.HTML = markdown.New().Render("Of the cities that could be looked up, **Brindlemoor** is the densest.")
	return r
}

func homeOptions(p templates.PageProps) templates.HomeProps {
	h := home(p)
	a := &h.Ask
	a.Open, a.Schedule, a.Replan, a.MaxReplans = true, "ready", plan.ReplanEveryRound, "99"
	a.Problems = []templates.FieldProblem{
		{Field: "replan", Message: "Replanning every_round needs the schedule waves: as ready there are no rounds to plan after."},
		{Field: "max_replans", Message: "replan.max is 99; it can be 0 to 20."},
	}
	return h
}
