package main

import (
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// fragments are single components, each in the states that it has, as they are
// sent to replace an element of a page.
func fragments() []state {
	waiting, succeeded, partial := runWaiting(page("")), runSucceeded(page("")), runPartial(page(""))
	invalid := runEditInvalid(page("")).Editor
	all := []state{
		{"tested", templates.Tested(settings(page("")).Providers[1].Tested)},
		{"ask", templates.Ask(homeProblem(page("")).Ask)},
		{"latest", templates.Latest(home(page("")).Latest)},
		{"stream", templates.Stream(templates.StreamProps{URL: runURL + "/stream?after=42", Step: "s2", PanelURL: runURL + "/panel?step=s2", OOB: true})},
		{"stream-ended", templates.Stream(templates.StreamProps{OOB: true})},
		{"now", templates.Now(nowWaiting())},
		{"now-nothing", templates.Now(templates.NowProps{OOB: true})},
		{"panel-writing", templates.Panel(runRateLimited(page("")).Panel)},
		{"panel-tool-at-work", templates.Panel(runToolAtWork(page("")).Panel)},
		{"announce", templates.Announce(templates.AnnounceProps{Text: "Wave 2 of 3 started", OOB: true})},
		{"head", templates.RunHead(waiting.Head)},
		{"actions-waiting", templates.RunActions(waiting.Actions)},
		{"actions-ended", templates.RunActions(succeeded.Actions)},
		{"notice-none", templates.RunNotice(templates.NoticeProps{OOB: true})},
		{"notice-failed", templates.RunNotice(runInvalidPlan(page("")).Notice)},
		{"notice-budget", templates.RunNotice(runBudgetProblem(page("")).Notice)},
		{"actions-failed", templates.RunActions(runTwoFailed(page("")).Actions)},
		{"approvals", templates.Approvals(approvals())},
		{"approvals-none", templates.Approvals(templates.ApprovalsProps{OOB: true})},
		{"head-forked", templates.RunHead(runForked(page("")).Head)},
		{"panel-again", templates.Panel(partial.Panel)},
		{"panel-reason", templates.Panel(runFinalized(page("")).Panel)},
		{"panel-changes", templates.Panel(runReplanned(page("")).Panel)},
		{"node-changed", templates.Node(runReplanned(page("")).Graph.Nodes[3])},
		{"node-estimated", templates.Node(waiting.Graph.Nodes[0])},
		{"answer-none", templates.Answer(templates.AnswerProps{OOB: true})},
		{"answer-writing", templates.Answer(templates.AnswerProps{Writing: true})},
		{"answer", templates.Answer(succeeded.Answer)},
		{"answer-partial", templates.Answer(partial.Answer)},
		{"rejections", templates.Rejections(waiting.Rejections)},
		{"waves", templates.Waves(succeeded.Waves)},
		{"trace", templates.Trace(trace(4))},
		{"graph", templates.Graph(graph("cities", cities(), running(), "s2"))},
		{"graph-busy", templates.Graph(runPlanning(page("")).Graph)},
		{"edges", templates.Edges(templates.EdgesProps{W: 10, H: 20, OOB: true, Edges: partial.Graph.Edges})},
		{"edges-anew", templates.EdgesAnew(partial.Graph.Edges)},
		{"node-stack", templates.Node(stacked(page("")).Graph.Nodes[1])},
		{"views", templates.Views(views("Graph"))},
		{"replay", templates.Replay(replay(0))},
		{"replay-none", templates.Replay(templates.ReplayProps{OOB: true})},
		{"versions", templates.VersionsBody(versions(page("")))},
		{"panel-none", templates.Panel(templates.PanelProps{RunURL: runURL})},
		{"panel-plan", templates.Panel(waiting.Panel)},
		{"editor", templates.Editor(*invalid)},
		{"draft", templates.DraftPatch(*invalid)},
	}
	for _, s := range plan.StepStatuses() {
		all = append(all,
			state{"node-" + string(s), templates.Node(node(s))},
			state{"panel-" + string(s), templates.Panel(templates.PanelProps{
				RunURL: runURL, Step: step("s2", s), OOB: true, Nudge: &templates.StreamProps{URL: "/x", Step: "s2", PanelURL: "/y", OOB: true},
			})})
	}
	kept := node(plan.StepStatusSucceeded)
	kept.Kept = true
	return append(all, state{"node-kept", templates.Node(kept)})
}

// node is one node in some status.
func node(s plan.StepStatus) templates.NodeProps {
	n := templates.NodeProps{
		ID: "s2", Instruction: "Look up Quillhaven.", Tool: "get_city", Status: s, W: templates.NodeWidth, H: templates.NodeHeight,
		URL: runURL + "?step=s2", PanelURL: runURL + "/panel?step=s2", Started: ago(time.Second), Now: now(), Tokens: 640, OOB: true,
	}
	switch s {
	case plan.StepStatusPending, plan.StepStatusSkipped:
		n.Started, n.Tokens = time.Time{}, 0
	case plan.StepStatusRunning:
	default:
		n.Ended = now()
	}
	if s == plan.StepStatusSkipped {
		n.Cause = "s1"
	}
	return n
}
