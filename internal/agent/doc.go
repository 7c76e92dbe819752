// Package agent is one agent's turn with a model: the executor, which carries
// a step out with tools, and the synthesizer, which writes the answer from
// whatever completed. It knows nothing of runs, budgets or databases: the
// model and the tools it is given do the counting and recording.
package agent
