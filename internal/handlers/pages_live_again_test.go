package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// letter is a plan whose second step needs a person's word.
func letter() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "one", DependsOn: []string{}},
		{ID: "s2", Instruction: "send it", Tool: "send", Input: json.RawMessage(`{"text":"<b>${s1}</b>"}`), DependsOn: []string{"s1"}},
		{ID: "s3", Instruction: "say so", DependsOn: []string{"s2"}},
	}}
}

// A run that is tried again, answered again and taken over shows the same
// however its page got there.
func TestAPageOfARunTriedAgain(t *testing.T) { // BEHAVIOUR 5.8, 5.9, 9.3
	s := newPageSite(t, &scriptedModel{executor: failingOnce("s2", wellDone)})
	r := s.start(diamond())
	s.until(r, plan.RunStatusPartial)
	if _, err := s.runs.Retry(t.Context(), r, "s2", "me"); err != nil {
		t.Fatal(err)
	}
	s.until(r, plan.RunStatusSucceeded)
	if _, err := s.runs.AnswerAgain(t.Context(), r, nil, "me"); err != nil {
		t.Fatal(err)
	}
	s.until(r, plan.RunStatusSucceeded)
	sameHowever(t, s, r, "", "s2", "s3")
}

func TestAPageOfARunThatAsksForAToolCall(t *testing.T) { // BEHAVIOUR 4.6
	s := newPageSite(t, &scriptedModel{})
	r := s.start(letter())
	waiting := s.until(r, plan.RunStatusAwaitingToolApproval)
	id := waiting.PendingApprovals()[0].ID
	if _, err := s.runs.Decide(t.Context(), r, id, plan.DecisionDeny, plan.ScopeOnce, "me"); err != nil {
		t.Fatal(err)
	}
	s.until(r, plan.RunStatusPartial)
	sameHowever(t, s, r, "", "s2", "s3")
}

func TestAPageOfARunThatIsPlannedAgain(t *testing.T) { // BEHAVIOUR 7.3
	rest := plan.Plan{Steps: []plan.Step{
		{ID: "s4", Instruction: "instead of two", DependsOn: []string{}},
		{ID: "s5", Instruction: "join anew", DependsOn: []string{"s1", "s4"}},
	}}
	s := newPageSite(t, &scriptedModel{executor: failing("s2"), planner: func(context.Context, model.Request) (string, error) {
		return planText(rest), nil
	}})
	r := s.start(diamond(), func(o *plan.Options) { o.Replan.When, o.Approval = plan.ReplanOnFailure, plan.ApprovalManual })
	for version := 1; version <= 2; version++ {
		s.until(r, plan.RunStatusAwaitingApproval)
		s.want(http.StatusAccepted, "POST", "/api/v1/runs/"+r+"/approve", `{"version":`+string(rune('0'+version))+`}`)
		if version == 1 {
			s.untilVersions(r, 2)
		}
	}
	s.until(r, plan.RunStatusSucceeded)
	sameHowever(t, s, r, "", "s1", "s2", "s4")
}

// untilVersions waits until a run has so many versions of its plan.
func (s *site) untilVersions(id string, n int) {
	s.t.Helper()
	changed, stop := s.store.Watch(id)
	defer stop()
	for {
		r, err := s.runs.Get(s.t.Context(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(r.Versions) >= n {
			return
		}
		if r.Status.Ended() {
			s.t.Fatalf("the run ended %s (%+v) with %d versions", r.Status, r.Error, len(r.Versions))
		}
		<-changed
	}
}

func TestAPageOfARunThatRanOutOfBudget(t *testing.T) { // BEHAVIOUR 8.3
	s := newPageSite(t, &scriptedModel{})
	two, four := 2, 4
	r := s.start(diamond(), func(o *plan.Options) { o.Budget.Requests = &two })
	s.until(r, plan.RunStatusFailed)
	if _, err := s.runs.Continue(t.Context(), r, plan.Budget{Requests: &four}, "me"); err != nil {
		t.Fatal(err)
	}
	s.until(r, plan.RunStatusSucceeded)
	sameHowever(t, s, r, "", "s3")
}

func TestAPageOfARunThatTookResultsOver(t *testing.T) { // BEHAVIOUR 5.9
	s := newPageSite(t, &scriptedModel{})
	parent := s.start(diamond())
	s.until(parent, plan.RunStatusSucceeded)
	a := s.form("/runs/"+parent+"/fork", map[string][]string{"from": {"s3"}, "nonce": {"n"}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("answered %d", a.status)
	}
	r := strings.TrimPrefix(a.header.Get("Location"), "/runs/")
	s.until(r, plan.RunStatusSucceeded)
	sameHowever(t, s, r, "", "s1", "s3")
}
