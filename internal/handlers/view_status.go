package handlers

import (
	"fmt"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// words say the run's status to a person.
func (v view) words() string {
	r := v.run
	switch r.Status {
	case plan.RunStatusPlanning:
		return v.planning()
	case plan.RunStatusAwaitingApproval:
		return "Waiting for your approval"
	case plan.RunStatusRunning:
		if len(r.Waves) > 0 {
			return fmt.Sprintf("Wave %d of %d", len(r.Waves), v.allWaves())
		}
		return "Running"
	case plan.RunStatusAwaitingToolApproval:
		return "Waiting for your word on " + calls(len(r.PendingApprovals()))
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

// planning says why the planner is at work.
func (v view) planning() string {
	r := v.run
	text := "Planning"
	switch {
	case r.Comment != "":
		text = "Planning again"
	case v.replanning():
		text = "Planning again: " + r.ReplanReason
	}
	if n := len(r.Rejections) - r.RejectionsBefore; n > 0 {
		text += fmt.Sprintf(", correction %d", n)
	}
	return text
}

// replanning says whether the plan is written anew in the middle of the run.
func (v view) replanning() bool {
	return v.run.Status == plan.RunStatusPlanning && v.run.Replans > 0
}

// allWaves is how many waves there will have been: those that began and those
// that are left. As ready, waves are the depths of the plan.
func (v view) allWaves() int {
	r := v.run
	if r.Options.Schedule != plan.ScheduleReady {
		return len(r.Waves) + longest(r, plan.StepStatusPending)
	}
	waves, err := plan.Waves(r.Plan())
	if err != nil {
		return len(r.Waves)
	}
	return max(len(waves), len(r.Waves))
}

func calls(n int) string {
	if n == 1 {
		return "a tool call"
	}
	return templates.Counted(n, "tool call", "tool calls")
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
