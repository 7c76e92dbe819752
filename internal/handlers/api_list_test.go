package handlers

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/plan"
)

// listed is what tests look at in a list.
type listed struct {
	Runs []struct {
		ID, Question string
		Status       plan.RunStatus
		CreatedAt    string `json:"created_at"`
		Answer       *struct{ Result string }
		Error        *struct{ Code plan.Code }
	}
	Next *string `json:"next_cursor"`
}

func (l listed) ids() []string {
	ids := []string{}
	for _, r := range l.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

func (s *site) list(query string) listed {
	s.t.Helper()
	var l listed
	s.want(200, "GET", "/api/v1/runs"+query, "").json(s.t, &l)
	return l
}

// Newest come first, a page at a time, and nothing comes twice or is left out,
// also when runs are made meanwhile.
func TestListRunsPageByPage(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	if a := s.want(200, "GET", "/api/v1/runs", ""); a.body != `{"next_cursor":null,"runs":[]}`+"\n" {
		t.Errorf("an empty list is %s", a.body)
	}
	var made []string
	for range 7 {
		made = append(made, s.askGiven(plan.ApprovalManual))
	}
	slices.Reverse(made)
	var got []string
	query := "?limit=3"
	for pages := 1; ; pages++ {
		l := s.list(query)
		got = append(got, l.ids()...)
		s.askGiven(plan.ApprovalManual)
		if l.Next == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		query = "?limit=3&cursor=" + url.QueryEscape(*l.Next)
	}
	if !slices.Equal(got, made) {
		t.Errorf("listed %v, want %v", got, made)
	}
}

// Each filter passes the runs that it says and no other.
func TestListRunsFilters(t *testing.T) {
	s := newSite(t, &scriptedModel{executor: failing("s9")})
	done := s.askGiven(plan.ApprovalAuto)
	s.until(done, plan.RunStatusSucceeded)
	waiting := s.ask(`{"question":"Where is Tarnby?","plan":` + planText(diamond()) + `}`)
	failed := s.ask(`{"question":"never","approval":"auto","plan":{"steps":[{"id":"s9","instruction":"x"}]}}`)
	s.until(failed, plan.RunStatusFailed)
	all := s.list("")
	at := map[string]string{}
	for _, r := range all.Runs {
		at[r.ID] = r.CreatedAt
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{failed, waiting, done}},
		{"?status=succeeded", []string{done}},
		{"?status=succeeded&status=failed", []string{failed, done}},
		{"?status=&strategy=&q=", []string{failed, waiting, done}},
		{"?strategy=plan", []string{failed, waiting, done}},
		{"?strategy=tree", []string{}},
		{"?model=test:model", []string{failed, waiting, done}},
		{"?model=other:model", []string{}},
		{"?owner=local", []string{failed, waiting, done}},
		{"?owner=someone", []string{}},
		{"?recorded=false", []string{failed, waiting, done}},
		{"?recorded=true", []string{}},
		{"?q=tarnby", []string{waiting}},
		{"?q=answer", []string{done}},
		{"?q=%22%29+OR", []string{}},
		{"?to=2020-01-01", []string{}},
		{"?from=2020-01-01", []string{failed, waiting, done}},
		{"?to=" + at[failed][:len("2026-01-31")], []string{failed, waiting, done}},
		{"?to=" + at[done], []string{}},
		{"?min_cost=1000", []string{}},
		{"?max_cost=0", []string{waiting}},
	} {
		if got := s.list(c.query).ids(); !slices.Equal(got, c.want) {
			t.Errorf("%s lists %v, want %v", c.query, got, c.want)
		}
	}
	for _, r := range all.Runs {
		switch r.ID {
		case done:
			if r.Answer == nil || !strings.Contains(r.Answer.Result, "answer") || r.Error != nil {
				t.Errorf("the succeeded run is %+v", r)
			}
		case failed:
			if r.Answer != nil || r.Error == nil || r.Error.Code != plan.CodeAllStepsFailed {
				t.Errorf("the failed run is %+v", r)
			}
		}
	}
	body := s.want(200, "GET", "/api/v1/runs", "").body
	for _, not := range []string{`"plan"`, `"steps"`, `"instruction"`, `"budget"`} {
		if strings.Contains(body, not+":") {
			t.Errorf("a list has %s: %s", not, body)
		}
	}
}

// A filter that cannot be heeded is refused, by name.
func TestListRunsRefuses(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for query, fields := range map[string][]string{
		"?status=done":                      {"status"},
		"?strategy=guess":                   {"strategy"},
		"?from=yesterday&to=1.1.2026":       {"from", "to"},
		"?min_cost=cheap&max_cost=1e30":     {"max_cost", "min_cost"},
		"?recorded=yes":                     {"recorded"},
		"?limit=0":                          {"limit"},
		"?limit=201":                        {"limit"},
		"?limit=many":                       {"limit"},
		"?cursor=%00":                       {"cursor"},
		"?cursor=bm90IG9uZQ":                {"cursor"},
		"?sort=cost&statsu=failed":          {"sort", "statsu"},
		"?" + strings.Repeat("x", 300) + "": {strings.Repeat("x", 80) + "…"},
	} {
		p := problemIn(t, s.want(422, "GET", "/api/v1/runs"+query, ""))
		var got []string
		for _, e := range p.Errors {
			got = append(got, e.Field)
		}
		if p.Code != plan.CodeInvalid || !slices.Equal(got, fields) {
			t.Errorf("%s: fields %q want %q", query, got, fields)
		}
	}
}

