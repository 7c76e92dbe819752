package templates

import (
	"time"

	"github.com/a-h/templ"

	"planwave/internal/plan"
)

// RunPageProps is the page of one run, from asking to reviewing.
type RunPageProps struct {
	Page       PageProps
	Head       RunHeadProps
	Actions    RunActionsProps
	Notice     NoticeProps
	Now        NowProps
	Approvals  ApprovalsProps
	Stream     StreamProps
	Answer     AnswerProps
	Views      ViewsProps
	Replay     ReplayProps
	Graph      GraphProps
	Panel      PanelProps
	Rejections RejectionsProps
	Waves      WavesProps
	Trace      TraceProps
	// Editor replaces graph and panel while the plan is being edited.
	Editor *EditorProps
	// Announce is what the live region says when the page is loaded; usually "".
	Announce string
}

// ViewsProps are the ways to look at a run, #views. Without any it is hidden.
type ViewsProps struct {
	Views []ViewProps
	OOB   bool
}

// ViewProps is one way to look at a run. Count is shown where it is not zero.
type ViewProps struct {
	Label, URL string
	Count      int
	On         bool
}

// ReplayProps is the scrubber over a run that has ended, #replay. It is hidden
// while Last is zero.
type ReplayProps struct {
	RunURL string
	// At is the number of the event whose moment is shown, Last that of the last.
	At, Last int64
	// Took is the time from the question to that moment, When.
	Took time.Duration
	When time.Time
	// Type is what happened, and Steps to which steps.
	Type  string
	Steps []string
	// Kept is what stays in the address besides the moment.
	Kept []Field
	// Playing is the speed that it is played at, zero while it holds.
	Playing  int
	PauseURL string
	Plays    []PlayProps
	OOB      bool
}

// PlayProps plays on from a moment, Speed times as fast as it was.
type PlayProps struct {
	Speed int
	URL   string
}

// RunHeadProps is the head of a run's page, #run-head. It carries the tab's
// title and icon, too.
type RunHeadProps struct {
	Question string
	Status   plan.RunStatus
	// Words say the status to a person, as in "Wave 2 of 3".
	Words string
	// Started and Ended bound the time that is shown; while Ended is zero, a
	// clock ticks. Now is the server's time.
	Started, Ended, Now time.Time
	CreatedAt           time.Time
	// Waiting stops the clock while a person's word is awaited.
	Waiting bool
	// Calls, Tokens and Cost are what was used of the budget.
	Calls, Tokens, Cost MeterProps
	// Facts are further short facts: model, corrections, schedule.
	Facts []string
	// ParentURL is the run that this one was forked from, and Kept how many results
	// it took over from there.
	ParentURL string
	Kept      int
	OOB       bool
}

// MeterProps is what was used of a limit.
type MeterProps struct {
	Label, Used string
	// Limit is empty when there is none.
	Limit string
	// Share is the used part in percent, 100 when the limit is reached.
	Share int
}

// RunActionsProps are the actions that make sense now, #run-actions. An action
// without an address is not shown.
type RunActionsProps struct {
	// ApproveURL takes the form that approves Version.
	ApproveURL string
	Version    int
	EditURL    string
	// ReviseURL takes the form that sends the plan back with a comment.
	ReviseURL string
	CancelURL string
	// Retries are the steps that can be tried again.
	Retries []RetryProps
	// AnswerURL takes the wish for an answer, AnswerLabel names it, and
	// AnswerNonce makes one that is sent twice one request.
	AnswerURL, AnswerLabel, AnswerNonce string
	// AgainURL is the home page with this question and these options filled in.
	AgainURL string
	// Share gives out links, and DeleteURL deletes the run.
	Share     *ShareProps
	DeleteURL string
	// Exports are the files that the run can be saved as.
	Exports []ExportProps
	OOB     bool
}

// ExportProps is a file that a run can be saved as.
type ExportProps struct{ URL, Label string }

// NoticeProps is what a person must know about the run now, #run-notice: an
// error, a wait, a resumption. Without a title nothing is shown.
type NoticeProps struct {
	// Tone is failed, waiting or info.
	Tone string
	// Title says what happened, Text the details, Lost whether anything was lost,
	// and Todo what to do.
	Title, Text, Lost, Todo string
	// Violations are those of a plan that could not be mended.
	Violations []string
	// Budget are the choices at the end of a budget.
	Budget *BudgetProps
	OOB    bool
}

// StreamProps is the page's live connection, #stream.
type StreamProps struct {
	// URL is the event stream after the event that the page was rendered at;
	// empty for a run that has ended, whose page holds no connection.
	URL string
	// Step is the selected step, or "" for the plan as a whole. PanelURL is where
	// its panel is asked for when the event "step-ID", or "plan", arrives, and when
	// "panel" does, which concerns every panel.
	Step, PanelURL string
	OOB            bool
}

// trigger are the events upon which the panel is asked for again.
func (s StreamProps) trigger() string {
	if s.Step == "" {
		return "sse:plan, sse:panel"
	}
	return "sse:step-" + s.Step + ", sse:panel"
}

