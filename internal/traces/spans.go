package traces

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"planwave/internal/plan"
)

// The names of OpenTelemetry's conventions for generative AI, version 1.41, which
// Go's module of conventions does not have.
const (
	operation    = attribute.Key("gen_ai.operation.name")
	provider     = attribute.Key("gen_ai.provider.name")
	conversation = attribute.Key("gen_ai.conversation.id")
	workflow     = attribute.Key("gen_ai.workflow.name")
	agentName    = attribute.Key("gen_ai.agent.name")
	requestModel = attribute.Key("gen_ai.request.model")
	inputTokens  = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens = attribute.Key("gen_ai.usage.output_tokens")
	cachedTokens = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	toolName     = attribute.Key("gen_ai.tool.name")
	toolCall     = attribute.Key("gen_ai.tool.call.id")
	toolType     = attribute.Key("gen_ai.tool.type")
)

// Names of our own, for what the conventions have none.
const (
	runStatus  = attribute.Key("planwave.run.status")
	stepID     = attribute.Key("planwave.step.id")
	stepStatus = attribute.Key("planwave.step.status")
	attempt    = attribute.Key("planwave.step.attempt")
	costUSD    = attribute.Key("planwave.usage.cost_usd")
)

// run makes the span of a run that ended, from when it was asked. A run that goes
// on after it ended has one for each end.
func (t *Tracer) run(r *plan.Run, e plan.Event) {
	s := span{
		id: runSpan(r.ID), name: "invoke_workflow " + string(r.Options.Strategy), kind: trace.SpanKindInternal, from: r.CreatedAt, to: e.At,
		attributes: []attribute.KeyValue{
			operation.String("invoke_workflow"), workflow.String(string(r.Options.Strategy)), conversation.String(r.ID),
			runStatus.String(string(r.Status)), inputTokens.Int(r.Usage.InputTokens), outputTokens.Int(r.Usage.OutputTokens),
		},
	}
	if f, ok := e.Data.(plan.RunFailed); ok {
		s.fault = string(f.Error.Code)
	}
	if c := r.Usage.CostUSD; c != nil {
		s.attributes = append(s.attributes, costUSD.Float64(c.Dollars()))
	}
	t.add(r, s)
}

// step makes the span of an attempt at a step. What was taken over from another
// run, or never began, has none.
func (t *Tracer) step(r *plan.Run, id string, number int) {
	state := r.Step(id)
	if state == nil || number == 0 {
		return
	}
	for _, a := range state.History {
		if a.Number != number {
			continue
		}
		s := span{
			id: stepSpan(r.ID, id, number), parent: runSpan(r.ID), name: "invoke_agent " + string(plan.RoleExecutor),
			kind: trace.SpanKindInternal, from: a.StartedAt, to: a.FinishedAt,
			attributes: []attribute.KeyValue{
				operation.String("invoke_agent"), agentName.String(string(plan.RoleExecutor)), conversation.String(r.ID),
				stepID.String(id), attempt.Int(number), stepStatus.String(string(a.Status)),
			},
		}
		if a.Error != nil {
			s.fault = string(a.Error.Code)
		}
		t.add(r, s)
	}
}

// call makes the span of a model call that ended.
func (t *Tracer) call(r *plan.Run, c *plan.Call) {
	if c.FinishedAt.IsZero() {
		return
	}
	source, name, _ := strings.Cut(c.Model, ":")
	s := span{
		id: spanOf(r.ID, "call", c.ID), parent: above(r.ID, c.Step, c.Attempt), name: strings.TrimSpace("chat " + name),
		kind: trace.SpanKindClient, from: c.StartedAt, to: c.FinishedAt,
		attributes: []attribute.KeyValue{
			operation.String("chat"), provider.String(providerName(source)), requestModel.String(name), conversation.String(r.ID),
			agentName.String(string(c.Agent)), inputTokens.Int(c.Usage.InputTokens), outputTokens.Int(c.Usage.OutputTokens),
		},
	}
	if c.Usage.CachedTokens > 0 {
		s.attributes = append(s.attributes, cachedTokens.Int(c.Usage.CachedTokens))
	}
	if c.Usage.CostUSD != nil {
		s.attributes = append(s.attributes, costUSD.Float64(c.Usage.CostUSD.Dollars()))
	}
	if c.Step != "" {
		s.attributes = append(s.attributes, stepID.String(c.Step))
	}
	if c.Error != nil {
		s.fault = string(c.Error.Code)
	}
	t.add(r, s)
}

// tool makes the span of a tool call.
func (t *Tracer) tool(r *plan.Run, c *plan.ToolCall) {
	s := span{
		id: spanOf(r.ID, "tool", c.ID), parent: above(r.ID, c.Step, c.Attempt), name: "execute_tool " + c.Tool,
		kind: trace.SpanKindInternal, from: c.StartedAt, to: c.FinishedAt,
		attributes: []attribute.KeyValue{
			operation.String("execute_tool"), toolName.String(c.Tool), toolType.String("function"), toolCall.String(c.ID),
			conversation.String(r.ID), stepID.String(c.Step),
		},
	}
	if c.Error != "" {
		s.fault = string(plan.CodeToolFailed)
	}
	t.add(r, s)
}

// above is the span that a call is part of: its attempt at a step, or the run.
func above(run, step string, number int) trace.SpanID {
	if step == "" {
		return runSpan(run)
	}
	return stepSpan(run, step, number)
}

func runSpan(run string) trace.SpanID { return spanOf(run) }

func stepSpan(run, step string, number int) trace.SpanID {
	return spanOf(run, "step", step, strconv.Itoa(number))
}

// providerName is what the conventions call a provider.
func providerName(source string) string {
	if source == "gemini" {
		return "gcp.gemini"
	}
	return source
}
