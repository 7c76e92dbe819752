package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"planwave/internal/plan"
)

// edited is the diamond with another word in its last step.
func edited() plan.Plan {
	p := diamond()
	p.Steps[2].Instruction = "join with care"
	return p
}

// An edit is a new version; what it was made from must be the newest, and the
// plan must keep the rules. BEHAVIOUR 3.2, 3.3
func TestEditPlan(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	at := "/api/v1/runs/" + s.askGiven(plan.ApprovalManual)
	var r runSeen
	s.want(200, "PUT", at+"/plan", `{"version":1,"plan":`+planText(edited())+`}`).json(t, &r)
	if r.Plan.Version != 2 || r.Plan.Approved || r.Plan.Steps[2].Instruction != "join with care" {
		t.Errorf("the plan is %+v", r.Plan)
	}
	same := s.want(200, "PUT", at+"/plan", `{"version":2,"plan":`+planText(edited())+`}`)
	same.json(t, &r)
	if r.Plan.Version != 2 {
		t.Errorf("an edit that changes nothing made version %d", r.Plan.Version) // BEHAVIOUR 3.5
	}
	p := problemIn(t, s.want(409, "PUT", at+"/plan", `{"version":1,"plan":`+planText(diamond())+`}`))
	if p.Code != plan.CodeStale || !strings.Contains(p.Detail, "version 2") {
		t.Errorf("a stale edit: %+v", p)
	}
	p = problemIn(t, s.want(422, "PUT", at+"/plan", `{"version":2,"plan":{"steps":[{"id":"a","instruction":"x","depends_on":["a","b"]}]}}`))
	var codes []string
	for _, e := range p.Errors {
		codes = append(codes, string(e.Code))
	}
	if !slices.Contains(codes, string(plan.CodeSelfDependency)) || !slices.Contains(codes, string(plan.CodeUnknownDependency)) {
		t.Errorf("violations %v", codes)
	}
	p = problemIn(t, s.want(422, "PUT", at+"/plan", `{"plan":{"steps":[]},"versoin":1}`))
	if len(p.Errors) != 2 || p.Errors[0].Field != "version" || p.Errors[1].Field != "versoin" {
		t.Errorf("fields %+v", p.Errors)
	}
	s.want(202, "POST", at+"/approve", `{"version":2}`)
	p = problemIn(t, s.want(409, "PUT", at+"/plan", `{"version":2,"plan":`+planText(diamond())+`}`))
	if p.Code != plan.CodeUnexpected {
		t.Errorf("an edit after approval: %+v", p)
	}
}

// A plan that was read can be sent back, nulls, deliverable and all, and is the
// same version. BEHAVIOUR 3.5
func TestEditPlanWithWhatWasRead(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.ask(`{"question":"q","plan":{"steps":[
		{"id":"a","instruction":"x","tool":"get_city","input":{"name":"Tarnby"}},
		{"id":"b","instruction":"x","depends_on":["a"],"contract":{"required":["result"]}}]}}`)
	var r struct {
		Plan struct {
			Version     int
			Deliverable string
			Steps       json.RawMessage
		}
	}
	s.want(200, "GET", "/api/v1/runs/"+id, "").json(t, &r)
	sent := fmt.Sprintf(`{"version":1,"plan":{"deliverable":%q,"steps":%s}}`, r.Plan.Deliverable, r.Plan.Steps)
	s.want(200, "PUT", "/api/v1/runs/"+id+"/plan", sent).json(t, &r)
	if r.Plan.Version != 1 || r.Plan.Deliverable != "b" {
		t.Errorf("the plan is %+v", r.Plan)
	}
	id = s.ask(fmt.Sprintf(`{"question":"q","plan":{"steps":%s}}`, r.Plan.Steps))
	kept, err := s.runs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if in := kept.Plan().Steps[1].Input; in != nil {
		t.Errorf("an input of null is kept as %s", in)
	}
}

// Approving names the newest version. BEHAVIOUR 3.3
func TestApprovePlan(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalManual)
	at := "/api/v1/runs/" + id
	s.want(200, "PUT", at+"/plan", `{"version":1,"plan":`+planText(edited())+`}`)
	p := problemIn(t, s.want(409, "POST", at+"/approve", `{"version":1}`))
	if p.Code != plan.CodeStale {
		t.Errorf("approving a stale version: %+v", p)
	}
	if s.model.asked.Load() != 0 {
		t.Fatal("a model was asked before approval") // BEHAVIOUR 3.1
	}
	var r runSeen
	s.want(202, "POST", at+"/approve", `{"version":2}`).json(t, &r)
	if !r.Plan.Approved || r.Status != plan.RunStatusRunning {
		t.Errorf("the run is %+v", r)
	}
	p = problemIn(t, s.want(409, "POST", at+"/approve", `{"version":2}`))
	if p.Code != plan.CodeUnexpected || !strings.Contains(p.Detail, "running") {
		t.Errorf("approving twice: %+v", p)
	}
	for body, status := range map[string]int{``: 400, `{}`: 422, `{"version":"2"}`: 422, `{"version":2,"x":1}`: 422} {
		problemIn(t, s.want(status, "POST", at+"/approve", body))
	}
	close(release)
	s.until(id, plan.RunStatusSucceeded)
}

