package plan

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// mailer is an executor of step a that sends mail, in a world where every mail
// that leaves is counted, whatever the log says of it.
type mailer struct {
	run     *Run
	allowed map[string]int // recipient → how often a person allowed it once
	sent    map[string]int // recipient → mails that really left
}

// turn makes the next thing happen, by what the state says.
func (m *mailer) turn(rt *rapid.T, n int) []Payload {
	r, a := m.run, m.run.Step("a")
	kind := rapid.IntRange(0, 9).Draw(rt, "kind")
	switch {
	case kind == 0:
		return []Payload{RunResumed{}}
	case kind < 4 && len(r.PendingApprovals()) > 0:
		return []Payload{m.decide(rt)}
	case a.Status == StepStatusPending:
		return []Payload{begins("a", a.Attempts+1)}
	case a.Status.Ended():
		return []Payload{StepReset{Steps: []string{"a"}}}
	case a.Status == StepStatusRunning && kind == 4:
		return []Payload{StepFailed{Step: "a", Attempt: a.Attempts, Error: Fault{Code: CodeToolFailed}}}
	case a.Status == StepStatusRunning && kind == 5, a.Status == StepStatusAwaitingApproval && kind == 5:
		return []Payload{rapid.SampledFrom([]Payload{StepCancelled{Step: "a", Attempt: a.Attempts}, StepReset{Steps: []string{"a"}}}).Draw(rt, "stop")}
	case a.Status == StepStatusRunning:
		return m.call(rt, n)
	}
	return nil
}

func (m *mailer) decide(rt *rapid.T) Payload {
	p := rapid.SampledFrom(m.run.PendingApprovals()).Draw(rt, "approval")
	d := rapid.SampledFrom([]Decision{DecisionAllow, DecisionAllow, DecisionDeny}).Draw(rt, "word")
	if d == DecisionAllow {
		m.allowed[string(p.Arguments)]++
	}
	return word(p.ID, "a", d, ScopeOnce)
}

// call sends a mail if it may, and may be cut off before that is recorded.
func (m *mailer) call(rt *rapid.T, n int) []Payload {
	to := rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "to")
	attempt := m.run.Step("a").Attempts
	p, ok := m.run.ApprovalFor("a", "send_mail", mailTo(to))
	switch {
	case !ok:
		return []Payload{asks(fmt.Sprint("p", n), "a", attempt, to)}
	case p.Decision == "":
		return []Payload{asks(p.ID, "a", attempt, to)}
	case p.Decision == DecisionAllow:
		m.sent[string(mailTo(to))]++
		switch rapid.IntRange(0, 3).Draw(rt, "cut off") {
		case 0:
			return []Payload{RunResumed{}}
		case 1:
			return []Payload{StepReset{Steps: []string{"a"}}}
		case 2:
			return []Payload{StepCancelled{Step: "a", Attempt: attempt}}
		}
	}
	return []Payload{StepToolCalled{Step: "a", Attempt: attempt, Tool: "send_mail", Arguments: mailTo(to), Approval: p.ID}}
}

func TestAllowedOnceIsMadeOnceAtMost(t *testing.T) { // BEHAVIOUR 4.6, 12.1
	most := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &mailer{run: runningRun(t), allowed: map[string]int{}, sent: map[string]int{}}
		for n := range 60 {
			for _, p := range m.turn(rt, n) {
				if err := m.run.Apply(Event{Seq: m.run.Seq + 1, At: noon(), Data: p}); err != nil {
					rt.Fatal(err)
				}
			}
			for to, sent := range m.sent {
				if most = max(most, sent); sent > m.allowed[to] {
					rt.Fatalf("%s: %d mails left and %d were allowed: %+v", to, sent, m.allowed[to], m.run.Approvals)
				}
			}
			if m.run.OnlyWaits() && len(m.run.PendingApprovals()) == 0 {
				rt.Fatalf("the run waits for a person and nobody is asked: %+v", m.run.Approvals)
			}
		}
	})
	if most < 2 {
		t.Errorf("no recipient ever got a second mail, so nothing was tried")
	}
}
