package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/goleak"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
	"planwave/internal/tools/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is the whole server over real HTTP and a real database, with a scripted
// model.
type site struct {
	t      testing.TB
	url    string
	echo   *echo.Echo
	runs   *runs.Service
	store  *db.DB
	model  *scriptedModel
	log    *syncBuffer
	quit   chan struct{}
	client *http.Client
	doc    *apiDocument
}

// parts are what a site has that most have not.
type parts struct {
	tools     []tools.Tool // beside get_city and calculate
	costLimit *plan.USD
	prices    model.Prices
	servers   []mcp.State
	access    Access
	clock     func() time.Time // the machine's where it is nil
	server    []func(*http.Server)
}

// newSite starts a server that ends with the test.
func newSite(t testing.TB, m *scriptedModel, configure ...func(*http.Server)) *site {
	t.Helper()
	return newSiteOf(t, m, parts{server: configure})
}

func newSiteOf(t testing.TB, m *scriptedModel, with parts) *site {
	t.Helper()
	s := &site{t: t, model: m, log: &syncBuffer{}, quit: make(chan struct{}), client: &http.Client{}, doc: readDocument(t)}
	logger := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	clock := with.clock
	if clock == nil {
		clock = time.Now
	}
	store, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), db.Options{Logger: logger, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(append([]tools.Tool{tools.City(), tools.Calculate()}, with.tools...)...)
	if err != nil {
		t.Fatal(err)
	}
	models := registryOf(t, m, with.prices)
	newID := counter()
	s.store = store
	s.runs = runs.New(runs.Config{
		Store: store, Models: models, Tools: set, CostLimit: with.costLimit, Clock: clock, NewID: newID, Logger: logger,
	})
	h := New(Config{
		Runs: s.runs, Store: store, Models: models, Tools: set, Logger: logger, Clock: clock, NewID: newID, Quit: s.quit, Access: with.access,
		Servers: func() []mcp.State { return with.servers },
	})
	s.echo = h.(*echo.Echo) //nolint:errcheck,forcetypeassert // New is ours
	server := httptest.NewUnstartedServer(h)
	for _, f := range with.server {
		f(server.Config)
	}
	server.Start()
	s.url = server.URL
	t.Cleanup(func() {
		s.stop()
		s.client.CloseIdleConnections()
		server.Close()
		s.runs.Stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// stop tells the streams that the server ends.
func (s *site) stop() {
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
}

// counter makes ids that sort by the time they were made.
func counter() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("id-%06d", n.Add(1)) }
}

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// scriptedModel answers by role. A nil func answers well.
type scriptedModel struct {
	planner, executor, synthesizer func(ctx context.Context, req model.Request) (string, error)
	asked                          atomic.Int64
}

// Generate answers one request as the script says.
func (m *scriptedModel) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	m.asked.Add(1)
	text, answer := `{"result":"done"}`, m.executor
	switch req.Role {
	case plan.RolePlanner:
		text, answer = planText(diamond()), m.planner
	case plan.RoleSynthesizer:
		text, answer = `{"result":"**the** answer","subject":"Quillhaven","value":1200}`, m.synthesizer
	case plan.RoleExecutor, plan.RoleJudge, plan.RoleProposer:
	}
	var err error
	if answer != nil {
		text, err = answer(ctx, req)
	}
	return model.Response{Text: text, Usage: plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5, TotalTokens: 15}}, err
}

// testModel is the name of the scripted model.
const testModel = "test:model"

