package templates

// RetryProps is the offer to try a step again in its run. Attempt is how often
// it was tried, so that a form that is sent twice is one wish.
type RetryProps struct {
	URL, Step string
	Attempt   int
}

// ForkProps is the offer to run a step again, with all that need it, in a new
// run. Nonce makes a form that is sent twice one run.
type ForkProps struct{ URL, Step, Nonce string }

// BudgetProps are the choices that a person has when a run ran out of budget: a
// larger budget, an answer from what there is, or neither.
type BudgetProps struct {
	// ContinueURL takes the form with the larger budget; Nonce makes one that is
	// sent twice one request, and AnswerNonce that for an answer.
	ContinueURL, Nonce, AnswerNonce string
	Fields                          []BudgetField
	// AnswerURL takes the wish for an answer; empty where no step succeeded.
	AnswerURL string
	// Results is how many results such an answer rests on.
	Results int
}

// BudgetField is one dimension of the budget that is typed. Value is a text, so
// that what was typed wrongly is shown again as it was; empty is no limit.
type BudgetField struct {
	Name, Label, Value, Used, Problem string
	Decimal                           bool
}

// props is the field as the forms have it.
func (f BudgetField) props() fieldProps {
	return fieldProps{
		Name: f.Name, Label: f.Label, Value: f.Value, Hint: f.Used + " used", Problem: f.Problem, Mode: either(f.Decimal, "decimal", "numeric"),
	}
}

// ApprovalsProps are the tool calls that wait for a person, #approvals.
type ApprovalsProps struct {
	Approvals []ApprovalProps
	OOB       bool
}

// ApprovalProps is a call of a tool that is not read-only.
type ApprovalProps struct {
	ID   string
	Step StepLink
	Tool string
	// Description is what the tool says of itself.
	Description string
	// Arguments are exactly those of the call, indented.
	Arguments string
	// Again says that it was allowed before the program stopped.
	Again bool
	// URL takes the decision.
	URL string
}

// saying is one of the words that a person can say about a call.
type saying struct{ Value, Label, Class string }

// sayings are the decisions, each once or for the rest of the run.
func sayings() []saying {
	return []saying{
		{"allow-once", "Allow once", "primary"},
		{"allow-run", "Allow for the rest of the run", ""},
		{"deny-once", "Deny", ""},
		{"deny-run", "Deny for the rest of the run", ""},
	}
}

// EstimateProps is what is left of a plan will take.
type EstimateProps struct {
	Rows []EstimateRow
	// CriticalPath is the chain of steps that takes the most, and Waves how many
	// are left to run.
	CriticalPath []StepLink
	Waves        int
}

// EstimateRow is one dimension of an estimate against what is left of the budget.
type EstimateRow struct {
	Label, About, Left string
	// Over says that less is left than it will take.
	Over bool
}

// over says whether any dimension will not suffice.
func (e EstimateProps) over() bool {
	for _, r := range e.Rows {
		if r.Over {
			return true
		}
	}
	return false
}

// ChangesProps is what a version of the plan changes.
type ChangesProps struct {
	// From is the version that it is compared with, and URL the page that shows the
	// difference.
	URL   string
	From  int
	Steps []ChangeProps
}

// ChangeProps is one step that was added, removed, changed, left unchanged or
// kept with its result. A removed
// step has no address any more.
type ChangeProps struct {
	Step   StepLink
	Change string
}

// changeLook is how a change of a step is shown.
func changeLook(change string) look {
	switch change {
	case "added":
		return look{"plus", change, "running"}
	case "removed":
		return look{"minus", change, "cancelled"}
	case "changed":
		return look{"edit", change, "waiting"}
	case "unchanged":
		return look{"pending", change, "cancelled"}
	default:
		return look{"kept", "kept", "succeeded"}
	}
}
