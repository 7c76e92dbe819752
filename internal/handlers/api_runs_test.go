package handlers

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// A run is made with the documented defaults and answered whole.
func TestCreateRunAnswersTheWholeDocument(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	a := s.want(http.StatusCreated, "POST", "/api/v1/runs",
		`{"question":" Which is densest? ","plan":`+planText(diamond())+`}`)
	var r runSeen
	a.json(t, &r)
	if got := a.header.Get("Location"); got != "/api/v1/runs/"+r.ID {
		t.Errorf("Location %q", got)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	hash, err := plan.Hash(diamond())
	if err != nil {
		t.Fatal(err)
	}
	pending := `{"status":"pending","wave":null,"attempts":0,"result":null,"data":null,"error":null,"cause":null,` +
		`"started_at":null,"finished_at":null,"usage":` + noUsage + `}`
	step := func(id, instruction, needs string) string {
		return `{"id":"` + id + `","instruction":"` + instruction +
			`","tool":null,"input":null,"depends_on":[` + needs + `],"contract":null,"strategy":null}`
	}
	want := `{"id":"` + r.ID + `","question":"Which is densest?","status":"awaiting_approval","strategy":"plan",` +
		`"schedule":"waves","approval":"manual","created_at":"` + r.CreatedAt + `","started_at":null,"finished_at":null,` +
		`"forked_from":null,"child_of":null,"recorded":false,` +
		`"plan":{"version":1,"hash":"` + hash + `","approved":false,"deliverable":"s3","steps":[` +
		step("s1", "one", "") + `,` + step("s2", "two", "") + `,` + step("s3", "join", `"s1","s2"`) + `]},` +
		`"steps":{"s1":` + pending + `,"s2":` + pending + `,"s3":` + pending + `},` +
		`"waves":[],"failed":[],"skipped":[],"corrections":0,"replans":0,"answer":null,"usage":` + noUsage + `,` +
		`"budget":{"requests":40,"tokens":200000,"cost_usd":null,"steps":null},` +
		`"pending_approvals":[],"error":null,` +
		`"estimate":` + string(r.Estimate) + `,"seq":2}` + "\n"
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
	if again := s.want(200, "GET", "/api/v1/runs/"+r.ID, ""); again.body != want {
		t.Errorf("GET answers %s", again.body)
	}
	if s.model.asked.Load() != 0 {
		t.Error("a model was asked although the plan was given") // BEHAVIOUR 3.1
	}
}

const noUsage = `{"requests":0,"input_tokens":0,"output_tokens":0,"total_tokens":0,"cost_usd":0}`

// Every option is kept as it was asked for; null in a budget is no limit.
func TestCreateRunKeepsEveryOption(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.ask(`{"question":"q","strategy":"plan","approval":"auto","schedule":"ready","max_steps":9,"max_parallel":2,
		"replan":{"when":"never","max":1,"approval":"auto"},
		"budget":{"requests":null,"tokens":100000,"cost_usd":0.5,"steps":7},
		"models":{"planner":"` + testModel + `"},"tools":["calculate"],"instructions":"be brief","plan":` + planText(diamond()) + `}`)
	r := s.until(id, plan.RunStatusSucceeded)
	o := r.Options
	if o.Approval != "auto" || o.Schedule != "ready" || o.MaxSteps != 9 || o.MaxParallel != 2 || o.Replan.Max != 1 ||
		o.Instructions != "be brief" || !slices.Equal(o.Tools, []string{"calculate"}) || o.Models[plan.RolePlanner] != testModel {
		t.Errorf("options %+v", o)
	}
	b := o.Budget
	if b.Requests != nil || *b.Tokens != 100_000 || *b.CostUSD != plan.Dollar/2 || *b.Steps != 7 {
		t.Errorf("budget %+v", b)
	}
}

// What is left out of a budget keeps its default; null as a whole list of tools
// or an optional text is the same as leaving it out.
func TestCreateRunTellsNullFromAbsent(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, c := range []struct{ body, want string }{
		{`{"question":"q"}`, `{"requests":40,"tokens":200000,"cost_usd":null,"steps":null}`},
		{`{"question":"q","budget":{}}`, `{"requests":40,"tokens":200000,"cost_usd":null,"steps":null}`},
		{`{"question":"q","budget":{"tokens":null}}`, `{"requests":40,"tokens":null,"cost_usd":null,"steps":null}`},
		{
			`{"question":"q","tools":null,"models":null,"plan":null,"tree":null,"webhook":null,"instructions":null}`,
			`{"requests":40,"tokens":200000,"cost_usd":null,"steps":null}`,
		},
	} {
		a := s.want(201, "POST", "/api/v1/runs", c.body)
		var r struct {
			ID     string
			Budget json.RawMessage
		}
		a.json(t, &r)
		if string(r.Budget) != c.want {
			t.Errorf("%s: budget %s, want %s", c.body, r.Budget, c.want)
		}
		run := s.until(r.ID, plan.RunStatusAwaitingApproval)
		if len(run.Options.Tools) != 2 {
			t.Errorf("%s: tools %v, want all", c.body, run.Options.Tools)
		}
	}
}

// A run that ended well is answered with results, waves and answer.
func TestGetRunOfAnEndedRun(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusSucceeded)
	a := s.want(200, "GET", "/api/v1/runs/"+id, "")
	for _, want := range []string{
		`"status":"succeeded"`, `"waves":[["s1","s2"],["s3"]]`, `"approved":true`, `"result":"done"`, `"wave":2`,
		`"answer":{"result":"**the** answer","subject":"Quillhaven","value":1200.0,"rests_on":["s1","s2","s3"]}`, `"attempts":1`, `"error":null`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
	for _, not := range []string{`"pending"`, `"instructions"`, `"finished_at":null`, "0001-01-01"} {
		if strings.Contains(a.body, not) {
			t.Errorf("%s is in %s", not, a.body)
		}
	}
}

// A failed step takes down what needed it, and the document says so in plan
// order, with the cause. BEHAVIOUR 5.5, 9.3
func TestGetRunOfAPartialRun(t *testing.T) {
	s := newSite(t, &scriptedModel{executor: failing("s1")})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusPartial)
	a := s.want(200, "GET", "/api/v1/runs/"+id, "")
	var r runSeen
	a.json(t, &r)
	if !slices.Equal(r.Failed, []string{"s1"}) || !slices.Equal(r.Skipped, []string{"s3"}) {
		t.Errorf("failed %v skipped %v", r.Failed, r.Skipped)
	}
	if st := r.Steps["s3"]; st.Status != "skipped" || st.Cause == nil || *st.Cause != "s1" || st.Result != nil || st.Wave != nil {
		t.Errorf("s3 is %+v", st)
	}
	if st := r.Steps["s1"]; st.Error == nil || st.Error.Code != plan.CodeModelAuth || st.Result != nil {
		t.Errorf("s1 is %+v", st)
	}
	if strings.Contains(a.body, "401") {
		t.Error("the cause of a failure is shown")
	}
}

