package handlers

import (
	"net/http"
	"strings"
	"testing"

	"planwave/internal/plan"
)

func TestRunsAreCompared(t *testing.T) { // BEHAVIOUR 10.3
	s := newSite(t, &scriptedModel{})
	a, b := s.start(diamond()), s.start(sum())
	s.until(a, plan.RunStatusSucceeded)
	s.until(b, plan.RunStatusSucceeded)
	for _, q := range []string{a + "," + b, a + "&runs=" + b} {
		page := s.want(http.StatusOK, http.MethodGet, "/compare?runs="+q, "").body
		for _, want := range []string{
			"Against the first run, the second took", "times the model calls", "not in this plan", "What is different",
			"/api/v1/runs/" + b + "/export?format=svg", "Timelines on one scale", "/?q=What&#43;is&#43;it%3F",
		} {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#43;", "+")) {
				t.Errorf("runs=%s: there is no %q", q, want)
			}
		}
		// The second run has fewer calls: its tool step needed none.
		if !strings.Contains(page, `<td class="num best">2`) {
			t.Errorf("runs=%s: the least number of model calls is not marked", q)
		}
	}
	for q, says := range map[string]string{"": "0 are chosen", a: "1 is chosen", a + "," + a: "1 is chosen", "1,2,3,4,5": "5 are chosen"} {
		if got := s.want(http.StatusUnprocessableEntity, http.MethodGet, "/compare?runs="+q, ""); !strings.Contains(got.body, says) {
			t.Errorf("%q: %.300s", q, got.body)
		}
	}
	s.want(http.StatusNotFound, http.MethodGet, "/compare?runs="+a+",none", "")
	if list := s.want(http.StatusOK, http.MethodGet, "/runs", ""); !strings.Contains(list.body, `name="runs" value="`+a+`"`) {
		t.Error("the history offers nothing to compare")
	}
}
