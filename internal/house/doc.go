// Package house holds the rules of the house as tests: which package may
// import which, what source must not contain, and the measures that keep files
// and functions readable. It has no code of its own.
//
// A rule is broken in one of two ways: the code is wrong, or the rule is. An
// exception goes on the list beside the rule, with its reason.
package house
