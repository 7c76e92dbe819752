package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/web/templates"
)

// panelOf is the selected step, or the plan as a whole.
func (s *server) panelOf(ctx context.Context, v view) (templates.PanelProps, error) {
	p := templates.PanelProps{RunURL: v.look.address(v.url(), ""), OOB: v.oob}
	if v.step == "" {
		p.Plan = v.planDetail()
		return p, nil
	}
	calls, loose, err := s.Store.StepTrace(ctx, v.run.ID, v.step)
	if err != nil {
		return p, err
	}
	if v.past {
		calls, loose = v.before(calls), nil
	}
	if !v.mayTrace() {
		calls, loose = nil, nil
	}
	p.Step = s.stepDetail(v, calls, loose)
	if v.past || v.shared.is() || v.watches {
		return p, nil
	}
	p.Step.Writing = writingOf(v.step, s.Runs.Now(v.run.ID))
	p.Step.Retry, p.Step.Fork = v.retryOf(v.run.Step(v.step)), v.forkOf(v.step, s.NewID())
	if p.Step.Retry != nil || p.Step.Fork != nil {
		p.Step.Again = v.runsAgain(v.step)
	}
	return p, nil
}

// before are the calls that had been answered at the moment that is shown.
func (v view) before(calls []plan.Call) []plan.Call {
	return slices.DeleteFunc(calls, func(c plan.Call) bool { return c.FinishedAt.IsZero() || c.FinishedAt.After(v.now) })
}

func (v view) planDetail() *templates.PlanDetail {
	version, ok := v.run.Version()
	if !ok {
		return nil
	}
	d := &templates.PlanDetail{
		Version: version.Number, Author: version.Author, Reason: version.Reason, ApprovedBy: v.run.ApprovedBy,
		Hash: plan.Short(strings.TrimPrefix(version.Hash, "sha256:"), 12), Mends: version.Mends, Deliverable: v.run.Deliverable(),
	}
	if version.Author == "local" {
		d.Author = "you"
	}
	if len(v.run.Versions) > 1 && v.mayTrace() {
		d.VersionsURL = versionURL(v.url(), version.Number, 0)
	}
	if d.ApprovedBy == "local" {
		d.ApprovedBy = "you"
	}
	d.Estimate, d.Changes = v.estimateOf(), v.changesOf()
	for _, w := range version.Warnings {
		d.Warnings = append(d.Warnings, w.Message)
	}
	if waves, err := plan.Waves(version.Plan); err == nil {
		d.Waves = len(waves)
	}
	if path, err := plan.CriticalPath(version.Plan, nil); err == nil {
		d.CriticalPath = path
	}
	listed := version.Plan.Steps
	if len(listed) > mostBelow {
		d.More, listed = len(listed)-mostListed, listed[:mostListed]
	}
	for _, st := range listed {
		take, _ := v.take(st.ID)
		d.Steps = append(d.Steps, templates.PlannedStepLink{
			StepLink: v.link(st.ID), Instruction: st.Instruction, Tool: st.Tool, DependsOn: few(st.DependsOn), Estimate: take,
		})
	}
	o := v.run.Options
	d.Settings = []templates.Field{
		{Name: "Schedule", Value: map[plan.Schedule]string{plan.ScheduleWaves: "wave by wave", plan.ScheduleReady: "as ready"}[o.Schedule]},
		{Name: "Limits", Value: fmt.Sprintf("%d steps, %d at once", o.MaxSteps, o.MaxParallel)},
		{Name: "Models", Value: strings.Join(models(o), ", ")},
	}
	return d
}

func (s *server) stepDetail(v view, calls []plan.Call, loose []plan.ToolCall) *templates.StepDetail {
	def, _ := v.run.Plan().Step(v.step)
	st := v.run.Step(v.step)
	d := &templates.StepDetail{
		ID: st.ID, Instruction: def.Instruction, Status: st.Status, Wave: st.Wave, Tool: def.Tool, Input: inputText(def.Input),
		Final: st.ID == v.run.Deliverable(), Now: v.now, Tokens: st.Usage.TotalTokens, Result: st.Result.Text, Data: indented(st.Result.Data),
	}
	d.Kept, d.Reason = st.Kept, st.Reason
	d.Estimate, _ = v.take(v.step)
	if st.Status != plan.StepStatusSkipped {
		d.Started, d.Ended = st.StartedAt, st.FinishedAt
	}
	if st.Usage.Requests > 0 {
		d.Cost = templates.Money(st.Usage.CostUSD)
	}
	if st.Result.Text != "" && !strings.HasPrefix(st.Result.Text, "{") {
		d.HTML = s.markdown.Render(st.Result.Text)
	}
	for _, id := range def.DependsOn {
		d.Given = append(d.Given, templates.GivenProps{Step: v.link(id), Text: v.run.Step(id).Result.Text})
	}
	if st.Error != nil {
		d.Error = &templates.StepError{Code: string(st.Error.Code), Message: st.Error.Message, Todo: stepTodo(st.Error.Code)}
	}
	if st.Cause != "" {
		link := v.link(st.Cause)
		d.Cause = &link
	}
	if def.Contract != nil {
		d.Contract = &templates.ContractProps{Required: def.Contract.Required, Checks: def.Contract.Checks, Checked: len(st.Result.Data) > 0}
		if st.Status == plan.StepStatusInvalid {
			d.Contract.Broken = []string{st.Error.Message}
		}
	}
	d.Attempts = attempts(st)
	for _, t := range loose {
		d.ToolCalls = append(d.ToolCalls, toolCallOf(t))
	}
	for _, c := range calls {
		d.Calls = append(d.Calls, v.callBody(c))
		for _, t := range c.ToolCalls {
			d.ToolCalls = append(d.ToolCalls, toolCallOf(t))
		}
	}
	return d
}

