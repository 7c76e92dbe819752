package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

func TestAModelMayAnswerWithoutTools(t *testing.T) {
	got, err := carryOut(t, speak(says(`{"result":"Tarnby has 39,000 people.","population":39000}`)), task())
	if err != nil || got.Text != "Tarnby has 39,000 people." || string(got.Data) != `{"result":"Tarnby has 39,000 people.","population":39000}` {
		t.Errorf("the result is %+v, %v", got, err)
	}
}

// BEHAVIOUR 4.3, 4.4: a real tool in the middle of a step.
func TestToolResultsGoBackToTheModel(t *testing.T) {
	m := speak(
		calls(toolCall("c1", "get_city", `{"name":"tarnby"}`), toolCall("c2", "get_city", `{"name":"Atlantis"}`)),
		calls(toolCall("c1", "calculate", `{"expression":"39000/130"}`)),
		says(`{"result":"300"}`),
	)
	got, err := carryOut(t, m, task(), tools.City(), tools.Calculate())
	if err != nil || got.Text != "300" {
		t.Fatalf("the result is %+v, %v", got, err)
	}
	last := m.asked[2].Messages
	speakers := []model.Speaker{}
	for _, msg := range last {
		speakers = append(speakers, msg.Speaker)
	}
	if want := []model.Speaker{model.User, model.Assistant, model.ToolSpeaker, model.Assistant, model.ToolSpeaker}; !slices.Equal(speakers, want) {
		t.Fatalf("the speakers are %v", speakers)
	}
	if len(last[1].Calls) != 2 || last[1].Calls[0].ID != "c1" {
		t.Errorf("its own turn is told as %+v", last[1])
	}
	first := last[2].Results
	if len(first) != 2 || first[0].ID != "c1" || first[0].Name != "get_city" || first[0].IsError || first[1].ID != "c2" || !first[1].IsError {
		t.Fatalf("the results are %+v", first)
	}
	mentions(t, first[0].Text, `"population":39000`)
	mentions(t, first[1].Text, "Brindlemoor, Quillhaven, Tarnby, Ashwick")
	if second := last[4].Results; len(second) != 1 || second[0].Text != "300" {
		t.Errorf("the results are %+v", second)
	}
}

// BEHAVIOUR 4.3: what the model did wrong it is told, and goes on.
func TestWrongCallsAreAnsweredNotFatal(t *testing.T) {
	m := speak(calls(toolCall("a", "get_cty", `{}`), toolCall("b", "get_city", `{"nam":1}`), toolCall("c", "get_city", `junk`)), says("done"))
	if _, err := carryOut(t, m, task(), tools.City()); err != nil {
		t.Fatal(err)
	}
	results := m.asked[1].Messages[2].Results
	for i, want := range []string{"The tools are: get_city", "missing property 'name'", "not JSON"} {
		if !results[i].IsError {
			t.Errorf("result %d is no error", i)
		}
		mentions(t, strings.ToLower(results[i].Text), strings.ToLower(want))
	}
}

// BEHAVIOUR 4.7
func TestToolResultsAreCutForTheModel(t *testing.T) {
	m := speak(calls(toolCall("a", "page", `{}`)), says("done"))
	e := Executor{Model: m, Tools: registry(t, answers("page", strings.Repeat("x", 159_000))), ResultLimit: 8_000}
	if _, err := e.Execute(t.Context(), task()); err != nil {
		t.Fatal(err)
	}
	got := m.asked[1].Messages[2].Results[0].Text
	if len(got) > 8_100 {
		t.Errorf("the model is shown %d bytes", len(got))
	}
	mentions(t, got, "showing 8,000 of 159,000 characters")
}

func TestAModelThatNeverStopsCallingIsStopped(t *testing.T) {
	made := 0
	tool := fake{name: "again", changes: true, call: func(context.Context, json.RawMessage) (tools.Result, error) {
		made++
		return tools.Result{Text: "more"}, nil
	}}
	turn := calls(toolCall("a", "again", `{}`))
	m := speak(slices.Repeat([]func(model.Request) (model.Response, error){turn}, 20)...)
	_, err := carryOut(t, m, task(), tool)
	code(t, err, plan.CodeModelBadResponse, "turn 8", "never wrote a result")
	if len(m.asked) != DefaultTurns || made != DefaultTurns-1 {
		t.Errorf("%d requests and %d calls were made", len(m.asked), made)
	}
	e := Executor{Model: speak(turn, says("x")), Tools: registry(t, tool), MaxTurns: 1}
	_, err = e.Execute(t.Context(), task())
	code(t, err, plan.CodeModelBadResponse, "turn 1")
}

func TestAFailedModelPassesThrough(t *testing.T) {
	cause := &model.Error{Kind: model.RateLimited, Message: "Later."}
	_, err := carryOut(t, speak(calls(toolCall("a", "get_city", `{"name":"x"}`)), fails(cause)), task(), tools.City())
	if e, ok := errors.AsType[*model.Error](err); !ok || e != cause {
		t.Errorf("the error is %v", err)
	}
	mentions(t, err.Error(), "s1")
}

