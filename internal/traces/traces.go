// Package traces tells an OpenTelemetry collector of runs: a span for each run,
// each attempt at a step, each model call and each tool call, named by the
// conventions for generative AI. What was asked and answered is in none of them.
//
// Spans are made of events and calls after they are committed, each whole and at
// its end. Their ids follow from those of the run, the step and the call, so
// that a run which several processes carried is one trace, and nothing need be
// remembered. Handing a span over never waits; a collector that is away costs
// spans and nothing else.
package traces

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Tracer makes spans. It is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New returns a tracer that sends to the collector at an address such as
// http://127.0.0.1:4318, over OTLP and HTTP. What else OpenTelemetry's variables
// set (headers, timeouts, the name of the service) holds as well.
func New(ctx context.Context, endpoint string, logger *slog.Logger) (*Tracer, error) {
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimSuffix(endpoint, "/")+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("set up traces to %s: %w", endpoint, err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "planwave")), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("set up traces: read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return newTracer(sdk.NewBatchSpanProcessor(&patient{SpanExporter: to, log: logger}), about), nil
}

func newTracer(to sdk.SpanProcessor, about *resource.Resource) *Tracer {
	p := sdk.NewTracerProvider(sdk.WithSpanProcessor(to), sdk.WithResource(about), sdk.WithIDGenerator(given{}))
	return &Tracer{provider: p, tracer: p.Tracer("planwave")}
}

// Close sends what waits, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// patient is an exporter whose failures are logged, once until it works again.
type patient struct {
	sdk.SpanExporter
	log  *slog.Logger
	away bool // used by the one goroutine that exports
}

// ExportSpans sends spans, or gives them up.
func (p *patient) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := p.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && !p.away {
		p.log.WarnContext(ctx, "traces are lost until the collector answers", "spans", len(spans), "error", err)
	}
	p.away = err != nil
	return nil
}

// Committed makes the spans of what ended in a batch. A recording has none:
// nothing was carried out for it here.
func (t *Tracer) Committed(b db.Batch, _ time.Duration) {
	if b.Run.Recorded {
		return
	}
	for i := range b.Calls {
		t.call(b.Run, &b.Calls[i])
	}
	for i := range b.ToolCalls {
		t.tool(b.Run, &b.ToolCalls[i])
	}
	for _, e := range b.Events {
		t.event(b.Run, e)
	}
}

// event makes the span of what an event ends.
func (t *Tracer) event(r *plan.Run, e plan.Event) {
	switch p := e.Data.(type) {
	case plan.StepSucceeded:
		t.step(r, p.Step, p.Attempt)
	case plan.StepFailed:
		t.step(r, p.Step, p.Attempt)
	case plan.StepInvalid:
		t.step(r, p.Step, p.Attempt)
	case plan.StepCancelled:
		t.step(r, p.Step, p.Attempt)
	case plan.RunSucceeded, plan.RunPartial, plan.RunFailed, plan.RunCancelled:
		t.run(r, e)
	}
}

// span is what a span says.
type span struct {
	id, parent trace.SpanID
	name       string
	kind       trace.SpanKind
	from, to   time.Time
	attributes []attribute.KeyValue
	fault      string // the code of what went wrong
}

// add makes a span of a run and hands it over.
func (t *Tracer) add(r *plan.Run, s span) {
	id := traceOf(r.ID)
	ctx := context.WithValue(context.Background(), givenKey{}, given{id, s.id})
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: id, SpanID: s.parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	if s.fault != "" {
		s.attributes = append(s.attributes, attribute.String("error.type", s.fault))
	}
	_, made := t.tracer.Start(ctx, s.name, trace.WithTimestamp(s.from), trace.WithSpanKind(s.kind), trace.WithAttributes(s.attributes...))
	if s.fault != "" {
		made.SetStatus(codes.Error, s.fault)
	}
	made.End(trace.WithTimestamp(s.to))
}

type givenKey struct{}

// given are the ids of the span that is about to be made.
type given struct {
	trace trace.TraceID
	span  trace.SpanID
}

// NewIDs returns the ids in ctx, which every span of this package has.
func (given) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	g, _ := ctx.Value(givenKey{}).(given)
	return g.trace, g.span
}

// NewSpanID returns the id in ctx.
func (given) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	g, _ := ctx.Value(givenKey{}).(given)
	return g.span
}

// traceOf is the trace of a run.
func traceOf(run string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte(run))
	copy(id[:], sum[:])
	return id
}

// spanOf is the id of a span, by what it is of.
func spanOf(parts ...string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	copy(id[:], sum[:])
	return id
}
