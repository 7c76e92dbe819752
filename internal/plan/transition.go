package plan

// statusFrom lists the run statuses in which an event may come. The first
// event of a run comes in the empty status.
func statusFrom(t EventType) []RunStatus {
	switch t {
	case EventRunCreated:
		return []RunStatus{""}
	case EventPlanRequested:
		return []RunStatus{RunStatusPlanning, RunStatusAwaitingApproval}
	case EventPlanRejected, EventPlanProposed:
		return []RunStatus{RunStatusPlanning}
	case EventPlanEdited, EventPlanApproved, EventRunStarted:
		return []RunStatus{RunStatusAwaitingApproval}
	case EventStepSucceeded:
		return []RunStatus{RunStatusAwaitingApproval, RunStatusRunning}
	case EventWaveStarted, EventWaveFinished, EventStepStarted, EventStepSkipped, EventStepReset, EventStepApprovalDecided:
		return []RunStatus{RunStatusRunning, RunStatusAwaitingToolApproval}
	case EventStepToolCalled, EventStepFailed, EventStepInvalid, EventStepApprovalRequested, EventRunWaiting:
		return []RunStatus{RunStatusRunning}
	case EventReplanRequested:
		return []RunStatus{RunStatusPlanning, RunStatusRunning}
	case EventAnswerStarted:
		return []RunStatus{RunStatusPlanning, RunStatusRunning, RunStatusSynthesizing}
	case EventAnswerWritten, EventRunSucceeded, EventRunPartial:
		return []RunStatus{RunStatusSynthesizing}
	case EventRunContinued:
		return []RunStatus{
			RunStatusPlanning, RunStatusSucceeded, RunStatusPartial, RunStatusFailed, RunStatusCancelled,
		}
	case EventStepCancelled, EventRunResumed, EventRunFailed, EventRunCancelled, EventUsageReserved, EventUsageSettled:
		return []RunStatus{
			RunStatusPlanning, RunStatusAwaitingApproval, RunStatusRunning,
			RunStatusAwaitingToolApproval, RunStatusSynthesizing,
		}
	}
	return nil
}

// continuedTo lists the statuses that a run goes on in.
func continuedTo() []RunStatus {
	return []RunStatus{RunStatusPlanning, RunStatusRunning, RunStatusSynthesizing}
}

// nextStatus is the run status that an event leads to, if it changes it. A run
// that is continued goes on where the event says.
func nextStatus(p Payload) (RunStatus, bool) {
	switch p := p.(type) {
	case RunCreated, PlanRequested, ReplanRequested:
		return RunStatusPlanning, true
	case PlanProposed:
		return RunStatusAwaitingApproval, true
	case RunStarted, StepStarted, StepApprovalDecided:
		return RunStatusRunning, true
	case RunWaiting:
		return RunStatusAwaitingToolApproval, true
	case AnswerStarted:
		return RunStatusSynthesizing, true
	case RunContinued:
		return p.Status, true
	case RunSucceeded:
		return RunStatusSucceeded, true
	case RunPartial:
		return RunStatusPartial, true
	case RunFailed:
		return RunStatusFailed, true
	case RunCancelled:
		return RunStatusCancelled, true
	}
	return "", false
}
