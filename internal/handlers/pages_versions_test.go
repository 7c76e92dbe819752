package handlers

import (
	"net/http"
	"strings"
	"testing"

	"planwave/internal/plan"
)

func TestVersionsAreHeldAgainstEachOther(t *testing.T) { // BEHAVIOUR 3.2
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalManual)
	edited := diamond()
	edited.Steps[0].Instruction = "one, by <b>hand</b>"
	edited.Steps[2].DependsOn = []string{"s2", "s1"}
	edited.Steps = append(edited.Steps, plan.Step{ID: "s4", Instruction: "check", DependsOn: []string{"s3"}})
	if a := s.form("/runs/"+r+"/plan", editForm(edited, "save")); a.status != http.StatusSeeOther {
		t.Fatalf("saving answered %d", a.status)
	}
	at := "/runs/" + r + "/versions/"
	tests := map[string]struct {
		path string
		has  []string
		not  string
	}{
		"against the one before": {"2", []string{"Version 2 against version 1", "<ins>, by &lt;b&gt;hand&lt;/b&gt;</ins>", "s4", "edge-added"}, "<b>hand"},
		"the other way round":    {"1?against=2", []string{"Version 1 against version 2", "<del>, by &lt;b&gt;hand&lt;/b&gt;</del>", "edge-removed"}, "<ins>"},
		"against itself":         {"2?against=2", []string{"Nothing is different."}, "<ins>"},
		"the first":              {"1", []string{"Version 1 of the plan", "This is the first plan"}, "Nothing is different."},
	}
	for name, tt := range tests {
		page := s.want(http.StatusOK, http.MethodGet, at+tt.path, "").body
		for _, want := range tt.has {
			if !strings.Contains(page, want) {
				t.Errorf("%s: there is no %q", name, want)
			}
		}
		if strings.Contains(page, tt.not) {
			t.Errorf("%s: there is %q", name, tt.not)
		}
	}
	if css := s.want(http.StatusOK, http.MethodGet, at+"2/layout.css", ""); !strings.Contains(css.body, "#node-s4{left:") {
		t.Errorf("the picture of both places nothing: %s", css.body)
	}
	for _, path := range []string{"9", "x", "2?against=9"} {
		if a := s.want(http.StatusNotFound, http.MethodGet, at+path, ""); !strings.Contains(a.body, "it has 2 versions") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if page := s.want(http.StatusOK, http.MethodGet, "/runs/"+r, "").body; !strings.Contains(page, at+"2") {
		t.Error("the run's page does not lead to its versions")
	}
}
