package runs

import (
	"context"
	"fmt"

	"planwave/internal/agent"
	"planwave/internal/plan"
)

// answer has the synthesizer write from whatever completed, and ends the run.
func (s *Service) answer(ctx context.Context, l *live) error {
	run := l.snapshot()
	m, name, err := s.meterFor(l, plan.RoleSynthesizer, "", run.AnswerAttempts)
	if err != nil {
		return err
	}
	w := agent.Synthesizer{Model: m, ModelName: name, MaxOutputTokens: outputTokens}
	answer, err := w.Write(ctx, agent.SynthesisInput{
		Question: run.Question, Instructions: run.Options.Instructions, Steps: reports(run),
	})
	if err != nil {
		return err
	}
	return l.update(context.WithoutCancel(ctx), func(r *plan.Run) ([]plan.Payload, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		written := plan.AnswerWritten{Answer: answer}
		if d := r.Step(r.Deliverable()); d != nil && d.Status == plan.StepStatusSucceeded {
			return []plan.Payload{written, plan.RunSucceeded{}}, nil
		}
		return []plan.Payload{written, plan.RunPartial{}}, nil
	})
}

// reports tells the synthesizer of every step, in plan order.
func reports(r *plan.Run) []agent.StepReport {
	out := make([]agent.StepReport, 0, len(r.Steps))
	for i, def := range r.Plan().Steps {
		st := r.Steps[i]
		rep := agent.StepReport{Step: st.ID, Instruction: def.Instruction}
		switch st.Status {
		case plan.StepStatusSucceeded:
			rep.Result = &st.Result
		case plan.StepStatusFailed, plan.StepStatusInvalid:
			rep.Status, rep.Reason = agent.StatusFailed, st.Error.Message
		case plan.StepStatusSkipped:
			rep.Status, rep.Reason = agent.StatusSkipped, fmt.Sprintf("step %s did not succeed", st.Cause)
		case plan.StepStatusPending, plan.StepStatusRunning, plan.StepStatusAwaitingApproval, plan.StepStatusCancelled:
			rep.Status, rep.Reason = agent.StatusNotRun, "the run ended before it"
		}
		out = append(out, rep)
	}
	return out
}
