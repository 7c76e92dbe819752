// Package planner turns a question into a plan: it asks a model, reads what it
// wrote leniently, holds it to the rules, and sends it back with what to
// change until it keeps them.
package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/prompt"
)

// DefaultCorrections is how often an invalid plan is sent back.
const DefaultCorrections = 3

// Planner asks a model for plans. Its fields are not changed while it works.
type Planner struct {
	Model           model.Model
	ModelName       string // after the provider
	MaxCorrections  int    // 0 means [DefaultCorrections], less than 0 none
	MaxOutputTokens int
	Prompts         *prompt.Set // nil has those that are built in
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
	// Previous is the plan that a person sent back with Comment, or the one
	// that ran so far.
	Previous *plan.Plan
	Comment  string
	// Replan asks for the rest of a run, and allows the planner to finalize.
	// What it writes is joined to Kept, the steps that stay as they are.
	Replan bool
	Kept   []plan.Step
	// Reason says why the rest is asked for, as in "step s2 failed".
	Reason string
	// Left is how often the planner will be asked again after this time.
	Left int
	// Progress tells a planner that is asked for the rest what the steps came
	// to: a JSON object for each, one a line, in the synthesizer's form.
	Progress string
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
	for {
		if err := tally.over(); err != nil {
			return Result{}, err
		}
		resp, err := p.Model.Generate(ctx, mreq)
		if err != nil {
			return Result{}, fmt.Errorf("ask the planner: %w", err)
		}
		result, rejection := judge(resp.Text, req)
		if rejection == nil {
			return result, nil
		}
		if err := rejected(*rejection); err != nil {
			return Result{}, err
		}
		tally.add(*rejection)
		mreq.Messages = append(mreq.Messages, sentBack(*rejection)...)
	}
}

func (p *Planner) corrections() int {
	if p.MaxCorrections == 0 {
		return DefaultCorrections
	}
	return max(p.MaxCorrections, 0)
}

// judge turns an answer into a plan that keeps the rules, or into a rejection.
func judge(text string, req Request) (Result, *plan.PlanRejected) {
	r := Read(text)
	if r.Finalize && !req.Replan {
		r.Violations = append(r.Violations, unreadable("There is nothing to finalize yet. Write the plan."))
	}
	if len(r.Violations) == 0 && r.Finalize {
		return Result{Finalize: true}, nil
	}
	rejection := &plan.PlanRejected{Text: text, Violations: r.Violations, NoJSON: r.NoJSON}
	written, joins := r.Plan, []string(nil)
	if req.Replan {
		written, joins = plan.Join(req.Kept, r.Plan)
	}
	if len(r.Violations) == 0 || len(r.Plan.Steps) > 0 {
		rejection.Plan = &written
		rejection.Violations = append(rejection.Violations, broken(written, req.Rules)...)
	}
	if len(rejection.Violations) > 0 {
		return Result{}, rejection
	}
	mended, mends := plan.Mended(written)
	return Result{Plan: mended, Mends: slices.Concat(r.Mends, joins, mends), Warnings: plan.Check(mended, req.Rules)}, nil
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

// mostSaid is how many violations the message of a failure repeats.
const mostSaid = 5

// over returns the error that ends the asking, once the model was sent its
// plan back as often as it may be.
func (t *tally) over() error {
	if t.counted <= t.max {
		return nil
	}
	var said strings.Builder
	for i, v := range t.last.Violations {
		if i == mostSaid {
			fmt.Fprintf(&said, " And %d more.", len(t.last.Violations)-mostSaid)
			break
		}
		said.WriteString(" " + v.Message)
	}
	times := fmt.Sprintf("%d times", t.max)
	if t.max == 1 {
		times = "once"
	}
	e := plan.NewError(plan.CodePlanInvalid, fmt.Sprintf(
		"The planner was sent its plan back %s and it still breaks the rules.%s Ask again, in other words or with another model, or write the plan yourself.",
		times, said.String()), nil)
	e.Violations = t.last.Violations
	return e
}
