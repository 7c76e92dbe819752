package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"planwave/internal/db"
	"planwave/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// kept is a tracer whose spans can be looked at.
func kept() (*Tracer, *tracetest.InMemoryExporter) {
	spans := tracetest.NewInMemoryExporter()
	return newTracer(sdk.NewSimpleSpanProcessor(spans), resource.Empty()), spans
}

// teller tells a tracer of a run, one event a second.
type teller struct {
	t   testing.TB
	to  *Tracer
	run *plan.Run
}

func tell(t testing.TB, to *Tracer, id string) *teller {
	return &teller{t: t, to: to, run: &plan.Run{ID: id}}
}

func (w *teller) at(seq int64) time.Time { return epoch.Add(time.Duration(seq) * time.Second) }

// commit is one batch.
func (w *teller) commit(b db.Batch, payloads ...plan.Payload) {
	w.t.Helper()
	b.Run = w.run
	for _, p := range payloads {
		e := plan.Event{Seq: w.run.Seq + 1, At: w.at(w.run.Seq + 1), Data: p}
		if err := w.run.Apply(e); err != nil {
			w.t.Fatal(err)
		}
		b.Events = append(b.Events, e)
	}
	w.to.Committed(b, time.Millisecond)
}

func created(o plan.Options) plan.RunCreated {
	return plan.RunCreated{Question: "the secret question", Options: o, By: "ada"}
}

// begin begins a run of two steps.
func (w *teller) begin() {
	v := plan.Version{Number: 1, Hash: "sha256:x", Plan: plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "the secret instruction"}, {ID: "s2", Instruction: "do", DependsOn: []string{"s1"}},
	}}}
	w.commit(db.Batch{}, created(plan.DefaultOptions()), plan.PlanProposed{Version: v}, plan.PlanApproved{Version: 1, Hash: v.Hash}, plan.RunStarted{})
}

func (w *teller) call(id, step string, fault *plan.Fault) plan.Call {
	cost := plan.USD(250_000_000)
	return plan.Call{
		ID: id, Agent: plan.RoleExecutor, Step: step, Attempt: 1, Model: "gemini:gemini-3.1-flash-lite", Request: []byte(`"the secret request"`),
		Response: []byte(`"the secret response"`), StartedAt: epoch, FinishedAt: epoch.Add(time.Second), Error: fault,
		Usage: plan.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 5, CostUSD: &cost},
	}
}

// end is the rest of the run, in which s2 fails.
func (w *teller) end() {
	begun := w.call("c1", "s1", nil)
	begun.FinishedAt = time.Time{}
	w.commit(db.Batch{Calls: []plan.Call{begun}}, plan.StepStarted{Step: "s1", Attempt: 1, Wave: 1})
	w.commit(db.Batch{
		Calls: []plan.Call{w.call("c1", "s1", nil)},
		ToolCalls: []plan.ToolCall{{
			ID: "t1", CallID: "c1", Step: "s1", Attempt: 1, Tool: "get_city", Arguments: []byte(`{"name":"the secret city"}`), Result: "the secret result",
			Error: "the secret error", StartedAt: epoch, FinishedAt: epoch.Add(time.Second),
		}},
	}, plan.StepSucceeded{Step: "s1", Attempt: 1, Result: plan.Result{Text: "the secret result"}})
	w.commit(db.Batch{Calls: []plan.Call{w.call("c2", "s2", &plan.Fault{Code: plan.CodeModelAuth, Message: "the secret message"})}},
		plan.StepStarted{Step: "s2", Attempt: 1, Wave: 2},
		plan.StepFailed{Step: "s2", Attempt: 1, Error: plan.Fault{Code: plan.CodeModelAuth, Message: "the secret message"}},
		plan.RunFailed{Error: plan.Fault{Code: plan.CodeAllStepsFailed, Message: "the secret message"}})
}

// byName are the spans by name and step.
func byName(spans tracetest.SpanStubs) map[string]tracetest.SpanStub {
	all := map[string]tracetest.SpanStub{}
	for _, s := range spans {
		name := s.Name
		for _, a := range s.Attributes {
			if a.Key == stepID {
				name += " of " + a.Value.AsString()
			}
		}
		all[name] = s
	}
	return all
}

