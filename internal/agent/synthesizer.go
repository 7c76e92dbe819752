package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/prompt"
	"planwave/internal/tools"
)

// How the synthesizer is told of a step without a result.
const (
	StatusFailed  = "FAILED"
	StatusSkipped = "SKIPPED (a step it needed did not complete)"
	StatusNotRun  = "NOT RUN"
)

// StepReport is what the synthesizer is told of one step.
type StepReport struct {
	Step        string
	Instruction string
	Result      *plan.Result // nil when the step did not complete
	Status      string       // when Result is nil: one of the Status constants
	Reason      string
}

// SynthesisInput is what an answer is written from.
type SynthesisInput struct {
	Question     string
	Instructions string       // the asker's extra guidance
	Steps        []StepReport // in plan order
}

// Told is what a model is told of steps: a JSON object for each, one a line.
func Told(steps []StepReport) (string, error) {
	limit := share(tools.ResultLimit, len(steps))
	told := make([]resultLine, len(steps))
	for i, st := range steps {
		told[i] = resultLine{Step: st.Step, Instruction: tools.Cut(st.Instruction, limit)}
		if st.Result != nil {
			told[i] = told[i].with(*st.Result, limit)
			continue
		}
		told[i].Status, told[i].Reason = st.Status, tools.Cut(st.Reason, limit)
	}
	return lines(told)
}

// completed are the ids of the steps with a result, in plan order.
func (in SynthesisInput) completed() []string {
	var ids []string
	for _, st := range in.Steps {
		if st.Result != nil {
			ids = append(ids, st.Step)
		}
	}
	return ids
}

// Synthesizer writes answers. It has no tools.
type Synthesizer struct {
	Model           model.Model
	ModelName       string // after the provider
	MaxOutputTokens int
	Prompts         *prompt.Set // nil has those that are built in
}

// answerSchema is the form of an answer.
const answerSchema = `{"type":"object","properties":{
"result":{"type":"string","description":"the answer in Markdown"},
"subject":{"type":"string","description":"what or whom the answer names"},
"value":{"type":"number","description":"the one number asked for"},
"rests_on":{"type":"array","items":{"type":"string"},"description":"ids of the completed steps the answer rests on"}},
"required":["result"]}`

// Write writes the answer. One that cannot be read or names no completed step
// is sent back once and then refused. Without any completed step there is
// nothing to write from, and no model is asked.
func (s *Synthesizer) Write(ctx context.Context, in SynthesisInput) (plan.Answer, error) {
	done := in.completed()
	if len(done) == 0 {
		return plan.Answer{}, plan.NewError(plan.CodeAllStepsFailed, "No step completed, so there is nothing to answer from.", nil)
	}
	req, err := s.request(in)
	if err != nil {
		return plan.Answer{}, err
	}
	for corrected := false; ; corrected = true {
		resp, err := s.Model.Generate(ctx, req)
		if err != nil {
			return plan.Answer{}, fmt.Errorf("write the answer: %w", err)
		}
		answer, wrong := readAnswer(resp.Text, done)
		if wrong == nil {
			return answer, nil
		}
		if corrected {
			return plan.Answer{}, wrong.final
		}
		req.Messages = append(req.Messages,
			model.Message{Speaker: model.Assistant, Text: resp.Text},
			model.Message{Speaker: model.User, Text: wrong.told})
	}
}

func (s *Synthesizer) request(in SynthesisInput) (model.Request, error) {
	system, err := s.Prompts.Fill(prompt.Synthesizer, in)
	if err != nil {
		return model.Request{}, err
	}
	steps, err := Told(in.Steps)
	if err != nil {
		return model.Request{}, err
	}
	return model.Request{
		Model: s.ModelName, Role: plan.RoleSynthesizer, System: system, MaxOutputTokens: s.MaxOutputTokens,
		Schema: &model.Schema{Name: "answer", Schema: json.RawMessage(answerSchema)},
		Messages: []model.Message{{
			Speaker: model.User,
			Text:    strings.Join([]string{block("question", "", in.Question), block("steps", "", steps)}, "\n"),
		}},
	}, nil
}
