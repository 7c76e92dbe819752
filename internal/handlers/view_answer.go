package handlers

import (
	"fmt"
	"strconv"
	"strings"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// answerOf is the answer, when there is one or one is being written.
func (s *server) answerOf(v view) templates.AnswerProps {
	r := v.run
	p := templates.AnswerProps{OOB: v.oob, Writing: r.Status == plan.RunStatusSynthesizing, Partial: r.Status == plan.RunStatusPartial}
	if r.Answer == nil {
		return p
	}
	p.HTML = s.markdown.Render(r.Answer.Result)
	p.Subject = r.Answer.Subject
	if r.Answer.Value != nil {
		p.Value = number(*r.Answer.Value)
	}
	p.RestsOn = v.links(r.Answer.RestsOn)
	for _, st := range r.Steps {
		switch st.Status {
		case plan.StepStatusFailed, plan.StepStatusInvalid:
			p.Missing = append(p.Missing, fmt.Sprintf("Step %s failed: %s", st.ID, st.Error.Message))
		case plan.StepStatusSkipped:
			p.Missing = append(p.Missing, fmt.Sprintf("Step %s was skipped, since %s did not succeed.", st.ID, st.Cause))
		case plan.StepStatusCancelled:
			if st.Reason != "" {
				p.Missing = append(p.Missing, fmt.Sprintf("Step %s was not carried out: %s.", st.ID, st.Reason))
			}
		case plan.StepStatusPending, plan.StepStatusRunning, plan.StepStatusAwaitingApproval, plan.StepStatusSucceeded:
		}
	}
	return p
}

// number writes a value with one decimal place and commas between thousands.
func number(value float64) string {
	text := strconv.FormatFloat(value, 'f', 1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return text
	}
	sign := ""
	if n == 0 && strings.HasPrefix(whole, "-") {
		sign = "−"
	}
	return sign + templates.Count(n) + "." + fraction
}
