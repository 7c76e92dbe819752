package handlers

import (
	"slices"

	"planwave/web/templates"
)

// mostBelow is the number of steps up to which the timeline and the trace stand
// below the graph, too. Those of larger plans have a view of their own only.
const mostBelow = 60

// mostListed is the number of steps that the panel of a larger plan lists, and
// mostNeeded the number of ids that are named one by one.
const (
	mostListed = 30
	mostNeeded = 12
)

// few names the first of many ids, and how many there are besides.
func few(ids []string) []string {
	if len(ids) <= mostNeeded {
		return ids
	}
	return append(slices.Clone(ids[:mostNeeded]), templates.Counted(len(ids)-mostNeeded, "other step", "other steps"))
}

// shows says whether a view is the one that is shown; "" is the graph.
func (v view) shows(name string) bool { return v.look.show == name }

// hasGraph says whether the graph is on the page.
func (v view) hasGraph() bool { return v.shows("") || v.shows(showReplay) }

// hasRejections says whether the plans that were sent back are on the page.
func (v view) hasRejections() bool {
	return v.mayTrace() && (v.shows("") || v.shows(showRejections))
}

// hasTimeline says whether the timeline is on the page.
func (v view) hasTimeline() bool {
	return v.shows(showTimeline) || v.hasGraph() && len(v.run.Steps) <= mostBelow
}

// hasTrace says whether the trace is on the page.
func (v view) hasTrace() bool {
	return v.mayTrace() && (v.shows(showTrace) || v.shows("") && len(v.run.Steps) <= mostBelow)
}

// views are the ways to look at the run, each with its address.
func (v view) views() templates.ViewsProps {
	p := templates.ViewsProps{OOB: v.oob}
	r := v.run
	add := func(show, label string, count int, is bool) {
		if !is && !v.shows(show) {
			return
		}
		l := v.look
		l.show, l.at, l.play = show, 0, 0
		p.Views = append(p.Views, templates.ViewProps{Label: label, Count: count, URL: l.address(v.url(), v.step), On: v.shows(show)})
	}
	add("", "Graph", 0, true)
	add(showTimeline, "Timeline", 0, len(r.Waves) > 0 || v.past)
	if !v.mayTrace() {
		add(showReplay, "Replay", 0, r.Status.Ended() || v.past)
		return p
	}
	add(showTrace, "Trace", 0, r.Usage.Requests > 0 || len(r.Open) > 0 || v.past)
	add(showRejections, "Rejections", len(r.Rejections), len(r.Rejections) > 0)
	add(showReplay, "Replay", 0, r.Status.Ended() || v.past)
	if len(p.Views) == 1 {
		p.Views = nil
	}
	return p
}
