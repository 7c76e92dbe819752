package handlers

import (
	"fmt"

	"planwave/internal/plan"
)

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
