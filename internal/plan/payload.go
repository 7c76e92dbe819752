package plan

import (
	"encoding/json"
	"time"
)

// RunCreated begins every run. Its event's time is the run's creation.
type RunCreated struct {
	Question string  `json:"question"`
	Options  Options `json:"options"`
	By       string  `json:"by,omitempty"`
	// ForkedFrom is the run whose results this one takes over.
	ForkedFrom string `json:"forked_from,omitempty"`
	// Recorded marks a run that was not run here but comes from a recording:
	// shipped with the program, imported or replayed.
	Recorded bool `json:"recorded,omitempty"`
}

// PlanRequested says that the planner is asked for a plan.
type PlanRequested struct {
	// Comment is what a person wrote when sending the last plan back.
	Comment string `json:"comment,omitempty"`
	By      string `json:"by,omitempty"`
}

// PlanRejected keeps an answer of the planner that broke the rules.
type PlanRejected struct {
	// Text is what the planner wrote; Plan is what could be read of it.
	Text       string      `json:"text"`
	Plan       *Plan       `json:"plan,omitempty"`
	Violations []Violation `json:"violations"`
	// NoJSON marks an answer without any JSON, which gets one correction of
	// its own before it counts as a rejection.
	NoJSON bool `json:"no_json,omitempty"`
}

// Version is one saved state of a run's plan.
type Version struct {
	Number int    `json:"version"`
	Plan   Plan   `json:"plan"`
	Hash   string `json:"hash"`
	// Author is "planner" or the person who saved it.
	Author string `json:"author"`
	// Reason says why there is this version, as in "first plan".
	Reason string `json:"reason,omitempty"`
	// Mends lists what was put right without asking, before anyone saw it.
	Mends []string `json:"mends,omitempty"`
	// Warnings are what does not keep the plan from running.
	Warnings []Violation `json:"warnings,omitempty"`
	// Kept are the steps, in plan order, that stay as they are: what came of
	// them before this version holds.
	Kept []string `json:"kept,omitempty"`
	// At is the time of the version's event.
	At time.Time `json:"-"`
}

// PlanProposed is a checked plan from the planner, or one given with the question.
type PlanProposed struct{ Version }

// PlanEdited is a checked plan saved by a person.
type PlanEdited struct{ Version }

// PlanApproved binds a person's word to one version by its hash.
type PlanApproved struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"`
	By      string `json:"by"`
}

// RunStarted says that the approved plan begins to run.
type RunStarted struct{}

// WaveStarted lists the steps that are ready together.
type WaveStarted struct {
	Wave  int      `json:"wave"` // from 1
	Steps []string `json:"steps"`
}

// WaveFinished says that every step of the wave has ended.
type WaveFinished struct {
	Wave int `json:"wave"`
}

// StepStarted begins an attempt at a step.
type StepStarted struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"` // from 1
	Wave    int    `json:"wave"`    // from 1
}

// StepToolCalled is one finished tool call. The whole result is in the trace.
type StepToolCalled struct {
	Step      string          `json:"step"`
	Attempt   int             `json:"attempt"`
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Error     string          `json:"error,omitempty"`
	Millis    int64           `json:"duration_ms"`
	// Approval is the id of the approval that this call had, if it needed one.
	Approval string `json:"approval,omitempty"`
}

