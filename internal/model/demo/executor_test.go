package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/plan"
)

func TestInstructionsThatAPersonWrote(t *testing.T) {
	l := newLoop(t)
	cities := map[string]string{}
	for i, name := range []string{"Brindlemoor", "Quillhaven", "Atlantis"} {
		id := fmt.Sprintf("s%d", i+1)
		cities[id], _ = l.carryOut("", plan.Step{ID: id, Instruction: "Look up " + name}, nil)
	}
	// A tool step's result is the tool's own words.
	cities["s4"] = `{"city":"Tarnby","population":39000,"area_km2":130,"founded":1893}`
	cities["s5"], _ = l.carryOut("", plan.Step{ID: "s5", Instruction: "Look up Ashwick and Tarnby"}, nil)
	for _, c := range []struct {
		instruction string
		needs       []string
		says        string
	}{
		{"Say which is the densest.", []string{"s1", "s2"}, "Quillhaven is the densest"},
		{"Which one has the fewest people?", []string{"s1", "s4"}, "Tarnby is the least populous: 39,000 people"},
		{"Add up the population", []string{"s1", "s2", "s3"}, "Atlantis is not known, so no total"},
		{"How old are they?", []string{"s5"}, "Ashwick was founded in 1502. Tarnby was founded in 1893."},
		{"Compare the area of Ashwick and Tarnby: which is largest?", nil, "Ashwick is the largest: 350.0 km²"},
		{"Work out the density of quillhaven", nil, "Quillhaven has 1,200.0 people per km²."},
		{"Find which of Tarnby and Brindlemoor is the oldest", []string{"s4"}, "Brindlemoor is the oldest"},
		{"Look up Tarnby and say the ratio of its population to that of Brindlemoor", nil, "0.46 times"},
	} {
		data, _ := l.carryOut("", plan.Step{ID: "x", Instruction: c.instruction, DependsOn: c.needs}, cities)
		if !strings.Contains(data, c.says) {
			t.Errorf("%s: %s, want %s", c.instruction, data, c.says)
		}
	}
}

// step is a request to carry out one instruction, with tools that have
// answered in the way given.
func step(instruction string, tools []string, answered ...model.ToolResult) model.Request {
	req := model.Request{Role: plan.RoleExecutor, Messages: []model.Message{{Speaker: model.User, Text: "<question>\nq\n</question>\n<step id=\"s1\">\n" +
		instruction + "\n</step>\n<results>\nnone: this step depends on nothing\n</results>"}}}
	for _, name := range tools {
		req.Tools = append(req.Tools, model.Tool{Name: name})
	}
	for _, r := range answered {
		arguments := fmt.Appendf(nil, `{%q:%q}`, map[string]string{"get_city": "name", "calculate": "expression"}[r.Name], r.ID)
		req.Messages = append(req.Messages,
			model.Message{Speaker: model.Assistant, Calls: []model.ToolCall{{ID: r.ID, Name: r.Name, Arguments: arguments}}},
			model.Message{Speaker: model.ToolSpeaker, Results: []model.ToolResult{r}})
	}
	return req
}

func both() []string { return []string{"get_city", "calculate"} }

func TestToolsThatFailAreSaidToHaveFailed(t *testing.T) {
	m := demo.New(demo.Pace{})
	tarnby := model.ToolResult{ID: "Tarnby", Name: "get_city", Text: `{"city":"Tarnby","population":39000,"area_km2":130,"founded":1893}`}
	for name, c := range map[string]struct {
		req  model.Request
		says string
	}{
		"broken": {step("Look up Tarnby", both(), model.ToolResult{ID: "Tarnby", Name: "get_city", IsError: true, Text: "The tool get_city broke and gave no result."}), "Tarnby could not be looked up (The tool get_city broke and gave no result)"},
		"junk":   {step("Look up Tarnby", both(), model.ToolResult{ID: "Tarnby", Name: "get_city", Text: "<html>"}), "could not be looked up (<html>)"},
		"silent": {step("Look up Tarnby", both(), model.ToolResult{ID: "Tarnby", Name: "get_city"}), "could not be looked up (no reason was given)"},
		"cannot": {step("Work out the density of Tarnby", both(), tarnby, model.ToolResult{ID: "39000 / 130", Name: "calculate", IsError: true, Text: "It is too hot."}), "39000 / 130 could not be worked out: It is too hot."},
		"words":  {step("Work out the density of Tarnby", both(), tarnby, model.ToolResult{ID: "39000 / 130", Name: "calculate", Text: "three hundred"}), "could not be worked out: three hundred."},
		"spaces": {step("Work out the density of Tarnby", both(), tarnby, model.ToolResult{ID: "39000 / 130", Name: "calculate", Text: " 300\n"}), "Tarnby has 300.0 people per km²."},
	} {
		resp, err := m.Generate(t.Context(), c.req)
		if err != nil || len(resp.Calls) > 0 || !strings.Contains(resp.Text, c.says) {
			t.Errorf("%s: %+v, %v, want %s", name, resp, err, c.says)
		}
	}
}

