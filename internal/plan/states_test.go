package plan

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edge is one arrow of a drawing.
type edge struct{ from, to, event string }

func (e edge) String() string { return e.from + " --> " + e.to + ": " + e.event }

func compareEdges(a, b edge) int { return cmp.Compare(a.String(), b.String()) }

// drawn returns the arrows with an event of the section of docs/states.md, and
// the events that its sentence before the drawing tells of.
func drawn(t *testing.T, section string) (edges []edge, told []string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("docs/states.md has no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	prose, drawing, ok := strings.Cut(text, "```mermaid\n")
	if !ok {
		t.Fatalf("section %s has no drawing", section)
	}
	arrow := regexp.MustCompile(`^  (\S+) --> (\S+): (\S+)$`)
	for line := range strings.Lines(drawing) {
		if m := arrow.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			edges = append(edges, edge{m[1], m[2], m[3]})
		}
	}
	for _, m := range regexp.MustCompile("`([a-z]+\\.[a-z_]+)`").FindAllStringSubmatch(prose, -1) {
		told = append(told, m[1])
	}
	slices.SortFunc(edges, compareEdges)
	return edges, told
}

func compareDrawing(t *testing.T, drawing, code []edge) {
	t.Helper()
	slices.SortFunc(code, compareEdges)
	for _, e := range code {
		if !slices.Contains(drawing, e) {
			t.Errorf("the code has what is not drawn: %s", e)
		}
	}
	for _, e := range drawing {
		if !slices.Contains(code, e) {
			t.Errorf("drawn and not in the code: %s", e)
		}
	}
	if len(slices.Compact(slices.Clone(drawing))) != len(drawing) {
		t.Error("an arrow is drawn twice")
	}
}

func statusName(s RunStatus) string { return cmp.Or(string(s), "[*]") }

// kinds are events of a type that may come in different statuses or lead to
// different ones.
func kinds(t *testing.T, event EventType) []Payload {
	t.Helper()
	p := sample(t, event, "a", "c1")
	switch p := p.(type) {
	case RunContinued:
		var all []Payload
		for _, to := range RunStatuses() {
			if slices.Contains(continuedTo(), to) {
				p.Status = to
				all = append(all, p)
			}
		}
		return all
	case StepSucceeded:
		kept := p
		kept.From, kept.Attempt = "r0", 0
		return []Payload{p, kept}
	default:
		return []Payload{p}
	}
}

func TestTheDrawingOfRunsIsTrue(t *testing.T) {
	drawing, told := drawn(t, "Runs")
	var code []edge
	for _, event := range EventTypes() {
		if slices.Contains(told, string(event)) {
			continue
		}
		for _, p := range kinds(t, event) {
			for _, from := range statusFrom(event) {
				to, changes := nextStatus(p)
				if !changes {
					to = from
				}
				if e := (edge{statusName(from), statusName(to), string(event)}); !slices.Contains(code, e) {
					code = append(code, e)
				}
			}
		}
	}
	compareDrawing(t, drawing, code)
}

func TestEventsThatAreNotDrawnChangeNoStatus(t *testing.T) {
	_, told := drawn(t, "Runs")
	if len(told) != 4 {
		t.Fatalf("told of are %q", told)
	}
	var going []RunStatus
	for _, s := range RunStatuses() {
		if !s.Ended() {
			going = append(going, s)
		}
	}
	for _, name := range told {
		event := EventType(name)
		if !slices.Contains(EventTypes(), event) {
			t.Errorf("there is no event %s", name)
		}
		if got := statusFrom(event); !slices.Equal(got, going) {
			t.Errorf("%s may come in %v, not in %v", name, got, going)
		}
		if to, changes := nextStatus(sample(t, event, "a", "c1")); changes {
			t.Errorf("%s leads to %s", name, to)
		}
	}
}

// inStatus is a run in which the event may come and whose step a is in a status.
func inStatus(t *testing.T, p Payload, status StepStatus) *Run {
	t.Helper()
	r := runningRun(t)
	if kept, ok := p.(StepSucceeded); ok && kept.From != "" {
		r = at(t, RunStatusAwaitingApproval)
	}
	a := r.Step("a")
	if a.Status = status; status != StepStatusPending && a.Attempts == 0 {
		a.Attempts = 1
	}
	if _, ok := p.(StepApprovalDecided); ok {
		if status == StepStatusPending { // after a restart
			a.Attempts, a.Interrupted = 1, 1
		}
		r.Approvals = []ToolApproval{{ID: "p1", Step: "a", Attempt: a.Attempts}}
	}
	return r
}

func TestTheDrawingOfStepsIsTrue(t *testing.T) {
	drawing, told := drawn(t, "Steps")
	if !slices.Equal(told, []string{"run.resumed", "step.reset", "plan.proposed", "plan.edited"}) {
		t.Errorf("told of are %q", told)
	}
	var code []edge
	for _, event := range EventTypes() {
		for _, p := range kinds(t, event) {
			_, from := stepFrom(p)
			for _, status := range from {
				r := inStatus(t, p, status)
				if err := r.Apply(Event{Seq: r.Seq + 1, At: r.UpdatedAt, Data: p}); err != nil {
					t.Errorf("%s of a step that is %s: %v", event, status, err)
					continue
				}
				code = append(code, edge{string(status), string(r.Step("a").Status), string(event)})
			}
		}
	}
	compareDrawing(t, drawing, code)
}

func TestWhatPutsStepsBack(t *testing.T) { // BEHAVIOUR 5.8, 7.2, 12.1: what the drawing of steps tells of
	changed := twoSteps()
	changed.Steps[0].Instruction = "look up again"
	for _, status := range StepStatuses() {
		for _, p := range []Payload{
			RunResumed{},
			StepReset{Steps: []string{"a"}},
			PlanProposed{Version{Number: 2, Plan: changed}},
			PlanEdited{Version{Number: 2, Plan: changed}},
		} {
			r := runningRun(t)
			happen(t, r, StepStarted{Step: "a", Attempt: 1, Wave: 1})
			r.Step("a").Status = status
			switch p.(type) {
			case PlanProposed:
				r.Status = RunStatusPlanning
			case PlanEdited:
				r.Status = RunStatusAwaitingApproval
			}
			happen(t, r, p)
			want := StepStatusPending
			if _, ok := p.(RunResumed); ok && status != StepStatusRunning && status != StepStatusAwaitingApproval {
				want = status // nothing was in flight
			}
			if a := r.Step("a"); a.Status != want || a.Attempts != 1 {
				t.Errorf("%s leaves a step that is %s in %s after %d attempts", p.Type(), status, a.Status, a.Attempts)
			}
		}
	}
}

func TestEveryEventMayComeSomewhere(t *testing.T) {
	for _, event := range EventTypes() {
		if len(statusFrom(event)) == 0 {
			t.Errorf("%s may never come", event)
		}
		for _, status := range statusFrom(event) {
			if status.Ended() && event != EventRunContinued {
				t.Errorf("%s may come in a run that is %s", event, status)
			}
		}
	}
	for _, status := range RunStatuses() { // BEHAVIOUR 5.8, 8.3: whatever has ended may go on
		if status.Ended() && !slices.Contains(statusFrom(EventRunContinued), status) {
			t.Errorf("a run that is %s cannot go on", status)
		}
	}
	if got := statusFrom(exploded{}.Type()); got != nil {
		t.Errorf("an unknown event may come in %v", got)
	}
	if to, changes := nextStatus(exploded{}); changes {
		t.Errorf("an unknown event leads to %s", to)
	}
}

// exploded is an event that no version of this program writes.
type exploded struct{}

// Type is the event's name.
func (exploded) Type() EventType { return "run.exploded" }

func TestEveryStatusIsReachedAndEndsAsItSays(t *testing.T) {
	drawing, _ := drawn(t, "Runs")
	for _, status := range RunStatuses() {
		leaves := slices.ContainsFunc(drawing, func(e edge) bool {
			return e.from == string(status) && e.to != e.from && e.event != string(EventRunContinued)
		})
		if leaves == status.Ended() {
			t.Errorf("%s: ended is %v, leaves is %v", status, status.Ended(), leaves)
		}
		reached := slices.ContainsFunc(drawing, func(e edge) bool { return e.to == string(status) && e.to != e.from })
		if !reached {
			t.Errorf("%s is never reached", status)
		}
		if strings.Contains(status.Words(), "_") || status.Words() == "" {
			t.Errorf("%s is called %q", status, status.Words())
		}
	}
	if RunStatus("new").Ended() || StepStatus("new").Ended() {
		t.Error("an unknown status has ended")
	}
	steps, _ := drawn(t, "Steps")
	for _, status := range StepStatuses() {
		leaves := slices.ContainsFunc(steps, func(e edge) bool { return e.from == string(status) && e.to != e.from })
		if leaves && status.Ended() {
			t.Errorf("%s has ended and goes on", status)
		}
		if status.Broken() && !status.Ended() {
			t.Errorf("%s is broken and has not ended", status)
		}
	}
	for status, broken := range map[StepStatus]bool{
		StepStatusFailed: true, StepStatusInvalid: true, StepStatusSkipped: false, StepStatusCancelled: false, StepStatusSucceeded: false,
	} {
		if status.Broken() != broken {
			t.Errorf("%s is broken: %v", status, !broken)
		}
	}
}
