package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"planwave/internal/agent"
	"planwave/internal/plan"
)

// answer has the synthesizer write from whatever completed, and ends the run.
func (s *Service) answer(ctx context.Context, l *live) error {
	run := l.snapshot()
	m, name, err := s.meterFor(l, run, plan.RoleSynthesizer, "", run.AnswerAttempts)
	if err != nil {
		return err
	}
	if m.journal, err = s.answerJournal(ctx, run); err != nil {
		return err
	}
	w := agent.Synthesizer{Model: m.retried(), ModelName: name, MaxOutputTokens: outputTokens, Prompts: s.Prompts}
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
		if r.Delivered() {
			return []plan.Payload{written, plan.RunSucceeded{}}, nil
		}
		return []plan.Payload{written, plan.RunPartial{}}, nil
	})
}

// answerJournal is what was recorded of this attempt at the answer before it was
// cut off.
func (s *Service) answerJournal(ctx context.Context, run *plan.Run) (*journal, error) {
	if run.AgentUsage[plan.RoleSynthesizer].Requests == 0 {
		return nil, nil
	}
	calls, err := s.Store.Trace(ctx, run.ID)
	if err != nil {
		return nil, fmt.Errorf("read what was recorded of the answer: %w", err)
	}
	calls = slices.DeleteFunc(calls, func(c plan.Call) bool { return c.Agent != plan.RoleSynthesizer })
	return newJournal(calls, nil, run.AnswerAttempts), nil
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
			rep.Status, rep.Reason = agent.StatusNotRun, cmp.Or(st.Reason, "the run ended before it")
		}
		out = append(out, rep)
	}
	return out
}
