// Package metrics counts what happens, and tells Prometheus of it. What is
// counted comes from the events after they are committed; what there is at a
// moment is asked for when somebody looks.
package metrics

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Metrics are the figures of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	events   *prometheus.CounterVec
	commits  prometheus.Histogram
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	tokens   *prometheus.CounterVec
	cost     *prometheus.CounterVec
	unpriced *prometheus.CounterVec
	tools    *prometheus.CounterVec
	streams  prometheus.Gauge
}

// New returns metrics that count from zero, those of the Go runtime among them.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		events:   counters("events_appended_total", "Events committed to the logs of runs.", "type"),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "planwave_commit_seconds", Help: "From handing a batch of events over to having it on the disk.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
		}),
		calls: counters("model_calls_total", "Model calls that came to an end; outcome is ok or the code of what went wrong.", "provider", "outcome"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "planwave_model_call_seconds", Help: "How long model calls took.",
			Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160},
		}, []string{"provider"}),
		tokens:   counters("model_tokens_total", "Tokens of model calls; kind is input or output, thinking included.", "provider", "kind"),
		cost:     counters("model_cost_dollars_total", "What model calls of known price cost.", "provider"),
		unpriced: counters("model_calls_unpriced_total", "Model calls that used tokens at an unknown price.", "provider"),
		tools:    counters("tool_calls_total", "Tool calls that came to an end; outcome is ok or error.", "outcome"),
		streams:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "planwave_open_streams", Help: "Event streams that viewers have open."}),
	}
	m.registry.MustRegister(
		m.events, m.commits, m.calls, m.seconds, m.tokens, m.cost, m.unpriced, m.tools, m.streams,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(),
	)
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planwave_" + name, Help: help}, labels)
}

// Handler answers with all figures as Prometheus reads them. Those that cannot
// be had are left out, and logged.
func (m *Metrics) Handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, DisableCompression: true,
	})
}

// Committed counts a batch that was committed. Of a recording only the events are
// counted: nothing was called for it here.
func (m *Metrics) Committed(b db.Batch, took time.Duration) {
	m.commits.Observe(took.Seconds())
	for _, e := range b.Events {
		m.events.WithLabelValues(string(e.Type())).Inc()
	}
	if b.Run.Recorded {
		return
	}
	for i := range b.Calls {
		m.called(&b.Calls[i])
	}
	for i := range b.ToolCalls {
		m.tools.WithLabelValues(outcome(b.ToolCalls[i].Error != "", "error")).Inc()
	}
}

// called counts a call when it has ended. It is in a batch before, too, when it
// begins.
func (m *Metrics) called(c *plan.Call) {
	if c.FinishedAt.IsZero() {
		return
	}
	provider, _, _ := strings.Cut(c.Model, ":")
	code := ""
	if c.Error != nil {
		code = string(c.Error.Code)
	}
	m.calls.WithLabelValues(provider, outcome(c.Error != nil, code)).Inc()
	m.seconds.WithLabelValues(provider).Observe(c.FinishedAt.Sub(c.StartedAt).Seconds())
	m.tokens.WithLabelValues(provider, "input").Add(float64(c.Usage.InputTokens))
	m.tokens.WithLabelValues(provider, "output").Add(float64(c.Usage.OutputTokens))
	switch {
	case c.Usage.CostUSD != nil:
		m.cost.WithLabelValues(provider).Add(c.Usage.CostUSD.Dollars())
	case c.Usage.TotalTokens > 0:
		m.unpriced.WithLabelValues(provider).Inc()
	}
}

func outcome(failed bool, code string) string {
	if failed {
		return code
	}
	return "ok"
}

// StreamOpened counts a stream until what it returns is called.
func (m *Metrics) StreamOpened() (closed func()) {
	m.streams.Inc()
	return m.streams.Dec
}
