package templates

import (
	"strconv"
	"time"
)

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

// WritingProps is what one call has written so far, or how far it has got.
type WritingProps struct {
	ID    string // of the element
	Title string
	// Text is the end of it, and Cut says that there is more before.
	Text string
	Cut  bool
	// Done of Total is how far it has got; both are 0 where that is not known.
	Done, Total float64
	OOB         bool
}

// empty says that there is nothing to show.
func (w WritingProps) empty() bool { return w.Text == "" && w.Done == 0 }

// figure is a number in as few digits as it needs.
func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
