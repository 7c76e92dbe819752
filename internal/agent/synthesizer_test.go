package agent

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/model"
	"planwave/internal/plan"
)

func write(t *testing.T, m model.Model, in SynthesisInput) (plan.Answer, error) {
	t.Helper()
	s := Synthesizer{Model: m, ModelName: "m", MaxOutputTokens: 100}
	return s.Write(t.Context(), in)
}

// halfDone is a run of which s1 and s3 completed.
func halfDone() SynthesisInput {
	return SynthesisInput{Question: "Which is densest?", Steps: []StepReport{
		{Step: "s1", Instruction: "Look up Tarnby.", Result: &plan.Result{Text: "39,000 on 130 km²", Data: json.RawMessage(`{"population": 39000}`)}},
		{Step: "s2", Instruction: "Look up Atlantis.", Status: StatusFailed, Reason: "Atlantis is not known."},
		{Step: "s3", Instruction: "Look up Ashwick.", Result: &plan.Result{Text: "210,000"}},
		{Step: "s4", Instruction: "Compare.", Status: StatusSkipped, Reason: "step s2 did not succeed"},
		{Step: "s5", Instruction: "Write <it> up.", Status: StatusNotRun, Reason: "the run ended before it"},
	}}
}

// BEHAVIOUR 9.1: step by step in plan order, each result or why there is none.
func TestTheSynthesizerIsToldOfEveryStep(t *testing.T) {
	m := speak(says(`{"result":"x"}`))
	if _, err := write(t, m, halfDone()); err != nil {
		t.Fatal(err)
	}
	want := `<question>
Which is densest?
</question>
<steps>
{"step":"s1","instruction":"Look up Tarnby.","result":"39,000 on 130 km²","data":{"population":39000}}
{"step":"s2","instruction":"Look up Atlantis.","status":"FAILED","reason":"Atlantis is not known."}
{"step":"s3","instruction":"Look up Ashwick.","result":"210,000"}
{"step":"s4","instruction":"Compare.","status":"SKIPPED (a step it needed did not complete)","reason":"step s2 did not succeed"}
{"step":"s5","instruction":"Write <it> up.","status":"NOT RUN","reason":"the run ended before it"}
</steps>`
	req := m.asked[0]
	if len(req.Messages) != 1 || req.Messages[0].Text != want {
		t.Errorf("it is told\n%s\nwant\n%s", req.Messages[0].Text, want)
	}
	// BEHAVIOUR 9.2: the synthesizer has no tools.
	if req.Tools != nil || req.Role != plan.RoleSynthesizer || req.Model != "m" || req.MaxOutputTokens != 100 {
		t.Errorf("the request is %+v", req)
	}
	if req.Schema == nil || !json.Valid(req.Schema.Schema) {
		t.Fatalf("the schema is %+v", req.Schema)
	}
	mentions(t, string(req.Schema.Schema), `"result"`, `"subject"`, `"value"`, `"rests_on"`)
	mentions(t, req.System, "language of the question", "Never invent", "FAILED, SKIPPED or NOT RUN", "rests_on")
	if strings.Contains(req.System, "adds:") || strings.Contains(req.System, "{{") {
		t.Errorf("without guidance it is told %q", req.System)
	}
}

// BEHAVIOUR 2.6: a run may carry extra instructions for the synthesizer.
func TestTheAskersGuidanceReachesTheSynthesizer(t *testing.T) {
	m := speak(says(`{"result":"x"}`))
	in := halfDone()
	in.Instructions = "Write <one> line & no more."
	if _, err := write(t, m, in); err != nil {
		t.Fatal(err)
	}
	mentions(t, m.asked[0].System, "Write <one> line & no more.")
}

