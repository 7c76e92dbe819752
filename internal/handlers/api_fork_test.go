package handlers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// A fork is a new run that keeps every result outside of what runs again, at no
// cost; its parent stays as it is. BEHAVIOUR 5.9
func TestForkRun(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	at := "/api/v1/runs/" + id
	s.want(202, "POST", at+"/approve", `{"version":1}`)
	s.until(id, plan.RunStatusSucceeded)
	before := s.want(200, "GET", at, "")
	paid := s.model.asked.Load()

	changed := edited()
	changed.Steps[1].Instruction = "two, but better"
	for _, c := range []struct {
		name, body string
		kept       []string
		pending    []string
	}{
		{"from a step", `{"from":["s2"]}`, []string{"s1"}, []string{"s2", "s3"}},
		{"from the last", `{"from":["s3"],"plan":null}`, []string{"s1", "s2"}, []string{"s3"}},
		{"from several", `{"from":["s2","s1"]}`, nil, []string{"s1", "s2", "s3"}},
		{"with a changed plan", `{"plan":` + planText(changed) + `}`, []string{"s1"}, []string{"s2", "s3"}},
		{"with a changed plan from a step", `{"from":["s1"],"plan":` + planText(edited()) + `}`, []string{"s2"}, []string{"s1", "s3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.want(201, "POST", at+"/fork", c.body)
			var r runSeen
			a.json(t, &r)
			if r.ID == id || a.header.Get("Location") != "/api/v1/runs/"+r.ID || r.ForkedFrom == nil || *r.ForkedFrom != id {
				t.Fatalf("Location %q, answered %s", a.header.Get("Location"), a.body)
			}
			if r.Status != plan.RunStatusAwaitingApproval || len(r.Steps) != 3 {
				t.Errorf("the run is %+v", r)
			}
			for _, step := range c.kept {
				if st := r.Steps[step]; st.Status != plan.StepStatusSucceeded || st.Attempts != 0 || st.Result == nil || *st.Result != "done" {
					t.Errorf("%s is not kept: %+v", step, st)
				}
			}
			for _, step := range c.pending {
				if st := r.Steps[step]; st.Status != plan.StepStatusPending || st.Result != nil {
					t.Errorf("%s does not run again: %+v", step, st)
				}
			}
		})
	}
	if s.model.asked.Load() != paid {
		t.Error("a model was asked")
	}
	if after := s.want(200, "GET", at, ""); after.body != before.body {
		t.Errorf("the parent was %s\nand is %s", before.body, after.body)
	}
}

// A fork of a run that needed no approval runs at once, and pays for what runs
// again only.
func TestForkRunThatNeedsNoApproval(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusSucceeded)
	var r runSeen
	s.want(201, "POST", "/api/v1/runs/"+id+"/fork", `{"from":["s3"]}`).json(t, &r)
	fork := s.until(r.ID, plan.RunStatusSucceeded)
	if fork.Usage.Requests != 2 || fork.Step("s1").Attempts != 0 || fork.Step("s3").Attempts != 1 {
		t.Errorf("the fork took %d requests, steps %+v", fork.Usage.Requests, fork.Steps)
	}
}

func TestForkRunRefused(t *testing.T) {
	s := newSite(t, &scriptedModel{planner: func(ctx context.Context, _ model.Request) (string, error) {
		<-ctx.Done()
		return "", &model.Error{Kind: model.Cancelled, Message: "given up", Cause: ctx.Err()}
	}})
	planning := s.ask(`{"question":"q"}`)
	p := s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+planning+"/fork", `{"from":["s1"]}`)
	if !strings.Contains(p.Detail, "no plan yet") {
		t.Errorf("%s", p.Detail)
	}
	at := "/api/v1/runs/" + s.askGiven(plan.ApprovalManual) + "/fork"
	before := len(s.list("").Runs)
	for _, c := range []struct {
		body   string
		status int
		code   plan.Code
		fields []string
	}{
		{``, 400, codeMalformed, nil},
		{`{}`, 422, plan.CodeInvalid, []string{"from"}},
		{`{"from":[],"plan":null}`, 422, plan.CodeInvalid, []string{"from"}},
		{`{"from":["nobody"]}`, 422, plan.CodeInvalid, []string{"from"}},
		{`{"from":"s1"}`, 422, plan.CodeInvalid, []string{"from"}},
		{`{"from":[1],"step":"s1"}`, 422, plan.CodeInvalid, []string{"from[0]", "step"}},
		{`{"plan":{"steps":[]}}`, 422, plan.CodePlanInvalid, []string{"plan"}},
		{
			`{"from":["a"],"plan":{"steps":[{"id":"a","instruction":"","depends_on":["b"]}]}}`, 422,
			plan.CodePlanInvalid,
			[]string{"plan", "plan"},
		},
		{`{"plan":{"steps":[{"id":"a","instruction":"x","when":"now"}]}}`, 422, plan.CodeInvalid, []string{"plan.steps[0].when"}},
	} {
		s.wantProblem(c.status, c.code, "POST", at, c.body, c.fields...)
	}
	if after := len(s.list("").Runs); after != before {
		t.Errorf("%d runs were made by refused requests", after-before)
	}
}

// A fork whose answer got lost in a crash is answered as a new run.
func TestForkRunAfterACrash(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	at := "/api/v1/runs/" + s.askGiven(plan.ApprovalManual)
	k := keyFor("POST", at+"/fork", "k", `{"from":["s3"]}`)
	if _, err := s.store.Claim(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	r, err := s.runs.Fork(runs.WithKey(t.Context(), k), strings.TrimPrefix(at, "/api/v1/runs/"), runs.Fork{From: []string{"s3"}, By: "local"})
	if err != nil {
		t.Fatal(err)
	}
	a := s.want(201, "POST", at+"/fork", `{"from":["s3"]}`, "Idempotency-Key", "k")
	var got struct{ ID json.RawMessage }
	a.json(t, &got)
	if a.header.Get("Location") != "/api/v1/runs/"+r.ID || string(got.ID) != `"`+r.ID+`"` {
		t.Errorf("Location %q, answered %s, want the run %s", a.header.Get("Location"), a.body, r.ID)
	}
}
