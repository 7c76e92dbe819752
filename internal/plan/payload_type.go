package plan

// Event names, one for each payload.
const (
	EventRunCreated            EventType = "run.created"
	EventPlanRequested         EventType = "plan.requested"
	EventPlanRejected          EventType = "plan.rejected"
	EventPlanProposed          EventType = "plan.proposed"
	EventPlanEdited            EventType = "plan.edited"
	EventPlanApproved          EventType = "plan.approved"
	EventRunStarted            EventType = "run.started"
	EventWaveStarted           EventType = "wave.started"
	EventWaveFinished          EventType = "wave.finished"
	EventStepStarted           EventType = "step.started"
	EventStepToolCalled        EventType = "step.tool_called"
	EventStepApprovalRequested EventType = "step.approval_requested"
	EventStepApprovalDecided   EventType = "step.approval_decided"
	EventStepSucceeded         EventType = "step.succeeded"
	EventStepFailed            EventType = "step.failed"
	EventStepInvalid           EventType = "step.invalid"
	EventStepSkipped           EventType = "step.skipped"
	EventStepCancelled         EventType = "step.cancelled"
	EventStepReset             EventType = "step.reset"
	EventReplanRequested       EventType = "replan.requested"
	EventAnswerStarted         EventType = "answer.started"
	EventAnswerWritten         EventType = "answer.written"
	EventRunResumed            EventType = "run.resumed"
	EventRunContinued          EventType = "run.continued"
	EventRunWaiting            EventType = "run.waiting"
	EventRunSucceeded          EventType = "run.succeeded"
	EventRunPartial            EventType = "run.partial"
	EventRunFailed             EventType = "run.failed"
	EventRunCancelled          EventType = "run.cancelled"
	EventUsageReserved         EventType = "usage.reserved"
	EventUsageSettled          EventType = "usage.settled"
)

// Type is the event's name.
func (RunCreated) Type() EventType { return EventRunCreated }

// Type is the event's name.
func (PlanRequested) Type() EventType { return EventPlanRequested }

// Type is the event's name.
func (PlanRejected) Type() EventType { return EventPlanRejected }

// Type is the event's name.
func (PlanProposed) Type() EventType { return EventPlanProposed }

// Type is the event's name.
func (PlanEdited) Type() EventType { return EventPlanEdited }

// Type is the event's name.
func (PlanApproved) Type() EventType { return EventPlanApproved }

// Type is the event's name.
func (RunStarted) Type() EventType { return EventRunStarted }

// Type is the event's name.
func (WaveStarted) Type() EventType { return EventWaveStarted }

// Type is the event's name.
func (WaveFinished) Type() EventType { return EventWaveFinished }

// Type is the event's name.
func (StepStarted) Type() EventType { return EventStepStarted }

// Type is the event's name.
func (StepToolCalled) Type() EventType { return EventStepToolCalled }

// Type is the event's name.
func (StepApprovalRequested) Type() EventType { return EventStepApprovalRequested }

// Type is the event's name.
func (StepApprovalDecided) Type() EventType { return EventStepApprovalDecided }

// Type is the event's name.
func (StepSucceeded) Type() EventType { return EventStepSucceeded }

// Type is the event's name.
func (StepFailed) Type() EventType { return EventStepFailed }

// Type is the event's name.
func (StepInvalid) Type() EventType { return EventStepInvalid }

// Type is the event's name.
func (StepSkipped) Type() EventType { return EventStepSkipped }

// Type is the event's name.
func (StepCancelled) Type() EventType { return EventStepCancelled }

// Type is the event's name.
func (StepReset) Type() EventType { return EventStepReset }

// Type is the event's name.
func (ReplanRequested) Type() EventType { return EventReplanRequested }

// Type is the event's name.
func (AnswerStarted) Type() EventType { return EventAnswerStarted }

// Type is the event's name.
func (AnswerWritten) Type() EventType { return EventAnswerWritten }

// Type is the event's name.
func (RunResumed) Type() EventType { return EventRunResumed }

// Type is the event's name.
func (RunContinued) Type() EventType { return EventRunContinued }

// Type is the event's name.
func (RunWaiting) Type() EventType { return EventRunWaiting }

// Type is the event's name.
func (RunSucceeded) Type() EventType { return EventRunSucceeded }

// Type is the event's name.
func (RunPartial) Type() EventType { return EventRunPartial }

// Type is the event's name.
func (RunFailed) Type() EventType { return EventRunFailed }

// Type is the event's name.
func (RunCancelled) Type() EventType { return EventRunCancelled }

// Type is the event's name.
func (UsageReserved) Type() EventType { return EventUsageReserved }

// Type is the event's name.
func (UsageSettled) Type() EventType { return EventUsageSettled }