func TestARunIsATrace(t *testing.T) {
	to, spans := kept()
	w := tell(t, to, "r1")
	w.begin()
	w.end()
	all := byName(spans.GetSpans())
	run := all["invoke_workflow plan"]
	if len(all) != 6 || len(spans.GetSpans()) != 6 {
		t.Fatalf("%d spans: %v", len(all), all)
	}
	tests := map[string]struct {
		parent string
		kind   trace.SpanKind
		says   string
		fault  string
	}{
		"invoke_workflow plan": {
			"", trace.SpanKindInternal,
			"gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=plan gen_ai.conversation.id=r1 planwave.run.status=failed", "all_steps_failed",
		},
		"invoke_agent executor of s1": {
			"invoke_workflow plan", trace.SpanKindInternal,
			"gen_ai.operation.name=invoke_agent gen_ai.agent.name=executor planwave.step.attempt=1 planwave.step.status=succeeded", "",
		},
		"invoke_agent executor of s2": {"invoke_workflow plan", trace.SpanKindInternal, "planwave.step.status=failed", "model_auth"},
		"chat gemini-3.1-flash-lite of s1": {
			"invoke_agent executor of s1", trace.SpanKindClient,
			"gen_ai.operation.name=chat gen_ai.provider.name=gcp.gemini gen_ai.request.model=gemini-3.1-flash-lite gen_ai.usage.input_tokens=100 " +
				"gen_ai.usage.output_tokens=20 gen_ai.usage.cache_read.input_tokens=5 planwave.usage.cost_usd=0.25", "",
		},
		"chat gemini-3.1-flash-lite of s2": {"invoke_agent executor of s2", trace.SpanKindClient, "", "model_auth"},
		"execute_tool get_city of s1": {
			"invoke_agent executor of s1", trace.SpanKindInternal,
			"gen_ai.operation.name=execute_tool gen_ai.tool.name=get_city gen_ai.tool.call.id=t1 gen_ai.tool.type=function", "tool_failed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, ok := all[name]
			if !ok || s.SpanKind != tt.kind || s.Parent.SpanID() != all[tt.parent].SpanContext.SpanID() || s.SpanContext.TraceID() != run.SpanContext.TraceID() {
				t.Errorf("the span is %+v", s)
			}
			said := fmt.Sprint(s)
			has := map[string]string{}
			for _, a := range s.Attributes {
				has[string(a.Key)] = a.Value.String()
			}
			for _, pair := range strings.Fields(tt.says) {
				if key, value, _ := strings.Cut(pair, "="); has[key] != value {
					t.Errorf("%s is %q, want %q", key, has[key], value)
				}
			}
			if has["error.type"] != tt.fault || (s.Status.Code == codes.Error) != (tt.fault != "") {
				t.Errorf("error.type is %q, and the status %v", has["error.type"], s.Status)
			}
			if strings.Contains(said, "secret") {
				t.Errorf("it tells what was asked or answered: %s", said)
			}
		})
	}
	if !run.StartTime.Equal(w.at(1)) || !run.EndTime.Equal(w.at(w.run.Seq)) {
		t.Errorf("the run is from %s to %s", run.StartTime, run.EndTime)
	}
	if s := all["invoke_agent executor of s1"]; !s.StartTime.Equal(w.at(5)) || !s.EndTime.Equal(w.at(6)) {
		t.Errorf("s1 is from %s to %s", s.StartTime, s.EndTime)
	}
}

// A run that another process goes on with stays one trace.
func TestARunOfTwoProcessesIsOneTrace(t *testing.T) {
	first, before := kept()
	w := tell(t, first, "r1")
	w.begin()
	second, after := kept()
	w.commit(db.Batch{Calls: []plan.Call{w.call("c0", "", nil)}})
	w.to = second
	w.end()
	one, other := before.GetSpans(), after.GetSpans()
	if len(one) != 1 || len(other) != 6 || one[0].SpanContext.TraceID() != other[0].SpanContext.TraceID() {
		t.Fatalf("%d and %d spans", len(one), len(other))
	}
	if one[0].Parent.SpanID() != byName(other)["invoke_workflow plan"].SpanContext.SpanID() {
		t.Error("the call of the first process hangs loose")
	}
}

func TestARecordingHasNoTrace(t *testing.T) {
	to, spans := kept()
	w := tell(t, to, "r1")
	c := created(plan.DefaultOptions())
	c.Recorded = true
	w.commit(db.Batch{Calls: []plan.Call{w.call("c0", "", nil)}}, c, plan.RunCancelled{})
	if n := len(spans.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

func TestResultsTakenOverHaveNoSpan(t *testing.T) {
	to, spans := kept()
	w := tell(t, to, "r1")
	v := plan.Version{Number: 1, Hash: "sha256:x", Plan: plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "do"}}}}
	w.commit(db.Batch{}, created(plan.DefaultOptions()), plan.PlanProposed{Version: v},
		plan.StepSucceeded{Step: "s1", From: "r0", Result: plan.Result{Text: "kept"}})
	if n := len(spans.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// collector is an OTLP server that tells of each request.
func collector(t *testing.T, status int) (url string, got chan []byte) {
	t.Helper()
	got = make(chan []byte, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s, %v", r.Method, r.URL.Path, err)
		}
		got <- body
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func TestSpansComeToTheCollector(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "another-name")
	url, got := collector(t, http.StatusOK)
	to, err := New(t.Context(), url+"/", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := tell(t, to, "r1")
	w.begin()
	w.end()
	if err := to.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := <-got
	for _, want := range []string{"invoke_workflow plan", "chat gemini-3.1-flash-lite", "execute_tool get_city", "service.name", "another-name"} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s did not come", want)
		}
	}
	if bytes.Contains(body, []byte("secret")) {
		t.Error("what was asked or answered came, too")
	}
}

// failing is an exporter that fails as told.
type failing struct{ errs []error }

func (f *failing) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

func (f *failing) Shutdown(context.Context) error { return nil }

func TestACollectorThatIsAwayIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	away := errors.New("nobody answers")
	p := &patient{SpanExporter: &failing{[]error{away, away, nil, away}}, log: slog.New(slog.NewTextHandler(&log, nil))}
	for i, want := range []int{1, 1, 1, 2} {
		if err := p.ExportSpans(t.Context(), nil); err != nil {
			t.Errorf("export %d: %v", i, err)
		}
		if n := strings.Count(log.String(), "nobody answers"); n != want {
			t.Errorf("after export %d it was logged %d times, want %d", i, n, want)
		}
	}
}

func TestACollectorThatRefusesFailsNothing(t *testing.T) {
	url, got := collector(t, http.StatusBadRequest)
	var log bytes.Buffer
	to, err := New(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	w := tell(t, to, "r1")
	w.begin()
	w.end()
	if err := to.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-got
	if !strings.Contains(log.String(), "traces are lost") {
		t.Errorf("logged %q", log.String())
	}
}

// BenchmarkCommitted is what the traces of a whole run, six spans, cost those who
// carry it out.
func BenchmarkCommitted(b *testing.B) {
	to := newTracer(sdk.NewBatchSpanProcessor(&failing{make([]error, 1<<20)}), resource.Empty())
	b.Cleanup(func() {
		if err := to.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		w := tell(b, to, "r1")
		w.begin()
		w.end()
	}
}
