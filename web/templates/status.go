package templates

import "planwave/internal/plan"

// look is how a status is shown. A status is never told by its colour alone:
// each has an icon and a word.
type look struct {
	Icon string // in the sprite
	Word string
	Tone string // the colour's class
}

// runLook returns how a run's status is shown.
func runLook(s plan.RunStatus) look {
	switch s {
	case plan.RunStatusPlanning:
		return look{"planning", "planning", "running"}
	case plan.RunStatusAwaitingApproval:
		return look{"waiting", "waiting for approval", "waiting"}
	case plan.RunStatusRunning:
		return look{"running", "running", "running"}
	case plan.RunStatusAwaitingToolApproval:
		return look{"waiting", "waiting for a decision", "waiting"}
	case plan.RunStatusSynthesizing:
		return look{"writing", "writing the answer", "running"}
	case plan.RunStatusSucceeded:
		return look{"succeeded", "succeeded", "succeeded"}
	case plan.RunStatusPartial:
		return look{"partial", "partial", "waiting"}
	case plan.RunStatusFailed:
		return look{"failed", "failed", "failed"}
	case plan.RunStatusCancelled:
		return look{"cancelled", "cancelled", "cancelled"}
	}
	return look{"info", s.Words(), "pending"}
}

// stepLook returns how a step's status is shown.
func stepLook(s plan.StepStatus, kept bool) look {
	if kept && s == plan.StepStatusSucceeded {
		return look{"kept", "kept", "succeeded"}
	}
	switch s {
	case plan.StepStatusPending:
		return look{"pending", "pending", "pending"}
	case plan.StepStatusRunning:
		return look{"running", "running", "running"}
	case plan.StepStatusAwaitingApproval:
		return look{"waiting", "awaiting approval", "waiting"}
	case plan.StepStatusSucceeded:
		return look{"succeeded", "succeeded", "succeeded"}
	case plan.StepStatusFailed:
		return look{"failed", "failed", "failed"}
	case plan.StepStatusInvalid:
		return look{"invalid", "invalid", "failed"}
	case plan.StepStatusSkipped:
		return look{"skipped", "skipped", "skipped"}
	case plan.StepStatusCancelled:
		return look{"cancelled", "cancelled", "cancelled"}
	}
	return look{"info", string(s), "pending"}
}

// tabIcon names the tab's icon for a run's status.
func tabIcon(s plan.RunStatus) string {
	switch s {
	case plan.RunStatusPlanning, plan.RunStatusRunning, plan.RunStatusSynthesizing:
		return "running"
	case plan.RunStatusAwaitingApproval, plan.RunStatusAwaitingToolApproval:
		return "waiting"
	case plan.RunStatusSucceeded:
		return "succeeded"
	case plan.RunStatusPartial:
		return "partial"
	case plan.RunStatusFailed:
		return "failed"
	case plan.RunStatusCancelled:
		return "cancelled"
	}
	return "idle"
}

// StatusWord says a run's status as the pages do, for filters and facts.
func StatusWord(s plan.RunStatus) string { return runLook(s).Word }
