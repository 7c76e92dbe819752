// Package planner turns a question into a plan: it asks a model, reads what it
// wrote leniently, holds it to the rules, and sends it back with what to
// change until it keeps them.
package planner

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"planwave/internal/looseread"
	"planwave/internal/model"
	"planwave/internal/plan"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// DefaultCorrections is how often an invalid plan is sent back.
const DefaultCorrections = 3

// Planner asks a model for plans. Its fields are not changed while it works.
type Planner struct {
	Model           model.Model
	ModelName       string // after the provider
	MaxCorrections  int    // 0 means [DefaultCorrections]
	MaxOutputTokens int
}

// Tool is a tool that the executors have, as the planner is told of it.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of the arguments
}

// Request is what a plan is asked for.
type Request struct {
	Question     string
	Instructions string // the asker's extra guidance
	Tools        []Tool
	Rules        plan.Rules
	// Previous is the plan that a person sent back with Comment.
	Previous *plan.Plan
	Comment  string
	// Replan asks for the rest of a run, and allows the planner to finalize.
	Replan bool
	// Rejections are those already made in this conversation, which goes on
	// from them.
	Rejections []plan.PlanRejected
}

// Result is a plan that keeps the rules, or the wish to finalize.
type Result struct {
	Plan     plan.Plan
	Mends    []string // what was put right without asking
	Warnings []plan.Violation
	Finalize bool
}

// Plan returns a plan that keeps the rules. Every answer that does not is
// handed to rejected before the model is asked again, in the same
// conversation. After MaxCorrections of them the error has the code
// plan_invalid and the last violations. A failed model call is a [*model.Error].
func (p *Planner) Plan(ctx context.Context, req Request, rejected func(plan.PlanRejected) error) (Result, error) {
	mreq, err := p.conversation(req)
	if err != nil {
		return Result{}, err
	}
	tally := newTally(req.Rejections, p.corrections())
	if err := tally.over(); err != nil {
		return Result{}, err
	}
	for {
		resp, err := p.Model.Generate(ctx, mreq)
		if err != nil {
			return Result{}, fmt.Errorf("ask the planner: %w", err)
		}
		result, rejection := read(resp.Text, req)
		if rejection == nil {
			return result, nil
		}
		if err := rejected(*rejection); err != nil {
			return Result{}, err
		}
		tally.add(*rejection)
		if err := tally.over(); err != nil {
			return Result{}, err
		}
		mreq.Messages = append(mreq.Messages, sentBack(*rejection)...)
	}
}

func (p *Planner) corrections() int {
	if p.MaxCorrections > 0 {
		return p.MaxCorrections
	}
	return DefaultCorrections
}

// tally counts rejections. The first answer without any JSON is asked for
// again outside the count.
type tally struct {
	max, counted int
	noJSON       bool
	last         plan.PlanRejected
}

func newTally(made []plan.PlanRejected, limit int) *tally {
	t := &tally{max: limit}
	for _, r := range made {
		t.add(r)
	}
	return t
}

func (t *tally) add(r plan.PlanRejected) {
	t.last = r
	if r.NoJSON && !t.noJSON {
		t.noJSON = true
		return
	}
	t.counted++
}

// over returns the error that ends the asking, once the model was sent its
// plan back as often as it may be.
func (t *tally) over() error {
	if t.counted <= t.max {
		return nil
	}
	messages := make([]string, len(t.last.Violations))
	for i, v := range t.last.Violations {
		messages[i] = v.Message
	}
	e := plan.NewError(plan.CodePlanInvalid, fmt.Sprintf(
		"The planner was sent its plan back %d times and it still breaks the rules: %s Ask again, in other words or with another model, or write the plan yourself.",
		t.max, strings.Join(messages, " ")), nil)
	e.Violations = t.last.Violations
	return e
}

// read turns an answer into a plan that keeps the rules, or into a rejection.
func read(text string, req Request) (Result, *plan.PlanRejected) {
	r := Read(text)
	if r.Finalize && req.Replan {
		return Result{Finalize: true}, nil
	}
	if r.Finalize {
		r.Violations = append(r.Violations, unreadable("There is nothing to finalize yet. Write the plan."))
	}
	if len(r.Violations) > 0 {
		rej := plan.PlanRejected{Text: text, Violations: r.Violations, NoJSON: r.NoJSON}
		if len(r.Plan.Steps) > 0 {
			rej.Plan = &r.Plan
			rej.Violations = append(rej.Violations, broken(r.Plan, req.Rules)...)
		}
		return Result{}, &rej
	}
	if found := broken(r.Plan, req.Rules); len(found) > 0 {
		return Result{}, &plan.PlanRejected{Text: text, Plan: &r.Plan, Violations: found}
	}
	mended, mends := plan.Mended(r.Plan)
	return Result{Plan: mended, Mends: append(r.Mends, mends...), Warnings: plan.Check(mended, req.Rules)}, nil
}