// Requests that are not right are answered with every field that is wrong, and
// no run is made.
func TestCreateRunRefuses(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, c := range []struct {
		name, body string
		status     int
		code       plan.Code
		fields     []string
		says       string
	}{
		{"nothing", "", 400, codeMalformed, nil, "empty"},
		{"white space", " \n", 400, codeMalformed, nil, "empty"},
		{"not JSON", `{"question":`, 400, codeMalformed, nil, "not JSON"},
		{"two values", `{"question":"q"} {}`, 400, codeMalformed, nil, "not JSON"},
		{"a form", `question=q`, 400, codeMalformed, nil, "not JSON"},
		{"not UTF-8", "{\"question\":\"\xff\"}", 400, codeMalformed, nil, "byte 13"},
		{"a field twice", `{"question":"a","question":"b"}`, 400, codeMalformed, []string{"question"}, "twice"},
		{"a nested field twice", `{"question":"a","budget":{"steps":1,"steps":2}}`, 400, codeMalformed, []string{"steps"}, "twice"},
		{"a list", `[]`, 422, plan.CodeInvalid, []string{""}, "an array"},
		{"null", `null`, 422, plan.CodeInvalid, []string{""}, "null"},
		{"no question", `{}`, 422, plan.CodeInvalid, []string{"question"}, "missing"},
		{"empty question", `{"question":"  "}`, 422, plan.CodeInvalid, []string{"question"}, "empty"},
		{"long question", `{"question":"` + strings.Repeat("é", plan.MostQuestion+1) + `"}`, 422, plan.CodeInvalid, []string{"question"}, "20001"},
		{"unknown fields", `{"question":"q","foo":1,"bar":2}`, 422, plan.CodeInvalid, []string{"bar", "foo"}, "bar is not a field"},
		{"a field in capitals", `{"Question":"q"}`, 422, plan.CodeInvalid, []string{"Question", "question"}, "Question"},
		{"unknown in budget", `{"question":"q","budget":{"dollars":1}}`, 422, plan.CodeInvalid, []string{"budget.dollars"}, "budget.dollars"},
		{
			"unknown in a step", `{"question":"q","plan":{"steps":[{"id":"a","instruction":"i","when":"now"}]}}`, 422,
			plan.CodeInvalid,
			[]string{"plan.steps[0].when"},
			"plan.steps[0].when",
		},
		{"text for a number", `{"question":"q","max_steps":"6"}`, 422, plan.CodeInvalid, []string{"max_steps"}, "a string; it must be an integer"},
		{"a fraction", `{"question":"q","max_steps":1.5}`, 422, plan.CodeInvalid, []string{"max_steps"}, "a number; it must be an integer"},
		{"a huge number", `{"question":"q","max_steps":1e30}`, 422, plan.CodeInvalid, []string{"max_steps"}, "max_steps"},
		{"a number for text", `{"question":7}`, 422, plan.CodeInvalid, []string{"question"}, "must be a string"},
		{"no budget at all", `{"question":"q","budget":null}`, 422, plan.CodeInvalid, []string{"budget"}, "null; it must be an object"},
		{"text in a budget", `{"question":"q","budget":{"tokens":"many"}}`, 422, plan.CodeInvalid, []string{"budget.tokens"}, "an integer or null"},
		{"a budget below zero", `{"question":"q","budget":{"requests":-1,"cost_usd":0}}`, 422, plan.CodeInvalid, []string{"budget.cost_usd", "budget.requests"}, "at least 1"},
		{"a budget beyond counting", `{"question":"q","budget":{"cost_usd":1e300}}`, 422, plan.CodeInvalid, []string{"budget.cost_usd"}, "budget.cost_usd"},
		{"a budget far below zero", `{"question":"q","budget":{"cost_usd":-1e300}}`, 422, plan.CodeInvalid, []string{""}, "out of range"},
		{"deeper than anybody needs", strings.Repeat("[", 20_000), 400, codeMalformed, nil, "depth"},
		{"too many steps", `{"question":"q","max_steps":2001,"max_parallel":0}`, 422, plan.CodeInvalid, []string{"max_parallel", "max_steps"}, "2000"},
		{"unknown strategy", `{"question":"q","strategy":"guess"}`, 422, plan.CodeInvalid, []string{"strategy"}, `"guess"`},
		{"react", `{"question":"q","strategy":"react"}`, 422, plan.CodeInvalid, []string{"strategy"}, "react"},
		{"tree", `{"strategy":"tree","question":"","tree":{"task":"game24","numbers":[4,9,10,13]}}`, 422, plan.CodeInvalid, []string{"tree"}, "not there yet"},
		{"replanning sometimes", `{"question":"q","replan":{"when":"sometimes"}}`, 422, plan.CodeInvalid, []string{"replan.when"}, "every_round"},
		{"replanning too often", `{"question":"q","replan":{"when":"on_failure","max":21}}`, 422, plan.CodeInvalid, []string{"replan.max"}, "0 to 20"},
		{"replanning less than never", `{"question":"q","replan":{"max":-1}}`, 422, plan.CodeInvalid, []string{"replan.max"}, "0 to 20"},
		{"replans approved by nobody", `{"question":"q","replan":{"approval":"none"}}`, 422, plan.CodeInvalid, []string{"replan.approval"}, "same"},
		{"unknown in replan", `{"question":"q","replan":{"often":true}}`, 422, plan.CodeInvalid, []string{"replan.often"}, "replan.often"},
		{"replanning as ready", `{"question":"q","schedule":"ready","replan":{"when":"every_round"}}`, 422, plan.CodeInvalid, []string{"replan.when"}, "waves"},
		{"a webhook", `{"question":"q","webhook":"https://example.org"}`, 422, plan.CodeInvalid, []string{"webhook"}, "Webhooks"},
		{"unknown model", `{"question":"q","models":{"judge":"nobody:x"}}`, 422, plan.CodeInvalid, []string{"models.judge"}, "nobody"},
		{"unknown role", `{"question":"q","models":{"boss":"x"}}`, 422, plan.CodeInvalid, []string{"models.boss"}, "models.boss"},
		{"unknown tool", `{"question":"q","tools":["teleport"]}`, 422, plan.CodeInvalid, []string{"tools"}, "teleport"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.do("POST", "/api/v1/runs", c.body)
			p := problemIn(t, a)
			if a.status != c.status || p.Code != c.code {
				t.Fatalf("answered %d %s, want %d %s\n%s", a.status, p.Code, c.status, c.code, a.body)
			}
			var fields []string
			for _, e := range p.Errors {
				fields = append(fields, e.Field)
				if e.Message == "" || e.Code == "" {
					t.Errorf("an error without words: %s", a.body)
				}
			}
			slices.Sort(fields)
			if !slices.Equal(fields, c.fields) {
				t.Errorf("fields %q, want %q\n%s", fields, c.fields, a.body)
			}
			if !strings.Contains(a.body, strings.ReplaceAll(c.says, `"`, `\"`)) {
				t.Errorf("does not say %q: %s", c.says, a.body)
			}
			for _, not := range []string{"goroutine", "sqlite", ".go:", "jsonschema", "Location"} {
				if strings.Contains(a.body, not) {
					t.Errorf("shows %q: %s", not, a.body)
				}
			}
		})
	}
	var list struct{ Runs []any }
	s.want(200, "GET", "/api/v1/runs", "").json(t, &list)
	if len(list.Runs) != 0 {
		t.Errorf("%d runs were made by refused requests", len(list.Runs))
	}
}

