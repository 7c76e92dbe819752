package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

// notifier is a tool that is not read-only. It keeps what it was called with.
type notifier struct {
	mu    sync.Mutex
	calls []string
}

func (*notifier) Info() tools.Info {
	return tools.Info{
		Name: "notify", Description: "Tells somebody.",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
	}
}

func (n *notifier) Call(_ context.Context, arguments json.RawMessage) (tools.Result, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, textOf(arguments))
	return tools.Result{Text: "told"}, nil
}

// textOf is what a call of the tool is to tell, or what is wrong with it.
func textOf(arguments json.RawMessage) string {
	var in struct{ Text string }
	if err := json.Unmarshal(arguments, &in); err != nil {
		return err.Error()
	}
	return in.Text
}

func (n *notifier) called() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.Sort(n.calls)
	return n.calls
}

// askToNotify makes a run with a tool step for each text, and one that needs
// them all, and waits until every call is asked about.
func (s *site) askToNotify(texts ...string) runSeen {
	s.t.Helper()
	last := plan.Step{ID: "end", Instruction: "join"}
	var p plan.Plan
	for i, text := range texts {
		id := fmt.Sprintf("n%d", i+1)
		in, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			s.t.Fatal(err)
		}
		p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: "notify", Tool: "notify", Input: in})
		last.DependsOn = append(last.DependsOn, id)
	}
	p.Steps = append(p.Steps, last)
	id := s.ask(`{"question":"q","approval":"auto","plan":` + planText(p) + `}`)
	s.wait(id, func(r *plan.Run) bool {
		return r.Status == plan.RunStatusAwaitingToolApproval && len(r.PendingApprovals()) == len(texts)
	})
	var r runSeen
	s.want(200, "GET", "/api/v1/runs/"+id, "").json(s.t, &r)
	return r
}

// A call that is not read-only waits, is shown with its exact arguments, and is
// made once it is allowed. BEHAVIOUR 4.6
func TestDecideCallAllows(t *testing.T) {
	n := &notifier{}
	s := newSiteOf(t, &scriptedModel{}, parts{tools: []tools.Tool{n}})
	r := s.askToNotify("a <b> & \"c\"", "second")
	if len(r.Pending) != 2 || r.Steps["n1"].Status != plan.StepStatusAwaitingApproval || len(n.called()) != 0 {
		t.Fatalf("waiting: %+v, called %v", r, n.called())
	}
	first := r.Pending[slices.IndexFunc(r.Pending, func(p pendingApproval) bool { return p.Step == "n1" })]
	if first.Tool != "notify" || textOf(first.Arguments) != "a <b> & \"c\"" {
		t.Errorf("the call waits as %s", first.Arguments)
	}
	at := "/api/v1/runs/" + r.ID + "/approvals/"
	s.want(202, "POST", at+first.ID, `{"decision":"allow"}`).json(t, &r)
	if len(r.Pending) != 1 || r.Pending[0].Step != "n2" {
		t.Errorf("once is for one call: %+v", r.Pending)
	}
	p := s.wantProblem(409, plan.CodeUnexpected, "POST", at+first.ID, `{"decision":"deny"}`)
	if !strings.Contains(p.Detail, "notify") || !strings.Contains(p.Detail, "allow") {
		t.Errorf("%s", p.Detail)
	}
	s.want(202, "POST", at+r.Pending[0].ID, `{"decision":"allow","scope":"once"}`)
	s.until(r.ID, plan.RunStatusSucceeded)
	if got := n.called(); !slices.Equal(got, []string{"a <b> & \"c\"", "second"}) {
		t.Errorf("called with %v", got)
	}
	if a := s.want(200, "GET", "/api/v1/runs/"+r.ID, ""); !strings.Contains(a.body, `"pending_approvals":[]`) {
		t.Errorf("an ended run waits: %s", a.body)
	}
}

// A denied tool step has failed, and its call is not made. BEHAVIOUR 4.6
func TestDecideCallDenies(t *testing.T) {
	n := &notifier{}
	s := newSiteOf(t, &scriptedModel{}, parts{tools: []tools.Tool{n}})
	r := s.askToNotify("no")
	s.want(202, "POST", "/api/v1/runs/"+r.ID+"/approvals/"+r.Pending[0].ID, `{"decision":"deny"}`)
	run := s.until(r.ID, plan.RunStatusFailed)
	if st := run.Step("n1"); st.Error == nil || st.Error.Code != plan.CodeToolDenied || len(n.called()) != 0 {
		t.Errorf("the step is %+v, called %v", st, n.called())
	}
	p := s.wantProblem(409, plan.CodeUnexpected, "POST", "/api/v1/runs/"+r.ID+"/approvals/"+r.Pending[0].ID, `{"decision":"allow"}`)
	if !strings.Contains(p.Detail, "deny") {
		t.Errorf("%s", p.Detail)
	}
}

// A word for the rest of the run holds for the calls that wait, too. BEHAVIOUR
// 4.6
func TestDecideCallForTheRestOfTheRun(t *testing.T) {
	n := &notifier{}
	s := newSiteOf(t, &scriptedModel{}, parts{tools: []tools.Tool{n}})
	r := s.askToNotify("one", "two", "three")
	s.want(202, "POST", "/api/v1/runs/"+r.ID+"/approvals/"+r.Pending[1].ID, `{"decision":"allow","scope":"run"}`).json(t, &r)
	if len(r.Pending) != 0 {
		t.Errorf("still waiting: %+v", r.Pending)
	}
	s.until(r.ID, plan.RunStatusSucceeded)
	if got := n.called(); len(got) != 3 {
		t.Errorf("called with %v", got)
	}
}

func TestDecideCallRefused(t *testing.T) {
	n := &notifier{}
	s := newSiteOf(t, &scriptedModel{}, parts{tools: []tools.Tool{n}})
	r := s.askToNotify("one")
	at := "/api/v1/runs/" + r.ID + "/approvals/"
	for _, c := range []struct {
		body   string
		status int
		code   plan.Code
		fields []string
	}{
		{``, 400, codeMalformed, nil},
		{`{}`, 422, plan.CodeInvalid, []string{"decision"}},
		{`{"decision":"maybe","scope":"always"}`, 422, plan.CodeInvalid, []string{"decision", "scope"}},
		{`{"decision":"allow","scope":null}`, 422, plan.CodeInvalid, []string{"scope"}},
		{`{"decision":"allow","arguments":{"text":"else"}}`, 422, plan.CodeInvalid, []string{"arguments"}},
	} {
		s.wantProblem(c.status, c.code, "POST", at+r.Pending[0].ID, c.body, c.fields...)
	}
	p := s.wantProblem(404, plan.CodeNotFound, "POST", at+strings.Repeat("x", 5000), `{"decision":"allow"}`)
	if len(p.Detail) > 300 {
		t.Errorf("an unknown call is repeated in %d characters", len(p.Detail))
	}
	s.want(202, "POST", "/api/v1/runs/"+r.ID+"/cancel", "")
	s.wantProblem(409, plan.CodeUnexpected, "POST", at+r.Pending[0].ID, `{"decision":"allow"}`)
	if len(n.called()) != 0 {
		t.Errorf("called with %v", n.called())
	}
}
