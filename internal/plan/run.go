package plan

import (
	"maps"
	"slices"
	"time"
)

// Run is the state of a run: the fold of its events. It is built by
// [Run.Apply] and [Fold] only, and is rebuilt from the log whenever a process
// takes the run up.
type Run struct {
	ID       string
	Seq      int64 // of the last event in this state
	Question string
	Options  Options
	By       string
	Status   RunStatus

	CreatedAt  time.Time
	StartedAt  time.Time // zero before approval
	FinishedAt time.Time // zero while the run goes on
	UpdatedAt  time.Time

	// Versions are all saved plans, oldest first; the last is the newest.
	Versions []Version
	// Approved is the number of the approved version, 0 before approval.
	Approved   int
	ApprovedBy string
	Rejections []Rejection
	// RejectionsBefore is how many of them were there when the planner was
	// last asked: those after it belong to the present conversation.
	RejectionsBefore int
	// Comment is what a person wrote when sending the newest plan back.
	Comment string

	// Steps hold the state of each step of the newest version, in plan order.
	Steps []StepState
	// Waves record which ids ran together; WaveOpen says that the last of
	// them has not finished.
	Waves    [][]string
	WaveOpen bool

	AnswerAttempts int
	Answer         *Answer
	Error          *Fault
	Resumed        int // how often a process took the run up again

	// Usage is what settled calls used, by everything together and by agent.
	Usage        Usage
	AgentUsage   map[Role]Usage
	StepAttempts int // attempts started, the budget's steps
	// Lost is what reservations of crashed calls keep charged.
	Lost Amount
	// Open are reservations not settled yet, by call id.
	Open map[string]UsageReserved

	index map[string]int // step id → index in Steps
}

// Rejection is a plan that was sent back to the planner.
type Rejection struct {
	PlanRejected
	At time.Time
}

// StepState is the state of one step.
type StepState struct {
	ID       string
	Status   StepStatus
	Wave     int // from 1; 0 before it started
	Attempts int // started so far
	Result   Result
	Error    *Fault
	Cause    string // of a skipped step: the step that failed first
	// History keeps the attempts that ended, oldest first.
	History    []Attempt
	StartedAt  time.Time // of the last attempt
	FinishedAt time.Time
	ToolCalls  int
	Usage      Usage
	// ChangedSeq is the number of the event that last changed this state.
	ChangedSeq int64
}

// Attempt is one ended try at a step.
type Attempt struct {
	Number     int        `json:"attempt"`
	Status     StepStatus `json:"status"`
	Error      *Fault     `json:"error,omitempty"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt time.Time  `json:"finished_at"`
}

// Version returns the newest plan version, and false before there is one.
func (r *Run) Version() (Version, bool) {
	if len(r.Versions) == 0 {
		return Version{}, false
	}
	return r.Versions[len(r.Versions)-1], true
}

// Plan returns the newest plan, which is empty before there is one.
func (r *Run) Plan() Plan {
	v, _ := r.Version()
	return v.Plan
}

// Step returns the state of a step, or nil.
func (r *Run) Step(id string) *StepState {
	i, ok := r.index[id]
	if !ok {
		return nil
	}
	return &r.Steps[i]
}

// WithStatus lists the ids of the steps in one of the statuses, in plan order.
func (r *Run) WithStatus(want ...StepStatus) []string {
	ids := []string{}
	for _, s := range r.Steps {
		if slices.Contains(want, s.Status) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Failed lists the steps that failed or broke their contract, in plan order.
func (r *Run) Failed() []string { return r.WithStatus(StepStatusFailed, StepStatusInvalid) }

// Skipped lists the skipped steps in plan order.
func (r *Run) Skipped() []string { return r.WithStatus(StepStatusSkipped) }

// Corrections counts how often a plan was sent back to the planner by code. The
// last plan of a run that failed for its plans was not sent back any more.
func (r *Run) Corrections() int {
	if r.Error != nil && r.Error.Code == CodePlanInvalid && len(r.Rejections) > 0 {
		return len(r.Rejections) - 1
	}
	return len(r.Rejections)
}

// Deliverable is the id of the step that the run is for: the plan's
// deliverable or its one final step.
func (r *Run) Deliverable() string {
	p := r.Plan()
	if p.Deliverable != "" {
		return p.Deliverable
	}
	if ends := Terminals(p); len(ends) > 0 {
		return ends[len(ends)-1]
	}
	return ""
}

// Cancelable says whether cancelling the run means anything.
func (r *Run) Cancelable() bool { return !r.Status.Ended() }

// Approvable says whether the newest plan waits for approval.
func (r *Run) Approvable() bool { return r.Status == RunStatusAwaitingApproval }

// Editable says whether the plan may be changed or sent back.
func (r *Run) Editable() bool { return r.Status == RunStatusAwaitingApproval }

// Used is what counts against the budget: settled calls, lost reservations and
// attempts started. Open reservations are not in it.
func (r *Run) Used() Amount {
	a := Amount{Requests: r.Usage.Requests, Tokens: r.Usage.TotalTokens, Steps: r.StepAttempts}
	if r.Usage.CostUSD != nil {
		a.CostUSD = *r.Usage.CostUSD
	}
	return a.Plus(r.Lost)
}

// Clone returns a state that shares nothing mutable with r.
func (r *Run) Clone() *Run {
	c := *r
	c.Versions = slices.Clone(r.Versions)
	c.Rejections = slices.Clone(r.Rejections)
	c.Steps = slices.Clone(r.Steps)
	for i := range c.Steps {
		c.Steps[i].History = slices.Clone(c.Steps[i].History)
	}
	c.Waves = slices.Clone(r.Waves)
	c.AgentUsage = maps.Clone(r.AgentUsage)
	c.Open = maps.Clone(r.Open)
	c.index = maps.Clone(r.index)
	return &c
}
