package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ErrTransition is returned for an event that cannot follow the state.
var ErrTransition = errors.New("event does not fit the state of the run")

// Fold builds the state of a run from all its events, in order.
func Fold(id string, events []Event) (*Run, error) {
	r := &Run{ID: id}
	for _, e := range events {
		if err := r.Apply(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Apply changes the state by one event. An event that is out of order or does
// not fit is refused with [ErrTransition] and changes nothing.
func (r *Run) Apply(e Event) error {
	if e.Seq != r.Seq+1 {
		return fmt.Errorf("%w: run %s is at %d and was given event %d", ErrTransition, r.ID, r.Seq, e.Seq)
	}
	if err := r.admit(e.Data); err != nil {
		return fmt.Errorf("%w: run %s, event %d %s: %w", ErrTransition, r.ID, e.Seq, e.Type(), err)
	}
	r.Seq = e.Seq
	r.UpdatedAt = e.At
	if next, ok := nextStatus(e.Data); ok {
		if next == RunStatusFailed {
			r.FailedIn = r.Status
		}
		r.Status = next
	}
	r.fold(e)
	if r.Status.Ended() {
		r.FinishedAt = e.At
		r.lose()
	}
	return nil
}

// fold makes the changes of an event that was admitted.
func (r *Run) fold(e Event) {
	switch p := e.Data.(type) {
	case RunCreated:
		r.Question, r.Options, r.By, r.CreatedAt = p.Question, p.Options, p.By, e.At
		r.ForkedFrom, r.Recorded = p.ForkedFrom, p.Recorded
		r.AgentUsage, r.Open = map[Role]Usage{}, map[string]UsageReserved{}
		zero := USD(0)
		r.Usage.CostUSD = &zero
	case PlanRequested:
		r.Comment, r.RejectionsBefore, r.PlannerAskedAt = p.Comment, len(r.Rejections), e.At
	case PlanRejected:
		r.Rejections = append(r.Rejections, Rejection{PlanRejected: p, At: e.At})
	case PlanProposed:
		r.setPlan(p.Version, e)
	case PlanEdited:
		r.setPlan(p.Version, e)
	case PlanApproved:
		r.Approved, r.ApprovedBy = p.Version, p.By
	case ReplanRequested:
		r.Replans, r.ReplanReason, r.RejectionsBefore = p.Number, p.Reason, len(r.Rejections)
		r.PlannerAskedAt = e.At
	case RunStarted:
		if r.StartedAt.IsZero() {
			r.StartedAt = e.At
		}
	case WaveStarted:
		r.Waves, r.WaveOpen = append(r.Waves, p.Steps), true
	case WaveFinished:
		r.WaveOpen = false
	case AnswerStarted:
		r.AnswerAttempts = p.Attempt
	case AnswerWritten:
		a := p.Answer
		r.Answer = &a
	case RunResumed:
		r.resume(e)
	case RunContinued:
		r.goOn(p)
	case RunSucceeded:
		r.Error = p.Error
	case RunPartial:
		r.Error = p.Error
	case RunFailed:
		f := p.Error
		r.Error = &f
	case UsageReserved:
		r.Open[p.Call] = p
	case UsageSettled:
		r.settle(p, e)
	default:
		r.foldStep(e)
	}
}

// foldStep makes the changes of the events that concern steps.
func (r *Run) foldStep(e Event) {
	switch p := e.Data.(type) {
	case StepStarted:
		s := r.touch(p.Step, e)
		s.Status, s.Attempts, s.Wave = StepStatusRunning, p.Attempt, p.Wave
		s.StartedAt, s.FinishedAt, s.Error, s.Cause = e.At, time.Time{}, nil, ""
		r.StepAttempts++
		r.joinWave(p)
	case StepToolCalled:
		r.touch(p.Step, e).ToolCalls++
		r.useApproval(p.Approval)
	case StepApprovalRequested:
		r.touch(p.Step, e).Status = StepStatusAwaitingApproval
		r.askApproval(p)
	case StepApprovalDecided:
		r.decideApproval(p, e)
	case StepSucceeded:
		r.succeed(p, e)
	case StepFailed:
		r.end(p.Step, e, StepStatusFailed, &p.Error)
	case StepInvalid:
		r.end(p.Step, e, StepStatusInvalid, &p.Error).Result = p.Result
	case StepSkipped:
		s := r.touch(p.Step, e)
		s.Status, s.Cause, s.FinishedAt = StepStatusSkipped, p.Cause, e.At
	case StepCancelled:
		r.cancelStep(p, e)
	case StepReset:
		for _, id := range p.Steps {
			if s := r.touch(id, e); s.Status == StepStatusRunning || s.Status == StepStatusAwaitingApproval {
				r.interrupt(s)
			} else {
				r.reset(s)
			}
		}
	}
}

// joinWave files a step that started as soon as it was ready under the wave of
// its depth. Running wave by wave, waves are announced by their own events.
func (r *Run) joinWave(p StepStarted) {
	if r.Options.Schedule != ScheduleReady {
		return
	}
	for len(r.Waves) < p.Wave {
		r.Waves = append(r.Waves, nil)
	}
	if w := &r.Waves[p.Wave-1]; !slices.Contains(*w, p.Step) {
		*w = append(slices.Clone(*w), p.Step)
	}
}

func (r *Run) touch(id string, e Event) *StepState {
	s := r.Step(id)
	s.ChangedSeq = e.Seq
	return s
}

func (r *Run) end(id string, e Event, status StepStatus, fault *Fault) *StepState {
	s := r.touch(id, e)
	s.Status, s.Error, s.FinishedAt, s.Interrupted = status, fault, e.At, 0
	s.History = append(s.History, Attempt{
		Number: s.Attempts, Status: status, Error: fault, StartedAt: s.StartedAt, FinishedAt: e.At,
	})
	return s
}

// succeed takes in a result: of an attempt, or of the run that this one was
// forked from.
func (r *Run) succeed(p StepSucceeded, e Event) {
	if p.From == "" {
		r.end(p.Step, e, StepStatusSucceeded, nil).Result = p.Result
		return
	}
	s := r.touch(p.Step, e)
	s.Status, s.Result, s.Kept, s.FinishedAt = StepStatusSucceeded, p.Result, true, e.At
}

func (r *Run) cancelStep(p StepCancelled, e Event) {
	s := r.Step(p.Step)
	if s.Status != StepStatusPending {
		s = r.end(p.Step, e, StepStatusCancelled, nil)
	}
	s.Status, s.FinishedAt, s.ChangedSeq, s.Reason = StepStatusCancelled, e.At, e.Seq, p.Reason
}

// reset puts a step back to pending; its attempts stay counted and kept.
func (r *Run) reset(s *StepState) {
	*s = StepState{
		ID: s.ID, Status: StepStatusPending, Wave: s.Wave, Attempts: s.Attempts, History: s.History,
		ToolCalls: s.ToolCalls, Usage: s.Usage, ChangedSeq: s.ChangedSeq,
	}
}

// interrupt puts a step back whose attempt was cut off. What was recorded of
// the attempt still holds, and is not paid for again. So does what a person said
// of its tool calls, except where a call may have been made already.
func (r *Run) interrupt(s *StepState) {
	first := s.Interrupted
	if first == 0 {
		first = s.Attempts
	}
	r.reset(s)
	s.Interrupted = first
	r.withdrawAllowed(s.ID)
}

// resume takes up what a stopped process left: attempts in flight are lost and
// their steps pending again, and what their calls had reserved stays charged.
func (r *Run) resume(e Event) {
	r.Resumed++
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == StepStatusRunning || s.Status == StepStatusAwaitingApproval {
			s.ChangedSeq = e.Seq
			r.interrupt(s)
		}
	}
	r.lose()
}

// lose charges the reservations of calls of which nobody will tell any more.
func (r *Run) lose() {
	for _, o := range r.Open {
		r.Lost = r.Lost.Plus(o.Amount)
	}
	clear(r.Open)
}

// goOn takes up a run that had ended. The answer stays where only it is
// written again.
func (r *Run) goOn(p RunContinued) {
	r.FinishedAt, r.Error, r.FailedIn = time.Time{}, nil, ""
	if p.Status != RunStatusSynthesizing {
		r.Answer = nil
	}
	if p.Budget != nil {
		r.Options.Budget = *p.Budget
	}
}

func (r *Run) settle(p UsageSettled, e Event) {
	delete(r.Open, p.Call)
	r.Usage = r.Usage.Add(p.Usage)
	if p.Usage.CostUSD != nil {
		r.KnownCost += *p.Usage.CostUSD
	}
	r.AgentUsage[p.Agent] = r.AgentUsage[p.Agent].Add(p.Usage)
	if s := r.Step(p.Step); s != nil {
		s.Usage, s.ChangedSeq = s.Usage.Add(p.Usage), e.Seq
	}
}

// setPlan makes v the newest version. The steps that it keeps stay as they
// are; the others are to be done, and what was tried of one with the same id
// stays counted.
func (r *Run) setPlan(v Version, e Event) {
	v.At = e.At
	r.Versions = append(r.Versions, v)
	r.Approved, r.ApprovedBy, r.Comment = 0, "", ""
	before := r.byID()
	r.Steps = make([]StepState, len(v.Plan.Steps))
	r.index = make(map[string]int, len(v.Plan.Steps))
	for i, def := range v.Plan.Steps {
		s, there := before[def.ID]
		if !there {
			s = StepState{ID: def.ID, Status: StepStatusPending, Attempts: r.gone[def.ID]}
		}
		s.ChangedSeq = e.Seq
		if slices.Contains(v.Kept, def.ID) {
			s.Kept = true
		} else {
			r.reset(&s)
		}
		r.Steps[i], r.index[def.ID] = s, i
		delete(before, def.ID)
	}
	for id, s := range before {
		if s.Attempts > 0 {
			r.gone = maps.Clone(r.gone)
			if r.gone == nil {
				r.gone = map[string]int{}
			}
			r.gone[id] = s.Attempts
		}
	}
}

func (r *Run) byID() map[string]StepState {
	steps := make(map[string]StepState, len(r.Steps))
	for _, s := range r.Steps {
		steps[s.ID] = s
	}
	return steps
}