// StepApprovalRequested is a call of a tool that is not read-only: it waits for
// a person, who sees exactly these arguments.
type StepApprovalRequested struct {
	ID        string          `json:"id"`
	Step      string          `json:"step"`
	Attempt   int             `json:"attempt"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// StepApprovalDecided is a person's word on one such call.
type StepApprovalDecided struct {
	ID       string   `json:"id"`
	Step     string   `json:"step"`
	Decision Decision `json:"decision"`
	Scope    Scope    `json:"scope"`
	By       string   `json:"by,omitempty"`
}

// StepSucceeded carries the result that dependents and people read.
type StepSucceeded struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	// From is the run that a forked run has this result from; no attempt was
	// made at the step here.
	From string `json:"from,omitempty"`
	Result
}

// Result is what a step returned.
type Result struct {
	// Text is the result in words.
	Text string `json:"result"`
	// Data is the whole output object, if the output was one.
	Data json.RawMessage `json:"data,omitempty"`
}

// StepFailed is an attempt that raised an error.
type StepFailed struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	Error   Fault  `json:"error"`
}

// StepInvalid is an attempt whose output broke the step's contract.
type StepInvalid struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	Error   Fault  `json:"error"`
	Result
}

// StepSkipped is a step that will not run because of another's failure.
type StepSkipped struct {
	Step string `json:"step"`
	// Cause is the step that failed first, however far up.
	Cause string `json:"cause"`
}

// StepCancelled is a step that was stopped, or never started, with its run.
type StepCancelled struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt,omitempty"`
	// Reason says why, where it was not a person who cancelled the run.
	Reason string `json:"reason,omitempty"`
}

// StepReset puts steps back to pending.
type StepReset struct {
	Steps  []string `json:"steps"`
	Reason string   `json:"reason,omitempty"`
	By     string   `json:"by,omitempty"`
}

// ReplanRequested says that the planner is asked for what remains of the run.
type ReplanRequested struct {
	Number int `json:"number"` // from 1; each counts towards the limit
	// Reason says why, as in "step s2 failed".
	Reason string `json:"reason"`
	// Error is why the request before this one came to nothing.
	Error *Fault `json:"error,omitempty"`
}

// AnswerStarted says that the synthesizer is writing.
type AnswerStarted struct {
	Attempt int `json:"attempt"` // from 1
	// Reason says why it writes with steps left to run, if there are any.
	Reason string `json:"reason,omitempty"`
}

// Answer is what the synthesizer wrote.
type Answer struct {
	Result  string   `json:"result"` // Markdown
	Subject string   `json:"subject,omitempty"`
	Value   *float64 `json:"value,omitempty"` // one decimal place
	// RestsOn are the ids of the completed steps it rests on.
	RestsOn []string `json:"rests_on"`
}

// AnswerWritten is a finished answer.
type AnswerWritten struct{ Answer }

// RunResumed says that a process took the run up again after a stop.
type RunResumed struct{}

// RunContinued says that a run that had ended, or whose replanning came to
// nothing, goes on.
type RunContinued struct {
	// Status is where it goes on: planning, running or synthesizing.
	Status RunStatus `json:"status"`
	Reason string    `json:"reason"`
	// Budget replaces the run's budget from here on.
	Budget *Budget `json:"budget,omitempty"`
	By     string  `json:"by,omitempty"`
}

// RunWaiting says that nothing is left in flight but tool calls that wait for
// a person.
type RunWaiting struct{}

// RunSucceeded ends a run whose deliverable succeeded.
type RunSucceeded struct {
	// Error is why the answer could not be written again; the one before it
	// stands.
	Error *Fault `json:"error,omitempty"`
}

// RunPartial ends a run that has an answer without its deliverable.
type RunPartial struct {
	// Error is as in [RunSucceeded].
	Error *Fault `json:"error,omitempty"`
}

// RunFailed ends a run that has no answer.
type RunFailed struct {
	Error Fault `json:"error"`
}

// RunCancelled ends a run that a person stopped.
type RunCancelled struct {
	By string `json:"by,omitempty"`
}

// UsageReserved charges a call's estimate before the call is made.
type UsageReserved struct {
	Call    string `json:"call"`
	Agent   Role   `json:"agent"`
	Step    string `json:"step,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Model   string `json:"model"`
	Amount  Amount `json:"amount"`
}

// UsageSettled replaces a reservation by what the call really used.
type UsageSettled struct {
	Call  string `json:"call"`
	Agent Role   `json:"agent"`
	Step  string `json:"step,omitempty"`
	Usage Usage  `json:"usage"`
	Error *Fault `json:"error,omitempty"`
}
