package runs

import (
	"fmt"
	"strings"

	"planwave/internal/plan"
)

// replansLeft is how often the planner may still be asked for the rest of a
// run. In rounds the first round is not a replan.
func replansLeft(r *plan.Run) int {
	if r.Options.Strategy == plan.StrategyRounds {
		return plan.MaxRounds - 1 - r.Replans
	}
	if r.Options.Replan.When == plan.ReplanNever {
		return 0
	}
	return r.Options.Replan.Max - r.Replans
}

// afterSteps says how a run goes on whose steps have all ended: the planner is
// asked for more, or the answer is written.
func afterSteps(r *plan.Run) ([]plan.Payload, error) {
	if reason := wantsReplan(r); reason != "" && replansLeft(r) > 0 {
		return []plan.Payload{plan.ReplanRequested{Number: r.Replans + 1, Reason: reason}}, nil
	}
	return toAnswer(r, "")
}

// wantsReplan says why the planner is to be asked again, or "".
func wantsReplan(r *plan.Run) string {
	if r.Options.Strategy == plan.StrategyRounds {
		return fmt.Sprintf("round %d has ended", r.Replans+1)
	}
	failed := r.Failed()
	switch len(failed) {
	case 0:
		return ""
	case 1:
		return "step " + failed[0] + " failed"
	}
	return "steps " + strings.Join(failed, ", ") + " failed"
}

// afterPlanning says how a run goes on whose replanning came to nothing: the
// planner is asked again as long as it may be, then what is left of the plan
// runs, and when nothing is left the answer is written.
func afterPlanning(r *plan.Run, fault *plan.Fault) ([]plan.Payload, error) {
	if replansLeft(r) > 0 {
		return []plan.Payload{plan.ReplanRequested{Number: r.Replans + 1, Reason: r.ReplanReason, Error: fault}}, nil
	}
	v, _ := r.Version()
	if len(r.WithStatus(plan.StepStatusPending)) > 0 && r.Approved == v.Number {
		return []plan.Payload{plan.RunContinued{
			Status: plan.RunStatusRunning, Reason: "the planner could not plan again, and the approved plan goes on",
		}}, nil
	}
	return leaveRest(r, "the planner could not plan again: "+fault.Message)
}

// finalized is the end of a run whose planner says that it is done.
func finalized(r *plan.Run) ([]plan.Payload, error) {
	return leaveRest(r, "the planner found that nothing more is worth doing")
}

// leaveRest has the answer written without the steps that are left.
func leaveRest(r *plan.Run, reason string) ([]plan.Payload, error) {
	var events []plan.Payload
	for _, id := range r.WithStatus(plan.StepStatusPending) {
		events = append(events, plan.StepCancelled{Step: id, Reason: reason})
	}
	answer, err := toAnswer(r, reason)
	return append(events, answer...), err
}

// toAnswer has the answer written, if there is anything to write it from.
func toAnswer(r *plan.Run, reason string) ([]plan.Payload, error) {
	if len(r.WithStatus(plan.StepStatusSucceeded)) == 0 {
		return nil, plan.NewError(plan.CodeAllStepsFailed, allFailed(r), nil)
	}
	return []plan.Payload{plan.AnswerStarted{Attempt: r.AnswerAttempts + 1, Reason: reason}}, nil
}

func allFailed(r *plan.Run) string {
	msg := "No step succeeded, so there is nothing to answer from."
	for _, st := range r.Steps {
		if st.Error != nil {
			return fmt.Sprintf("%s Step %s failed first: %s", msg, st.ID, st.Error.Message)
		}
	}
	return msg
}
