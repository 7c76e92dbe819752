package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/plan"
)

// readAnswer reads what the synthesizer wrote, or says what is wrong with it.
// Plain text is an answer that rests on all that completed.
func readAnswer(text string, done []string) (plan.Answer, *flaw) {
	object, plain, err := readOutput(text, false)
	if err != nil {
		return plan.Answer{}, &flaw{
			told:  "Your answer cannot be read: " + err.Error() + ". Answer again with one whole JSON object.",
			final: outputError(err),
		}
	}
	if object == nil {
		return plan.Answer{Result: plain, RestsOn: done}, nil
	}
	keys := keysOf(object)
	a := plan.Answer{Value: numberOf(keys["value"]), RestsOn: done}
	a.Result, _ = wordsOf(keys["result"])
	a.Subject, _ = wordsOf(keys["subject"])
	if strings.TrimSpace(a.Result) == "" {
		return plan.Answer{}, refused(`It has no text in "result".`)
	}
	named, told := idsOf(keys["rests_on"])
	if !told {
		return a, nil
	}
	a.RestsOn = slices.DeleteFunc(slices.Clone(done), func(id string) bool { return !slices.Contains(named, id) })
	if len(a.RestsOn) == 0 {
		return plan.Answer{}, refused(fmt.Sprintf(`Its "rests_on" names no completed step. The completed steps are: %s.`, strings.Join(done, ", ")))
	}
	return a, nil
}

func refused(why string) *flaw {
	return &flaw{
		told:  "Your answer is refused. " + why + " Answer again with one JSON object.",
		final: plan.NewError(plan.CodeModelBadResponse, "The answer that the model wrote is refused. "+why+" Write the answer again.", nil),
	}
}

// numberOf reads a number, in quotes or not, and rounds it to one decimal
// place. What is no number is left out: the text has the answer.
func numberOf(v json.RawMessage) *float64 {
	text := string(v)
	if words, ok := wordsOf(v); ok {
		text = strings.TrimSpace(words)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	f = oneDecimal(f)
	return &f
}

// whole is the size from which a floating-point number has no decimal place.
const whole = 1 << 52

func oneDecimal(f float64) float64 {
	const tenth = 10
	if math.Abs(f) >= whole {
		return f
	}
	return math.Round(f*tenth)/tenth + 0 // + 0 makes -0 into 0
}

// idsOf reads a list of ids, or one id alone. It is false when nothing is said.
func idsOf(v json.RawMessage) (ids []string, told bool) {
	if len(v) == 0 || string(v) == "null" {
		return nil, false
	}
	if id, ok := wordsOf(v); ok {
		return []string{id}, true
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	for _, e := range list {
		id, ok := wordsOf(e)
		if !ok {
			id = string(e) // a number, as ids may be
		}
		ids = append(ids, id)
	}
	return ids, true
}
