package templates

import (
	"time"

	"github.com/a-h/templ"

	"planwave/internal/plan"
)

// PanelProps is the panel beside the graph, #panel: the selected step, or the
// plan as a whole. It has an address of its own, and answers a fragment's
// request for it.
type PanelProps struct {
	// RunURL is the page without a selected step.
	RunURL string
	Step   *StepDetail
	Plan   *PlanDetail
	// Nudge is sent with a panel that answers a fragment's request, so that the
	// page follows the newly selected step.
	Nudge *StreamProps
	OOB   bool
}

// StepDetail is everything about one step.
type StepDetail struct {
	// Writing is what a model is writing for it.
	Writing     WritingProps
	ID          string
	Instruction string
	Status      plan.StepStatus
	Kept        bool
	Wave        int
	Tool, Input string
	Final       bool
	// Started and Ended bound the time; Now is the server's.
	Started, Ended, Now time.Time
	Tokens              int
	Cost                string
	// Estimate says what the step will take, before approval.
	Estimate string
	// Retry and Fork are offered where they make sense, and Again says which steps
	// run again with this one.
	Retry *RetryProps
	Fork  *ForkProps
	Again string
	// Reason says why the step was cancelled, where it was not with its run.
	Reason string
	// Given are the results that the step sees; empty means that it depends on nothing.
	Given []GivenProps
	// Result is the result as text; HTML, when there, shows it as Markdown.
	Result string
	HTML   templ.Component
	// Data is the whole output object as indented JSON.
	Data     string
	Contract *ContractProps
	Error    *StepError
	// Cause is the step that failed first, of a skipped step.
	Cause *StepLink
	// Attempts are the tries that ended, oldest first.
	Attempts  []AttemptProps
	ToolCalls []ToolCallProps
	Calls     []CallProps
}

// GivenProps is a result that a step was given. Text is empty while it is not there.
type GivenProps struct {
	Step StepLink
	Text string
}

// ContractProps is what the output must hold and how it did.
type ContractProps struct {
	Required, Checks []string
	// Broken are the errors of an output that broke the contract; Checked says
	// that there was an output.
	Broken  []string
	Checked bool
}

// StepError is what went wrong, in words, and the next thing to do.
type StepError struct{ Code, Message, Todo string }

// AttemptProps is one try at a step that ended.
type AttemptProps struct {
	Number int
	Status plan.StepStatus
	Took   time.Duration
	Error  string
}

// PlanDetail is the plan as a whole.
type PlanDetail struct {
	Version int
	// Author is the planner or a person; Reason says why there is this version.
	Author, Reason string
	// Hash is the short form of the plan's hash.
	Hash string
	// VersionsURL is the page of this version and those before; empty where there
	// is one only.
	VersionsURL string
	// ApprovedBy is empty before approval.
	ApprovedBy string
	Steps      []PlannedStepLink
	// More is the number of steps of a large plan that are not listed.
	More int
	// Waves is the number of waves and CriticalPath the longest chain.
	Waves        int
	CriticalPath []string
	// Estimate is what is left will take, before approval.
	Estimate *EstimateProps
	// Changes is what this version does to the one before.
	Changes     *ChangesProps
	Deliverable string
	// Mends list what was put right without asking, and Warnings what is odd but
	// does not keep the plan from running.
	Mends, Warnings []string
	// Settings are further facts: schedule, limits, models.
	Settings []Field
}

// PlannedStepLink is a step in the list of the plan.
type PlannedStepLink struct {
	StepLink
	Instruction, Tool string
	DependsOn         []string
	Wave              int
	// Estimate says what the step will take, before approval.
	Estimate string
}