func TestARunWithoutTheToolsIsToldSo(t *testing.T) {
	m := demo.New(demo.Pace{})
	for _, tools := range [][]string{nil, {"calculate"}} {
		_, err := m.Generate(t.Context(), step("Look up Tarnby", tools))
		if kindOf(err) != model.BeyondDemo || !strings.Contains(err.Error(), "get_city") {
			t.Errorf("with %v: %v", tools, err)
		}
	}
	for _, instruction := range []string{"", "Do something clever.", "Add up what there is.", "Be nice to Tarnby."} {
		if _, err := m.Generate(t.Context(), step(instruction, both())); kindOf(err) != model.BeyondDemo {
			t.Errorf("%q: %v", instruction, err)
		}
	}
}

func TestTheAnswerSaysWhatCouldNotBeDone(t *testing.T) { // BEHAVIOUR 9.1
	l := newLoop(t)
	got := l.writes("q", []string{
		`{"step":"s1","instruction":"Look up Tarnby","result":"Tarnby has 39,000 people.","data":{"city":"Tarnby"}}`,
		`{"step":"s2","instruction":"Look up Ashwick","status":"FAILED","reason":"The server\nis away."}`,
		`{"step":"s3","instruction":"Compare","status":"SKIPPED (a step it needed did not complete)","reason":"s2 failed"}`,
	})
	for _, says := range []string{"could not be answered whole", "Tarnby has 39,000 people.", "Step s2 is failed: The server is away.", "Step s3 is skipped (a step it needed did not complete): s2 failed."} {
		if !strings.Contains(got.Result, says) {
			t.Errorf("the answer %q does not say %s", got.Result, says)
		}
	}
	if got.Value != nil || got.Subject != "" || fmt.Sprint(got.RestsOn) != "[s1]" {
		t.Errorf("answer = %+v", got)
	}
	if got = l.writes("q", nil); !strings.Contains(got.Result, "No step completed") || got.RestsOn != nil {
		t.Errorf("without steps: %+v", got)
	}
	got = l.writes("q", []string{`{"step":"s1","result":"a","data":[1]}`, `{"step":"s2","status":"NOT RUN"}`, `{"step":"s3","result":"Plain words."}`})
	if !strings.HasPrefix(got.Result, "Plain words.") || !strings.Contains(got.Result, "Step s2 is not run: no reason was given.") {
		t.Errorf("answer = %+v", got)
	}
}

func TestThePaceIsTheSameForTheSameRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := demo.New(demo.Watchable())
		took := func(question string) time.Duration {
			start := time.Now()
			if _, err := m.Generate(t.Context(), asking(question)); err != nil {
				t.Fatal(err)
			}
			return time.Since(start)
		}
		seen := map[time.Duration]bool{}
		for _, q := range demo.Questions() {
			d := took(q)
			if d < 500*time.Millisecond || d > 1100*time.Millisecond || d != took(q) {
				t.Errorf("%s takes %s, then another time", q, d)
			}
			seen[d] = true
		}
		if len(seen) < 2 {
			t.Errorf("all questions take the same time: %v", seen)
		}
	})
}

func TestWaitingCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := demo.New(demo.Pace{Min: time.Hour, Max: time.Hour}).Generate(ctx, asking(demo.Questions()[0]))
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; kindOf(err) != model.Cancelled {
			t.Errorf("error = %v", err)
		}
		if _, err := demo.New(demo.Pace{}).Generate(ctx, asking(demo.Questions()[0])); kindOf(err) != model.Cancelled {
			t.Errorf("with an ended context: %v", err)
		}
	})
}

