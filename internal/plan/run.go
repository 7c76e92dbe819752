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
	// ForkedFrom is the run that this one took results over from.
	ForkedFrom string
	// Recorded says that the run comes from a recording. It can be run again as
	// a new run, and nothing of it goes on: what it says was allowed, nobody
	// allowed here.
	Recorded bool

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
	// PlannerAskedAt is when the present conversation with the planner began.
	PlannerAskedAt time.Time
	// Comment is what a person wrote when sending the newest plan back.
	Comment string
	// Replans is how often the planner was asked for the rest of the run, and
	// ReplanReason why it was the last time.
	Replans      int
	ReplanReason string

	// Steps hold the state of each step of the newest version, in plan order.
	Steps []StepState
	// Waves record which ids ran together; WaveOpen says that the last of
	// them has not finished.
	Waves    [][]string
	WaveOpen bool

	// Approvals are the tool calls that a person was or is asked about, in the
	// order of asking.
	Approvals []ToolApproval

	AnswerAttempts int
	Answer         *Answer
	Error          *Fault
	// FailedIn is the status in which a failed run failed: where it goes on.
	FailedIn RunStatus
	Resumed  int // how often a process took the run up again

	// Usage is what settled calls used, by everything together and by agent.
	Usage      Usage
	AgentUsage map[Role]Usage
	// KnownCost is the cost of the settled calls whose price is known.
	KnownCost    USD
	StepAttempts int // attempts started, the budget's steps
	// Lost is what reservations of crashed calls keep charged.
	Lost Amount
	// Open are reservations not settled yet, by call id.
	Open map[string]UsageReserved

	index map[string]int // step id → index in Steps
	gone  map[string]int // id of a step that is in the plan no more → its attempts
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
	Reason   string // of a cancelled step, where it was not with its run
	// Kept says that the result is from an earlier version or another run.
	Kept bool
	// Interrupted is the first attempt that a stopped process left, when no
	// attempt has ended since: what was recorded from it on still holds.
	Interrupted int
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
	for i := range r.Steps {
		if s := &r.Steps[i]; slices.Contains(want, s.Status) {
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
// deliverable or its one final step. A run in rounds has none.
func (r *Run) Deliverable() string {
	if r.Options.Strategy == StrategyRounds {
		return ""
	}
	p := r.Plan()
	if p.Deliverable != "" {
		return p.Deliverable
	}
	if ends := Terminals(p); len(ends) > 0 {
		return ends[len(ends)-1]
	}
	return ""
}

// Delivered says whether the run came to what it is for: its deliverable, or in
// rounds every task of the last round.
func (r *Run) Delivered() bool {
	if r.Options.Strategy != StrategyRounds {
		s := r.Step(r.Deliverable())
		return s != nil && s.Status == StepStatusSucceeded
	}
	v, ok := r.Version()
	for _, s := range r.Steps {
		if !slices.Contains(v.Kept, s.ID) && s.Status != StepStatusSucceeded {
			return false
		}
	}
	return ok
}

// Carried lists the steps of p, in its order, whose state can be kept when p
// becomes the newest plan: those that succeeded, or in rounds ended, that are
// the same in both plans, and that need none but such steps.
func (r *Run) Carried(p Plan) []string {
	kept := map[string]bool{}
	order, err := Order(p)
	if err != nil {
		return nil
	}
	now := r.Plan()
	defs := make(map[string]Step, len(now.Steps))
	for _, s := range now.Steps {
		defs[s.ID] = s
	}
	steps := make(map[string]Step, len(p.Steps))
	for _, s := range p.Steps {
		steps[s.ID] = s
	}
	for _, id := range order {
		was, there := defs[id]
		kept[id] = there && r.holds(id) && sameStep(was, steps[id]) &&
			!slices.ContainsFunc(steps[id].DependsOn, func(d string) bool { return !kept[d] })
	}
	var ids []string
	for _, s := range p.Steps {
		if kept[s.ID] {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// holds says whether what came of a step may stay.
func (r *Run) holds(id string) bool {
	s := r.Step(id)
	if s == nil {
		return false
	}
	return s.Status == StepStatusSucceeded || r.Options.Strategy == StrategyRounds && s.Status.Ended()
}

// Continuable says whether the run stopped with steps left to run, or before,
// and can go on where it did: its budget was used up.
func (r *Run) Continuable() bool {
	v, ok := r.Version()
	spent := r.Status == RunStatusFailed && r.Error != nil && r.Error.Code == CodeBudgetExhausted
	left := r.Status == RunStatusPartial && ok && r.Approved == v.Number && len(r.WithStatus(StepStatusPending)) > 0
	return !r.Recorded && (spent || left)
}

// ContinuesIn is the status that a run that is [Run.Continuable] goes on in.
func (r *Run) ContinuesIn() RunStatus {
	if r.Status == RunStatusPartial || r.FailedIn == RunStatusAwaitingToolApproval {
		return RunStatusRunning
	}
	return r.FailedIn
}

// Answerable says whether the answer can be written, or written again.
func (r *Run) Answerable() bool {
	return !r.Recorded && r.Status.Ended() && len(r.WithStatus(StepStatusSucceeded)) > 0
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
	a := Amount{Requests: r.Usage.Requests, Tokens: r.Usage.TotalTokens, CostUSD: r.KnownCost, Steps: r.StepAttempts}
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
	c.Approvals = slices.Clone(r.Approvals)
	c.AgentUsage = maps.Clone(r.AgentUsage)
	c.Open = maps.Clone(r.Open)
	c.index = maps.Clone(r.index)
	return &c
}