// A given plan that breaks rules is answered with every violation and its mend.
// BEHAVIOUR 1.2
func TestCreateRunAnswersEveryViolationOfAPlan(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	a := s.want(422, "POST", "/api/v1/runs", `{"question":"q","plan":{"steps":[
		{"id":"a","instruction":""},
		{"id":"b","instruction":"x","depends_on":["c"]},
		{"id":"c","instruction":"x","depends_on":["b"]},
		{"id":"d d","instruction":"x","depends_on":["nobody"]}]}}`)
	p := problemIn(t, a)
	var codes []string
	for _, e := range p.Errors {
		codes = append(codes, string(e.Code))
		if e.Field != "plan" || e.Message == "" {
			t.Errorf("violation %+v", e)
		}
	}
	for _, want := range []plan.Code{plan.CodeEmptyInstruction, plan.CodeCycle, plan.CodeBadID, plan.CodeUnknownDependency} {
		if !slices.Contains(codes, string(want)) {
			t.Errorf("%s is not among %v", want, codes)
		}
	}
	if p.Code != plan.CodePlanInvalid || a.header.Get("Location") != "" {
		t.Errorf("answered %s, Location %q", p.Code, a.header.Get("Location"))
	}
}

// Any text is a question, and comes back as it was sent.
func TestCreateRunKeepsOddText(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, q := range []string{
		"<script>alert(1)</script> & \"quotes\" \\ \n", "日本語 \U0001F600 \u202eright to left", "${s1} $1 #E1 {{.}}", "'; DROP TABLE runs; --",
	} {
		body, err := json.Marshal(map[string]any{"question": q, "plan": diamond()})
		if err != nil {
			t.Fatal(err)
		}
		var made, got, listed struct {
			ID, Question string
			Runs         []struct{ Question string }
		}
		s.want(201, "POST", "/api/v1/runs", string(body)).json(t, &made)
		s.want(200, "GET", "/api/v1/runs/"+made.ID, "").json(t, &got)
		s.want(200, "GET", "/api/v1/runs?limit=1", "").json(t, &listed)
		if want := strings.TrimSpace(q); made.Question != want || got.Question != want || listed.Runs[0].Question != want {
			t.Errorf("%q came back as %q, %q and %q", q, made.Question, got.Question, listed.Runs[0].Question)
		}
	}
}