// Many approvals at once start one run.
func TestApprovePlanManyAtOnce(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	const n = 8
	statuses := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { statuses[i] = s.do("POST", "/api/v1/runs/"+id+"/approve", `{"version":1}`).status })
	}
	wg.Wait()
	slices.Sort(statuses)
	if statuses[0] != http.StatusAccepted || statuses[1] != http.StatusConflict || statuses[n-1] != http.StatusConflict {
		t.Errorf("statuses %v, want one 202 and 409 for the others", statuses)
	}
	s.until(id, plan.RunStatusSucceeded)
	events, err := s.store.Events(t.Context(), id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, e := range events {
		if e.Type() == plan.EventRunStarted {
			started++
		}
	}
	if started != 1 {
		t.Errorf("the run was started %d times", started)
	}
}

// A plan sent back is written anew by the planner. BEHAVIOUR 2.5
func TestRevisePlan(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.ask(`{"question":"q"}`)
	at := "/api/v1/runs/" + id
	s.until(id, plan.RunStatusAwaitingApproval)
	for _, body := range []string{`{"comment":" "}`, `{"comment":"` + strings.Repeat("x", plan.MostQuestion+1) + `"}`} {
		p := problemIn(t, s.want(422, "POST", at+"/plan/revise", body))
		if len(p.Errors) != 1 || p.Errors[0].Field != "comment" {
			t.Errorf("%+v", p)
		}
	}
	var r runSeen
	s.want(202, "POST", at+"/plan/revise", `{"comment":"shorter"}`).json(t, &r)
	s.until(id, plan.RunStatusAwaitingApproval)
	var list struct {
		Versions []struct {
			Version        int
			Author, Reason string
			Approved       bool
			Hash           string
			Plan           struct{ Steps []struct{ ID string } }
		}
	}
	s.want(200, "GET", at+"/versions", "").json(t, &list)
	if len(list.Versions) != 2 {
		t.Fatalf("versions %+v", list)
	}
	first, second := list.Versions[0], list.Versions[1]
	if first.Version != 1 || first.Author != "planner" || first.Reason != "first plan" || len(first.Plan.Steps) != 3 ||
		second.Version != 2 || !strings.Contains(second.Reason, "shorter") || second.Approved {
		t.Errorf("versions %+v", list.Versions)
	}
	s.want(202, "POST", at+"/cancel", "")
	p := problemIn(t, s.want(409, "POST", at+"/plan/revise", `{"comment":"again"}`))
	if p.Code != plan.CodeUnexpected {
		t.Errorf("%+v", p)
	}
}

// A plan can be checked without making a run.
func TestCheckPlan(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	hash, err := plan.Hash(diamond())
	if err != nil {
		t.Fatal(err)
	}
	a := s.want(200, "POST", "/api/v1/plans/check", `{"plan":`+planText(diamond())+`}`)
	want := `{"valid":true,"violations":[],"waves":[["s1","s2"],["s3"]],"order":["s1","s2","s3"],"critical_path":["s1","s3"],"hash":"` + hash + `"}` + "\n"
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	for _, c := range []struct {
		name, body string
		codes      []plan.Code
		ordered    bool
	}{
		{"over the limit", `{"plan":` + planText(diamond()) + `,"max_steps":2}`, []plan.Code{plan.CodeTooManySteps}, true},
		{"nothing", `{"plan":{}}`, []plan.Code{plan.CodeEmptyPlan}, false},
		{"null", `{"plan":null}`, []plan.Code{plan.CodeEmptyPlan}, false},
		{
			"a cycle", `{"plan":{"steps":[{"id":"a","instruction":"x","depends_on":["b"]},{"id":"b","instruction":"x","depends_on":["a"]}]}}`,
			[]plan.Code{plan.CodeCycle},
			false,
		},
		{
			"loose ends", `{"plan":{"steps":[{"id":"a","instruction":"x"},{"id":"b","instruction":"x","depends_on":null}]}}`,
			[]plan.Code{plan.CodeNoSingleFinalStep},
			true,
		},
		{"a tool that is not there", `{"plan":{"steps":[{"id":"a","instruction":"x","tool":"teleport","input":{}}]}}`, []plan.Code{plan.CodeUnknownTool}, true},
		{"a tool's input", `{"plan":{"steps":[{"id":"a","instruction":"x","tool":"get_city","input":{"nome":"x"}}]}}`, []plan.Code{plan.CodeBadToolInput}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.want(200, "POST", "/api/v1/plans/check", c.body)
			var got checkAnswer
			a.json(t, &got)
			for _, code := range c.codes {
				if !slices.ContainsFunc(got.Violations, func(v plan.Violation) bool { return v.Code == code }) {
					t.Errorf("%s is not among %+v", code, got.Violations)
				}
			}
			if got.Valid || (len(got.Order) > 0) != c.ordered || (len(got.Waves) > 0) != c.ordered || strings.Contains(a.body, "null") {
				t.Errorf("answered %s", a.body)
			}
		})
	}
	p := problemIn(t, s.want(422, "POST", "/api/v1/plans/check", `{"plan":{},"max_steps":0}`))
	if len(p.Errors) != 1 || p.Errors[0].Field != "max_steps" {
		t.Errorf("%+v", p)
	}
	problemIn(t, s.want(422, "POST", "/api/v1/plans/check", `{}`))
	if runs := s.want(200, "GET", "/api/v1/runs", ""); !strings.Contains(runs.body, `"runs":[]`) {
		t.Errorf("a run was made: %s", runs.body)
	}
}

