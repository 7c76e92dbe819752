// Package plan is the leaf of Planwave: the words everything else is written
// in. It holds the plan and its steps, the rules a plan must keep, the order
// and shape that follow from a plan, the canonical form and its hash, the
// statuses, the events of a run and the fold that turns them into its state.
//
// The package imports the standard library only, does no input or output, and
// never looks at the clock: a run's state is a pure function of its events.
package plan
