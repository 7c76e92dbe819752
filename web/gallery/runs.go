package main

import (
	"strconv"
	"time"

	"planwave/internal/plan"
	"planwave/web/markdown"
	"planwave/web/templates"
)

func meters(calls, tokens int, cost string) (a, b, c templates.MeterProps) {
	return templates.MeterProps{Label: "Calls", Used: strconv.Itoa(calls), Limit: "40", Share: calls * 100 / 40},
		templates.MeterProps{Label: "Tokens", Used: templates.Count(tokens), Limit: "200,000", Share: tokens / 2000},
		templates.MeterProps{Label: "Cost", Used: cost}
}

// base is a run in some status, without a plan.
func base(p templates.PageProps, s plan.RunStatus, words string) templates.RunPageProps {
	p.Wide, p.Title, p.Path = true, words+" – "+plan.Short(question, 80), runURL
	h := templates.RunHeadProps{
		Question: question, Status: s, Words: words, Started: ago(6200 * time.Millisecond), Now: now(), CreatedAt: ago(40 * time.Second),
		Facts: []string{"gemini:gemini-3.1-flash-lite", "wave by wave", "5 at once"},
	}
	h.Calls, h.Tokens, h.Cost = meters(10, 5278, "$0.0021")
	r := templates.RunPageProps{Page: p, Head: h, Actions: templates.RunActionsProps{CancelURL: runURL + "/cancel"}}
	r.Stream = templates.StreamProps{URL: runURL + "/stream?after=42"}
	r.Panel.RunURL = runURL
	if s.Ended() {
		r.Head.Ended, r.Stream = now(), templates.StreamProps{}
		r.Actions = templates.RunActionsProps{AgainURL: "/?from=0198c0de", Share: shares(), DeleteURL: runURL + "/delete"}
	}
	return r
}

func rejections() templates.RejectionsProps {
	bad := cities()
	r := templates.RejectionProps{
		Number: 1, Summary: "s1, s2, s3 and s4 were loose ends", At: ago(30 * time.Second),
		Violations: []templates.ViolationProps{{
			Code:    string(plan.CodeNoSingleFinalStep),
			Message: "s1, s2, s3 and s4 are all final: nothing depends on them. Make s4 the final step by setting its depends_on to [\"s1\", \"s2\", \"s3\"].",
		}},
		Raw: `{"steps": [{"id": "s1", "instruction": "Look up …", "depends_on": []}, …]}`,
	}
	for _, s := range bad.Steps {
		r.Steps = append(r.Steps, templates.PlannedStep{ID: s.ID, Instruction: s.Instruction, Tool: s.Tool})
	}
	return templates.RejectionsProps{Rejections: []templates.RejectionProps{r}}
}

func planDetail(p plan.Plan) *templates.PlanDetail {
	d := &templates.PlanDetail{
		Version: 1, Author: "the planner", Reason: "mended after one correction", Hash: "3f9a…c21e", Waves: 2,
		CriticalPath: []string{"s1", "s4"}, Deliverable: "s4",
		Settings: []templates.Field{{Name: "Schedule", Value: "wave by wave, 5 at once"}, {Name: "Budget", Value: "40 calls, 200,000 tokens"}, {Name: "Model", Value: "gemini:gemini-3.1-flash-lite"}},
	}
	for _, s := range p.Steps {
		d.Steps = append(d.Steps, templates.PlannedStepLink{StepLink: link(s.ID), Instruction: s.Instruction, Tool: s.Tool, DependsOn: s.DependsOn})
	}
	return d
}

func link(id string) templates.StepLink {
	return templates.StepLink{ID: id, URL: runURL + "?step=" + id, PanelURL: runURL + "/panel?step=" + id}
}

func runPlanning(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusPlanning, "Writing the plan")
	r.Graph = templates.GraphProps{Problem: "The planner is writing the plan…", Busy: true}
	r.Head.Calls, r.Head.Tokens, r.Head.Cost = meters(1, 0, "$0")
	r.Rejections, r.Trace = rejections(), trace(2)
	r.Announce = "The planner is writing the plan"
	return r
}

func runWaiting(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusAwaitingApproval, "Waiting for your approval")
	r.Head.Waiting, r.Head.Ended = true, ago(2*time.Second)
	r.Actions = templates.RunActionsProps{ApproveURL: runURL + "/approve", Version: 1, EditURL: runURL + "?edit=1", ReviseURL: runURL + "/revise", CancelURL: runURL + "/cancel"}
	r.Graph = graph("cities", cities(), nil, "")
	r.Panel.Plan = planDetail(cities())
	r.Rejections, r.Trace = rejections(), trace(2)
	return estimated(r)
}

func running() map[string]stepState {
	return map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612},
		"s2": {status: plan.StepStatusRunning, took: 2300 * time.Millisecond, tokens: 240},
		"s3": {status: plan.StepStatusSucceeded, took: 12 * time.Millisecond},
	}
}

func done() map[string]stepState {
	return map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612},
		"s2": {status: plan.StepStatusSucceeded, took: 2400 * time.Millisecond, tokens: 640},
		"s3": {status: plan.StepStatusSucceeded, took: 12 * time.Millisecond},
		"s4": {status: plan.StepStatusSucceeded, took: 1100 * time.Millisecond, tokens: 498},
	}
}

func runRunning(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusRunning, "Wave 1 of 2")
	r.Graph = graph("cities", cities(), running(), "s2")
	r.Panel.Step = step("s2", plan.StepStatusRunning)
	r.Stream.Step, r.Stream.PanelURL = "s2", runURL+"/panel?step=s2"
	r.Rejections, r.Waves, r.Trace = rejections(), waves(false), trace(4)
	r.Announce = "Wave 1 of 2 started"
	return r
}