// What does not keep a plan from running is told, and the plan is valid.
func TestCheckPlanWithWarnings(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, c := range []struct {
		name, body string
		code       plan.Code
		path       []string
	}{
		{
			"a dependency twice", `{"plan":{"steps":[{"id":"a","instruction":"x"},{"id":"b","instruction":"x","depends_on":["a","a"]}]}}`,
			plan.CodeDuplicateDependency,
			[]string{"a", "b"},
		},
		{
			"other ends", `{"plan":{"deliverable":"a","steps":[{"id":"a","instruction":"x"},{"id":"b","instruction":"x"}]}}`,
			plan.CodeNoSingleFinalStep,
			[]string{"a"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got checkAnswer
			s.want(200, "POST", "/api/v1/plans/check", c.body).json(t, &got)
			if !got.Valid || len(got.Violations) != 1 || got.Violations[0].Code != c.code || !got.Violations[0].Warning {
				t.Errorf("answered %+v", got)
			}
			if len(got.Order) != 2 || !slices.Equal(got.CriticalPath, c.path) {
				t.Errorf("order %v, critical path %v", got.Order, got.CriticalPath)
			}
			s.want(201, "POST", "/api/v1/runs", `{"question":"q",`+c.body[1:])
		})
	}
}

// What is run again, and what is kept. Ends do not matter, and neither does
// what the steps say.
func TestAffectedSteps(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	graph := `{"steps":[{"id":"inspect"},{"id":"tests","depends_on":["code"]},{"id":"code","depends_on":["inspect"]},{"id":"docs"},{"id":"alone"}]}`
	for _, c := range []struct{ name, body, want string }{
		{"no statuses: all are taken as succeeded", `{"plan":` + graph + `,"steps":["code"]}`, `{"preserved":["alone","docs","inspect"],"reset":["code","tests"]}`},
		{
			"only the succeeded are kept", `{"plan":` + graph + `,"steps":["code"],"statuses":{"inspect":"succeeded","docs":"failed","tests":"succeeded"}}`,
			`{"preserved":["inspect"],"reset":["code","tests"]}`,
		},
		{"empty statuses: none has succeeded", `{"plan":` + graph + `,"steps":["code"],"statuses":{}}`, `{"preserved":[],"reset":["code","tests"]}`},
		{"no steps", `{"plan":` + graph + `,"steps":[],"statuses":{"docs":"succeeded"}}`, `{"preserved":["docs"],"reset":[]}`},
		{"one twice", `{"plan":` + graph + `,"steps":["tests","tests"],"statuses":{}}`, `{"preserved":[],"reset":["tests"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := s.want(200, "POST", "/api/v1/plans/affected", c.body); strings.TrimSpace(a.body) != c.want {
				t.Errorf("got %s want %s", a.body, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, body, field string
		code              plan.Code
	}{
		{"an unknown step", `{"plan":` + graph + `,"steps":["nobody"]}`, "steps", plan.CodeInvalid},
		{"a status of an unknown step", `{"plan":` + graph + `,"steps":["code"],"statuses":{"nobody":"failed"}}`, "statuses", plan.CodeInvalid},
		{"an unknown status", `{"plan":` + graph + `,"steps":["code"],"statuses":{"code":"fine"}}`, "statuses.code", plan.CodeInvalid},
		{"no steps", `{"plan":` + graph + `}`, "steps", plan.CodeInvalid},
		{"a cycle", `{"plan":{"steps":[{"id":"a","depends_on":["b"]},{"id":"b","depends_on":["a"]}]},"steps":["a"]}`, "plan", plan.CodeCycle},
		{"itself", `{"plan":{"steps":[{"id":"a","depends_on":["a"]}]},"steps":["a"]}`, "plan", plan.CodeSelfDependency},
		{"an unknown dependency", `{"plan":{"steps":[{"id":"a","depends_on":["b"]}]},"steps":["a"]}`, "plan", plan.CodeUnknownDependency},
		{"an id twice", `{"plan":{"steps":[{"id":"a"},{"id":"a"}]},"steps":["a"]}`, "plan", plan.CodeDuplicateID},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := problemIn(t, s.want(422, "POST", "/api/v1/plans/affected", c.body))
			if len(p.Errors) == 0 || p.Errors[0].Field != c.field || p.Errors[0].Code != c.code {
				t.Errorf("%+v", p)
			}
		})
	}
}