// AnswerProps is the answer, #answer. It is hidden while there is none.
type AnswerProps struct {
	// Writing says that the answer is being written.
	Writing bool
	// HTML is the answer's text, rendered by web/markdown.
	HTML templ.Component
	// Subject and Value are the answer in a word and a number, if it has them.
	Subject, Value string
	RestsOn        []StepLink
	// Partial says that the deliverable did not succeed, and Missing what could not
	// be done, one sentence each.
	Partial bool
	Missing []string
	OOB     bool
}

// there says whether there is anything to show.
func (a AnswerProps) there() bool { return a.HTML != nil || a.Writing }

// StepLink links to a step on the page. PanelURL may be empty.
type StepLink struct{ ID, URL, PanelURL string }

// AnnounceProps is what the live region says to screen readers, politely.
type AnnounceProps struct {
	Text string
	OOB  bool
}

// RejectionsProps are the plans that were sent back to the planner, #rejections.
type RejectionsProps struct {
	Rejections []RejectionProps
	OOB        bool
}

// RejectionProps is one plan that was sent back.
type RejectionProps struct {
	// Number is 1 for the first plan.
	Number int
	// Summary says why in a few words: "s1, s2 and s3 were loose ends".
	Summary    string
	Violations []ViolationProps
	// Steps are what could be read of the plan; Raw is what the planner wrote.
	Steps []PlannedStep
	Raw   string
	At    time.Time
}

// ViolationProps is one broken rule.
type ViolationProps struct {
	Code, Message string
	Warning       bool
	// Index is the number by which the mend is asked for, and Mend its label;
	// without a label there is no mend to press.
	Index int
	Mend  string
}

// PlannedStep is a step as a plan names it.
type PlannedStep struct {
	ID, Instruction, Tool string
	DependsOn             []string
}

// WavesProps are the steps over time, #waves.
type WavesProps struct {
	Waves []WaveProps
	// Total is the length of the scale. Now is the server's time.
	Total time.Duration
	OOB   bool
}

// WaveProps are the steps that ran together.
type WaveProps struct {
	Number int
	Took   time.Duration
	Open   bool
	Bars   []BarProps
}

// BarProps is one step on the scale.
type BarProps struct {
	Step   StepLink
	Status plan.StepStatus
	Kept   bool
	// Offset and Length are in thousandths of the scale.
	Offset, Length int
	Took           time.Duration
}

// TraceProps are all model calls in order, #trace.
type TraceProps struct {
	Calls []CallProps
	OOB   bool
}

// CallProps is one model call.
type CallProps struct {
	ID string
	// Agent is planner, executor, synthesizer or another role.
	Agent string
	Step  string
	// Attempt is shown from the second on; Reason says why there was one.
	Attempt int
	Reason  string
	Model   string
	// Since is when it was sent; Took is zero while it is in flight.
	Since, Now time.Time
	Took       time.Duration
	InFlight   bool
	Input      int
	Output     int
	Cost       string
	Error      string
	Messages   []MessageProps
	OutputText string
	ToolCalls  []ToolCallProps
	// DetailURL is where messages and output are asked for when the call is
	// opened; empty when they are here already.
	DetailURL string
}

// MessageProps is one message of a prompt.
type MessageProps struct{ Role, Text string }

// ToolCallProps is one use of a tool.
type ToolCallProps struct {
	Tool, Arguments, Result, Error string
	Took                           time.Duration
}

// words say the run's status, by default those of the status itself.
func (h RunHeadProps) words() string {
	if h.Words != "" {
		return h.Words
	}
	return runLook(h.Status).Word
}

// title is the tab's title: the state first, so that it can be read in a narrow tab.
func (h RunHeadProps) title() string {
	return h.words() + " – " + plan.Short(h.Question, 80) + " · Planwave"
}

// icon returns the icon of the notice's tone.
func (n NoticeProps) icon() string {
	switch n.Tone {
	case "failed":
		return "failed"
	case "waiting":
		return "waiting"
	default:
		return "info"
	}
}

// inPlace makes a form's answer, the run's page, replace what is shown without
// loading the page. While it is on its way the form's button is off, so that a
// double click sends one request.
func inPlace() templ.Attributes {
	return templ.Attributes{
		"hx-target": "#run", "hx-select": "#run", "hx-swap": "outerHTML", "hx-disabled-elt": "find button", "hx-sync": "this:drop",
	}
}

// elsewhere makes a link to another look of the run replace what is shown without
// loading the page, so that zoom and place stay.
func elsewhere(url string) templ.Attributes {
	return templ.Attributes{"hx-get": url, "hx-target": "#run", "hx-select": "#run", "hx-swap": "outerHTML", "hx-push-url": "true"}
}

// look says how the call ended.
func (c CallProps) look() look {
	switch {
	case c.InFlight:
		return look{"running", "in flight", "running"}
	case c.Error != "":
		return look{"failed", "failed", "failed"}
	default:
		return look{"succeeded", "answered", "succeeded"}
	}
}

// ended is when the call was answered; zero while it is in flight.
func (c CallProps) ended() time.Time {
	if c.InFlight {
		return time.Time{}
	}
	return c.Since.Add(c.Took)
}