// registryOf is a registry in which every role is played by m.
func registryOf(t testing.TB, m model.Model, prices model.Prices) *model.Registry {
	t.Helper()
	r := model.NewRegistry(model.Config{Prices: prices})
	if err := r.Register("test", model.Provider{Model: m, DefaultModel: "model"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// failing is an executor that cannot carry out one step.
func failing(step string) func(context.Context, model.Request) (string, error) {
	return func(ctx context.Context, req model.Request) (string, error) {
		if strings.Contains(req.Messages[0].Text, `<step id="`+step+`">`) {
			return broken(ctx, req)
		}
		return `{"result":"done"}`, nil
	}
}

// held is an executor that waits until release is closed.
func held(release <-chan struct{}) func(context.Context, model.Request) (string, error) {
	return func(ctx context.Context, _ model.Request) (string, error) {
		select {
		case <-release:
			return `{"result":"done"}`, nil
		case <-ctx.Done():
			return "", &model.Error{Kind: model.Cancelled, Message: "given up", Cause: ctx.Err()}
		}
	}
}

// broken is an agent that is never answered.
func broken(context.Context, model.Request) (string, error) {
	return "", &model.Error{Kind: model.Auth, Message: "The key was refused.", Cause: errors.New("401")}
}

// diamond is s1 and s2 side by side, and s3 needing both.
func diamond() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "one", DependsOn: []string{}},
		{ID: "s2", Instruction: "two", DependsOn: []string{}},
		{ID: "s3", Instruction: "join", DependsOn: []string{"s1", "s2"}},
	}}
}

func planText(p plan.Plan) string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// json reads the body into v.
func (a answer) json(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, a.body)
	}
}

// do sends a request, and holds the answer to the published document.
func (s *site) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	return s.send(s.request(method, path, strings.NewReader(body), headers...))
}

func (s *site) request(method, path string, body io.Reader, headers ...string) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func (s *site) send(req *http.Request) answer {
	s.t.Helper()
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
	s.doc.hold(s.t, req.Method, req.URL.Path, a)
	return a
}

// want sends a request and fails the test where the status is another.
func (s *site) want(status int, method, path, body string, headers ...string) answer {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	if a.status != status {
		s.t.Fatalf("%s %s answered %d, want %d\n%s", method, path, a.status, status, a.body)
	}
	return a
}

// ask makes a run and returns its id.
func (s *site) ask(body string) string {
	s.t.Helper()
	var r struct {
		ID string `json:"id"`
	}
	s.want(http.StatusCreated, "POST", "/api/v1/runs", body).json(s.t, &r)
	return r.ID
}

// asked makes a run with the diamond as its plan, approved by itself or not.
func (s *site) askGiven(approval plan.Approval) string {
	s.t.Helper()
	return s.ask(fmt.Sprintf(`{"question":"What is it?","approval":%q,"plan":%s}`, approval, planText(diamond())))
}

// until waits for the run to be in a status.
func (s *site) until(id string, status plan.RunStatus) *plan.Run {
	s.t.Helper()
	return s.wait(id, func(r *plan.Run) bool {
		if r.Status.Ended() && r.Status != status {
			s.t.Fatalf("the run ended %s (%+v), want %s", r.Status, r.Error, status)
		}
		return r.Status == status
	})
}

// untilStep waits for a step to be in a status.
func (s *site) untilStep(id, step string, status plan.StepStatus) *plan.Run {
	s.t.Helper()
	return s.wait(id, func(r *plan.Run) bool { return r.Step(step) != nil && r.Step(step).Status == status })
}

// wait waits for the run to be as it is wanted, woken by the store.
func (s *site) wait(id string, wanted func(*plan.Run) bool) *plan.Run {
	s.t.Helper()
	changed, stop := s.store.Watch(id)
	defer stop()
	for {
		r, err := s.runs.Get(s.t.Context(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		if wanted(r) {
			return r
		}
		<-changed
	}
}

// problemIn reads the problem of an answer.
func problemIn(t testing.TB, a answer) problem {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type %q, want application/problem+json\n%s", got, a.body)
	}
	var p problem
	a.json(t, &p)
	if p.Status != a.status || p.Detail == "" || p.Title == "" || p.Type != problemType(p.Code) {
		t.Errorf("the problem is not whole: %s", a.body)
	}
	return p
}
