package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/model"
)

// report is a step as the synthesizer is told of it.
type report struct {
	Step   string          `json:"step"`
	Status string          `json:"status"`
	Reason string          `json:"reason"`
	Result string          `json:"result"`
	Data   json.RawMessage `json:"data"`
}

// done says whether the step has a result.
func (r report) done() bool { return r.Status == "" }

// reply is an answer as the synthesizer writes it.
type reply struct {
	Result  string   `json:"result"`
	Subject string   `json:"subject,omitempty"`
	Value   *float64 `json:"value,omitempty"`
	RestsOn []string `json:"rests_on,omitempty"`
}

// synthesize writes the answer: what the last step found or, when it did not
// complete, all that was found, and what could not be done.
func synthesize(req model.Request) model.Response {
	var last report
	var done, missed []report
	for line := range strings.SplitSeq(block(req.Messages[0].Text, "steps"), "\n") {
		var r report
		if json.Unmarshal([]byte(line), &r) != nil || r.Step == "" {
			continue
		}
		last = r
		if r.done() {
			done = append(done, r)
		} else {
			missed = append(missed, r)
		}
	}
	out := reply{Result: "No step completed, so there is nothing to answer with."}
	switch {
	case last.done() && strings.TrimSpace(last.Result) != "":
		out = whole(last)
	case len(done) > 0:
		out = parts(done)
	}
	if len(missed) > 0 {
		out.Result += "\n\nWhat could not be done:\n"
	}
	for _, r := range missed {
		out.Result += fmt.Sprintf("\n- Step %s is %s: %s.", r.Step, strings.ToLower(r.Status), strings.TrimRight(short(r.Reason), ". "))
	}
	return model.Response{Text: written(out)}
}

// whole is the answer that the last step found.
func whole(r report) reply {
	var f struct {
		Subject string   `json:"subject"`
		Value   *float64 `json:"value"`
	}
	if json.Unmarshal(r.Data, &f) != nil {
		f.Subject, f.Value = "", nil
	}
	out := reply{Result: r.Result, Subject: f.Subject, Value: f.Value, RestsOn: []string{r.Step}}
	if f.Subject != "" {
		out.Result = strings.Replace(r.Result, f.Subject, "**"+f.Subject+"**", 1)
	}
	return out
}

// parts is the answer from steps that were meant to be brought together.
func parts(done []report) reply {
	out := reply{Result: "The question could not be answered whole. This is what was found:\n"}
	for _, r := range done {
		out.Result += "\n- " + r.Result
		out.RestsOn = append(out.RestsOn, r.Step)
	}
	return out
}