func runWriting(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusSynthesizing, "Writing the answer")
	r.Graph = graph("cities", cities(), done(), "")
	r.Panel.Plan, r.Answer.Writing = planDetail(cities()), true
	r.Notice = templates.NoticeProps{Tone: "info", Title: "Planwave was restarted and took this run up again", Lost: "Nothing was lost: results that were there are kept, and nothing is paid for twice."}
	r.Waves, r.Trace = waves(true), trace(6)
	return r
}

func runSucceeded(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusSucceeded, "Succeeded")
	r.Graph = graph("cities", cities(), done(), "s4")
	r.Panel.Step = offered(step("s4", plan.StepStatusSucceeded), false)
	r.Panel.Step.Again = "Only this step runs again; every other result is kept."
	r.Actions.AnswerURL, r.Actions.AnswerLabel = runURL+"/answer", "Write the answer again"
	r.Answer = templates.AnswerProps{
		HTML:    markdown.New().Render("**Quillhaven** is the most densely populated of the three.\n\n| City | People per km² |\n|:--|--:|\n| Quillhaven | 1,200.0 |\n| Brindlemoor | 700.0 |\n| Tarnby | 300.0 |\n"),
		Subject: "Quillhaven", Value: "1,200.0", RestsOn: []templates.StepLink{link("s4")},
	}
	r.Rejections, r.Waves, r.Trace = rejections(), waves(true), trace(6)
	return r
}

func runPartial(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusPartial, "Partial")
	r.Graph = graph("cities", cities(), failedStates(), "s2")
	r.Panel.Step = offered(step("s2", plan.StepStatusFailed), true)
	r.Actions.Retries = []templates.RetryProps{retry("s2")}
	r.Actions.AnswerURL, r.Actions.AnswerLabel = runURL+"/answer", "Write the answer again"
	r.Answer = templates.AnswerProps{
		HTML:    markdown.New().Render("Of the cities that could be looked up, **Brindlemoor** is the densest with 700.0 people per km². Whether Quillhaven is denser is not known."),
		Subject: "Brindlemoor", Value: "700.0", RestsOn: []templates.StepLink{link("s1"), link("s3")}, Partial: true,
		Missing: []string{"s2 failed: the model could not be reached.", "s4 was skipped, since s2 did not succeed."},
	}
	r.Waves, r.Trace = waves(true), trace(5)
	return r
}

func runFailed(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusFailed, "Failed: the budget is used up")
	r.Graph = graph("cities", cities(), running(), "")
	r.Head.Calls = templates.MeterProps{Label: "Calls", Used: "40", Limit: "40", Share: 100}
	r.Panel.Plan = planDetail(cities())
	r.Notice = templates.NoticeProps{
		Tone: "failed", Title: "The budget is used up", Text: "The run may make 40 calls and has made 40; the next one was not made.",
		Lost:   "2 results that had succeeded are kept below.",
		Budget: &templates.BudgetProps{ContinueURL: runURL + "/continue", Fields: budgetFields(), AnswerURL: runURL + "/answer", Results: 2},
	}
	r.Trace = trace(3)
	return r
}

func runInvalidPlan(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusFailed, "Failed: no valid plan")
	r.Graph = templates.GraphProps{Problem: "No plan kept the rules, so there is none to draw. The last one is below."}
	r.Notice = templates.NoticeProps{
		Tone: "failed", Title: "The planner could not write a valid plan", Text: "It was told what to mend three times.",
		Violations: []string{"a → c → b → a is a cycle: these steps wait on each other. Remove one of the dependencies."},
		Lost:       "Nothing was run.", Todo: "Ask again, in smaller words or with another model.",
	}
	r.Rejections, r.Trace = rejections(), trace(4)
	return r
}

func runCancelled(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusCancelled, "Cancelled")
	r.Graph = graph("cities", cities(), map[string]stepState{
		"s1": {status: plan.StepStatusSucceeded, took: 1900 * time.Millisecond, tokens: 612}, "s2": {status: plan.StepStatusCancelled, took: 2 * time.Second},
		"s3": {status: plan.StepStatusSucceeded, took: 12 * time.Millisecond}, "s4": {status: plan.StepStatusCancelled},
	}, "")
	r.Panel.Plan = planDetail(cities())
	return r
}

func runStatuses(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusAwaitingToolApproval, "Waiting for your word on a tool")
	states := map[string]stepState{}
	for _, s := range plan.StepStatuses() {
		states[string(s)] = stepState{status: s, took: 1500 * time.Millisecond, tokens: 1280}
	}
	states["pending"] = stepState{status: plan.StepStatusPending}
	states["skipped"] = stepState{status: plan.StepStatusSkipped, cause: "failed"}
	states["kept"] = stepState{status: plan.StepStatusSucceeded, kept: true}
	r.Graph = graph("statuses", statuses(), states, "")
	r.Notice = templates.NoticeProps{Tone: "waiting", Title: "The model asked to wait", Text: "It is rate limited; the next try is in 12 s."}
	r.Panel.Step = step("s2", plan.StepStatusInvalid)
	return r
}

func runLarge(p templates.PageProps) templates.RunPageProps {
	r := base(p, plan.RunStatusRunning, "Wave 3 of 8")
	states := map[string]stepState{}
	for i, s := range large().Steps {
		switch {
		case i < 14:
			states[s.ID] = stepState{status: plan.StepStatusSucceeded, took: 2 * time.Second, tokens: 900}
		case i < 18:
			states[s.ID] = stepState{status: plan.StepStatusRunning, took: 3 * time.Second}
		}
	}
	r.Graph = graph("large", large(), states, "")
	r.Panel.Plan = planDetail(large())
	return r
}
