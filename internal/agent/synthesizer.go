package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"planwave/internal/looseread"
	"planwave/internal/model"
	"planwave/internal/plan"
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
	Instructions string // the asker's extra guidance
	Steps        []StepReport
}

// Synthesizer writes answers. It has no tools.
type Synthesizer struct {
	Model           model.Model
	ModelName       string // after the provider
	MaxOutputTokens int
}

// answerSchema is the form of an answer.
const answerSchema = `{"type":"object","properties":{
"result":{"type":"string","description":"the answer in Markdown"},
"subject":{"type":"string","description":"what or whom the answer names"},
"value":{"type":"number","description":"the one number asked for"},
"rests_on":{"type":"array","items":{"type":"string"},"description":"ids of the completed steps the answer rests on"}},
"required":["result"]}`

// Write writes the answer. An answer that rests on no completed step is sent
// back once and then refused.
func (s *Synthesizer) Write(ctx context.Context, in SynthesisInput) (plan.Answer, error) {
	req, err := s.request(in)
	if err != nil {
		return plan.Answer{}, err
	}
	var done []string
	for _, st := range in.Steps {
		if st.Result != nil {
			done = append(done, st.Step)
		}
	}
	for try := 0; ; try++ {
		resp, err := s.Model.Generate(ctx, req)
		if err != nil {
			return plan.Answer{}, fmt.Errorf("write the answer: %w", err)
		}
		answer, problem := readAnswer(resp.Text, done)
		if problem == "" {
			return answer, nil
		}
		if try > 0 {
			return plan.Answer{}, plan.NewError(plan.CodeModelBadResponse, "The answer was refused: "+problem, nil)
		}
		req.Messages = append(req.Messages,
			model.Message{Speaker: model.Assistant, Text: resp.Text},
			model.Message{Speaker: model.User, Text: problem + " Answer again with one JSON object."})
	}
}

func (s *Synthesizer) request(in SynthesisInput) (model.Request, error) {
	system, err := prompt("synthesizer", in)
	if err != nil {
		return model.Request{}, err
	}
	told := make([]resultLine, len(in.Steps))
	for i, st := range in.Steps {
		told[i] = resultLine{Step: st.Step, Status: st.Status, Reason: tools.Cut(st.Reason, tools.ResultLimit)}
		if st.Result != nil {
			told[i] = lineOf(st.Step, *st.Result, tools.ResultLimit)
		}
		told[i].Instruction = tools.Cut(st.Instruction, tools.ResultLimit)
	}
	steps, err := lines(told)
	if err != nil {
		return model.Request{}, err
	}
	return model.Request{
		Model: s.ModelName, Role: plan.RoleSynthesizer, System: system, MaxOutputTokens: s.MaxOutputTokens,
		Schema:   &model.Schema{Name: "answer", Schema: json.RawMessage(answerSchema)},
		Messages: []model.Message{{Speaker: model.User, Text: block("question", "", in.Question) + "\n" + block("steps", "", steps)}},
	}, nil
}

// readAnswer reads what the synthesizer wrote, or says what is wrong with it.
// Plain text is an answer that rests on all that completed.
func readAnswer(text string, done []string) (plan.Answer, string) {
	if strings.TrimSpace(text) == "" {
		return plan.Answer{}, "The answer is empty."
	}
	raw, err := looseread.Find(text, func(v json.RawMessage) bool { return v[0] == '{' })
	if err != nil || raw[0] != '{' {
		if trimmed := strings.TrimSpace(text); err != nil && (trimmed[0] == '{' || strings.HasPrefix(trimmed, "```")) {
			return plan.Answer{}, fmt.Sprintf("The answer cannot be read: %v.", err)
		}
		return plan.Answer{Result: strings.TrimSpace(text), RestsOn: done}, ""
	}
	var in struct {
		Result  any      `json:"result"`
		Subject any      `json:"subject"`
		Value   *float64 `json:"value"`
		RestsOn []string `json:"rests_on"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return plan.Answer{}, fmt.Sprintf("The answer has a key of the wrong type: %v.", err)
	}
	result, _ := in.Result.(string)
	if strings.TrimSpace(result) == "" {
		return plan.Answer{}, `The answer has no "result" text.`
	}
	subject, _ := in.Subject.(string)
	a := plan.Answer{Result: result, Subject: subject, Value: oneDecimal(in.Value), RestsOn: done}
	if in.RestsOn == nil {
		return a, ""
	}
	a.RestsOn = slices.DeleteFunc(slices.Clone(done), func(id string) bool { return !slices.Contains(in.RestsOn, id) })
	if len(a.RestsOn) == 0 {
		return plan.Answer{}, fmt.Sprintf(`"rests_on" names no completed step. The completed steps are: %s.`, strings.Join(done, ", "))
	}
	return a, ""
}

// oneDecimal rounds a value to one decimal place.
func oneDecimal(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	r := math.Round(*v*10) / 10
	return &r
}
