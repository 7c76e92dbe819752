// Package runs is the life of a run: ask, plan, check, approve, execute,
// answer, cancel, resume. It is the only writer of events. Order of business,
// always: decide, append and commit, publish; so what a viewer sees is in the
// file.
package runs
