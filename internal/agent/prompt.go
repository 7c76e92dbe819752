package agent

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// prompt fills in one of the embedded prompts.
func prompt(name string, values any) (string, error) {
	t, err := template.ParseFS(promptFiles, "prompts/"+name+".txt")
	if err != nil {
		return "", fmt.Errorf("read the prompt %s: %w", name, err)
	}
	var out strings.Builder
	if err := t.Execute(&out, values); err != nil {
		return "", fmt.Errorf("fill in the prompt %s: %w", name, err)
	}
	return strings.TrimSpace(out.String()), nil
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