// broken returns the violations that are not warnings.
func broken(p plan.Plan, rules plan.Rules) []plan.Violation {
	var out []plan.Violation
	for _, v := range plan.Check(p, rules) {
		if !v.Warning {
			out = append(out, v)
		}
	}
	return out
}

// conversation builds the messages so far.
func (p *Planner) conversation(req Request) (model.Request, error) {
	system, err := systemPrompt(req)
	if err != nil {
		return model.Request{}, err
	}
	schema, err := planSchema(req)
	if err != nil {
		return model.Request{}, err
	}
	out := model.Request{
		Model: p.ModelName, Role: plan.RolePlanner, System: system, Schema: schema, MaxOutputTokens: p.MaxOutputTokens,
		Messages: []model.Message{{Speaker: model.User, Text: "<question>\n" + req.Question + "\n</question>"}},
	}
	if req.Previous != nil {
		previous, err := json.Marshal(req.Previous)
		if err != nil {
			return model.Request{}, fmt.Errorf("write the previous plan: %w", err)
		}
		out.Messages = append(out.Messages,
			model.Message{Speaker: model.Assistant, Text: string(previous)},
			model.Message{Speaker: model.User, Text: "The person read your plan and asks for changes:\n<comment>\n" + req.Comment +
				"\n</comment>\nWrite the whole plan again with these changes."})
	}
	for _, r := range req.Rejections {
		out.Messages = append(out.Messages, sentBack(r)...)
	}
	return out, nil
}

// sentBack is a rejected answer and what to change about it.
func sentBack(r plan.PlanRejected) []model.Message {
	var b strings.Builder
	if r.NoJSON {
		b.WriteString("Your answer has no JSON in it. Answer with the plan as one JSON object and nothing else.")
	} else {
		b.WriteString("The plan breaks these rules:\n")
		for _, v := range r.Violations {
			b.WriteString("- " + v.Message + "\n")
		}
		b.WriteString("Write the whole plan again with these things changed, and nothing else.")
	}
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = "(an empty answer)"
	}
	return []model.Message{{Speaker: model.Assistant, Text: text}, {Speaker: model.User, Text: b.String()}}
}

func systemPrompt(req Request) (string, error) {
	t, err := template.ParseFS(promptFiles, "prompts/planner.txt")
	if err != nil {
		return "", fmt.Errorf("read the planner's prompt: %w", err)
	}
	var b strings.Builder
	err = t.Execute(&b, struct {
		Request
		MaxSteps int
	}{req, maxSteps(req.Rules)})
	if err != nil {
		return "", fmt.Errorf("fill in the planner's prompt: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

func maxSteps(r plan.Rules) int {
	if r.MaxSteps == 0 {
		return plan.DefaultMaxSteps
	}
	return r.MaxSteps
}

// planSchema is the form of a plan, with the step limit and the tools' names.
func planSchema(req Request) (*model.Schema, error) {
	step := map[string]any{
		"id":          map[string]any{"type": "string"},
		"instruction": map[string]any{"type": "string"},
		"depends_on":  map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}
	if len(req.Tools) > 0 {
		names := make([]string, len(req.Tools))
		for i, t := range req.Tools {
			names[i] = t.Name
		}
		step["tool"] = map[string]any{"type": "string", "enum": names}
		step["input"] = map[string]any{"type": "object"}
	}
	schema := map[string]any{
		"type": "object",
		"properties": map[string]any{"steps": map[string]any{
			"type": "array", "maxItems": maxSteps(req.Rules),
			"items": map[string]any{"type": "object", "properties": step, "required": []string{"id", "instruction", "depends_on"}},
		}},
		"required": []string{"steps"},
	}
	if req.Replan {
		schema["properties"].(map[string]any)["finalize"] = map[string]any{"type": "boolean"} //nolint:forcetypeassert,errcheck // made above
		schema["required"] = []string{}
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("write the schema of a plan: %w", err)
	}
	return &model.Schema{Name: "plan", Schema: raw}, nil
}

// readingProblem turns an error of finding JSON into a violation.
func readingProblem(err error) plan.Violation {
	switch {
	case errors.Is(err, looseread.ErrTruncated):
		return unreadable("The plan is cut off before its end. Write it whole, with shorter instructions or fewer steps.")
	case errors.Is(err, looseread.ErrNoJSON):
		return unreadable("There is no JSON in the answer. Answer with the plan as one JSON object and nothing else.")
	}
	return unreadable(fmt.Sprintf("The plan cannot be read: %v. Write it again as one JSON object.", err))
}

func unreadable(message string, steps ...string) plan.Violation {
	if steps == nil {
		steps = []string{}
	}
	return plan.Violation{Code: plan.CodeUnreadable, Steps: steps, Message: message}
}