func TestRunsThatAreNotThere(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "", ""},
		{"POST", "/cancel", ""},
		{"POST", "/approve", `{"version":1}`},
		{"PUT", "/plan", `{"version":1,"plan":{"steps":[]}}`},
		{"POST", "/plan/revise", `{"comment":"c"}`},
		{"POST", "/steps/s1/retry", ``},
		{"POST", "/continue", `{"budget":{"requests":99}}`},
		{"POST", "/answer", ``},
		{"POST", "/fork", `{"from":["s1"]}`},
		{"POST", "/approvals/a1", `{"decision":"allow"}`},
		{"GET", "/events", ""},
		{"GET", "/trace", ""},
		{"GET", "/versions", ""},
	} {
		for _, id := range []string{"nobody", "%00", "%ff%fe", strings.Repeat("x", 5000)} {
			a := s.want(404, c.method, "/api/v1/runs/"+id+c.path, c.body)
			if p := problemIn(t, a); p.Code != plan.CodeNotFound {
				t.Errorf("%s %s: %s", c.method, c.path, a.body)
			}
		}
	}
}

// Cancelling answers when the run has stopped; a second time it is refused.
// BEHAVIOUR 5.7
func TestCancelRun(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusRunning)
	a := s.want(202, "POST", "/api/v1/runs/"+id+"/cancel", "")
	var r struct {
		Status string
		Failed []string
	}
	a.json(t, &r)
	if r.Status != "cancelled" || len(r.Failed) != 0 {
		t.Errorf("the run is %s with %v failed", r.Status, r.Failed)
	}
	again := s.want(409, "POST", "/api/v1/runs/"+id+"/cancel", `{}`)
	if p := problemIn(t, again); p.Code != plan.CodeUnexpected || !strings.Contains(p.Detail, "cancelled") {
		t.Errorf("a second cancel: %s", again.body)
	}
	p := problemIn(t, s.want(422, "POST", "/api/v1/runs/"+id+"/cancel", `{"force":true}`))
	if p.Errors[0].Field != "force" {
		t.Errorf("%+v", p)
	}
}

