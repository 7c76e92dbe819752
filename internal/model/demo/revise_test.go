package demo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/plan"
)

// sendBack asks for a plan again with a comment, as a person does.
func sendBack(question string, previous plan.Plan, comment string) model.Request {
	b, _ := json.Marshal(previous) //nolint:errchkjson // a plan always encodes
	req := asking(question)
	req.Messages = append(req.Messages, model.Message{Speaker: model.Assistant, Text: string(b)},
		model.Message{Speaker: model.User, Text: "The person asks for changes:\n<comment>\n" + comment + "\n</comment>\nWrite it again."})
	return req
}

func TestCommentsChangeThePlan(t *testing.T) { // BEHAVIOUR 2.5
	l := newLoop(t)
	question := demo.Questions()[0]
	for comment, want := range map[string]string{ // the answer
		"Also look at Ashwick.":                             "Quillhaven 1200 in 5 steps",
		"leave out Quillhaven":                              "Brindlemoor 700 in 3 steps",
		"leave out Quillhaven and Brindlemoor, add Ashwick": "Ashwick 600 in 3 steps",
		"Replace Quillhaven with Ashwick, please":           "Brindlemoor 700 in 4 steps",
		"Take Ashwick instead of Quillhaven":                "Brindlemoor 700 in 4 steps",
		"only Tarnby and Ashwick":                           "Ashwick 600 in 3 steps",
		"use the largest area instead":                      " 130 in 4 steps",
		"I want the oldest one":                             "Quillhaven 1648 in 4 steps",
		"compare the population":                            "Quillhaven 156000 in 4 steps",
		"rather the least dense":                            "Tarnby 300 in 4 steps",
		"add up the population of them":                     " 279000 in 4 steps",
		"Also Atlantis, and add Ashwick":                    "Quillhaven 1200 in 6 steps",
		"leave out Tarnby and Brindlemoor":                  "Quillhaven 1200 in 2 steps",
	} {
		before, _ := l.plans(asking(question))
		p, corrections := l.plans(sendBack(question, before, comment))
		got := l.runs(question, p)
		value := "none"
		if got.Value != nil {
			value = fmt.Sprint(*got.Value)
		}
		if s := fmt.Sprintf("%s %s in %d steps", got.Subject, value, len(p.Steps)); s != want || corrections != 0 {
			t.Errorf("%s: %s after %d corrections, want %s", comment, s, corrections, want)
		}
	}
}

func TestASecondCommentBuildsOnTheFirst(t *testing.T) {
	l := newLoop(t)
	question := demo.Questions()[0]
	p, _ := l.plans(asking(question))
	p, _ = l.plans(sendBack(question, p, "leave out Quillhaven"))
	p, _ = l.plans(sendBack(question, p, "also look at Ashwick"))
	p, _ = l.plans(sendBack(question, p, "the largest population, not the density"))
	if got := l.runs(question, p); got.Subject != "Ashwick" || *got.Value != 210000 || len(p.Steps) != 4 {
		t.Errorf("%+v from %+v", got, p)
	}
}

func TestACommentThatIsNotUnderstoodKeepsThePlanAndSaysSo(t *testing.T) {
	l := newLoop(t)
	question := demo.Questions()[0]
	before, _ := l.plans(asking(question))
	p := before
	for _, comment := range []string{"make it nicer", "leave out Brindlemoor, Quillhaven and Tarnby", "be quick about it!"} {
		p, _ = l.plans(sendBack(question, p, comment))
		last := p.Steps[3].Instruction
		if !strings.HasPrefix(last, before.Steps[3].Instruction) || strings.Count(last, "beyond the demo model") != 1 {
			t.Errorf("%s: the last step is %q", comment, last)
		}
	}
	if got := l.runs(question, p); got.Subject != "Quillhaven" || *got.Value != 1200 {
		t.Errorf("the plan answers %+v", got)
	}
	req := sendBack(question, before, "make it nicer")
	req.Messages[1].Text = "this is no plan"
	if _, err := l.model.Generate(t.Context(), req); kindOf(err) != model.BeyondDemo {
		t.Errorf("without a plan to keep: %v", err)
	}
}

func kindOf(err error) model.Kind {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Kind
	}
	return ""
}

func TestAPlanThatAPersonWroteIsWhatACommentChanges(t *testing.T) {
	l := newLoop(t)
	edited := plan.Plan{Steps: []plan.Step{
		{ID: "a", Instruction: "Look up Ashwick.", DependsOn: []string{}},
		{ID: "b", Instruction: "Please look up Tarnby!", DependsOn: []string{}},
		{ID: "c", Instruction: "Which of the two is the oldest?", DependsOn: []string{"a", "b"}},
	}}
	p, _ := l.plans(sendBack("Which is the best?", edited, "also Quillhaven"))
	if got := l.runs("", p); got.Subject != "Ashwick" || *got.Value != 1502 || len(p.Steps) != 4 {
		t.Errorf("%+v from %+v", got, p)
	}
}

func TestPlansKeepTheStepLimit(t *testing.T) {
	l := newLoop(t)
	const question = "What is the combined population of Brindlemoor, Quillhaven, Tarnby, Ashwick, Atlantis, Avalon and Camelot?"
	for limit := 1; limit <= plan.DefaultMaxSteps; limit++ {
		req := asking(question)
		req.Schema = &model.Schema{Schema: fmt.Appendf(nil, `{"properties":{"steps":{"type":"array","maxItems":%d}}}`, limit)}
		p, _ := l.plans(req)
		if len(p.Steps) > limit {
			t.Errorf("%d steps, %d is the limit: %+v", len(p.Steps), limit, p)
		}
		got := l.runs(question, p)
		for _, name := range []string{"Atlantis", "Avalon", "Camelot", "156,000"} {
			if !strings.Contains(got.Result, name) {
				t.Errorf("limit %d: the answer %q does not say %s", limit, got.Result, name)
			}
		}
	}
	req := asking(question)
	if p, _ := l.plans(req); len(p.Steps) > plan.DefaultMaxSteps {
		t.Errorf("without a schema there are %d steps", len(p.Steps))
	}
}
