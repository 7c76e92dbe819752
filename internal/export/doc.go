// Package export writes runs as files that other programs open: Mermaid, DOT,
// Markdown and SVG. Every text in a run comes from a model, a tool or a person:
// whatever it is, it stays text in the file.
package export

import (
	"fmt"
	"strings"
	"unicode"

	"planwave/internal/plan"
)

// Source is what is exported: a plan and, where there is a run of it, how it
// went.
type Source struct {
	Title string
	Plan  plan.Plan
	// Status tells the status of a step, "" for a plan that is no run's.
	Status func(id string) plan.StepStatus
}

// OfRun is the newest plan of a run, with how it went.
func OfRun(r *plan.Run) Source {
	return Source{Title: r.Question, Plan: r.Plan(), Status: func(id string) plan.StepStatus { return r.Step(id).Status }}
}

// OfPlan is a plan alone.
func OfPlan(p plan.Plan) Source {
	return Source{Title: "A plan", Plan: p, Status: func(string) plan.StepStatus { return "" }}
}

// labelLimit is how much of an instruction, in characters, a node shows.
const labelLimit = 160

// label is what a node says, line by line: id and tool, instruction, status.
func (s Source) label(st plan.Step) []string {
	head := st.ID
	if st.Tool != "" {
		head += " · " + st.Tool
	}
	lines := []string{head, plan.Short(oneLine(st.Instruction), labelLimit)}
	if status := s.Status(st.ID); status != "" {
		lines = append(lines, words(status))
	}
	return lines
}

// words is a status in words.
func words(s plan.StepStatus) string { return strings.ReplaceAll(string(s), "_", " ") }

// oneLine is a text without line breaks and without characters that are not
// shown.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(printable(text), func(r rune) bool { return unicode.IsSpace(r) }), " ")
}

// printable takes out the characters that no text file should have: controls,
// and those that XML forbids.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || r == unicode.ReplacementChar || r == 0xFFFE || r == 0xFFFF:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// colours are those of a status: fill, line, text.
type colours struct{ fill, line, text string }

func coloursOf(s plan.StepStatus) colours {
	switch s {
	case plan.StepStatusSucceeded:
		return colours{"#e5f5ec", "#136c43", "#0b3d26"}
	case plan.StepStatusFailed, plan.StepStatusInvalid:
		return colours{"#fdebea", "#b62525", "#5c1212"}
	case plan.StepStatusRunning:
		return colours{"#e6f0fc", "#0b5cbf", "#06305f"}
	case plan.StepStatusAwaitingApproval:
		return colours{"#fdf3df", "#8a5000", "#4a2b00"}
	case plan.StepStatusPending, plan.StepStatusSkipped, plan.StepStatusCancelled:
	}
	return colours{"#ffffff", "#566070", "#171b22"}
}

// dashed says whether a step of that status is drawn with a dashed line: one
// that was not carried out.
func dashed(s plan.StepStatus) bool {
	return s == plan.StepStatusSkipped || s == plan.StepStatusCancelled
}

// edges calls each with every dependency, by the positions of its steps.
func (s Source) edges(each func(from, to int)) {
	at := map[string]int{}
	for i, st := range s.Plan.Steps {
		at[st.ID] = i
	}
	for i, st := range s.Plan.Steps {
		for _, d := range st.DependsOn {
			if from, ok := at[d]; ok {
				each(from, i)
			}
		}
	}
}

// node names a step by its position, since ids may be words of the other
// language.
func node(i int) string { return fmt.Sprintf("n%d", i+1) }