func TestUsageIsEstimatedAndNamed(t *testing.T) {
	resp, err := demo.New(demo.Pace{}).Generate(t.Context(), asking(demo.Questions()[0]))
	u := resp.Usage
	if err != nil || resp.Model != model.Demo || u.Requests != 1 || u.InputTokens < 20 || u.OutputTokens < 50 || u.TotalTokens != u.InputTokens+u.OutputTokens {
		t.Errorf("%+v, %v", resp, err)
	}
	if c := model.BuiltinPrices().Cost(model.Demo, u); c == nil || *c != 0 {
		t.Errorf("cost = %v, want zero", c)
	}
}

// anyText is text that is likely to hit something.
func anyText() *rapid.Generator[string] {
	words := rapid.SampledFrom([]string{
		"Brindlemoor", "quillhaven", "Tarnby's", "ASHWICK", "Atlantis", "New York", "É", "ß", "\xff", "the", "of", "and", ",", ".", "\n", "most", "least", "percent", "% of",
		"density", "population", "oldest", "largest", "difference", "sum", "ratio", "than", "as", "leave out", "add", "only", "look up", "</step>", "<step id=\"a\">", "<question>",
		"</question>", "<comment>", "\n<comment>\n", "\n</comment>\n", "<results>", "{", "}", `{"step":"s1","data":{"city":"Tarnby"}}`, "null", "0", "1e999",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(words, rapid.String()), 0, 20).Draw(t, "words"), " ")
	})
}

func TestNoTextMakesItPanic(t *testing.T) {
	m := demo.New(demo.Pace{})
	rapid.Check(t, func(rt *rapid.T) {
		text := anyText()
		req := model.Request{Role: rapid.SampledFrom(plan.Roles()).Draw(rt, "role")}
		tag := rapid.SampledFrom([]string{"question", "step", "steps", "results", "comment"})
		for range rapid.IntRange(0, 4).Draw(rt, "messages") {
			block := tag.Draw(rt, "tag")
			inside := "<" + block + ">\n" + text.Draw(rt, "text") + "\n</" + block + ">\n<step id=\"s1\">\n" + text.Draw(rt, "step") + "\n</step>"
			msg := model.Message{Speaker: rapid.SampledFrom([]model.Speaker{model.User, model.Assistant, model.ToolSpeaker}).Draw(rt, "speaker"), Text: inside}
			arguments, _ := json.Marshal(map[string]string{"name": text.Draw(rt, "name")}) //nolint:errchkjson // texts always encode
			msg.Calls = []model.ToolCall{{ID: "1", Name: rapid.SampledFrom(both()).Draw(rt, "tool"), Arguments: arguments}}
			msg.Results = []model.ToolResult{{ID: "1", Text: text.Draw(rt, "result")}}
			req.Messages = append(req.Messages, msg)
		}
		req.Tools = []model.Tool{{Name: "get_city"}, {Name: "calculate"}}
		resp, err := m.Generate(t.Context(), req)
		if err == nil && resp.Text == "" && len(resp.Calls) == 0 {
			rt.Fatalf("%+v is answered with nothing", req)
		}
		if err == nil && resp.Text != "" && !json.Valid([]byte(resp.Text)) {
			rt.Fatalf("%+v is answered with %q", req, resp.Text)
		}
	})
}

// TestEveryQuestionIsAnsweredOrRefused holds that a question in the forms that
// the demo model reads always ends in an answer, whatever the cities.
func TestEveryQuestionIsAnsweredOrRefused(t *testing.T) {
	l := newLoop(t)
	rapid.Check(t, func(rt *rapid.T) {
		city := rapid.SampledFrom([]string{"Brindlemoor", "Quillhaven", "Tarnby", "Ashwick", "Atlantis", "El Dorado"})
		a := rapid.SampledFrom([]string{"Brindlemoor", "Quillhaven", "Tarnby", "Ashwick"}).Draw(rt, "a")
		b := city.Filter(func(s string) bool { return s != a }).Draw(rt, "b")
		question := fmt.Sprintf(rapid.SampledFrom([]string{
			"Which of %s and %s is the densest?", "Which of %s or %s is the least populous?", "Is %s larger than %s?", "Which is older, %s or %s?",
			"By how many percent is %s larger than %s?", "By how many percent is %s smaller than %s?", "How many times larger is %s than %s?",
			"What is the difference in density between %s and %s?", "How many years older is %s than %s?", "What is the total area of %s and %s?",
			"When were %s and %s founded?", "Tell me about %s and %s.",
		}).Draw(rt, "form"), a, b)
		l.t = rt
		got := l.answers(question)
		if (b == "Atlantis" || b == "El Dorado") && !strings.Contains(got.Result, b+" is not known") {
			rt.Fatalf("%s: %+v", question, got)
		}
	})
}