// attempts are those before the one that counts.
func attempts(st *plan.StepState) []templates.AttemptProps {
	var out []templates.AttemptProps
	for _, a := range st.History {
		if a.Number == st.Attempts && st.Status.Ended() {
			continue
		}
		p := templates.AttemptProps{Number: a.Number, Status: a.Status, Took: a.FinishedAt.Sub(a.StartedAt)}
		if a.Error != nil {
			p.Error = a.Error.Message
		}
		out = append(out, p)
	}
	return out
}

// stepTodo is the next thing to do about a failed step.
func stepTodo(code plan.Code) string {
	switch code {
	case plan.CodeBeyondDemo:
		return "Write an instruction about the sample cities, or set a key for a real model."
	case plan.CodeModelUnreachable, plan.CodeModelRateLimited:
		return "Check the model server, then try it again."
	case plan.CodeModelAuth:
		return "Check the key and start Planwave again."
	case plan.CodeToolFailed, plan.CodeBadReference:
		return "Try it again, or run again from here and edit this step's input before approving."
	case plan.CodeToolDenied:
		return "Try it again if the call may be made after all."
	case plan.CodeOutputTruncated:
		return "Split the step into smaller ones."
	}
	return "Look at the model calls below, then try it again."
}

func inputText(input json.RawMessage) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	return string(input)
}

func indented(data json.RawMessage) string {
	var b bytes.Buffer
	if len(data) == 0 || json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}

// trace are all calls of the run, whose prompts are asked for when opened.
func (v view) trace(calls []plan.Call) templates.TraceProps {
	p := templates.TraceProps{OOB: v.oob}
	for _, c := range calls {
		line := v.callLine(c)
		line.DetailURL = v.url() + "/calls/" + c.ID
		p.Calls = append(p.Calls, line)
	}
	return p
}

// callLine is a call without its prompt and output.
func (v view) callLine(c plan.Call) templates.CallProps {
	p := templates.CallProps{
		ID: c.ID, Agent: string(c.Agent), Step: c.Step, Attempt: c.Attempt, Model: c.Model, Since: c.StartedAt, Now: v.now,
		InFlight: c.FinishedAt.IsZero(), Input: c.Usage.InputTokens, Output: c.Usage.OutputTokens,
	}
	if c.Step == "" {
		p.Attempt = 0
	}
	if !p.InFlight {
		p.Took, p.Cost = c.FinishedAt.Sub(c.StartedAt), templates.Money(c.Usage.CostUSD)
	} else if v.run.Status.Ended() || v.run.Open[c.ID].Call == "" {
		p.InFlight, p.Error = false, "Lost: Planwave stopped before the answer came."
	}
	if c.Error != nil {
		p.Error = c.Error.Message
	}
	return p
}

// callBody is a call with its prompt and output.
func (v view) callBody(c plan.Call) templates.CallProps {
	p := v.callLine(c)
	var req model.Request
	if json.Unmarshal(c.Request, &req) == nil {
		if req.System != "" {
			p.Messages = append(p.Messages, templates.MessageProps{Role: "system", Text: req.System})
		}
		for _, m := range req.Messages {
			p.Messages = append(p.Messages, messageOf(m))
		}
	}
	var resp model.Response
	if json.Unmarshal(c.Response, &resp) == nil {
		p.OutputText = resp.Text
	}
	for _, t := range c.ToolCalls {
		p.ToolCalls = append(p.ToolCalls, toolCallOf(t))
	}
	return p
}

func messageOf(m model.Message) templates.MessageProps {
	parts := []string{}
	if m.Text != "" {
		parts = append(parts, m.Text)
	}
	for _, c := range m.Calls {
		parts = append(parts, "calls "+c.Name+" "+string(c.Arguments))
	}
	for _, r := range m.Results {
		parts = append(parts, r.Name+": "+r.Text)
	}
	return templates.MessageProps{Role: string(m.Speaker), Text: strings.Join(parts, "\n")}
}

func toolCallOf(t plan.ToolCall) templates.ToolCallProps {
	p := templates.ToolCallProps{Tool: t.Tool, Arguments: string(t.Arguments), Result: t.Result, Error: t.Error, Took: t.FinishedAt.Sub(t.StartedAt)}
	if p.Error == p.Result {
		p.Result = ""
	}
	return p
}