func TestWhatTheSynthesizerIsToldIsCut(t *testing.T) {
	m := speak(says(`{"result":"x"}`))
	in := SynthesisInput{Steps: []StepReport{
		{Step: "s1", Instruction: strings.Repeat("i", 30_000), Result: &plan.Result{Text: strings.Repeat("r", 30_000)}},
		{Step: "s2", Status: StatusFailed, Reason: strings.Repeat("w", 30_000)},
	}}
	if _, err := write(t, m, in); err != nil {
		t.Fatal(err)
	}
	got := m.asked[0].Messages[0].Text
	for _, letter := range []string{"i", "r", "w"} {
		if !strings.Contains(got, strings.Repeat(letter, 20_000)+`\n… cut: showing 20,000 of 30,000`) {
			t.Errorf("%s is not cut", letter)
		}
	}
}

// BEHAVIOUR 9.2
func TestWhatAnswersAreReadAs(t *testing.T) {
	all := []string{"s1", "s3"}
	number := func(f float64) *float64 { return &f }
	tests := map[string]struct {
		text string
		want plan.Answer
	}{
		"everything": {
			`{"result":"**Tarnby**","subject":"Tarnby","value":1200.04,"rests_on":["s3"]}`,
			plan.Answer{Result: "**Tarnby**", Subject: "Tarnby", Value: number(1200), RestsOn: []string{"s3"}},
		},
		"the text only":             {`{"result":"x"}`, plan.Answer{Result: "x", RestsOn: all}},
		"plain text":                {" **Tarnby** it is.\n", plan.Answer{Result: "**Tarnby** it is.", RestsOn: all}},
		"nothing said by null":      {`{"result":"x","subject":null,"value":null,"rests_on":null}`, plan.Answer{Result: "x", RestsOn: all}},
		"ids in plan order, once":   {`{"result":"x","rests_on":["s3","s1","s3"]}`, plan.Answer{Result: "x", RestsOn: all}},
		"ids that did not complete": {`{"result":"x","rests_on":["s2","s9","s1"]}`, plan.Answer{Result: "x", RestsOn: []string{"s1"}}},
		"one id alone":              {`{"result":"x","rests_on":"s3"}`, plan.Answer{Result: "x", RestsOn: []string{"s3"}}},
		"a value in quotes":         {`{"result":"x","value":" -0.04 "}`, plan.Answer{Result: "x", Value: number(0), RestsOn: all}},
		"a value with words":        {`{"result":"x","value":"about 12"}`, plan.Answer{Result: "x", RestsOn: all}},
		"a value beyond all":        {`{"result":"x","value":1e999}`, plan.Answer{Result: "x", RestsOn: all}},
		"a value without end":       {`{"result":"x","value":"Inf"}`, plan.Answer{Result: "x", RestsOn: all}},
		"a subject of another type": {`{"result":"x","subject":["a"]}`, plan.Answer{Result: "x", RestsOn: all}},
		"in a fence, after thought": {"<think>so</think>```json\n{\"result\":\"x\",\"rests_on\":[\"s1\"],}\n```", plan.Answer{Result: "x", RestsOn: []string{"s1"}}},
		"text with an example":      {"Set ```{\"a\":1}``` and go.", plan.Answer{Result: "Set ```{\"a\":1}``` and go.", RestsOn: all}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := write(t, speak(says(tt.text)), halfDone())
			if err != nil {
				t.Fatal(err)
			}
			if got.Result != tt.want.Result || got.Subject != tt.want.Subject || !slices.Equal(got.RestsOn, tt.want.RestsOn) {
				t.Errorf("it is %+v", got)
			}
			if (got.Value == nil) != (tt.want.Value == nil) || got.Value != nil && *got.Value != *tt.want.Value {
				t.Errorf("the value is %v", got.Value)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestIdsMayBeNumbers(t *testing.T) {
	in := SynthesisInput{Steps: []StepReport{{Step: "1", Result: &plan.Result{Text: "a"}}, {Step: "2", Result: &plan.Result{Text: "b"}}}}
	for _, text := range []string{`{"result":"x","rests_on":[2]}`, `{"result":"x","rests_on":2}`} {
		if got, err := write(t, speak(says(text)), in); err != nil || !slices.Equal(got.RestsOn, []string{"2"}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// BEHAVIOUR 9.3: an answer that names no completed step is refused, after one
// request to correct it.
func TestAnswersAreRefusedAfterOneCorrection(t *testing.T) {
	tests := map[string]struct {
		text, told string
		code       plan.Code
	}{
		"it rests on what failed":  {`{"result":"x","rests_on":["s2"]}`, "names no completed step. The completed steps are: s1, s3.", plan.CodeModelBadResponse},
		"it rests on nothing":      {`{"result":"x","rests_on":[]}`, "names no completed step", plan.CodeModelBadResponse},
		"it rests on other things": {`{"result":"x","rests_on":{"a":1}}`, "names no completed step", plan.CodeModelBadResponse},
		"it has no text":           {`{"subject":"x"}`, `no text in "result"`, plan.CodeModelBadResponse},
		"its text is blank":        {`{"result":" "}`, `no text in "result"`, plan.CodeModelBadResponse},
		"its text is a number":     {`{"result":5}`, `no text in "result"`, plan.CodeModelBadResponse},
		"it is empty":              {` `, "it is empty", plan.CodeModelBadResponse},
		"it is cut off":            {`{"result":"the densest is`, "ends before it is complete", plan.CodeOutputTruncated},
		"it is two":                {`{"result":"a"} {"result":"b"}`, "2 different values", plan.CodeModelBadResponse},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := speak(says(tt.text), says(`{"result":"mended","rests_on":["s1"]}`))
			got, err := write(t, m, halfDone())
			if err != nil || got.Result != "mended" {
				t.Fatalf("the answer is %+v, %v", got, err)
			}
			told := m.asked[1].Messages
			if len(told) != 3 || told[1].Speaker != model.Assistant || told[1].Text != tt.text || told[2].Speaker != model.User {
				t.Fatalf("it is told %+v", told)
			}
			mentions(t, told[2].Text, tt.told, "Answer again")
			m = speak(says(tt.text), says(tt.text), says(`{"result":"late"}`))
			_, err = write(t, m, halfDone())
			code(t, err, tt.code)
			if len(m.asked) != 2 {
				t.Errorf("it is asked %d times", len(m.asked))
			}
		})
	}
}

// BEHAVIOUR 5.6: if no step succeeds, the synthesizer is not called.
func TestWithoutACompletedStepNoModelIsAsked(t *testing.T) {
	in := halfDone()
	in.Steps = in.Steps[1:2]
	m := speak(says(`{"result":"invented"}`))
	_, err := write(t, m, in)
	code(t, err, plan.CodeAllStepsFailed, "No step completed")
	if len(m.asked) != 0 {
		t.Error("a model was asked")
	}
}

func TestAFailedModelPassesThroughTheSynthesizer(t *testing.T) {
	cause := &model.Error{Kind: model.Auth, Message: "Check the key."}
	_, err := write(t, speak(says(`{}`), fails(cause)), halfDone())
	if e, ok := errors.AsType[*model.Error](err); !ok || e != cause {
		t.Errorf("the error is %v", err)
	}
}

// BEHAVIOUR 9.2: a value is rounded to one decimal place.
func TestValuesHaveOneDecimalPlace(t *testing.T) {
	for in, want := range map[float64]float64{1200: 1200, 0.25: 0.3, -0.25: -0.3, 66.66666: 66.7, 0.04: 0, 1.7e308: 1.7e308, -1e17: -1e17} {
		if got := oneDecimal(in); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
	if math.Signbit(oneDecimal(-0.01)) {
		t.Error("there is a zero below zero")
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(-1e12, 1e12).Draw(t, "value")
		got := oneDecimal(f)
		if math.Abs(got-f) > 0.0501 || oneDecimal(got) != got {
			t.Fatalf("%v becomes %v, then %v", f, got, oneDecimal(got))
		}
	})
}
