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
// streams as it may it ends with what is there, and the browser comes again. A
// page that comes again after its run was deleted is told so: a browser takes a
// refusal for a server that does not answer.
func (s *server) live(c echo.Context) error {
	after, err := readAfter(c.Request())
	if err != nil {
		return err
	}
	v, err := s.viewOf(c)
	if plan.CodeOf(err) == plan.CodeNotFound {
		return s.liveGone(c)
	}
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
		open: func() (bool, error) { return s.stillOpen(ctx, v.shared) },
		gone: func(deleted bool) error { return sendGone(ctx, st, deleted) },
		tell: func(calls []runs.Now) error {
			if !v.mayTrace() {
				return nil // what is being written is a part of the trace
			}
			return w.tell(ctx, calls)
		},
		deliver: func(events []plan.Event) error { return s.sendPatch(ctx, st, v, events) },
	})
	return nil
}

// liveGone is the stream of a run that is not there any more.
func (s *server) liveGone(c echo.Context) error {
	st, err := s.openStream(c)
	if err != nil {
		return err
	}
	f := follower{st: st}
	return f.over(sendGone(c.Request().Context(), st, true))
}

// sendPatch sends what events have changed, and names the panels that are to be
// asked for again.
func (s *server) sendPatch(ctx context.Context, st *stream, v view, events []plan.Event) error {
	run, err := s.Runs.Get(ctx, v.run.ID)
	if err != nil {
		return err
	}
	now, err := s.newView(ctx, v.shared.shows(run), v.step)
	if err != nil {
		return err
	}
	now.oob, now.look, now.shared, now.watches = true, v.look, v.shared, v.watches
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

// sendGone says that there is nothing to be seen any more.
func sendGone(ctx context.Context, st *stream, deleted bool) error {
	n := templates.NoticeProps{Tone: "info", Title: "This link was taken back or has expired", Text: "What is shown is how the run was.", OOB: true}
	if deleted {
		n.Title = "This run was deleted"
	}
	text, err := rendered(ctx, []templ.Component{
		templates.RunNotice(n), templates.RunActions(templates.RunActionsProps{OOB: true}), templates.Approvals(templates.ApprovalsProps{OOB: true}),
		templates.Now(templates.NowProps{OOB: true}), templates.Stream(templates.StreamProps{OOB: true}),
	})
	if err != nil {
		return err
	}
	st.send("patch", "", text)
	return nil
}

// patch renders the fragments that events have changed.
func (s *server) patch(ctx context.Context, v view, events []plan.Event) (string, error) {
	actions, err := s.actionsOf(ctx, v)
	if err != nil {
		return "", err
	}
	parts := []templ.Component{
		templates.RunHead(v.head()), templates.RunActions(actions), templates.RunNotice(s.noticeOf(ctx, v)), templates.Approvals(s.approvalsOf(v)),
	}
	if v.hasGraph() {
		parts = append(parts, s.graphPatch(ctx, v, events)...)
	}
	below, err := s.below(ctx, v)
	if err != nil {
		return "", err
	}
	parts = append(parts, templates.Answer(s.answerOf(v)), templates.Views(v.views()))
	parts = append(parts, below...)
	parts = append(parts, templates.Announce(templates.AnnounceProps{Text: v.announce(events), OOB: true}))
	// The stream goes with the patch of the last event, never before it, and so does
	// what was being written; one that goes on after its end has a stream anew. That of
	// a run that is being deleted stays for that to be told.
	if last := events[len(events)-1]; (v.run.Status.Ended() && last.Seq == v.run.Seq || ends(last.Type())) && !s.Runs.Deleting(v.run.ID) {
		parts = append(parts, templates.Now(templates.NowProps{OOB: true}), templates.Stream(v.stream()))
	}
	return rendered(ctx, parts)
}

// graphPatch is the graph where every node may have changed, and else the nodes
// that have, with the edges beside them.
func (s *server) graphPatch(ctx context.Context, v view, events []plan.Event) []templ.Component {
	g := s.graphOf(ctx, v)
	if v.run.Approvable() || slices.ContainsFunc(events, redraws) { // an estimate is of the whole plan
		return []templ.Component{templates.Graph(g)}
	}
	return changedNodes(g, touched(events), touched(slices.DeleteFunc(slices.Clone(events), staysAt)))
}

// staysAt says that an event leaves its step at the status it has.
func staysAt(e plan.Event) bool {
	switch e.Data.(type) {
	case plan.StepToolCalled, plan.UsageReserved, plan.UsageSettled:
		return true
	}
	return false
}

// below are the parts of the page that a view shows under or instead of the
// graph. What it does not show is not read.
func (s *server) below(ctx context.Context, v view) ([]templ.Component, error) {
	var parts []templ.Component
	if v.hasRejections() {
		parts = append(parts, templates.Rejections(v.rejections()))
	}
	if v.hasTimeline() {
		parts = append(parts, templates.Waves(v.waves()))
	}
	if !v.hasTrace() {
		return parts, nil
	}
	calls, err := s.Store.Trace(ctx, v.run.ID)
	if err != nil {
		return nil, err
	}
	return append(parts, templates.Trace(v.trace(calls))), nil
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

// changedNodes are the nodes of steps that changed, and the edges beside those
// that are at something else now: a browser lays all edges out again when one is
// replaced.
func changedNodes(g templates.GraphProps, steps, moved []string) []templ.Component {
	nodes, ends := shownAs(g.Nodes, steps), shownAs(g.Nodes, moved)
	var parts []templ.Component
	for _, n := range g.Nodes {
		if nodes[n.ID] {
			n.OOB = true
			parts = append(parts, templates.Node(n))
		}
	}
	var beside []templates.EdgeProps
	for _, e := range g.Edges {
		if ends[e.From] || ends[e.To] {
			beside = append(beside, e)
		}
	}
	if len(beside) > 0 {
		parts = append(parts, templates.EdgesAnew(beside))
	}
	return parts
}

// shownAs are the nodes that show some steps.
func shownAs(nodes []templates.NodeProps, steps []string) map[string]bool {
	in, shown := map[string]bool{}, map[string]bool{}
	for _, id := range steps {
		in[id] = true
	}
	for _, n := range nodes {
		if in[n.ID] || n.Stack != nil && slices.ContainsFunc(n.Stack.IDs, func(id string) bool { return in[id] }) {
			shown[n.ID] = true
		}
	}
	return shown
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
