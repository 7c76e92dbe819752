package main

import (
	"planwave/internal/plan"
	"planwave/web/markdown"
	"planwave/web/templates"
)

// hostileTexts try to become markup, script or style wherever they are shown.
func hostileTexts() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</textarea><script>alert(1)</script>`,
		`</title></style></select><svg onload=alert(1)>`, `javascript:alert(1)`, `"]{}body{display:none}[x="`, `{{7*7}}${7*7}<%= 7 %>`, `"hx-get="/x" hx-trigger="load`,
		"\u202Eright to left\u202C \x00 nul", `<a href="javascript:alert(1)">x</a>`,
	}
}

// hostile is a plan whose every text is hostile.
func hostile() plan.Plan {
	var p plan.Plan
	for i, t := range hostileTexts() {
		s := plan.Step{ID: t, Instruction: t + t, Tool: t, Input: []byte(t)}
		if i > 2 {
			s.DependsOn = []string{p.Steps[i-3].ID}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func runHostile(p templates.PageProps) templates.RunPageProps {
	texts := hostileTexts()
	t := texts[0] + texts[1] + texts[2]
	r := runSucceeded(p)
	r.Page.Title, r.Page.Path, r.Head.Question, r.Head.Words, r.Head.Facts = t, t, t, t, texts
	r.Graph = graph("hostile", hostile(), nil, texts[1])
	for i := range r.Graph.Nodes {
		r.Graph.Nodes[i].URL, r.Graph.Nodes[i].PanelURL = texts[i], texts[i]
	}
	r.Notice = templates.NoticeProps{Tone: t, Title: t, Text: t, Lost: t, Todo: t, Violations: texts}
	r.Answer.HTML, r.Answer.Subject, r.Answer.Value, r.Answer.Missing, r.Answer.Partial = markdown.New().Render(t), t, t, texts, true
	r.Approvals = templates.ApprovalsProps{Approvals: []templates.ApprovalProps{{ID: t, Step: link(t), Tool: t, Description: t, Arguments: t, URL: t, Again: true}}}
	r.Actions.Retries = []templates.RetryProps{{URL: t, Step: t}, {URL: t, Step: t}}
	r.Actions.AnswerURL, r.Actions.AnswerLabel, r.Head.ParentURL = t, t, t
	r.Notice.Budget = &templates.BudgetProps{ContinueURL: t, AnswerURL: t, Fields: []templates.BudgetField{{Name: t, Label: t, Value: t, Used: t, Problem: t}}}
	s := r.Panel.Step
	s.Reason, s.Again, s.Estimate, s.Fork, s.Retry = t, t, t, &templates.ForkProps{URL: t, Step: t, Nonce: t}, &templates.RetryProps{URL: t, Step: t}
	s.ID, s.Instruction, s.Tool, s.Input, s.Result, s.Data, s.Cost = t, t, t, t, t, t, t
	s.Contract = &templates.ContractProps{Required: texts, Checks: texts, Broken: texts}
	s.Error, s.Cause = &templates.StepError{Code: t, Message: t, Todo: t}, &templates.StepLink{ID: t, URL: t, PanelURL: t}
	s.ToolCalls = []templates.ToolCallProps{{Tool: t, Arguments: t, Result: t, Error: t}}
	s.Given = []templates.GivenProps{{Step: link(t), Text: t}}
	for i := range r.Trace.Calls {
		c := &r.Trace.Calls[i]
		c.Model, c.Error, c.OutputText, c.Messages, c.Reason = t, t, t, []templates.MessageProps{{Role: t, Text: t}}, t
	}
	j := &r.Rejections.Rejections[0]
	j.Summary, j.Raw, j.Violations = t, t, []templates.ViolationProps{{Code: t, Message: t, Mend: t}}
	j.Steps = []templates.PlannedStep{{ID: t, Instruction: t, Tool: t, DependsOn: texts}}
	return r
}

func runEditHostile(p templates.PageProps) templates.RunPageProps {
	r := runWaiting(p)
	r.Editor = editor(hostile())
	t := hostileTexts()[3]
	e := r.Editor
	e.Blocked, e.SaveURL, e.DraftURL, e.DiscardURL, e.Deliverable = t, t, t, hostileTexts()[5], t
	e.Global = []templates.ViolationProps{{Code: t, Message: t, Mend: t}}
	for i := range e.Steps {
		s := &e.Steps[i]
		s.Contract, s.Strategy, s.Violations = t, t, e.Global
		e.Graph.Nodes[i].URL = hostileTexts()[5]
	}
	return r
}
