package plan

import (
	"errors"
	"fmt"
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
	if next, ok := nextStatus(e.Type()); ok {
		r.Status = next
	}
	if r.Status.Ended() {
		r.FinishedAt = e.At
	}
	r.fold(e)
	return nil
}

// fold makes the changes of an event that was admitted.
func (r *Run) fold(e Event) {
	switch p := e.Data.(type) {
	case RunCreated:
		r.Question, r.Options, r.By, r.CreatedAt = p.Question, p.Options, p.By, e.At
		r.AgentUsage, r.Open = map[Role]Usage{}, map[string]UsageReserved{}
		zero := USD(0)
		r.Usage.CostUSD = &zero
	case PlanRequested:
		r.Comment, r.RejectionsBefore = p.Comment, len(r.Rejections)
	case PlanRejected:
		r.Rejections = append(r.Rejections, Rejection{PlanRejected: p, At: e.At})
	case PlanProposed:
		r.setPlan(p.Version, e)
	case PlanEdited:
		r.setPlan(p.Version, e)
	case PlanApproved:
		r.Approved, r.ApprovedBy = p.Version, p.By
	case RunStarted:
		r.StartedAt = e.At
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
	case StepSucceeded:
		r.end(p.Step, e, StepStatusSucceeded, nil).Result = p.Result
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
			r.reset(r.touch(id, e))
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
	s.Status, s.Error, s.FinishedAt = status, fault, e.At
	s.History = append(s.History, Attempt{
		Number: s.Attempts, Status: status, Error: fault, StartedAt: s.StartedAt, FinishedAt: e.At,
	})
	return s
}

func (r *Run) cancelStep(p StepCancelled, e Event) {
	s := r.Step(p.Step)
	if s.Status == StepStatusRunning {
		r.end(p.Step, e, StepStatusCancelled, nil)
		return
	}
	s.Status, s.FinishedAt, s.ChangedSeq = StepStatusCancelled, e.At, e.Seq
}

// reset puts a step back to pending; its attempts stay counted and kept.
func (r *Run) reset(s *StepState) {
	*s = StepState{
		ID: s.ID, Status: StepStatusPending, Wave: s.Wave, Attempts: s.Attempts, History: s.History,
		ToolCalls: s.ToolCalls, Usage: s.Usage, ChangedSeq: s.ChangedSeq,
	}
}

// resume takes up what a stopped process left: attempts in flight are lost and
// their steps pending again, and what their calls had reserved stays charged.
func (r *Run) resume(e Event) {
	r.Resumed++
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == StepStatusRunning {
			s.ChangedSeq = e.Seq
			r.reset(s)
		}
	}
	for _, o := range r.Open {
		r.Lost = r.Lost.Plus(o.Amount)
	}
	clear(r.Open)
}

func (r *Run) settle(p UsageSettled, e Event) {
	delete(r.Open, p.Call)
	r.Usage = r.Usage.Add(p.Usage)
	r.AgentUsage[p.Agent] = r.AgentUsage[p.Agent].Add(p.Usage)
	if s := r.Step(p.Step); s != nil {
		s.Usage, s.ChangedSeq = s.Usage.Add(p.Usage), e.Seq
	}
}

// setPlan makes v the newest version. No step has run before approval, so all
// steps begin anew.
func (r *Run) setPlan(v Version, e Event) {
	r.Versions = append(r.Versions, v)
	r.Approved, r.ApprovedBy, r.Comment = 0, "", ""
	r.Steps = make([]StepState, len(v.Plan.Steps))
	r.index = make(map[string]int, len(v.Plan.Steps))
	for i, s := range v.Plan.Steps {
		r.Steps[i] = StepState{ID: s.ID, Status: StepStatusPending, ChangedSeq: e.Seq}
		r.index[s.ID] = i
	}
}

