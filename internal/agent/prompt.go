package agent

import (
	"bytes"
	"embed"
	"encoding/json"
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

// block writes a text between tags. What is inside is data: a text that
// closes its own tag is still one block to a reader of lines.
func block(tag, attributes, text string) string {
	return "<" + tag + attributes + ">\n" + text + "\n</" + tag + ">"
}

// resultLine is one result as models are told of it, one JSON object a line.
type resultLine struct {
	Step        string          `json:"step"`
	Instruction string          `json:"instruction,omitempty"`
	Status      string          `json:"status,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Result      string          `json:"result,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
}

// lines writes results one a line. Data that says no more than the text is
// left out.
func lines(results []resultLine) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, r := range results {
		if onlyResult(r.Data) {
			r.Data = nil
		}
		if err := e.Encode(r); err != nil {
			return "", fmt.Errorf("write the result of step %s for a model: %w", r.Step, err)
		}
	}
	return strings.TrimSpace(out.String()), nil
}

// onlyResult says whether data is an object with no key but "result".
func onlyResult(data json.RawMessage) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return false
	}
	_, has := object["result"]
	return has && len(object) == 1
}

// executorPrompt is the user message for a step.
func executorPrompt(t Task, limit int) (string, error) {
	told := "none: this step depends on nothing"
	if len(t.Inputs) > 0 {
		results := make([]resultLine, len(t.Inputs))
		for i, in := range t.Inputs {
			results[i] = lineOf(in.Step, in.Result, limit)
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
