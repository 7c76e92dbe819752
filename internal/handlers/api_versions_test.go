package handlers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// versionSeen is what tests look at in a version.
type versionSeen struct {
	Version              int
	Author, Reason, Hash string
	CreatedAt            string `json:"created_at"`
	Approved             bool
	Mends, Kept          []string
	Warnings             []plan.Violation
	Changes              []plan.StepChange
}

func (s *site) versions(id string) []versionSeen {
	s.t.Helper()
	var list struct{ Versions []versionSeen }
	s.want(200, "GET", "/api/v1/runs/"+id+"/versions", "").json(s.t, &list)
	return list.Versions
}

// Every version says who made it, why and when, and what it changed. BEHAVIOUR
// 3.2
func TestVersionsSayWhatChanged(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	s.want(200, "PUT", "/api/v1/runs/"+id+"/plan", `{"version":1,"plan":{"deliverable":"s4","steps":[
		{"id":"s1","instruction":"one"},{"id":"s3","instruction":"join","depends_on":["s1"]},
		{"id":"s4","instruction":"more","depends_on":["s3","s3"]},{"id":"s5","instruction":"beside"}]}}`)
	s.want(202, "POST", "/api/v1/runs/"+id+"/approve", `{"version":2}`)
	r := s.until(id, plan.RunStatusSucceeded)
	got := s.versions(id)
	if len(got) != 2 {
		t.Fatalf("versions %+v", got)
	}
	first, second := got[0], got[1]
	if first.Approved || len(first.Changes) != 0 || first.Author != "local" || first.Reason != "given with the question" {
		t.Errorf("the first is %+v", first)
	}
	if second.CreatedAt != r.Versions[1].At.UTC().Format("2006-01-02T15:04:05.000Z") || !second.Approved || second.Author != "local" || second.Reason != "edited" {
		t.Errorf("the second is %+v", second)
	}
	want := []plan.StepChange{
		{Step: "s1", Change: plan.ChangeKept},
		{Step: "s3", Change: plan.ChangeChanged},
		{Step: "s4", Change: plan.ChangeAdded},
		{Step: "s5", Change: plan.ChangeAdded},
		{Step: "s2", Change: plan.ChangeRemoved},
	}
	if !slices.Equal(second.Changes, want) {
		t.Errorf("changes %+v, want %+v", second.Changes, want)
	}
	if len(second.Mends) != 1 || len(second.Warnings) != 1 || second.Warnings[0].Code != plan.CodeNoSingleFinalStep {
		t.Errorf("mends %q, warnings %+v", second.Mends, second.Warnings)
	}
}

// inTurn is a planner that gives these answers, one after the other.
func inTurn(answers ...string) func(context.Context, model.Request) (string, error) {
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	return func(context.Context, model.Request) (string, error) { return <-next, nil }
}

// A replanned plan is a version of the same run that keeps what succeeded, and
// is approved as the first was. BEHAVIOUR 7.1, 7.3
func TestReplanOnFailure(t *testing.T) {
	s := newSite(t, &scriptedModel{
		executor: failing("s1"),
		planner:  inTurn(`{"steps":[{"id":"s5","instruction":"another way","depends_on":["s2"]}]}`),
	})
	id := s.ask(`{"question":"q","replan":{"when":"on_failure","max":1},"plan":` + planText(diamond()) + `}`)
	at := "/api/v1/runs/" + id
	s.want(202, "POST", at+"/approve", `{"version":1}`)
	s.wait(id, func(r *plan.Run) bool { return r.Status == plan.RunStatusAwaitingApproval && len(r.Versions) == 2 })
	var r runSeen
	s.want(200, "GET", at, "").json(t, &r)
	if r.Replans != 1 || r.Plan.Version != 2 || r.Plan.Approved || r.Steps["s2"].Status != plan.StepStatusSucceeded {
		t.Errorf("the run is %+v", r)
	}
	if !strings.Contains(string(r.Estimate), `"requests":2,`) {
		t.Errorf("the estimate is not of what is left: %s", r.Estimate)
	}
	got := s.versions(id)[1]
	if got.Author != "planner" || !slices.Equal(got.Kept, []string{"s2"}) || !slices.Contains(got.Changes, plan.StepChange{Step: "s2", Change: plan.ChangeKept}) ||
		!slices.Contains(got.Changes, plan.StepChange{Step: "s5", Change: plan.ChangeAdded}) {
		t.Errorf("the version is %+v", got)
	}
	s.want(202, "POST", at+"/approve", `{"version":2}`)
	s.until(id, plan.RunStatusSucceeded)
}

// A run in rounds is planned round by round. BEHAVIOUR 7.4
func TestRounds(t *testing.T) {
	s := newSite(t, &scriptedModel{planner: inTurn(
		`{"steps":[{"id":"a","instruction":"x"},{"id":"b","instruction":"x"}]}`,
		`{"steps":[{"id":"c","instruction":"x","depends_on":["a"]}]}`,
		`{"finalize":true}`,
	)})
	id := s.ask(`{"question":"q","strategy":"rounds","approval":"auto"}`)
	s.until(id, plan.RunStatusSucceeded)
	a := s.want(200, "GET", "/api/v1/runs/"+id, "")
	for _, want := range []string{`"strategy":"rounds"`, `"replans":2`, `"waves":[["a","b"],["c"]]`, `"deliverable":null`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
	if got := s.versions(id); len(got) != 2 || !slices.Equal(got[1].Kept, []string{"a", "b"}) {
		t.Errorf("versions %+v", got)
	}
}
