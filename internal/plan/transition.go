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
	case EventWaveStarted, EventWaveFinished, EventStepStarted, EventStepToolCalled, EventStepSucceeded,
		EventStepFailed, EventStepInvalid, EventStepSkipped, EventStepReset:
		return []RunStatus{RunStatusRunning}
	case EventAnswerStarted:
		return []RunStatus{RunStatusRunning, RunStatusSynthesizing}
	case EventAnswerWritten, EventRunSucceeded, EventRunPartial:
		return []RunStatus{RunStatusSynthesizing}
	case EventStepCancelled, EventRunResumed, EventRunFailed, EventRunCancelled, EventUsageReserved, EventUsageSettled:
		return []RunStatus{
			RunStatusPlanning, RunStatusAwaitingApproval, RunStatusRunning,
			RunStatusAwaitingToolApproval, RunStatusSynthesizing,
		}
	}
	return nil
}

// nextStatus is the run status that an event leads to, if it changes it.
func nextStatus(t EventType) (RunStatus, bool) {
	switch t {
	case EventRunCreated, EventPlanRequested:
		return RunStatusPlanning, true
	case EventPlanProposed:
		return RunStatusAwaitingApproval, true
	case EventRunStarted:
		return RunStatusRunning, true
	case EventAnswerStarted:
		return RunStatusSynthesizing, true
	case EventRunSucceeded:
		return RunStatusSucceeded, true
	case EventRunPartial:
		return RunStatusPartial, true
	case EventRunFailed:
		return RunStatusFailed, true
	case EventRunCancelled:
		return RunStatusCancelled, true
	case EventPlanRejected, EventPlanEdited, EventPlanApproved, EventWaveStarted, EventWaveFinished,
		EventStepStarted, EventStepToolCalled, EventStepSucceeded, EventStepFailed, EventStepInvalid,
		EventStepSkipped, EventStepCancelled, EventStepReset, EventAnswerWritten, EventRunResumed,
		EventUsageReserved, EventUsageSettled:
	}
	return "", false
}
