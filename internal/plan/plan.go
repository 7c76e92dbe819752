package plan

import (
	"encoding/json"
	"slices"
)

// Plan is what a planner model or a person writes before anything runs.
// It is untrusted until [Check] finds no violation in it.
type Plan struct {
	Steps []Step `json:"steps"`
	// Deliverable names the step whose result the answer rests on. Empty
	// means the one final step.
	Deliverable string `json:"deliverable,omitempty"`
}

// Step is one unit of work and the steps whose results it needs.
type Step struct {
	// ID is 1–64 characters of A-Za-z0-9_- and unique in its plan.
	ID          string   `json:"id"`
	Instruction string   `json:"instruction"`
	DependsOn   []string `json:"depends_on"`
	// Tool makes this a tool step: code calls the tool with Input, and no
	// model is asked. Empty means an agent carries the step out.
	Tool string `json:"tool,omitempty"`
	// Input is a JSON object for the tool's schema, or a JSON string for its
	// only (or first required) text argument. It may refer to the results of
	// dependencies as ${s1} or ${s1.key}.
	Input    json.RawMessage `json:"input,omitempty"`
	Contract *Contract       `json:"contract,omitempty"`
	// Strategy makes this step a child run carried out by that strategy.
	Strategy Strategy `json:"strategy,omitempty"`
}

// Contract is what a step's output must hold for the step to have succeeded.
type Contract struct {
	// Required lists the keys that the output object must have.
	Required []string `json:"required,omitempty"`
	// Checks are boolean expressions over the output's keys.
	Checks []string `json:"checks,omitempty"`
}

// Clone returns a plan that shares nothing with p.
func (p Plan) Clone() Plan {
	c := Plan{Deliverable: p.Deliverable, Steps: make([]Step, len(p.Steps))}
	for i, s := range p.Steps {
		c.Steps[i] = s.Clone()
	}
	return c
}

// Clone returns a step that shares nothing with s.
func (s Step) Clone() Step {
	s.DependsOn = slices.Clone(s.DependsOn)
	s.Input = slices.Clone(s.Input)
	if s.Contract != nil {
		s.Contract = &Contract{Required: slices.Clone(s.Contract.Required), Checks: slices.Clone(s.Contract.Checks)}
	}
	return s
}

// Step returns the step with the given id, and whether there is one.
func (p Plan) Step(id string) (Step, bool) {
	for _, s := range p.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return Step{}, false
}

// IDs returns the ids of the steps in plan order.
func (p Plan) IDs() []string {
	ids := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		ids[i] = s.ID
	}
	return ids
}

// Short returns at most n characters of text, and says by an ellipsis that
// something was left out. It never cuts inside a character.
func Short(text string, n int) string {
	at := 0
	for i := range text {
		if at == n {
			return text[:i] + "…"
		}
		at++
	}
	return text
}