// stepFrom names the statuses in which each step event may come.
func stepFrom(p Payload) (id string, from []StepStatus) {
	switch p := p.(type) {
	case StepStarted:
		return p.Step, []StepStatus{StepStatusPending}
	case StepToolCalled:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepSucceeded:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepFailed:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepInvalid:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepSkipped:
		return p.Step, []StepStatus{StepStatusPending}
	case StepCancelled:
		return p.Step, []StepStatus{StepStatusPending, StepStatusRunning}
	}
	return "", nil
}

// admit says whether the event may follow this state.
func (r *Run) admit(p Payload) error {
	if from := statusFrom(p.Type()); !slices.Contains(from, r.Status) {
		return fmt.Errorf("a run that is %q", r.Status)
	}
	if id, from := stepFrom(p); from != nil {
		s := r.Step(id)
		if s == nil {
			return fmt.Errorf("no step %q", id)
		}
		if !slices.Contains(from, s.Status) {
			return fmt.Errorf("step %q that is %q", id, s.Status)
		}
	}
	switch p := p.(type) {
	case StepStarted:
		return r.admitStart(p)
	case StepToolCalled:
		return r.admitAttempt(p.Step, p.Attempt)
	case StepSucceeded:
		return r.admitAttempt(p.Step, p.Attempt)
	case StepFailed:
		return r.admitAttempt(p.Step, p.Attempt)
	case StepInvalid:
		return r.admitAttempt(p.Step, p.Attempt)
	case WaveStarted, WaveFinished, StepReset:
		return r.admitSteps(p)
	case PlanProposed:
		return r.admitVersion(p.Version)
	case PlanEdited:
		return r.admitVersion(p.Version)
	case PlanApproved:
		if v, _ := r.Version(); v.Number != p.Version || v.Hash != p.Hash {
			return fmt.Errorf("version %d is not the newest", p.Version)
		}
	case RunStarted:
		if r.Approved == 0 {
			return errors.New("no version is approved")
		}
	case UsageSettled:
		if _, ok := r.Open[p.Call]; !ok {
			return fmt.Errorf("call %q is not reserved", p.Call)
		}
	}
	return nil
}

// admitStart holds that attempts are counted one by one, and that a step that
// starts as soon as it is ready is filed under a wave that can be.
func (r *Run) admitStart(p StepStarted) error {
	if s := r.Step(p.Step); p.Attempt != s.Attempts+1 {
		return fmt.Errorf("attempt %d at step %q after %d", p.Attempt, p.Step, s.Attempts)
	}
	if p.Wave < 1 || r.Options.Schedule == ScheduleReady && p.Wave > len(r.Steps) {
		return fmt.Errorf("step %q in wave %d", p.Step, p.Wave)
	}
	return nil
}

// admitAttempt holds that what is told of a step is told of its attempt in
// flight, never of one before.
func (r *Run) admitAttempt(id string, attempt int) error {
	if s := r.Step(id); attempt != s.Attempts {
		return fmt.Errorf("attempt %d of step %q, which is at %d", attempt, id, s.Attempts)
	}
	return nil
}

// admitSteps holds that waves follow each other, and that there are the steps
// that an event lists.
func (r *Run) admitSteps(p Payload) error {
	var steps []string
	switch p := p.(type) {
	case WaveStarted:
		if r.WaveOpen || p.Wave != len(r.Waves)+1 {
			return fmt.Errorf("wave %d starts after %d waves, the last of them open: %t", p.Wave, len(r.Waves), r.WaveOpen)
		}
		steps = p.Steps
	case WaveFinished:
		if !r.WaveOpen || p.Wave != len(r.Waves) {
			return fmt.Errorf("wave %d finishes, and it is not the open one", p.Wave)
		}
	case StepReset:
		steps = p.Steps
	}
	for _, id := range steps {
		if r.Step(id) == nil {
			return fmt.Errorf("no step %q", id)
		}
	}
	return nil
}

func (r *Run) admitVersion(v Version) error {
	if v.Number != len(r.Versions)+1 {
		return fmt.Errorf("version %d after %d versions", v.Number, len(r.Versions))
	}
	return nil
}
