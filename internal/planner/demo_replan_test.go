package planner_test

import (
	"context"
	"slices"
	"testing"

	"planwave/internal/model/demo"
	"planwave/internal/plan"
	"planwave/internal/planner"
)

// asks has the real planner ask the demo model, and returns what came of it.
func asksDemo(t *testing.T, req planner.Request) planner.Result {
	t.Helper()
	req.Question = demo.Questions()[0]
	p := planner.Planner{Model: demo.New(demo.Pace{})}
	got, err := p.Plan(context.Background(), req, func(r plan.PlanRejected) error {
		t.Errorf("rejected: %+v", r.Violations)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRoundsOfTheDemo(t *testing.T) { // BEHAVIOUR 7.4
	req := planner.Request{Rules: plan.Rules{Round: true, MaxSteps: 5}}
	first := asksDemo(t, req)
	if got := first.Plan.IDs(); !slices.Equal(got, []string{"s1", "s2", "s3"}) {
		t.Fatalf("the first round is %v", got)
	}
	req.Previous, req.Replan, req.Kept = &first.Plan, true, first.Plan.Steps
	req.Rules.Kept = map[string]bool{"s1": true, "s2": true, "s3": true}
	req.Progress = `{"step":"s1","result":"a"}` + "\n" + `{"step":"s2","result":"b"}` + "\n" + `{"step":"s3","result":"c"}`
	second := asksDemo(t, req)
	last, ok := second.Plan.Step("s4")
	if !ok || !slices.Equal(last.DependsOn, []string{"s1", "s2", "s3"}) {
		t.Fatalf("the second round is %+v", second.Plan)
	}
	req.Previous, req.Kept, req.Rules.Kept["s4"] = &second.Plan, second.Plan.Steps, true
	req.Progress += "\n" + `{"step":"s4","result":"d"}`
	if third := asksDemo(t, req); !third.Finalize {
		t.Errorf("the third round is %+v", third.Plan)
	}
}

func TestTheDemoPlansTheRestAsItWas(t *testing.T) { // BEHAVIOUR 7.2
	whole := plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "look", DependsOn: []string{}}, {ID: "s2", Instruction: "compare", DependsOn: []string{"s1"}}}}
	req := planner.Request{
		Previous: &whole, Replan: true, Kept: whole.Steps[:1], Rules: plan.Rules{Kept: map[string]bool{"s1": true}},
		Progress: `{"step":"s1","result":"a"}` + "\n" + `{"step":"s2","status":"NOT RUN"}`,
	}
	if got := asksDemo(t, req); got.Finalize || !slices.Equal(got.Plan.IDs(), []string{"s1", "s2"}) {
		t.Errorf("after a round: %+v", got)
	}
	req.Progress = `{"step":"s1","result":"a"}` + "\n" + `{"step":"s2","status":"FAILED","reason":"x"}`
	if got := asksDemo(t, req); !got.Finalize {
		t.Errorf("after a failure: %+v", got)
	}
}
