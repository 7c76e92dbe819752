package planner_test

import (
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/planner"
)

// again is a request for the rest of a run of which s1 has succeeded.
func again(round bool) planner.Request {
	req := asked()
	previous := plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "look up", DependsOn: []string{}},
		{ID: "s2", Instruction: "compare", DependsOn: []string{"s1"}},
	}}
	req.Previous, req.Kept, req.Replan = &previous, previous.Steps[:1], true
	req.Reason, req.Left, req.Progress = "step s2 failed", 2, `{"step":"s1","result":"1,200"}`
	req.Rules.Kept, req.Rules.Round = map[string]bool{"s1": true}, round
	return req
}

func TestTheRestIsJoinedToWhatIsKept(t *testing.T) { // BEHAVIOUR 7.2
	tests := map[string]struct {
		answer string
		ids    []string
		mends  int
	}{
		"only the rest":         {`{"steps":[{"id":"s3","instruction":"compare","depends_on":["s1"]}]}`, []string{"s1", "s3"}, 0},
		"the whole plan again":  {`{"steps":[{"id":"s1","instruction":"look up","depends_on":[]},{"id":"s2","instruction":"compare better","depends_on":["s1"]}]}`, []string{"s1", "s2"}, 0},
		"a kept step rewritten": {`{"steps":[{"id":"s1","instruction":"look up better","depends_on":[]},{"id":"s2","instruction":"compare","depends_on":["s1"]}]}`, []string{"s1", "s2"}, 1},
		"beside what is kept":   {`{"steps":[{"id":"s3","instruction":"anew","depends_on":[]}]}`, []string{"s1", "s3"}, 0},
	}
	for name, tt := range tests {
		m := &scripted{answers: []string{tt.answer}}
		got, rejections, err := m.plans(t, planner.Planner{}, again(false))
		if err != nil || len(rejections) > 0 || !slices.Equal(got.Plan.IDs(), tt.ids) || len(got.Mends) != tt.mends {
			t.Errorf("%s: %v, mends %v, %v", name, got.Plan.IDs(), got.Mends, err)
		}
		if s1, _ := got.Plan.Step("s1"); s1.Instruction != "look up" {
			t.Errorf("%s: s1 is %q now", name, s1.Instruction)
		}
	}
}

func TestARestThatBreaksTheRulesIsSentBack(t *testing.T) { // BEHAVIOUR 7.3
	tests := map[string]struct {
		answer string
		code   plan.Code
	}{
		"nothing left to run":      {`{"steps":[{"id":"s1","instruction":"look up","depends_on":[]}]}`, plan.CodeEmptyPlan},
		"needs a step that failed": {`{"steps":[{"id":"s3","instruction":"x","depends_on":["s2"]}]}`, plan.CodeUnknownDependency},
		"two loose ends":           {`{"steps":[{"id":"s3","instruction":"x","depends_on":[]},{"id":"s4","instruction":"x","depends_on":[]}]}`, plan.CodeNoSingleFinalStep},
	}
	for name, tt := range tests {
		m := &scripted{answers: []string{tt.answer, `{"finalize": true}`}}
		got, rejections, err := m.plans(t, planner.Planner{}, again(false))
		if err != nil || !got.Finalize || len(rejections) != 1 || rejections[0].Violations[0].Code != tt.code {
			t.Errorf("%s: %+v, %v", name, rejections, err)
		}
	}
}

func TestThePlannerIsToldOfTheRun(t *testing.T) { // BEHAVIOUR 7.2, 7.4
	for round, parts := range map[bool][]string{
		false: {"step s2 failed", `{"step":"s1","result":"1,200"}`, "at most 2 more times", "only the steps that are still to run"},
		true:  {"step s2 failed", `{"step":"s1","result":"1,200"}`, "the next round of tasks"},
	} {
		m := &scripted{answers: []string{`{"finalize": true}`}}
		if _, _, err := m.plans(t, planner.Planner{}, again(round)); err != nil {
			t.Fatal(err)
		}
		req := m.asked[0]
		told := req.Messages[len(req.Messages)-1].Text
		for _, part := range parts {
			if !strings.Contains(told, part) {
				t.Errorf("round %v: not told %q in\n%s", round, part, told)
			}
		}
		if says := strings.Contains(req.System, "You write one round at a time"); says != round {
			t.Errorf("round %v: the prompt says %v", round, says)
		}
		if !strings.Contains(req.System, `{"finalize": true}`) || !strings.Contains(string(req.Schema.Schema), "finalize") {
			t.Error("the planner is not told that it may finalize")
		}
	}
}
