package handlers

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// live streams what changes on a run's page after an event: fragments that
// replace elements by their ids, rendered from the state as it is when they
// are sent. They may come twice without harm. For a browser that holds as many
// streams as it may it ends with what is there, and the browser comes again.
func (s *server) live(c echo.Context) error {
	after, err := readAfter(c.Request())
	if err != nil {
		return err
	}
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	free, may := s.slots.take(c.Request())
	defer free()
	st, err := s.openStream(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	w := writer{server: s, st: st, id: v.run.ID}
	s.follow(ctx, v.run, after, follower{
		st: st, once: !may,
		tell:    func(calls []runs.Now) error { return w.tell(ctx, calls) },
		deliver: func(events []plan.Event) error { return s.sendPatch(ctx, st, v, events) },
	})
	return nil
}

// sendPatch sends what events have changed, and names the panels that are to be
// asked for again.
func (s *server) sendPatch(ctx context.Context, st *stream, v view, events []plan.Event) error {
	run, err := s.Runs.Get(ctx, v.run.ID)
	if err != nil {
		return err
	}
	now, err := s.newView(ctx, run, v.step)
	if err != nil {
		return err
	}
	now.oob = true
	patch, err := s.patch(ctx, now, events)
	if err != nil {
		return err
	}
	for _, name := range nudges(run, events) { // before a last patch takes the stream away
		st.send(name, "", "{}")
	}
	st.send("patch", strconv.FormatInt(events[len(events)-1].Seq, 10), patch)
	return nil
}

// patch renders the fragments that events have changed.
func (s *server) patch(ctx context.Context, v view, events []plan.Event) (string, error) {
	parts := []templ.Component{
		templates.RunHead(v.head()), templates.RunActions(v.actions()), templates.RunNotice(s.noticeOf(ctx, v)), templates.Approvals(s.approvalsOf(v)),
	}
	g := s.graphOf(ctx, v)
	if v.run.Approvable() || slices.ContainsFunc(events, redraws) { // an estimate is of the whole plan
		parts = append(parts, templates.Graph(g))
	} else {
		parts = append(parts, changedNodes(g, touched(events))...)
	}
	calls, err := s.Store.Trace(ctx, v.run.ID)
	if err != nil {
		return "", err
	}
	parts = append(parts, templates.Answer(s.answerOf(v)), templates.Rejections(v.rejections()), templates.Waves(v.waves()),
		templates.Trace(v.trace(calls)), templates.Announce(templates.AnnounceProps{Text: v.announce(events), OOB: true}))
	// The stream goes with the patch of the last event, never before it, and so does
	// what was being written; one that goes on after its end has a stream anew.
	if last := events[len(events)-1]; v.run.Status.Ended() && last.Seq == v.run.Seq || ends(last.Type()) {
		parts = append(parts, templates.Now(templates.NowProps{OOB: true}), templates.Stream(v.stream()))
	}
	return rendered(ctx, parts)
}

// redraws says whether an event may change every node at once.
func redraws(e plan.Event) bool {
	switch e.Data.(type) {
	case plan.RunCreated, plan.PlanRequested, plan.PlanProposed, plan.PlanEdited, plan.RunStarted,
		plan.RunResumed, plan.RunFailed, plan.RunCancelled:
		return true
	}
	return false
}

// changedNodes are the nodes of steps that changed, and the edges beside them.
func changedNodes(g templates.GraphProps, steps []string) []templ.Component {
	if len(steps) == 0 || len(g.Nodes) == 0 {
		return nil
	}
	in := make(map[string]bool, len(steps))
	for _, id := range steps {
		in[id] = true
	}
	parts := []templ.Component{templates.Edges(templates.EdgesProps{W: g.W, H: g.H, Edges: g.Edges, OOB: true})}
	for _, n := range g.Nodes {
		if in[n.ID] {
			n.OOB = true
			parts = append(parts, templates.Node(n))
		}
	}
	return parts
}

func rendered(ctx context.Context, parts []templ.Component) (string, error) {
	var b bytes.Buffer
	for _, p := range parts {
		if err := p.Render(ctx, &b); err != nil {
			return "", fmt.Errorf("render a fragment: %w", err)
		}
	}
	return b.String(), nil
}

// touched lists the steps that events are about, each once, in order.
func touched(events []plan.Event) []string {
	var ids []string
	seen := map[string]bool{"": true}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, e := range events {
		switch p := e.Data.(type) {
		case plan.StepStarted:
			add(p.Step)
		case plan.StepToolCalled:
			add(p.Step)
		case plan.StepApprovalRequested:
			add(p.Step)
		case plan.StepApprovalDecided:
			add(p.Step)
		case plan.StepSucceeded:
			add(p.Step)
		case plan.StepFailed:
			add(p.Step)
		case plan.StepInvalid:
			add(p.Step)
		case plan.StepSkipped:
			add(p.Step)
		case plan.StepCancelled:
			add(p.Step)
		case plan.UsageReserved:
			add(p.Step)
		case plan.UsageSettled:
			add(p.Step)
		case plan.StepReset:
			for _, id := range p.Steps {
				add(id)
			}
		}
	}
	return ids
}

// panels says whether an event changes every panel: what can be done with a
// step depends on what the run is at.
func panels(e plan.Event) bool {
	switch e.Data.(type) {
	case plan.PlanApproved, plan.RunContinued, plan.ReplanRequested, plan.AnswerStarted,
		plan.RunSucceeded, plan.RunPartial:
		return true
	}
	return redraws(e)
}

// nudges names the panels that events have changed, so that whoever has one
// open asks for it again: those of the steps, of the steps that are given their
// results, and that of the plan; or every panel.
func nudges(r *plan.Run, events []plan.Event) []string {
	if r.Approvable() || slices.ContainsFunc(events, panels) {
		return []string{"panel"}
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, id := range touched(events) {
		add("step-" + id)
		for _, st := range r.Plan().Steps {
			if slices.Contains(st.DependsOn, id) {
				add("step-" + st.ID)
			}
		}
	}
	return names
}

// announce says the last thing worth hearing of, for screen readers.
func (v view) announce(events []plan.Event) string {
	text := ""
	for _, e := range events {
		switch p := e.Data.(type) {
		case plan.PlanRejected:
			text = "The plan was sent back to the planner: " + inShort(p.Violations)
		case plan.PlanProposed:
			text = fmt.Sprintf("The plan is there: %s.", templates.Counted(len(p.Plan.Steps), "step", "steps"))
			if v.run.Approvable() {
				text += " It waits for your approval."
			}
		case plan.ReplanRequested:
			text = "Planning again: " + p.Reason
		case plan.StepApprovalRequested:
			text = fmt.Sprintf("Step %s waits for your word on a call of %s.", p.Step, p.Tool)
		case plan.WaveStarted:
			text = fmt.Sprintf("%s started: %s", v.words(), templates.List(p.Steps))
		case plan.StepFailed:
			text = fmt.Sprintf("Step %s failed: %s", p.Step, p.Error.Message)
		case plan.AnswerWritten:
			text = "The answer is there."
		case plan.RunFailed:
			text = "The run failed: " + p.Error.Message
		case plan.RunCancelled:
			text = "The run was cancelled."
		}
	}
	return text
}
