package plan

import (
	"errors"
	"fmt"
	"slices"
)

// stepFrom names the statuses in which each step event may come.
func stepFrom(p Payload) (id string, from []StepStatus) {
	switch p := p.(type) {
	case StepStarted:
		return p.Step, []StepStatus{StepStatusPending}
	case StepToolCalled:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepApprovalRequested:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepApprovalDecided:
		return p.Step, []StepStatus{StepStatusPending, StepStatusRunning, StepStatusAwaitingApproval}
	case StepSucceeded:
		if p.From != "" {
			return p.Step, []StepStatus{StepStatusPending}
		}
		return p.Step, []StepStatus{StepStatusRunning}
	case StepFailed:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepInvalid:
		return p.Step, []StepStatus{StepStatusRunning}
	case StepSkipped:
		return p.Step, []StepStatus{StepStatusPending}
	case StepCancelled:
		return p.Step, []StepStatus{StepStatusPending, StepStatusRunning, StepStatusAwaitingApproval}
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
	return r.admitRest(p)
}

// admitRest holds what concerns more than the statuses.
func (r *Run) admitRest(p Payload) error {
	switch p := p.(type) {
	case StepStarted:
		return r.admitStart(p)
	case StepToolCalled:
		return r.admitCall(p)
	case StepApprovalRequested:
		return r.admitRequest(p)
	case StepApprovalDecided:
		return r.admitDecision(p)
	case StepSucceeded:
		return r.admitSuccess(p)
	case StepFailed:
		return r.admitAttempt(p.Step, p.Attempt)
	case StepInvalid:
		return r.admitAttempt(p.Step, p.Attempt)
	case WaveStarted, WaveFinished, StepReset:
		return r.admitSteps(p)
	default:
		return r.admitLife(p)
	}
}

// admitLife holds what events of the run as a whole ask for.
func (r *Run) admitLife(p Payload) error {
	switch p := p.(type) {
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
	case RunWaiting:
		if !r.OnlyWaits() {
			return errors.New("there is more in flight than what waits for a person, or nothing")
		}
	case ReplanRequested:
		if p.Number != r.Replans+1 || r.StartedAt.IsZero() {
			return fmt.Errorf("replan %d after %d", p.Number, r.Replans)
		}
	case AnswerStarted:
		if r.StartedAt.IsZero() && len(r.WithStatus(StepStatusSucceeded)) == 0 {
			return errors.New("nothing has run")
		}
	case RunContinued:
		return r.admitContinue(p)
	case UsageSettled:
		if _, ok := r.Open[p.Call]; !ok {
			return fmt.Errorf("call %q is not reserved", p.Call)
		}
	case UsageReserved:
		if _, taken := r.Open[p.Call]; taken {
			return fmt.Errorf("call %q is reserved already", p.Call)
		}
	}
	return nil
}

// admitContinue holds that a run goes on where it can.
func (r *Run) admitContinue(p RunContinued) error {
	switch {
	case !slices.Contains(continuedTo(), p.Status):
		return fmt.Errorf("a run does not go on in %q", p.Status)
	case p.Status == RunStatusRunning && r.Approved == 0:
		return errors.New("no version is approved")
	}
	return nil
}

// admitSuccess holds that a result is that of the attempt in flight, or one
// taken over before anything ran.
func (r *Run) admitSuccess(p StepSucceeded) error {
	if (p.From != "") != (r.Status == RunStatusAwaitingApproval) {
		return fmt.Errorf("a result from run %q of a run that is %s", p.From, r.Status)
	}
	if p.From != "" && !r.StartedAt.IsZero() {
		return errors.New("a result is taken over before the run starts, never after")
	}
	return r.admitAttempt(p.Step, p.Attempt)
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

// admitVersion holds that versions are counted one by one, and that what a
// version keeps was there before and is the same.
func (r *Run) admitVersion(v Version) error {
	if v.Number != len(r.Versions)+1 {
		return fmt.Errorf("version %d after %d versions", v.Number, len(r.Versions))
	}
	can := r.Carried(v.Plan)
	for _, id := range v.Kept {
		if !slices.Contains(can, id) {
			return fmt.Errorf("version %d cannot keep step %q: it has not ended, or is another step now", v.Number, id)
		}
	}
	return nil
}
