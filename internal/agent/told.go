package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

// resultLine is one step as models are told of it, one JSON object a line.
type resultLine struct {
	Step        string          `json:"step"`
	Instruction string          `json:"instruction,omitempty"`
	Status      string          `json:"status,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Result      string          `json:"result,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
}

const (
	// mostTold is how much, in characters, a model is told of all results
	// together, shared among them evenly.
	mostTold = 200_000
	// leastTold is what each result is told with however many there are.
	leastTold = 200
)

// share is how much of each of n results a model is told: at most limit.
func share(limit, n int) int {
	return min(limit, max(mostTold/max(n, 1), leastTold))
}

// with returns the line with a result, cut at limit characters. Data that says
// no more than the text is left out; data over the limit is replaced by a
// notice, since a cut object is no object.
func (l resultLine) with(r plan.Result, limit int) resultLine {
	l.Result = tools.Cut(r.Text, limit)
	data := tools.WithoutBlobs(r.Data)
	switch n := utf8.RuneCount(data); {
	case len(data) == 0 || onlyResult(data):
	case n > limit:
		l.Data, _ = json.Marshal(tools.CutNotice(0, n)) // a text always encodes
	default:
		l.Data = data
	}
	return l
}

// onlyResult says whether data is an object with no key but "result".
func onlyResult(data json.RawMessage) bool {
	return len(keysOf(data)) == 1 && hasResult(data)
}

// lines writes steps one a line, without escaping what is no HTML.
func lines(told []resultLine) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, l := range told {
		if err := e.Encode(l); err != nil {
			return "", fmt.Errorf("tell a model of step %s: %w", l.Step, err)
		}
	}
	return strings.TrimSpace(out.String()), nil
}
