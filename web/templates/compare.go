package templates

import (
	"strconv"
	"time"

	"planwave/internal/plan"
)

// ComparePageProps are two to four runs side by side.
type ComparePageProps struct {
	Page PageProps
	// Verdict says in numbers how the others did against the first.
	Verdict []string
	Runs    []ComparedRun
	Figures []FigureRow
	Steps   []AlignedStep
	// AgainURL is the home page with the first run's question; empty where the
	// questions are not the same.
	AgainURL string
}

// ComparedRun is one of the runs. The first is what the others are held against.
type ComparedRun struct {
	Question, URL string
	Status        plan.RunStatus
	// Facts are the strategy, schedule and models.
	Facts []string
	// Answer is the plain text of the answer, its words marked against the first
	// run's; without one Missing says why.
	Answer         []plan.Span
	Subject, Value string
	Missing        string
	// Picture is the address of the plan as an SVG; empty without a plan.
	Picture string
	// Changes say what is different about the plan, against the first run's.
	Changes []ChangeCount
	Lines   []StepDifference
	Bars    []BarProps
	Took    time.Duration
}

// FigureRow is one figure of all runs. Best marks the least of it, where less is
// better and they differ.
type FigureRow struct {
	Name   string
	Values []string
	Best   []bool
}

// AlignedStep is a step of the same id in all runs; a run without it has a zero
// value.
type AlignedStep struct {
	ID    string
	Cells []StepCell
}

// StepCell is a step in one of the runs.
type StepCell struct {
	There  bool
	Link   StepLink
	Status plan.StepStatus
	Kept   bool
	Took   time.Duration
	Tokens int
}

// beside sets as many columns as there are runs.
func (p ComparePageProps) beside() string { return "compare compare-" + strconv.Itoa(len(p.Runs)) }
