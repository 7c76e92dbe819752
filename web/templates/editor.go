package templates

import (
	"slices"
	"strconv"

	"github.com/a-h/templ"
)

// EditorProps is the form that edits a plan, #editor. It works without
// scripts: every change is a button that sends the form. With them, what is
// typed is sent to DraftURL, and the answer is [DraftPatch].
type EditorProps struct {
	// SaveURL takes the whole form, with the button's name op: add, add:after:ID,
	// remove:ID, up:ID, down:ID, mend:N, show, save or approve.
	SaveURL  string
	DraftURL string
	// DiscardURL is the run's page.
	DiscardURL string
	// Version is the one the draft was made from.
	Version int
	Steps   []EditorStep
	Tools   []ToolChoice
	// Deliverable is the id of the step the answer rests on; empty means the one
	// final step.
	Deliverable string
	// Global are the violations that concern no single step.
	Global []ViolationProps
	// Graph is the draft drawn, with Draft set.
	Graph GraphProps
	// Blocked says why the plan cannot be approved; empty means it can.
	Blocked string
	// Changed says that the draft differs from the saved version.
	Changed bool
	// Focus is the index of the step whose instruction takes the focus; -1: none.
	Focus int
}

// EditorStep is one step's card in the editor. Its fields are named
// steps.INDEX.id and so on.
type EditorStep struct {
	ID, Instruction string
	// Deps are the other steps, each of which may be needed.
	Deps []DepChoice
	// Tool is empty for an agent; Input is what was typed.
	Tool, Input string
	// Contract and Strategy are kept as they are: raw JSON and a word.
	Contract, Strategy string
	Violations         []ViolationProps
	// Said is that the page shows violations of the step, which may be mended.
	Said bool
}

// DepChoice is a step that another may depend on. Unknown marks one that is
// not in the plan.
type DepChoice struct {
	ID          string
	On, Unknown bool
}

// ToolChoice is a tool that a step may use.
type ToolChoice struct{ Name, Description string }

// mostChips is the number of steps up to which every possible dependency is
// offered as a chip. In larger plans those in force are, and others are typed.
const mostChips = 40

// typed says whether dependencies are typed rather than all offered.
func (s EditorStep) typed() bool { return len(s.Deps) > mostChips }

// shown says whether a dependency is offered as a chip.
func (s EditorStep) shown(d DepChoice) bool { return d.On || !s.typed() }

// errors counts the violations that keep the plan from running.
func (e EditorProps) errors() int {
	n := countErrors(e.Global)
	for _, s := range e.Steps {
		n += countErrors(s.Violations)
	}
	return n
}

func countErrors(list []ViolationProps) int {
	n := 0
	for _, v := range list {
		if !v.Warning {
			n++
		}
	}
	return n
}

// name returns the name of a step's field.
func name(step int, field string) string { return "steps." + strconv.Itoa(step) + "." + field }

// id returns an id made of a word and a number.
func id(word string, n int) string { return word + "-" + strconv.Itoa(n) }

// has says whether there is a tool of that name.
func (e EditorProps) has(tool string) bool {
	return slices.ContainsFunc(e.Tools, func(t ToolChoice) bool { return t.Name == tool })
}

// patchGraph returns the picture as a fragment.
func (e EditorProps) patchGraph() GraphProps {
	e.Graph.OOB = true
	return e.Graph
}

// editInPlace makes a button's answer, the editor, replace it without loading
// the page.
func editInPlace(saveURL string) templ.Attributes {
	return templ.Attributes{
		"hx-post": saveURL, "hx-trigger": "click", "hx-target": "#editor", "hx-select": "#editor", "hx-swap": "outerHTML show:none",
	}
}
