package agent

import (
	"fmt"
	"strings"

	"planwave/internal/prompt"
)

// executorValues are what the prompt of an executor is filled in with.
type executorValues struct {
	Tools    bool
	Contract bool
	Required string
	Checks   []string
}

// CheckPrompts says whether a set's prompts of the executor and the
// synthesizer can be filled in.
func CheckPrompts(set *prompt.Set) error {
	for _, v := range []executorValues{{}, {Tools: true, Contract: true, Required: "x", Checks: []string{"x > 0"}}} {
		if _, err := set.Fill(prompt.Executor, v); err != nil {
			return err
		}
	}
	_, err := set.Fill(prompt.Synthesizer, SynthesisInput{Instructions: "x"})
	return err
}

// block writes a text between tags. What is inside is data, so it cannot close
// its own tag: the slash of one that tries is set apart.
func block(tag, attributes, text string) string {
	end := "</" + tag + ">"
	return "<" + tag + attributes + ">\n" + strings.ReplaceAll(text, end, "< /"+tag+">") + "\n" + end
}

// executorPrompt is the user message for a step: the question, the step, and
// the results of exactly the steps that it names.
func executorPrompt(t Task, limit int) (string, error) {
	told := "none: this step depends on nothing"
	if len(t.Inputs) > 0 {
		limit = share(limit, len(t.Inputs))
		results := make([]resultLine, len(t.Inputs))
		for i, in := range t.Inputs {
			results[i] = resultLine{Step: in.Step}.with(in.Result, limit)
		}
		var err error
		if told, err = lines(results); err != nil {
			return "", err
		}
	}
	return strings.Join([]string{
		block("question", "", t.Question),
		block("step", fmt.Sprintf(" id=%q", t.Step.ID), t.Step.Instruction),
		block("results", "", told),
	}, "\n"), nil
}
