package templates

import (
	"time"

	"planwave/internal/plan"
)

// VersionsPageProps is a version of a plan against another, drawn and in words.
type VersionsPageProps struct {
	Page     PageProps
	Question string
	// RunURL is the run's page, and URL this one without its query.
	RunURL, URL string
	// Number is the version that is looked at, and Against the one that it is held
	// against; 0 means nothing at all, as for a first plan.
	Number, Against int
	// SwapURL looks at the same difference the other way round; empty where there
	// is none.
	SwapURL string
	// Versions are all versions, newest first.
	Versions []VersionRow
	// Counts say how many steps were added, changed, removed and kept.
	Counts []ChangeCount
	// Lines are what concerns no single step.
	Lines []DifferenceLine
	// Steps are the steps that are not as they were, and Kept those that are.
	Steps []StepDifference
	Kept  []string
	Graph GraphProps
}

// VersionRow is a version in the list of all. Its address holds it against the
// one before.
type VersionRow struct {
	Number         int
	URL            string
	Author, Reason string
	At             time.Time
	Approved       bool
}

// ChangeCount is a number of steps of which the same became.
type ChangeCount struct {
	Change string
	N      int
}

// StepDifference is what became of one step, #step-ID.
type StepDifference struct {
	ID, Change string
	Lines      []DifferenceLine
}

// DifferenceLine is a sentence, followed by a text whose words are marked.
type DifferenceLine struct {
	Text  string
	Marks []plan.Span
	// Code marks a text that is read by programs.
	Code bool
}
