package handlers

import (
	"strings"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// rejections are the plans that were sent back, each with why in a few words.
func (v view) rejections() templates.RejectionsProps {
	p := templates.RejectionsProps{OOB: v.oob}
	for i, rej := range v.run.Rejections {
		out := templates.RejectionProps{Number: i + 1, Summary: inShort(rej.Violations), Raw: rej.Text, At: rej.At}
		for _, b := range rej.Violations {
			out.Violations = append(out.Violations, templates.ViolationProps{Code: string(b.Code), Message: b.Message, Warning: b.Warning})
		}
		if rej.Plan != nil {
			for _, st := range rej.Plan.Steps {
				out.Steps = append(out.Steps, templates.PlannedStep{ID: st.ID, Instruction: st.Instruction, Tool: st.Tool, DependsOn: st.DependsOn})
			}
		}
		p.Rejections = append(p.Rejections, out)
	}
	return p
}

// inShort says why a plan was sent back.
func inShort(violations []plan.Violation) string {
	if len(violations) == 0 {
		return "it broke a rule"
	}
	first := violations[0]
	text := strings.ReplaceAll(string(first.Code), "_", " ")
	if first.Code == plan.CodeNoSingleFinalStep && len(first.Steps) > 1 {
		loose := first.Steps[:len(first.Steps)-1]
		verb := "were loose ends"
		if len(loose) == 1 {
			verb = "was a loose end"
		}
		text = templates.List(loose) + " " + verb
	}
	if n := len(violations) - 1; n > 0 {
		text += " and " + templates.Counted(n, "more thing", "more things")
	}
	return text
}
