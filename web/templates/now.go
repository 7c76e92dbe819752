package templates

import "time"

// NowProps are the model calls of a run that are being made, #now: what is
// waited for, and what is written outside the steps.
type NowProps struct {
	Waits   []WaitProps
	Writing []WritingProps
	OOB     bool
}

// WaitProps are calls that wait for the same thing.
type WaitProps struct {
	// Title says who waits for whom, Reason why.
	Title, Reason string
	// Try is the try that follows and Of the most there are; both are 0 for a
	// call that waits for its turn.
	Try, Of    int
	Until, Now time.Time
}

// WritingProps is what one call has written so far.
type WritingProps struct {
	ID    string // of the element
	Title string
	// Text is the end of it, and Cut says that there is more before. An empty
	// text is not shown.
	Text string
	Cut  bool
	OOB  bool
}
