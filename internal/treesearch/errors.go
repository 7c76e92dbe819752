package treesearch

import (
	"errors"
	"fmt"
)

// Errors of a search. Those of a proposer, a judge, OnLevel and the context
// come back as they are.
var (
	// ErrNoGoal is returned, as a [*NoGoalError], when the search is through and
	// found no goal.
	ErrNoGoal = errors.New("no goal found")
	// ErrOptions refuses options that no search can follow.
	ErrOptions = errors.New("the search cannot start")
	// ErrLevels refuses levels to carry on from that no search has left.
	ErrLevels = errors.New("the search cannot carry on")
	// ErrScore refuses a score that is no finite number.
	ErrScore = errors.New("a score is a finite number")
)

// NoGoalError says where a search without a goal ended. The levels are in the
// [Result] beside it.
type NoGoalError struct {
	Depth   int  // of the last level
	DeadEnd bool // that level had no node: nothing was left to grow from
}

// Error says it in words that are safe to show, and what to do.
func (e *NoGoalError) Error() string {
	const advice = "try a larger breadth or another judge"
	if e.DeadEnd {
		return fmt.Sprintf("no goal found: nothing was left to try at depth %d; %s", e.Depth, advice)
	}
	return fmt.Sprintf("no goal found down to depth %d; %s, or a larger max_depth", e.Depth, advice)
}

// Is says that it is [ErrNoGoal].
func (e *NoGoalError) Is(target error) bool { return target == ErrNoGoal }
