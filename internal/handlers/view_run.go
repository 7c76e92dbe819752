package handlers

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

func (v view) url() string { return runURL(v.run.ID) }

// link selects a step on the page.
func (v view) link(id string) templates.StepLink {
	q := "?step=" + url.QueryEscape(id)
	return templates.StepLink{ID: id, URL: v.url() + q, PanelURL: v.url() + "/panel" + q}
}

func (v view) links(ids []string) []templates.StepLink {
	out := make([]templates.StepLink, len(ids))
	for i, id := range ids {
		out[i] = v.link(id)
	}
	return out
}

// words say the run's status to a person.
func (v view) words() string {
	r := v.run
	switch r.Status {
	case plan.RunStatusPlanning:
		if n := len(r.Rejections) - r.RejectionsBefore; n > 0 {
			return fmt.Sprintf("Planning, correction %d", n)
		}
		if r.Comment != "" {
			return "Planning again"
		}
		return "Planning"
	case plan.RunStatusAwaitingApproval:
		return "Waiting for your approval"
	case plan.RunStatusRunning:
		if waves, err := plan.Waves(r.Plan()); err == nil && len(r.Waves) > 0 {
			return fmt.Sprintf("Wave %d of %d", len(r.Waves), len(waves))
		}
		return "Running"
	case plan.RunStatusAwaitingToolApproval:
		return "Waiting for your decision"
	case plan.RunStatusSynthesizing:
		return "Writing the answer"
	case plan.RunStatusSucceeded:
		return "Succeeded"
	case plan.RunStatusPartial:
		return "Partly answered"
	case plan.RunStatusFailed:
		return "Failed"
	case plan.RunStatusCancelled:
		return "Cancelled"
	}
	return r.Status.Words()
}

// tabIcon names the tab's icon.
func tabIcon(st plan.RunStatus) string {
	switch st {
	case plan.RunStatusPlanning, plan.RunStatusRunning, plan.RunStatusSynthesizing:
		return "running"
	case plan.RunStatusAwaitingApproval, plan.RunStatusAwaitingToolApproval:
		return "waiting"
	case plan.RunStatusSucceeded, plan.RunStatusPartial, plan.RunStatusFailed, plan.RunStatusCancelled:
		return string(st)
	}
	return "idle"
}

func (v view) head() templates.RunHeadProps {
	r := v.run
	used := r.Used()
	h := templates.RunHeadProps{
		Question: r.Question, Status: r.Status, Words: v.words(), CreatedAt: r.CreatedAt, Now: v.now,
		Started: r.CreatedAt, Ended: r.FinishedAt, OOB: v.oob,
		Calls:  meterOf("Calls", used.Requests, r.Options.Budget.Requests),
		Tokens: meterOf("Tokens", used.Tokens, r.Options.Budget.Tokens),
		Cost:   templates.MeterProps{Label: "Cost", Used: templates.Money(r.Usage.CostUSD)},
	}
	if limit := r.Options.Budget.CostUSD; limit != nil {
		h.Cost.Limit, h.Cost.Share = templates.Money(limit), share(int(used.CostUSD), int(*limit))
	}
	switch {
	case r.Status == plan.RunStatusAwaitingApproval:
		h.Waiting, h.Ended = true, r.UpdatedAt
	case !r.StartedAt.IsZero():
		h.Started = r.StartedAt
	}
	h.Facts = v.facts()
	return h
}

func (v view) facts() []string {
	r := v.run
	facts := models(r.Options)
	if r.Options.Schedule == plan.ScheduleReady {
		facts = append(facts, "steps as ready")
	}
	if n := r.Corrections(); n > 0 {
		facts = append(facts, templates.Counted(n, "correction", "corrections"))
	}
	return facts
}

