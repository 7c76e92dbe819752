package handlers

import (
	"fmt"
	"slices"
	"strconv"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// url is the run's page, or the shared one that shows it.
func (v view) url() string {
	if v.shared.at != "" {
		return v.shared.at
	}
	return runURL(v.run.ID)
}

// link selects a step on the page.
func (v view) link(id string) templates.StepLink {
	to := v.look.address(v.url(), id)
	return templates.StepLink{ID: id, URL: to, PanelURL: v.url() + "/panel" + to[len(v.url()):]}
}

func (v view) links(ids []string) []templates.StepLink {
	out := make([]templates.StepLink, len(ids))
	for i, id := range ids {
		out[i] = v.link(id)
	}
	return out
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
	if v.past && h.Ended.IsZero() {
		h.Ended = v.now
	}
	h.Facts = v.facts()
	if r.ForkedFrom != "" && !v.shared.is() { // a link shows no other run
		h.ParentURL = runURL(r.ForkedFrom)
		h.Kept = keptOf(r)
	}
	return h
}

// keptOf counts the results that were taken over.
func keptOf(r *plan.Run) int {
	n := 0
	for _, st := range r.Steps {
		if st.Kept && st.Status == plan.StepStatusSucceeded {
			n++
		}
	}
	return n
}

func (v view) facts() []string {
	r := v.run
	facts := models(r.Options)
	if r.Recorded {
		facts = []string{"a recording, with the model " + templates.List(facts)}
	}
	if r.Options.Schedule == plan.ScheduleReady {
		facts = append(facts, "steps as ready")
	}
	switch {
	case r.Options.Strategy == plan.StrategyRounds:
		facts = append(facts, fmt.Sprintf("round %d of %d at most", r.Replans+1, plan.MaxRounds))
	case r.Replans > 0:
		facts = append(facts, fmt.Sprintf("replan %d of %d at most", r.Replans, r.Options.Replan.Max))
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

func (v view) stream() templates.StreamProps {
	st := templates.StreamProps{OOB: v.oob}
	if v.past && v.look.play > 0 && v.look.at < v.last {
		st.URL = v.url() + "/play" + v.look.address(v.url(), v.step)[len(v.url()):]
	}
	if v.past || v.run.Status.Ended() {
		return st
	}
	q := v.look.values()
	st.PanelURL = v.url() + "/panel" + query(q)
	if v.step != "" {
		q.Set("step", v.step)
		st.Step, st.PanelURL = v.step, v.link(v.step).PanelURL
	}
	q.Set("after", strconv.FormatInt(v.run.Seq, 10))
	st.URL = v.url() + "/live?" + q.Encode()
	return st
}
