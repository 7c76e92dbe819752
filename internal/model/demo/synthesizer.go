package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/model"
)

// report is a step as the synthesizer is told of it.
type report struct {
	Step   string `json:"step"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Result string `json:"result"`
	Data   struct {
		Subject string   `json:"subject"`
		Value   *float64 `json:"value"`
	} `json:"data"`
}

// answer writes the answer from what the last step found, or from all that
// completed when it did not.
func answer(req model.Request) (model.Response, error) {
	var done, missed []report
	var last report
	for line := range strings.SplitSeq(tagged(req.Messages[0].Text, "steps"), "\n") {
		var r report
		if json.Unmarshal([]byte(line), &r) != nil || r.Step == "" {
			continue
		}
		last = r
		if r.Status == "" {
			done = append(done, r)
		} else {
			missed = append(missed, r)
		}
	}
	out := map[string]any{}
	var text strings.Builder
	if last.Status == "" && last.Result != "" {
		text.WriteString(emphasised(last.Result, last.Data.Subject))
		out["rests_on"] = []string{last.Step}
		if last.Data.Subject != "" {
			out["subject"] = last.Data.Subject
		}
		if last.Data.Value != nil {
			out["value"] = *last.Data.Value
		}
	} else {
		text.WriteString("The question could not be answered whole. This is what was found:\n")
		for _, r := range done {
			fmt.Fprintf(&text, "\n- %s", r.Result)
		}
	}
	if len(missed) > 0 {
		text.WriteString("\n\nWhat could not be done:\n")
		for _, r := range missed {
			fmt.Fprintf(&text, "\n- step %s: %s", r.Step, strings.TrimSuffix(r.Reason, "."))
		}
	}
	out["result"] = text.String()
	return model.Response{Text: asJSON(out)}, nil
}

// emphasised puts the subject in bold where it first stands.
func emphasised(text, subject string) string {
	if subject == "" {
		return text
	}
	return strings.Replace(text, subject, "**"+subject+"**", 1)
}
