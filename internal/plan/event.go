package plan

import (
	"encoding/json"
	"fmt"
	"time"
)

// EventType names what happened. The names are those of the API's stream.
type EventType string

// Event is one thing that happened to a run. Events of a run are numbered
// from 1 without gaps.
type Event struct {
	Seq  int64
	At   time.Time // UTC, whole milliseconds
	Data Payload
}

// Payload is the data of an event. Each event type has one payload type.
type Payload interface {
	// Type is the event's name.
	Type() EventType
}

// Type is the name of the event.
func (e Event) Type() EventType { return e.Data.Type() }

// Encode returns the event's data as JSON, as it is stored and streamed.
func Encode(p Payload) ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", p.Type(), err)
	}
	return b, nil
}

// Decode is the inverse of [Encode].
func Decode(t EventType, data []byte) (Payload, error) {
	read := reader(t)
	if read == nil {
		return nil, fmt.Errorf("decode event: unknown type %q", t)
	}
	p, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("decode event %s: %w", t, err)
	}
	return p, nil
}

// EventTypes lists the types of all events, in the order of a run's life.
func EventTypes() []EventType {
	return []EventType{
		EventRunCreated,
		EventPlanRequested,
		EventPlanRejected,
		EventPlanProposed,
		EventPlanEdited,
		EventPlanApproved,
		EventRunStarted,
		EventWaveStarted,
		EventWaveFinished,
		EventStepStarted,
		EventStepToolCalled,
		EventStepApprovalRequested,
		EventStepApprovalDecided,
		EventStepSucceeded,
		EventStepFailed,
		EventStepInvalid,
		EventStepSkipped,
		EventStepCancelled,
		EventStepReset,
		EventReplanRequested,
		EventAnswerStarted,
		EventAnswerWritten,
		EventRunResumed,
		EventRunContinued,
		EventRunWaiting,
		EventRunSucceeded,
		EventRunPartial,
		EventRunFailed,
		EventRunCancelled,
		EventUsageReserved,
		EventUsageSettled,
	}
}

// reader returns how the data of an event type is read, or nil.
func reader(t EventType) func([]byte) (Payload, error) {
	switch t {
	case EventRunCreated:
		return read[RunCreated]
	case EventPlanRequested:
		return read[PlanRequested]
	case EventPlanRejected:
		return read[PlanRejected]
	case EventPlanProposed:
		return read[PlanProposed]
	case EventPlanEdited:
		return read[PlanEdited]
	case EventPlanApproved:
		return read[PlanApproved]
	case EventRunStarted:
		return read[RunStarted]
	case EventWaveStarted:
		return read[WaveStarted]
	case EventWaveFinished:
		return read[WaveFinished]
	case EventStepStarted:
		return read[StepStarted]
	case EventStepToolCalled:
		return read[StepToolCalled]
	case EventStepApprovalRequested:
		return read[StepApprovalRequested]
	case EventStepApprovalDecided:
		return read[StepApprovalDecided]
	case EventStepSucceeded:
		return read[StepSucceeded]
	case EventStepFailed:
		return read[StepFailed]
	case EventStepInvalid:
		return read[StepInvalid]
	case EventStepSkipped:
		return read[StepSkipped]
	case EventStepCancelled:
		return read[StepCancelled]
	case EventStepReset:
		return read[StepReset]
	case EventReplanRequested:
		return read[ReplanRequested]
	case EventAnswerStarted:
		return read[AnswerStarted]
	case EventAnswerWritten:
		return read[AnswerWritten]
	case EventRunResumed:
		return read[RunResumed]
	case EventRunContinued:
		return read[RunContinued]
	case EventRunWaiting:
		return read[RunWaiting]
	case EventRunSucceeded:
		return read[RunSucceeded]
	case EventRunPartial:
		return read[RunPartial]
	case EventRunFailed:
		return read[RunFailed]
	case EventRunCancelled:
		return read[RunCancelled]
	case EventUsageReserved:
		return read[UsageReserved]
	case EventUsageSettled:
		return read[UsageSettled]
	}
	return nil
}

func read[P Payload](data []byte) (Payload, error) {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	return p, nil
}