// BEHAVIOUR 6.3: one chance to mend the output, with the errors in hand.
func TestABrokenContractMayBeMendedOnce(t *testing.T) {
	m := speak(says(`{"result":"x","tests":"failed"}`), says(`{"result":"x","tests":"passed","n":2}`))
	got, err := carryOut(t, m, withContract([]string{"n"}, `tests == "passed"`))
	if err != nil || string(got.Data) != `{"result":"x","tests":"passed","n":2}` {
		t.Fatalf("the result is %+v, %v", got, err)
	}
	told := m.asked[1].Messages
	if len(told) != 3 || told[1].Speaker != model.Assistant || told[1].Text != `{"result":"x","tests":"failed"}` || told[2].Speaker != model.User {
		t.Fatalf("it is told %+v", told)
	}
	mentions(t, told[2].Text, `1. The key "n" is missing.`, `2. The check "tests == \"passed\"" is false.`, "one JSON object")
}

// BEHAVIOUR 6.3: a step that still breaks its contract is invalid.
func TestAContractBrokenTwiceIsAContractError(t *testing.T) {
	m := speak(says("The tests passed."), says(`{"result":"nearly","tests":"failed"}`), says(`{"tests":"passed"}`))
	_, err := carryOut(t, m, withContract(nil, `tests == "passed"`))
	e, ok := errors.AsType[*ContractError](err)
	if !ok || len(m.asked) != 2 {
		t.Fatalf("the error is %v after %d requests", err, len(m.asked))
	}
	if !slices.Equal(e.Problems, []string{`1. The check "tests == \"passed\"" is false.`}) || e.Result.Text != "nearly" || len(e.Result.Data) == 0 {
		t.Errorf("it is %+v", e)
	}
	if shown := e.Shown(); shown.Code != plan.CodeContractBroken || shown.Message != e.Error() {
		t.Errorf("it is shown as %+v", shown)
	}
	mentions(t, e.Error(), "contract", `tests == \"passed\"`)
	mentions(t, m.asked[1].Messages[2].Text, "1. The output is not a JSON object")
}

func TestMendingMayTakeTheLastTurnAndToolsAgain(t *testing.T) {
	m := speak(calls(toolCall("a", "get_city", `{"name":"Tarnby"}`)), says("text"), says(`{"n":1}`))
	e := Executor{Model: m, Tools: registry(t, tools.City()), MaxTurns: 2}
	if got, err := e.Execute(t.Context(), withContract([]string{"n"})); err != nil || string(got.Data) != `{"n":1}` {
		t.Errorf("the result is %+v, %v", got, err)
	}
	m = speak(says("text"), calls(toolCall("a", "get_city", `{"name":"Tarnby"}`)), says(`{"n":1}`))
	if _, err := carryOut(t, m, withContract([]string{"n"}), tools.City()); err != nil {
		t.Error(err)
	}
}

func TestNothingIsNoResult(t *testing.T) {
	for _, text := range []string{"", " \n", "<think>Nothing comes to mind.</think>\n"} {
		m := speak(says(text), says("late"))
		_, err := carryOut(t, m, task())
		code(t, err, plan.CodeModelBadResponse, "wrote nothing")
		if len(m.asked) != 1 {
			t.Errorf("%q: it is asked %d times", text, len(m.asked))
		}
	}
}

// BEHAVIOUR 2.2: a cut-off answer is never read as a shorter one.
func TestOutputThatCannotBeReadIsAskedForOnceMore(t *testing.T) {
	tests := map[string]struct {
		text string
		code plan.Code
		says string
	}{
		"cut off":            {`{"result":"The population is 39`, plan.CodeOutputTruncated, "ends before it is complete"},
		"cut off in a fence": {"Here it is:\n```json\n{\"result\":\"The pop", plan.CodeOutputTruncated, "ends before it is complete"},
		"cut off in thought": {"<think>The population is", plan.CodeOutputTruncated, "ends before it is complete"},
		"a stray quote":      {`{"result":"the "boss" knows"}`, plan.CodeModelBadResponse, "quote inside a text"},
		"two results":        {`{"result":"a"} or {"result":"b"}`, plan.CodeModelBadResponse, "2 different values"},
		"a key twice":        {`{"result":"a","result":"b"}`, plan.CodeModelBadResponse, "twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := speak(says(tt.text), says(`{"result":"whole"}`))
			got, err := carryOut(t, m, task())
			if err != nil || got.Text != "whole" {
				t.Fatalf("the result is %+v, %v", got, err)
			}
			mentions(t, m.asked[1].Messages[2].Text, "cannot be read", tt.says, "one whole JSON object")
			_, err = carryOut(t, speak(says(tt.text), says(tt.text)), task())
			code(t, err, tt.code)
			_, err = carryOut(t, speak(says(tt.text), says(tt.text)), withContract([]string{"result"}))
			if e, ok := errors.AsType[*ContractError](err); !ok || e.Result.Text == "" {
				t.Errorf("with a contract the error is %v", err)
			}
		})
	}
}
