package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// A run is played again, exported and imported with no model called. BEHAVIOUR 12.4, 12.5
func TestRecordings(t *testing.T) {
	m := &scriptedModel{}
	s := newSite(t, m)
	id := s.askGiven(plan.ApprovalAuto)
	was := s.until(id, plan.RunStatusSucceeded)
	file := s.want(200, "GET", "/api/v1/runs/"+id+"/export?format=json", "").body
	for name, answer := range map[string]answer{
		"replay": s.want(201, "POST", "/api/v1/runs/"+id+"/replay", ""),
		"import": s.want(201, "POST", "/api/v1/runs/import", file),
	} {
		var now struct {
			ID       string
			Status   plan.RunStatus
			Recorded bool
			Plan     struct{ Hash string }
			Answer   struct{ Result string }
			Seq      int64
		}
		if err := json.Unmarshal([]byte(answer.body), &now); err != nil {
			t.Fatal(err)
		}
		v, _ := was.Version()
		if !now.Recorded || now.ID == id || now.Status != was.Status || now.Plan.Hash != v.Hash || now.Answer.Result != was.Answer.Result || now.Seq != was.Seq {
			t.Errorf("%s: %+v", name, now)
		}
	}
	if got := s.want(200, "GET", "/api/v1/runs?recorded=true", "").body; strings.Count(got, `"recorded":true`) != 2 {
		t.Errorf("listed as recorded: %s", got)
	}
	s.wantProblem(422, plan.CodeInvalid, "GET", "/api/v1/runs/"+id+"/export?format=pdf", "", "format")
	s.wantProblem(404, plan.CodeNotFound, "POST", "/api/v1/runs/nothing/replay", "")
	s.wantProblem(422, plan.CodeInvalid, "POST", "/api/v1/runs/import", strings.Replace(file, `"format":1`, `"format":7`, 1))
}
