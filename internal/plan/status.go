package plan

import "strings"

// RunStatus is where a run is in its life. The words are those of the
// database, the API and the pages.
type RunStatus string

// The statuses of a run. docs/states.md draws how they follow each other.
const (
	// RunStatusPlanning is entered when a question is asked, a plan is sent back or
	// the rest of a run is planned, and left when a plan that keeps the rules is there or planning failed.
	RunStatusPlanning RunStatus = "planning"
	// RunStatusAwaitingApproval is entered with a checked plan and left by approval,
	// by sending the plan back, or by cancelling.
	RunStatusAwaitingApproval RunStatus = "awaiting_approval"
	// RunStatusRunning is entered by approval, and when an ended run goes on; steps
	// start only here.
	RunStatusRunning RunStatus = "running"
	// RunStatusAwaitingToolApproval is entered when nothing but steps waiting for a
	// person's word on a tool call is left, and left by that word.
	RunStatusAwaitingToolApproval RunStatus = "awaiting_tool_approval"
	// RunStatusSynthesizing is entered when the steps have ended and the answer is
	// being written.
	RunStatusSynthesizing RunStatus = "synthesizing"
	// RunStatusSucceeded ends a run whose deliverable succeeded.
	RunStatusSucceeded RunStatus = "succeeded"
	// RunStatusPartial ends a run that has an answer without its deliverable.
	RunStatusPartial RunStatus = "partial"
	// RunStatusFailed ends a run that has no answer, with an error that says why.
	RunStatusFailed RunStatus = "failed"
	// RunStatusCancelled ends a run that a person stopped.
	RunStatusCancelled RunStatus = "cancelled"
)

// RunStatuses lists every run status in the order of a run's life.
func RunStatuses() []RunStatus {
	return []RunStatus{
		RunStatusPlanning, RunStatusAwaitingApproval, RunStatusRunning, RunStatusAwaitingToolApproval, RunStatusSynthesizing,
		RunStatusSucceeded, RunStatusPartial, RunStatusFailed, RunStatusCancelled,
	}
}

// Ended says whether nothing more happens to the run by itself.
func (s RunStatus) Ended() bool {
	switch s {
	case RunStatusSucceeded, RunStatusPartial, RunStatusFailed, RunStatusCancelled:
		return true
	case RunStatusPlanning, RunStatusAwaitingApproval, RunStatusRunning, RunStatusAwaitingToolApproval, RunStatusSynthesizing:
	}
	return false
}

// Words returns the status as part of a sentence.
func (s RunStatus) Words() string { return strings.ReplaceAll(string(s), "_", " ") }

// StepStatus is where a step is in its life.
type StepStatus string

// The statuses of a step.
const (
	// StepStatusPending is a step that has not started, or that was reset.
	StepStatusPending StepStatus = "pending"
	// StepStatusRunning is a step with an attempt in flight.
	StepStatusRunning StepStatus = "running"
	// StepStatusAwaitingApproval is a step whose tool call waits for a person.
	StepStatusAwaitingApproval StepStatus = "awaiting_approval"
	// StepStatusSucceeded is a step with a result that kept its contract. Only such
	// a step satisfies those that depend on it.
	StepStatusSucceeded StepStatus = "succeeded"
	// StepStatusFailed is a step whose executor or tool raised an error.
	StepStatusFailed StepStatus = "failed"
	// StepStatusInvalid is a step that returned but broke its contract.
	StepStatusInvalid StepStatus = "invalid"
	// StepStatusSkipped is a step that never ran because something it needed did
	// not succeed.
	StepStatusSkipped StepStatus = "skipped"
	// StepStatusCancelled is a step that was stopped with its run, or that the
	// planner found not worth doing.
	StepStatusCancelled StepStatus = "cancelled"
)

// StepStatuses lists every step status in the order of a step's life.
func StepStatuses() []StepStatus {
	return []StepStatus{
		StepStatusPending, StepStatusRunning, StepStatusAwaitingApproval, StepStatusSucceeded,
		StepStatusFailed, StepStatusInvalid, StepStatusSkipped, StepStatusCancelled,
	}
}

// Ended says whether the step will not change by itself any more.
func (s StepStatus) Ended() bool {
	switch s {
	case StepStatusSucceeded, StepStatusFailed, StepStatusInvalid, StepStatusSkipped, StepStatusCancelled:
		return true
	case StepStatusPending, StepStatusRunning, StepStatusAwaitingApproval:
	}
	return false
}

// Broken says whether the step ran and did not succeed.
func (s StepStatus) Broken() bool { return s == StepStatusFailed || s == StepStatusInvalid }

// Strategy is the way a question is answered.
type Strategy string

// The strategies.
const (
	// StrategyPlan writes the whole plan first and then runs it.
	StrategyPlan Strategy = "plan"
	// StrategyRounds plans one round of independent tasks at a time.
	StrategyRounds Strategy = "rounds"
	// StrategyReact is the step-at-a-time loop (Yao et al. 2022, ReAct).
	StrategyReact Strategy = "react"
	// StrategyTree is beam search over thoughts (Yao et al. 2023).
	StrategyTree Strategy = "tree"
)

// Approval says whether a person approves the plan before it runs.
type Approval string

// The approvals.
const (
	ApprovalManual Approval = "manual"
	ApprovalAuto   Approval = "auto"
)

// Schedule says when a step whose dependencies succeeded may start.
type Schedule string

// The schedules.
const (
	// ScheduleWaves starts the next wave when the whole wave before has ended.
	ScheduleWaves Schedule = "waves"
	// ScheduleReady starts a step the moment its own dependencies succeeded.
	ScheduleReady Schedule = "ready"
)

// Decision is a person's word on a tool call.
type Decision string

// The decisions.
const (
	DecisionAllow Decision = "allow"
	DecisionDeny  Decision = "deny"
)

// Scope says how far a decision on a tool call goes.
type Scope string

// The scopes.
const (
	// ScopeOnce is this call alone.
	ScopeOnce Scope = "once"
	// ScopeRun is every call of the same tool for the rest of the run.
	ScopeRun Scope = "run"
)

// Role is the part that a model plays in a run.
type Role string

// The roles, each of which may be bound to its own model.
const (
	RolePlanner     Role = "planner"
	RoleExecutor    Role = "executor"
	RoleSynthesizer Role = "synthesizer"
	RoleJudge       Role = "judge"
	RoleProposer    Role = "proposer"
)

// Roles lists every role.
func Roles() []Role {
	return []Role{RolePlanner, RoleExecutor, RoleSynthesizer, RoleJudge, RoleProposer}
}
