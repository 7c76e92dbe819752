package handlers

import (
	"context"
	"fmt"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// noticeOf is the notice, with what can be done about it on the spot.
func (s *server) noticeOf(ctx context.Context, v view) templates.NoticeProps {
	if v.past {
		return templates.NoticeProps{OOB: v.oob}
	}
	n := v.notice()
	if v.watches {
		n.Todo = ""
		return n
	}
	n.Budget = s.budgetOf(ctx, v)
	return n
}

// notice is what a person must know about the run now.
func (v view) notice() templates.NoticeProps {
	r := v.run
	n := templates.NoticeProps{OOB: v.oob}
	switch {
	case r.Status == plan.RunStatusFailed && r.Error != nil:
		n.Tone, n.Text = "failed", r.Error.Message
		n.Title, n.Lost, n.Todo = v.failure()
		if len(r.Rejections) > 0 && r.Error.Code == plan.CodePlanInvalid {
			n.Text = "The planner was sent its plan back and it still breaks the rules."
			for _, b := range r.Rejections[len(r.Rejections)-1].Violations {
				n.Violations = append(n.Violations, b.Message)
			}
		}
	case r.Continuable() && r.Error == nil:
		n.Tone, n.Title = "waiting", "The budget was used up before everything had run"
		n.Text = fmt.Sprintf("Not run: %s. The answer rests on the rest.", named(r.WithStatus(plan.StepStatusPending)))
	case r.Error != nil && r.Status.Ended():
		n.Tone, n.Title, n.Text = "waiting", "The answer could not be written again", r.Error.Message
		n.Lost = "The answer that was there before stands."
	case r.Approvable() && v.changed() != "":
		version, _ := r.Version()
		n.Tone, n.Title = "waiting", "Planned again: "+r.ReplanReason
		n.Text = fmt.Sprintf("Version %d waits for your approval. It %s.", version.Number, v.changed())
	case r.Status == plan.RunStatusCancelled:
		n.Tone, n.Title = "info", "This run was cancelled"
		n.Lost = "What had succeeded is kept."
	case r.Resumed > 0 && !r.Status.Ended():
		n.Tone, n.Title = "info", "Planwave was restarted in the middle of this run"
		n.Text = "It goes on where it was. Results that were there are kept; a step that was in flight runs again."
	}
	return n
}

// failure puts a failed run into words.
func (v view) failure() (title, lost, todo string) {
	kept := "Nothing had been paid for yet."
	if n := len(v.run.WithStatus(plan.StepStatusSucceeded)); n > 0 {
		kept = templates.Counted(n, "result", "results") + " that had succeeded " + map[bool]string{true: "is", false: "are"}[n == 1] + " kept below."
	} else if v.run.Usage.Requests > 0 {
		kept = "What the models wrote is kept in the trace below."
	}
	title = failureTitle(v.run.Error.Code)
	switch v.run.Error.Code {
	case plan.CodeBeyondDemo:
		return title, "", "Ask one of the sample questions on the home page."
	case plan.CodePlanInvalid:
		todo = "Ask again in other words, with another model, or with a higher step limit."
	case plan.CodeAllStepsFailed:
		todo = "Look at the steps below for what went wrong, and try them again."
	case plan.CodeBudgetExhausted:
		todo = "" // the choices say it
	case plan.CodeModelUnreachable:
		todo = "Check the model server and its address, then ask again."
	case plan.CodeModelAuth:
		todo = "Check the key and start Planwave again."
	case plan.CodeModelRateLimited:
		todo = "Wait a little, then ask again."
	default:
		todo = "Ask again, or look at the trace below."
	}
	return title, kept, todo
}

// failureTitle says in a few words why a run failed.
func failureTitle(code plan.Code) string {
	switch code {
	case plan.CodeBeyondDemo:
		return "This is more than the demo model knows"
	case plan.CodePlanInvalid:
		return "No plan kept the rules"
	case plan.CodeAllStepsFailed:
		return "No step succeeded"
	case plan.CodeBudgetExhausted:
		return "The budget is used up"
	case plan.CodeModelUnreachable:
		return "The model cannot be reached"
	case plan.CodeModelAuth:
		return "The model refused the key"
	case plan.CodeModelRateLimited:
		return "The model asks to come back later"
	case plan.CodeContentFiltered:
		return "The model held the answer back for its content"
	case plan.CodeOutputTruncated:
		return "The model's answer was cut off"
	}
	return "This run failed"
}