// The body is read to its limit, and no further, whether its length is
// announced or not.
func TestBodyThatIsTooLarge(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	hold := func(t *testing.T, a answer) {
		t.Helper()
		if p := problemIn(t, a); a.status != 413 || p.Code != plan.CodeTooLarge || !strings.Contains(p.Detail, "64M") {
			t.Errorf("answered %d %s", a.status, a.body)
		}
	}
	t.Run("announced", func(t *testing.T) {
		body := &endless{left: 65 << 20}
		req := s.request("POST", "/api/v1/runs", body)
		req.ContentLength = int64(body.left)
		req.Header.Set("Expect", "100-continue")
		hold(t, s.send(req))
		if body.left != 65<<20 {
			t.Error("the body was sent")
		}
	})
	t.Run("not announced", func(t *testing.T) {
		// Drained and not kept, since a test under the race detector pays for
		// every page of memory.
		s.echo.POST("/api/v1/test/drain", func(c echo.Context) error {
			_, err := io.Copy(io.Discard, c.Request().Body)
			return err
		})
		body := &endless{left: 1 << 30}
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/test/drain", body)
		req.Host = "localhost"
		rec := httptest.NewRecorder()
		s.echo.ServeHTTP(rec, req)
		hold(t, answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()})
		if read := 1<<30 - body.left; read > 128<<20 {
			t.Errorf("%d bytes were read", read)
		}
	})
}

// A body that ends before its announced length was cut off on the way, and is
// not taken for a whole one.
func TestBodyThatIsCutOff(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, key := range []string{"", "Idempotency-Key: k\r\n"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"+key+"\r\n"+`{"question":"q"}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil { //nolint:errcheck,forcetypeassert // tcp was dialled
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 && !strings.Contains(string(got), `"code":"malformed_request"`) {
			t.Errorf("answered %s", got)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.list("").Runs); n != 0 {
		t.Errorf("%d runs were made of half a request", n)
	}
}

// endless reads as white space.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), e.left)], whiteSpace)
	e.left -= n
	return n, nil
}

var whiteSpace = strings.Repeat(" ", 1<<20)

// runSeen is what tests look at in a run's document.
type runSeen struct {
	ID        string
	Status    plan.RunStatus
	CreatedAt string `json:"created_at"`
	Plan      *struct {
		Version  int
		Hash     string
		Approved bool
		Steps    []struct{ ID, Instruction string }
	}
	Steps map[string]struct {
		Status   plan.StepStatus
		Wave     *int
		Attempts int
		Result   *string
		Error    *plan.Fault
		Cause    *string
	}
	Failed, Skipped      []string
	Corrections, Replans int
	ForkedFrom           *string           `json:"forked_from"`
	Pending              []pendingApproval `json:"pending_approvals"`
	Estimate             json.RawMessage
	Seq                  int64
}
