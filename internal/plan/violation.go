package plan

// The codes of the rules a plan is held to. See docs of [Check].
const (
	CodeEmptyPlan              Code = "empty_plan"
	CodeTooManySteps           Code = "too_many_steps"
	CodeDuplicateID            Code = "duplicate_id"
	CodeBadID                  Code = "bad_id"
	CodeEmptyInstruction       Code = "empty_instruction"
	CodeInstructionTooLong     Code = "instruction_too_long"
	CodeUnknownDependency      Code = "unknown_dependency"
	CodeSelfDependency         Code = "self_dependency"
	CodeDuplicateDependency    Code = "duplicate_dependency"
	CodeCycle                  Code = "cycle"
	CodeNoSingleFinalStep      Code = "no_single_final_step"
	CodeDeliverableMissing     Code = "deliverable_missing"
	CodeDeliverableNotTerminal Code = "deliverable_not_terminal"
	CodeUnknownTool            Code = "unknown_tool"
	CodeBadToolInput           Code = "bad_tool_input"
	CodeUnknownStrategy        Code = "unknown_strategy"
	CodeBadContract            Code = "bad_contract"
	// CodeNotIndependent is a task of a round that needs another of the round.
	CodeNotIndependent Code = "not_independent"
	// CodeUnreadable is a plan that could not be read without guessing.
	CodeUnreadable Code = "unreadable_plan"
)

// Violation is one broken rule: which, where, what is wrong and what to change.
type Violation struct {
	Code Code `json:"code"`
	// Steps are the ids concerned, in plan order.
	Steps []string `json:"steps"`
	// Field names the field of a request that is wrong, where it is not a plan.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Mend is the exact edit that puts it right, where code can work it out.
	Mend *Mend `json:"mend,omitempty"`
	// Warning marks what does not keep the plan from running.
	Warning bool `json:"warning,omitempty"`
}

// Mend is one edit of a plan: exactly one of the fields beside Label and Step
// is set.
type Mend struct {
	// Label says what the edit does, as the text of a button.
	Label string `json:"label"`
	// Step is the id of the step that is edited.
	Step string `json:"step,omitempty"`
	// DependsOn replaces the step's dependencies.
	DependsOn *[]string `json:"depends_on,omitempty"`
	// Deliverable replaces the plan's deliverable.
	Deliverable *string `json:"deliverable,omitempty"`
	// Tool replaces the step's tool; empty makes it an agent step.
	Tool *string `json:"tool,omitempty"`
}

// Apply returns the plan with the edit made. An edit of a step that is not in
// the plan changes nothing.
func (m Mend) Apply(p Plan) Plan {
	p = p.Clone()
	if m.Deliverable != nil {
		p.Deliverable = *m.Deliverable
	}
	for i := range p.Steps {
		if p.Steps[i].ID != m.Step {
			continue
		}
		if m.DependsOn != nil {
			p.Steps[i].DependsOn = append([]string{}, *m.DependsOn...)
		}
		if m.Tool != nil {
			p.Steps[i].Tool = *m.Tool
			if *m.Tool == "" {
				p.Steps[i].Input = nil
			}
		}
	}
	return p
}