// The trace has every call with both sides as they were sent, and the calls of
// tool steps among them. BEHAVIOUR 4.5
func TestTrace(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.ask(`{"question":"q","approval":"auto","plan":{"steps":[
		{"id":"city","instruction":"look it up","tool":"get_city","input":{"name":"Tarnby"}},
		{"id":"say","instruction":"say it","depends_on":["city"]}]}}`)
	s.until(id, plan.RunStatusSucceeded)
	var trace struct {
		Calls []struct {
			Agent, Step, Model *string
			Request, Response  map[string]any
			Usage              plan.Usage
			ToolCalls          []struct {
				Tool      string
				Arguments map[string]any
				Result    *string
				Error     *string
			} `json:"tool_calls"`
		}
	}
	a := s.want(200, "GET", "/api/v1/runs/"+id+"/trace", "")
	a.json(t, &trace)
	if len(trace.Calls) != 3 {
		t.Fatalf("%d calls: %s", len(trace.Calls), a.body)
	}
	tool, executor, synthesizer := trace.Calls[0], trace.Calls[1], trace.Calls[2]
	if tool.Agent != nil || tool.Model != nil || len(tool.ToolCalls) != 1 || tool.ToolCalls[0].Tool != "get_city" ||
		tool.ToolCalls[0].Arguments["name"] != "Tarnby" || !strings.Contains(*tool.ToolCalls[0].Result, "39") || tool.ToolCalls[0].Error != nil {
		t.Errorf("the tool step's call is %+v", tool)
	}
	if *executor.Agent != "executor" || *executor.Step != "say" || *executor.Model != testModel || executor.Usage.TotalTokens != 15 ||
		executor.Request["messages"] == nil || executor.Response["text"] != `{"result":"done"}` || len(executor.ToolCalls) != 0 {
		t.Errorf("the executor's call is %+v", executor)
	}
	if *synthesizer.Agent != "synthesizer" || synthesizer.Step != nil {
		t.Errorf("the synthesizer's call is %+v", synthesizer)
	}
}

// A run that nothing was asked for has an empty trace and no versions, or one.
func TestTraceOfARunWithoutCalls(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalManual)
	if a := s.want(200, "GET", "/api/v1/runs/"+id+"/trace", ""); a.body != `{"calls":[]}`+"\n" {
		t.Errorf("the trace is %s", a.body)
	}
	if a := s.want(200, "GET", "/api/v1/runs/"+id+"/versions", ""); strings.Count(a.body, `"hash"`) != 1 || !strings.Contains(a.body, `"mends":[]`) {
		t.Errorf("the versions are %s", a.body)
	}
}

func TestToolsAndModels(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	tools := s.want(200, "GET", "/api/v1/tools", "").body
	for _, want := range []string{`"name":"get_city"`, `"name":"calculate"`, `"read_only":true`, `"properties"`} {
		if !strings.Contains(tools, want) {
			t.Errorf("%s is not in %s", want, tools)
		}
	}
	models := s.want(200, "GET", "/api/v1/models", "").body
	for _, want := range []string{`"name":"test:model"`, `"synthesizer":"test:model"`, `"timeout_ms":null`} {
		if !strings.Contains(models, want) {
			t.Errorf("%s is not in %s", want, models)
		}
	}
}

// Health is the process's; readiness is the database's and the models', too.
func TestHealthAndReadiness(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := s.want(200, "GET", path, ""); a.body != `{"status":"ok"}`+"\n" {
			t.Errorf("%s answers %s", path, a.body)
		}
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.want(200, "GET", "/healthz", "")
	p := problemIn(t, s.want(503, "GET", "/readyz", ""))
	if p.Code != codeUnavailable || !strings.Contains(p.Detail, "database") {
		t.Errorf("%+v", p)
	}
}

// Times are written with three digits of milliseconds, always, and in UTC.
func TestStamp(t *testing.T) {
	for unix, want := range map[int64]string{
		0: `"1970-01-01T00:00:00.000Z"`, 1_500: `"1970-01-01T00:00:01.500Z"`, 1_767_323_045_067: `"2026-01-02T03:04:05.067Z"`,
	} {
		got, err := stamp(time.UnixMilli(unix)).MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%d is %s, %v, want %s", unix, got, err, want)
		}
	}
	if got, err := (stamp{}).MarshalJSON(); err != nil || string(got) != "null" {
		t.Errorf("no time is %s, %v", got, err)
	}
}
