package metrics

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"planwave/internal/db"
	"planwave/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// scraped is what Prometheus is told, and what was logged meanwhile.
func scraped(t *testing.T, m *Metrics) (text, logged string) {
	t.Helper()
	var log bytes.Buffer
	w := httptest.NewRecorder()
	m.Handler(slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	return w.Body.String(), log.String()
}

// holds fails for each line that is not told.
func holds(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("it is not told that %s", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// call is a model call that took two seconds.
func call(model string, cost *plan.USD, fault plan.Code) plan.Call {
	c := plan.Call{
		ID: "c", Model: model, StartedAt: epoch, FinishedAt: epoch.Add(2 * time.Second),
		Usage: plan.Usage{Requests: 1, InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CostUSD: cost},
	}
	if fault != "" {
		c.Error = &plan.Fault{Code: fault, Message: "secret of a provider"}
	}
	return c
}

func TestWhatIsCommittedIsCounted(t *testing.T) {
	m := New()
	half := plan.USD(500_000_000)
	begun := call("openai:qwen3", nil, "")
	begun.FinishedAt = time.Time{}
	m.Committed(db.Batch{
		Run:       &plan.Run{},
		Events:    []plan.Event{{Seq: 1, Data: plan.RunCreated{}}, {Seq: 2, Data: plan.StepStarted{}}, {Seq: 3, Data: plan.StepStarted{}}},
		Calls:     []plan.Call{begun, call("openai:qwen3", &half, ""), call("openai:other", &half, ""), call("gemini:x", nil, plan.CodeModelAuth)},
		ToolCalls: []plan.ToolCall{{Tool: "get_city"}, {Tool: "get_city", Error: "no such city"}},
	}, 3*time.Millisecond)
	m.Committed(db.Batch{Run: &plan.Run{Recorded: true}, Calls: []plan.Call{call("openai:qwen3", &half, "")}, ToolCalls: []plan.ToolCall{{}}}, time.Second)
	text, _ := scraped(t, m)
	holds(t, text,
		`planwave_events_appended_total{type="run.created"} 1`,
		`planwave_events_appended_total{type="step.started"} 2`,
		`planwave_commit_seconds_bucket{le="0.0025"} 0`,
		`planwave_commit_seconds_bucket{le="0.005"} 1`,
		`planwave_commit_seconds_count 2`,
		`planwave_model_calls_total{outcome="ok",provider="openai"} 2`,
		`planwave_model_calls_total{outcome="model_auth",provider="gemini"} 1`,
		`planwave_model_call_seconds_sum{provider="openai"} 4`,
		`planwave_model_tokens_total{kind="input",provider="openai"} 200`,
		`planwave_model_tokens_total{kind="output",provider="openai"} 40`,
		`planwave_model_cost_dollars_total{provider="openai"} 1`,
		`planwave_model_calls_unpriced_total{provider="gemini"} 1`,
		`planwave_tool_calls_total{outcome="ok"} 1`,
		`planwave_tool_calls_total{outcome="error"} 1`,
	)
	for _, never := range []string{"qwen3", "secret", "get_city"} { // nothing with as many values as people think of
		if strings.Contains(text, never) {
			t.Errorf("%s is told", never)
		}
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("what is told is not as Prometheus has it: %v, %v", problems, err)
	}
	if !strings.Contains(text, "\ngo_goroutines ") {
		t.Error("nothing is told of the Go runtime")
	}
}

// files is a store of constant answers.
type files struct{ err error }

func (f files) Census(context.Context) ([]db.Census, error) {
	return []db.Census{{Status: plan.RunStatusRunning, Strategy: plan.StrategyPlan, Runs: 3}}, f.err
}

func (f files) Sizes() (int64, int64, error) { return 4096, 512, f.err }

func TestWhatThereIsIsAskedForWhenSomebodyLooks(t *testing.T) {
	m := New()
	running := 0
	m.Watch(files{}, func() int { return running })
	running = 7
	first, second := m.StreamOpened(), m.StreamOpened()
	first()
	text, logged := scraped(t, m)
	holds(t, text,
		`planwave_runs{status="running",strategy="plan"} 3`,
		`planwave_steps_running 7`,
		`planwave_database_bytes 4096`,
		`planwave_database_wal_bytes 512`,
		`planwave_open_streams 1`,
	)
	if logged != "" {
		t.Errorf("logged %s", logged)
	}
	second()
	text, _ = scraped(t, m)
	holds(t, text, `planwave_open_streams 0`)
}

func TestADatabaseThatCannotBeAskedHidesNothingElse(t *testing.T) {
	m := New()
	m.Watch(files{errors.New("the disk is gone")}, func() int { return 7 })
	text, logged := scraped(t, m)
	holds(t, text, `planwave_steps_running 7`)
	if regexp.MustCompile("(?m)^planwave_(runs|database)").MatchString(text) {
		t.Errorf("it tells of what it does not know:\n%s", text)
	}
	if !strings.Contains(logged, "the disk is gone") {
		t.Errorf("logged %q", logged)
	}
}
