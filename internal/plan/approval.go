package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ToolApproval is a call of a tool that is not read-only, and a person's word
// on it.
type ToolApproval struct {
	ID        string
	Step      string
	Attempt   int
	Tool      string
	Arguments json.RawMessage // exactly those of the call
	// Decision is empty while the call waits.
	Decision Decision
	Scope    Scope
	By       string
	At       time.Time // of the decision
	// Used says that the call was made and its outcome is recorded.
	Used bool
	// Again says that it was allowed before and the process stopped: the call
	// may have been made already.
	Again bool
}

// PendingApprovals lists the tool calls that wait for a person.
func (r *Run) PendingApprovals() []ToolApproval {
	var waiting []ToolApproval
	if r.Status.Ended() {
		return waiting
	}
	for _, a := range r.Approvals {
		if a.Decision == "" && r.stands(a) {
			waiting = append(waiting, a)
		}
	}
	return waiting
}

// stands says whether an approval of one call is of the attempt in flight, or
// of one that a stop cut off and the next one takes up. Another attempt asks
// for itself.
func (r *Run) stands(a ToolApproval) bool {
	s := r.Step(a.Step)
	switch {
	case s == nil || s.Status.Ended():
		return false
	case s.Interrupted > 0:
		return a.Attempt >= s.Interrupted
	}
	return s.Status != StepStatusPending && a.Attempt == s.Attempts
}

// Approval returns the approval with this id, and whether there is one.
func (r *Run) Approval(id string) (ToolApproval, bool) {
	for _, a := range r.Approvals {
		if a.ID == id {
			return a, true
		}
	}
	return ToolApproval{}, false
}

// ApprovalFor returns the approval that a call of a step stands under: one for
// the rest of the run, or one of exactly this call that was not used yet.
func (r *Run) ApprovalFor(step, tool string, arguments json.RawMessage) (ToolApproval, bool) {
	for _, a := range r.Approvals {
		if a.Tool == tool && a.Decision != "" && a.Scope == ScopeRun {
			return a, true
		}
	}
	for _, a := range r.Approvals {
		if a.Tool == tool && a.Step == step && !a.Used && r.stands(a) && sameJSON(a.Arguments, arguments) {
			return a, true
		}
	}
	return ToolApproval{}, false
}

// OnlyWaits says whether steps wait for a person's word on a tool call and
// nothing else is in flight.
func (r *Run) OnlyWaits() bool {
	return len(r.WithStatus(StepStatusAwaitingApproval)) > 0 && len(r.WithStatus(StepStatusRunning)) == 0
}

// askApproval keeps a request. One that was asked before a restart is the same.
func (r *Run) askApproval(p StepApprovalRequested) {
	if i := r.approvalAt(p.ID); i >= 0 {
		r.Approvals[i].Attempt = p.Attempt
		return
	}
	r.Approvals = append(r.Approvals, ToolApproval{
		ID: p.ID, Step: p.Step, Attempt: p.Attempt, Tool: p.Tool, Arguments: p.Arguments,
	})
}

func (r *Run) decideApproval(p StepApprovalDecided, e Event) {
	a := &r.Approvals[r.approvalAt(p.ID)]
	a.Decision, a.Scope, a.By, a.At = p.Decision, p.Scope, p.By, e.At
	if s := r.touch(p.Step, e); s.Status == StepStatusAwaitingApproval && a.Attempt == s.Attempts {
		s.Status = StepStatusRunning
	}
}

func (r *Run) useApproval(id string) {
	if i := r.approvalAt(id); i >= 0 {
		r.Approvals[i].Used = true
	}
}

// withdrawAllowed asks again about the calls of a step that was cut off which
// were allowed once and whose outcome nobody knows: allowed once means made once
// at most.
func (r *Run) withdrawAllowed(step string) {
	for i := range r.Approvals {
		a := &r.Approvals[i]
		if a.Step == step && a.Decision == DecisionAllow && a.Scope != ScopeRun && !a.Used && r.stands(*a) {
			*a = ToolApproval{ID: a.ID, Step: a.Step, Attempt: a.Attempt, Tool: a.Tool, Arguments: a.Arguments, Again: true}
		}
	}
}

func (r *Run) approvalAt(id string) int {
	return slices.IndexFunc(r.Approvals, func(a ToolApproval) bool { return a.ID == id })
}

// admitRequest holds that a call is asked about by the attempt that makes it,
// and that what is asked again is the same call, not decided yet.
func (r *Run) admitRequest(p StepApprovalRequested) error {
	if p.ID == "" {
		return errors.New("an approval without an id")
	}
	if i := r.approvalAt(p.ID); i >= 0 {
		switch a := r.Approvals[i]; {
		case a.Decision != "":
			return fmt.Errorf("approval %q is decided already", p.ID)
		case a.Step != p.Step || a.Tool != p.Tool || !sameJSON(a.Arguments, p.Arguments):
			return fmt.Errorf("approval %q is asked for another call", p.ID)
		}
	}
	return r.admitAttempt(p.Step, p.Attempt)
}

// admitCall holds that a call that needed a person's word had it.
func (r *Run) admitCall(p StepToolCalled) error {
	if p.Approval != "" {
		a, ok := r.Approval(p.Approval)
		switch {
		case !ok || a.Tool != p.Tool || a.Step != p.Step && a.Scope != ScopeRun:
			return fmt.Errorf("approval %q is not asked for this call", p.Approval)
		case a.Decision == "":
			return fmt.Errorf("approval %q is not decided", p.Approval)
		case a.Used && a.Scope != ScopeRun:
			return fmt.Errorf("approval %q is used already", p.Approval)
		}
	}
	return r.admitAttempt(p.Step, p.Attempt)
}

// admitDecision holds that a call is decided once.
func (r *Run) admitDecision(p StepApprovalDecided) error {
	i := r.approvalAt(p.ID)
	switch {
	case i < 0:
		return fmt.Errorf("approval %q is not asked for", p.ID)
	case r.Approvals[i].Decision != "":
		return fmt.Errorf("approval %q is decided already", p.ID)
	case r.Approvals[i].Step != p.Step:
		return fmt.Errorf("approval %q is not asked for by step %q", p.ID, p.Step)
	case !r.stands(r.Approvals[i]):
		return fmt.Errorf("approval %q is of an attempt that is over", p.ID)
	case p.Decision != DecisionAllow && p.Decision != DecisionDeny:
		return fmt.Errorf("approval %q is decided by %q", p.ID, p.Decision)
	}
	return nil
}

// sameJSON says whether two values are the same, however they are written.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := canonicalJSON(a)
	y, errY := canonicalJSON(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// sameStep says whether two steps are the same work.
func sameStep(a, b Step) bool {
	x, errX := Canonical(Plan{Steps: []Step{a}})
	y, errY := Canonical(Plan{Steps: []Step{b}})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
