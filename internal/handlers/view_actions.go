package handlers

import (
	"net/url"
	"strconv"

	"planwave/internal/plan"
	"planwave/web/templates"
)

func (v view) actions() templates.RunActionsProps {
	a := templates.RunActionsProps{OOB: v.oob}
	if v.shared.is() {
		a.Exports = v.exports()
		return a
	}
	if v.past {
		return a
	}
	if v.watches {
		a.AgainURL, a.Exports = v.againURL(), v.exports()
		return a
	}
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
	a.DeleteURL = v.url() + "/delete"
	a.Retries = v.retries()
	if url := v.answerURL(); url != "" && !v.outOfBudget() {
		a.AnswerURL, a.AnswerNonce, a.AnswerLabel = url, v.answerNonce(), "Write the answer"
		if v.run.Answer != nil {
			a.AnswerLabel = "Write the answer again"
		}
	}
	if v.run.Status.Ended() {
		a.AgainURL = v.againURL()
	}
	a.Exports = v.exports()
	return a
}

// exports are the files that the run can be saved as.
func (v view) exports() []templates.ExportProps {
	if len(v.run.Versions) == 0 {
		return nil
	}
	words := map[string]string{
		"json": "JSON, which can be imported again", "md": "Markdown, a report", "mermaid": "Mermaid, a flowchart", "dot": "DOT, for Graphviz", "svg": "SVG, a picture",
	}
	var all []templates.ExportProps
	for _, format := range exportFormats() {
		if format == "json" && (!v.run.Status.Ended() || !v.mayTrace()) {
			continue
		}
		at := v.url()
		if !v.shared.is() {
			at = "/api/v1" + at
		}
		all = append(all, templates.ExportProps{URL: at + "/export?format=" + format, Label: words[format]})
	}
	return all
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
	if o.Strategy != d.Strategy {
		q.Set("strategy", string(o.Strategy))
	}
	if o.Replan != d.Replan {
		q.Set("replan", o.Replan.When)
		q.Set("max_replans", strconv.Itoa(o.Replan.Max))
		q.Set("replan_approval", o.Replan.Approval)
	}
	if o.MaxSteps != d.MaxSteps {
		q.Set("max_steps", strconv.Itoa(o.MaxSteps))
	}
	return "/?" + q.Encode()
}