// models are the models of the roles that take part in a plan, each once.
func models(o plan.Options) []string {
	var names []string
	for _, role := range []plan.Role{plan.RolePlanner, plan.RoleExecutor, plan.RoleSynthesizer} {
		if n := o.Models[role]; n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func meterOf(label string, used int, limit *int) templates.MeterProps {
	m := templates.MeterProps{Label: label, Used: templates.Count(used)}
	if limit != nil {
		m.Limit, m.Share = templates.Count(*limit), share(used, *limit)
	}
	return m
}

// share is the used part of a limit in percent.
func share(used, limit int) int {
	if limit <= 0 {
		return 100
	}
	return min(100, int(float64(used)*100/float64(limit)))
}

func (v view) actions() templates.RunActionsProps {
	a := templates.RunActionsProps{OOB: v.oob}
	version, _ := v.run.Version()
	if v.run.Approvable() {
		a.ApproveURL, a.Version = v.url()+"/approve", version.Number
	}
	if v.run.Editable() {
		a.EditURL, a.ReviseURL = v.url()+"?edit=1", v.url()+"/revise"
	}
	if v.run.Cancelable() {
		a.CancelURL = v.url() + "/cancel"
	}
	if v.run.Status.Ended() {
		a.AgainURL = v.againURL()
	}
	return a
}

// againURL is the home page with this question and what was chosen for it.
func (v view) againURL() string {
	o, d := v.run.Options, plan.DefaultOptions()
	q := url.Values{"q": {v.run.Question}}
	if o.Approval != d.Approval {
		q.Set("approval", string(o.Approval))
	}
	if o.Schedule != d.Schedule {
		q.Set("schedule", string(o.Schedule))
	}
	if o.MaxSteps != d.MaxSteps {
		q.Set("max_steps", strconv.Itoa(o.MaxSteps))
	}
	return "/?" + q.Encode()
}

// notice is what a person must know about the run now.
func (v view) notice() templates.NoticeProps {
	r := v.run
	n := templates.NoticeProps{OOB: v.oob}
	switch {
	case r.Status == plan.RunStatusFailed && r.Error != nil:
		n.Tone, n.Text = "failed", r.Error.Message
		n.Title, n.Lost, n.Todo = v.failure()
		if len(r.Rejections) > 0 && r.Error.Code == plan.CodePlanInvalid {
			n.Text = "The planner was sent its plan back and it still breaks the rules."
			for _, b := range r.Rejections[len(r.Rejections)-1].Violations {
				n.Violations = append(n.Violations, b.Message)
			}
		}
	case r.Status == plan.RunStatusCancelled:
		n.Tone, n.Title = "info", "This run was cancelled"
		n.Lost = "What had succeeded is kept."
	case r.Resumed > 0 && !r.Status.Ended():
		n.Tone, n.Title = "info", "Planwave was restarted in the middle of this run"
		n.Text = "It goes on where it was. Results that were there are kept; a step that was in flight runs again."
	}
	return n
}

// failure puts a failed run into words.
func (v view) failure() (title, lost, todo string) {
	kept := "Nothing had been paid for yet."
	if n := len(v.run.WithStatus(plan.StepStatusSucceeded)); n > 0 {
		kept = templates.Counted(n, "result", "results") + " that had succeeded " + map[bool]string{true: "is", false: "are"}[n == 1] + " kept below."
	} else if v.run.Usage.Requests > 0 {
		kept = "What the models wrote is kept in the trace below."
	}
	title = failureTitle(v.run.Error.Code)
	switch v.run.Error.Code {
	case plan.CodeBeyondDemo:
		return title, "", "Ask one of the sample questions on the home page."
	case plan.CodePlanInvalid:
		todo = "Ask again in other words, with another model, or with a higher step limit."
	case plan.CodeAllStepsFailed:
		todo = "Look at the steps below for what went wrong, then ask again."
	case plan.CodeBudgetExhausted:
		todo = "Ask again with a larger budget under Options."
	case plan.CodeModelUnreachable:
		todo = "Check the model server and its address, then ask again."
	case plan.CodeModelAuth:
		todo = "Check the key and start Planwave again."
	case plan.CodeModelRateLimited:
		todo = "Wait a little, then ask again."
	default:
		todo = "Ask again, or look at the trace below."
	}
	return title, kept, todo
}

// failureTitle says in a few words why a run failed.
func failureTitle(code plan.Code) string {
	switch code {
	case plan.CodeBeyondDemo:
		return "This is more than the demo model knows"
	case plan.CodePlanInvalid:
		return "No plan kept the rules"
	case plan.CodeAllStepsFailed:
		return "No step succeeded"
	case plan.CodeBudgetExhausted:
		return "The budget is used up"
	case plan.CodeModelUnreachable:
		return "The model cannot be reached"
	case plan.CodeModelAuth:
		return "The model refused the key"
	case plan.CodeModelRateLimited:
		return "The model asks to come back later"
	case plan.CodeContentFiltered:
		return "The model held the answer back for its content"
	case plan.CodeOutputTruncated:
		return "The model's answer was cut off"
	}
	return "This run failed"
}

func (v view) stream() templates.StreamProps {
	st := templates.StreamProps{OOB: v.oob}
	if v.run.Status.Ended() {
		return st
	}
	q := url.Values{"after": {strconv.FormatInt(v.run.Seq, 10)}}
	st.PanelURL = v.url() + "/panel"
	if v.step != "" {
		q.Set("step", v.step)
		st.Step, st.PanelURL = v.step, v.link(v.step).PanelURL
	}
	st.URL = v.url() + "/live?" + q.Encode()
	return st
}

// answerOf is the answer, when there is one or one is being written.
func (s *server) answerOf(v view) templates.AnswerProps {
	r := v.run
	p := templates.AnswerProps{OOB: v.oob, Writing: r.Status == plan.RunStatusSynthesizing, Partial: r.Status == plan.RunStatusPartial}
	if r.Answer == nil {
		return p
	}
	p.HTML = s.markdown.Render(r.Answer.Result)
	p.Subject = r.Answer.Subject
	if r.Answer.Value != nil {
		p.Value = number(*r.Answer.Value)
	}
	p.RestsOn = v.links(r.Answer.RestsOn)
	for _, st := range r.Steps {
		switch st.Status {
		case plan.StepStatusFailed, plan.StepStatusInvalid:
			p.Missing = append(p.Missing, fmt.Sprintf("Step %s failed: %s", st.ID, st.Error.Message))
		case plan.StepStatusSkipped:
			p.Missing = append(p.Missing, fmt.Sprintf("Step %s was skipped, since %s did not succeed.", st.ID, st.Cause))
		case plan.StepStatusPending, plan.StepStatusRunning, plan.StepStatusAwaitingApproval, plan.StepStatusSucceeded, plan.StepStatusCancelled:
		}
	}
	return p
}

// number writes a value with one decimal place and commas between thousands.
func number(value float64) string {
	text := strconv.FormatFloat(value, 'f', 1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return text
	}
	sign := ""
	if n == 0 && strings.HasPrefix(whole, "-") {
		sign = "−"
	}
	return sign + templates.Count(n) + "." + fraction
}

// rejections are the plans that were sent back, each with why in a few words.
func (v view) rejections() templates.RejectionsProps {
	p := templates.RejectionsProps{OOB: v.oob}
	for i, rej := range v.run.Rejections {
		out := templates.RejectionProps{Number: i + 1, Summary: inShort(rej.Violations), Raw: rej.Text, At: rej.At}
		for _, b := range rej.Violations {
			out.Violations = append(out.Violations, templates.ViolationProps{Code: string(b.Code), Message: b.Message, Warning: b.Warning})
		}
		if rej.Plan != nil {
			for _, st := range rej.Plan.Steps {
				out.Steps = append(out.Steps, templates.PlannedStep{ID: st.ID, Instruction: st.Instruction, Tool: st.Tool, DependsOn: st.DependsOn})
			}
		}
		p.Rejections = append(p.Rejections, out)
	}
	return p
}

// inShort says why a plan was sent back.
func inShort(violations []plan.Violation) string {
	if len(violations) == 0 {
		return "it broke a rule"
	}
	first := violations[0]
	text := strings.ReplaceAll(string(first.Code), "_", " ")
	if first.Code == plan.CodeNoSingleFinalStep && len(first.Steps) > 1 {
		loose := first.Steps[:len(first.Steps)-1]
		verb := "were loose ends"
		if len(loose) == 1 {
			verb = "was a loose end"
		}
		text = templates.List(loose) + " " + verb
	}
	if n := len(violations) - 1; n > 0 {
		text += " and " + templates.Counted(n, "more thing", "more things")
	}
	return text
}

// waves are the steps over time.
func (v view) waves() templates.WavesProps {
	r := v.run
	p := templates.WavesProps{OOB: v.oob}
	if len(r.Waves) == 0 {
		return p
	}
	end := r.StartedAt
	for _, st := range r.Steps {
		end = later(end, v.until(st))
	}
	p.Total = end.Sub(r.StartedAt)
	for n, ids := range r.Waves {
		w := templates.WaveProps{Number: n + 1, Open: r.WaveOpen && n == len(r.Waves)-1 && !r.Status.Ended()}
		var from, to time.Time
		for _, id := range ids {
			st := r.Step(id)
			if st == nil {
				continue
			}
			bar := templates.BarProps{Step: v.link(id), Status: st.Status}
			if !st.StartedAt.IsZero() {
				until := v.until(*st)
				bar.Took = until.Sub(st.StartedAt)
				bar.Offset, bar.Length = thousandths(st.StartedAt.Sub(r.StartedAt), p.Total), thousandths(bar.Took, p.Total)
				if from.IsZero() || st.StartedAt.Before(from) {
					from = st.StartedAt
				}
				to = later(to, until)
			}
			w.Bars = append(w.Bars, bar)
		}
		w.Took = to.Sub(from)
		p.Waves = append(p.Waves, w)
	}
	return p
}

// until is when a step ended, or now while it runs.
func (v view) until(st plan.StepState) time.Time {
	switch {
	case st.StartedAt.IsZero():
		return time.Time{}
	case st.FinishedAt.IsZero():
		return later(st.StartedAt, v.now)
	}
	return st.FinishedAt
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func thousandths(part, whole time.Duration) int {
	if whole <= 0 {
		return 0
	}
	return int(max(0, min(1000, part*1000/whole)))
}
