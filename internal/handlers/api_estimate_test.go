package handlers

import (
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// While a plan waits for approval the document says what is left of it will
// take, from what the same model took lately; then it says nothing. BEHAVIOUR 3.6
func TestEstimateWhileARunAwaitsApproval(t *testing.T) {
	dollars := model.Price{Input: plan.Dollar, Output: plan.Dollar}
	s := newSiteOf(t, &scriptedModel{}, parts{prices: model.Prices{testModel: dollars}})
	s.until(s.askGiven(plan.ApprovalAuto), plan.RunStatusSucceeded)
	for _, c := range []struct{ name, steps, want string }{
		// Each call of the scripted model takes 15 tokens, at a dollar a million.
		{
			"agents", `{"id":"a","instruction":"x"},{"id":"b","instruction":"x","depends_on":["a"]}`,
			`{"requests":3,"tokens":45,"cost_usd":0.000045,"critical_path":["a","b"]}`,
		},
		{
			"a tool step is free", `{"id":"a","instruction":"x","tool":"get_city","input":"Tarnby"},{"id":"b","instruction":"x"},` +
				`{"id":"c","instruction":"x","depends_on":["a","b"]}`,
			`{"requests":3,"tokens":45,"cost_usd":0.000045,"critical_path":["b","c"]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.want(201, "POST", "/api/v1/runs", `{"question":"q","plan":{"steps":[`+c.steps+`]}}`)
			var r runSeen
			a.json(t, &r)
			if string(r.Estimate) != c.want {
				t.Errorf("estimated %s, want %s", r.Estimate, c.want)
			}
			for _, call := range []struct{ method, path, body string }{{"GET", "", ""}, {"PUT", "/plan", `{"version":1,"plan":{"steps":[` + c.steps + `]}}`}} {
				s.want(200, call.method, "/api/v1/runs/"+r.ID+call.path, call.body).json(t, &r)
				if string(r.Estimate) != c.want {
					t.Errorf("%s answers %s, want %s", call.method, r.Estimate, c.want)
				}
			}
			a = s.want(202, "POST", "/api/v1/runs/"+r.ID+"/approve", `{"version":1}`)
			if !strings.Contains(a.body, `"estimate":null`) {
				t.Errorf("an approved run is estimated: %s", a.body)
			}
		})
	}
}

// A model without a price costs nobody knows what.
func TestEstimateOfAnUnknownPrice(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	a := s.want(201, "POST", "/api/v1/runs", `{"question":"q","plan":`+planText(diamond())+`}`)
	var r runSeen
	a.json(t, &r)
	if got := string(r.Estimate); !strings.Contains(got, `"cost_usd":null`) || !strings.Contains(got, `"critical_path":["s1","s3"]`) {
		t.Errorf("estimated %s", got)
	}
}
