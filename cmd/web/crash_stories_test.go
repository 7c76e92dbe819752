package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"planwave/internal/plan"
)

// story is one run of the crash harness: what is asked, what the model answers,
// what a person does, and what must come of it however often the process dies.
type story struct {
	// body is the request that makes the run, without the question.
	body map[string]any
	// model is what the model answers. Leave out what it finds anyway.
	model script
	// next is what a person does when the run is like this; nil is to wait for
	// the next event. It is asked after every event, also in a run that has
	// ended, which is over when it answers nil. It must decide by the run
	// alone: the process may have died before or after the last change.
	next func(*plan.Run) *move
	// ends are the statuses in which the run may end.
	ends []plan.RunStatus
	// rejected is how often a plan of it is rejected, -1 when that varies.
	rejected int
	// repeats is how many requests of one agent a person has it make again,
	// beyond those of steps that are reset.
	repeats int
	// budget is the most requests that it may make, 0 for any number.
	budget int
}

// move is one change that a person makes through the API.
type move struct {
	method string
	path   string // after the run's own
	body   any
	// event is what the log has once the move is answered with success.
	event plan.EventType
	key   string // the Idempotency-Key, "" for none
}

// canRepeat says whether the move can be sent again under its key.
func (m move) canRepeat() bool {
	return m.method == http.MethodPost
}

// storyKind makes runs of one kind, each with other particulars.
type storyKind struct {
	name  string
	story func(*rand.Rand) story
}

// stories are the kinds of runs there are. This is the place for more.
func stories() []storyKind {
	return []storyKind{
		{"given", given},
		{"planned", planned},
		{"self-approved", selfApproved},
		{"revised", revised},
		{"never planned", neverPlanned},
		{"cancelled inside", cancelledInside},
		{"cancelled waiting", cancelledWaiting},
		{"failing step", failingStep},
		{"all failing", allFailing},
		{"contracts", contracts},
		{"tool steps", toolSteps},
		{"tiny budget", tinyBudget},
		{"clumsy synthesizer", clumsySynthesizer},
		{"tried again", triedAgain},
		{"continued", continued},
		{"answered from what there is", answeredAnyway},
		{"replanned", replanned},
		{"in rounds", inRounds},
	}
}

// given is a run with a plan of its own that a person approves.
func given(r *rand.Rand) story {
	p := randomPlan(r)
	return story{
		body: asking(r, plan.ApprovalManual, &p), model: script{steps: randomWork(r, p)},
		next: approves, ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
}

// planned is planned by the model, often wrongly at first, edited by a person
// and approved.
func planned(r *rand.Rand) story {
	p := randomPlan(r)
	wrong := r.IntN(4)
	return story{
		body:  asking(r, plan.ApprovalManual, nil),
		model: script{plans: append(wrongPlans(wrong), written(p)), steps: randomWork(r, p)},
		next: func(run *plan.Run) *move {
			if run.Status == plan.RunStatusAwaitingApproval && len(run.Versions) == 1 {
				return edits(run)
			}
			return approves(run)
		},
		ends: []plan.RunStatus{plan.RunStatusSucceeded}, rejected: wrong,
	}
}

// selfApproved needs no person at all.
func selfApproved(r *rand.Rand) story {
	p := randomPlan(r)
	wrong := r.IntN(2)
	return story{
		body:  asking(r, plan.ApprovalAuto, nil),
		model: script{plans: append(wrongPlans(wrong), written(p)), steps: randomWork(r, p)},
		next:  waits, ends: []plan.RunStatus{plan.RunStatusSucceeded}, rejected: wrong,
	}
}

// revised is sent back to the planner by a person, once or twice.
func revised(r *rand.Rand) story {
	first, second := randomPlan(r), randomPlan(r)
	times := 1 + r.IntN(2)
	return story{
		body:  asking(r, plan.ApprovalManual, nil),
		model: script{plans: []reply{written(first), written(second)}, steps: randomWork(r, second)},
		next: func(run *plan.Run) *move {
			if n := len(run.Versions); run.Status == plan.RunStatusAwaitingApproval && n <= times {
				comment := map[string]any{"comment": fmt.Sprintf("change number %d", n)}
				return &move{method: http.MethodPost, path: "/plan/revise", body: comment, event: plan.EventPlanRequested}
			}
			return approves(run)
		},
		ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
}

// neverPlanned is given up after the last correction.
func neverPlanned(r *rand.Rand) story {
	return story{
		body: asking(r, plan.ApprovalManual, nil), model: script{plans: wrongPlans(1)},
		next: waits, ends: []plan.RunStatus{plan.RunStatusFailed}, rejected: 4,
	}
}

// cancelledInside is cancelled when it has come so far, if it has not ended.
func cancelledInside(r *rand.Rand) story {
	p := randomPlan(r)
	ends := []plan.RunStatus{plan.RunStatusCancelled, plan.RunStatusSucceeded}
	at := int64(1 + r.IntN(25))
	return story{
		body:  asking(r, plan.ApprovalAuto, nil),
		model: script{plans: append(wrongPlans(r.IntN(2)), written(p)), steps: randomWork(r, p)},
		next: func(run *plan.Run) *move {
			if run.Seq >= at {
				return cancels(run)
			}
			return nil
		},
		ends: ends, rejected: -1,
	}
}

// cancelledWaiting is cancelled instead of approved.
func cancelledWaiting(r *rand.Rand) story {
	p := randomPlan(r)
	return story{
		body: asking(r, plan.ApprovalManual, nil), model: script{plans: []reply{written(p)}},
		next: func(run *plan.Run) *move {
			if run.Status == plan.RunStatusAwaitingApproval {
				return cancels(run)
			}
			return nil
		},
		ends: []plan.RunStatus{plan.RunStatusCancelled},
	}
}

// failingStep has a step that is refused, and another that does not need it.
func failingStep(r *rand.Rand) story {
	p := shaped("a:", "b:", "c:a", "d:b", "end:c,d")
	work := randomWork(r, p)
	work["a"] = []reply{{refuse: true}}
	return story{
		body: asking(r, plan.ApprovalManual, &p), model: script{steps: work},
		next: approves, ends: []plan.RunStatus{plan.RunStatusPartial},
	}
}

// allFailing has nothing to answer from.
func allFailing(r *rand.Rand) story {
	p := shaped("a:", "b:a", "end:b")
	return story{
		body: asking(r, plan.ApprovalAuto, &p), model: script{steps: map[string][]reply{"a": {{refuse: true}}}},
		next: waits, ends: []plan.RunStatus{plan.RunStatusFailed},
	}
}

// contracts has a step that keeps its contract at the second try, and one that
// never does.
func contracts(r *rand.Rand) story {
	p := shaped("a:", "b:", "end:a")
	p.Deliverable = "end"
	for i := range 2 {
		p.Steps[i].Contract = &plan.Contract{Required: []string{"n"}, Checks: []string{"n > 1"}}
	}
	short, right := reply{text: `{"result":"short of it","n":1}`}, reply{text: `{"result":"right","n":2}`}
	return story{
		body: asking(r, plan.ApprovalManual, &p), model: script{steps: map[string][]reply{"a": {short, right}, "b": {short}}},
		next: approves, ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
}

// toolSteps has steps that code carries out, one of which fails in half of the
// runs.
func toolSteps(r *rand.Rand) story {
	p := shaped("a:", "b:", "sum:a,b", "look:", "end:sum,look")
	tool := func(i int, name, input string) { p.Steps[i].Tool, p.Steps[i].Input = name, json.RawMessage(input) }
	tool(0, "get_city", `{"name":"Ashwick"}`)
	tool(1, "get_city", `{"name":"Tarnby"}`)
	tool(2, "calculate", `{"expression":"${a.population} + ${b.population}"}`)
	end := plan.RunStatusSucceeded
	if r.IntN(2) == 0 {
		tool(1, "get_city", `{"name":"Atlantis"}`)
		end = plan.RunStatusPartial
	}
	return story{
		body: asking(r, plan.ApprovalAuto, &p), model: script{steps: randomWork(r, p)},
		next: waits, ends: []plan.RunStatus{end},
	}
}

// tinyBudget runs out of requests on its way.
func tinyBudget(r *rand.Rand) story {
	p := shaped("a:", "b:", "c:a,b", "end:c")
	s := story{
		body: asking(r, plan.ApprovalAuto, nil), model: script{plans: []reply{written(p)}, steps: randomWork(r, p)},
		next: waits, ends: []plan.RunStatus{plan.RunStatusFailed}, rejected: -1, budget: 1 + r.IntN(4),
	}
	s.body["budget"] = map[string]any{"requests": s.budget, "tokens": nil}
	return s
}

// clumsySynthesizer writes an answer that is refused, and then a good one.
func clumsySynthesizer(r *rand.Rand) story {
	p := shaped("a:", "end:a")
	return story{
		body:  asking(r, plan.ApprovalManual, &p),
		model: script{answers: []reply{{text: `{"result":"","rests_on":["a"]}`}, {text: `{"result":"good","rests_on":["a"]}`}}},
		next:  approves, ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
}

// What a person does.

func waits(*plan.Run) *move { return nil }

func approves(run *plan.Run) *move {
	if run.Status != plan.RunStatusAwaitingApproval {
		return nil
	}
	body := map[string]any{"version": len(run.Versions)}
	return &move{method: http.MethodPost, path: "/approve", body: body, event: plan.EventPlanApproved}
}

func cancels(run *plan.Run) *move {
	if run.Status.Ended() {
		return nil
	}
	return &move{method: http.MethodPost, path: "/cancel", body: map[string]any{}, event: plan.EventRunCancelled}
}

func edits(run *plan.Run) *move {
	p := run.Plan().Clone()
	p.Steps[0].Instruction += ", as edited by a person"
	body := map[string]any{"version": len(run.Versions), "plan": p}
	return &move{method: http.MethodPut, path: "/plan", body: body, event: plan.EventPlanEdited}
}

// What is asked and answered.

// asking is a request for a run without limits, in either schedule.
func asking(r *rand.Rand, approval plan.Approval, p *plan.Plan) map[string]any {
	body := map[string]any{
		"approval": approval, "schedule": []plan.Schedule{plan.ScheduleWaves, plan.ScheduleReady}[r.IntN(2)],
		"max_parallel": 1 + r.IntN(4), "budget": map[string]any{"requests": nil, "tokens": nil},
	}
	if p != nil {
		body["plan"] = p
	}
	return body
}

// shaped is a plan of steps written as id:dependency,dependency.
func shaped(steps ...string) plan.Plan {
	var p plan.Plan
	for _, s := range steps {
		id, needs, _ := strings.Cut(s, ":")
		deps := strings.FieldsFunc(needs, func(r rune) bool { return r == ',' })
		p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: "Find out about " + id, DependsOn: deps})
	}
	return p
}

// randomPlan has three to six steps, the last of which needs all that nothing
// else needs.
func randomPlan(r *rand.Rand) plan.Plan {
	var p plan.Plan
	loose := map[string]bool{}
	for n := range 2 + r.IntN(4) {
		s := plan.Step{ID: fmt.Sprintf("s%d", n+1), DependsOn: []string{}}
		for _, earlier := range p.Steps {
			if r.IntN(3) == 0 {
				s.DependsOn = append(s.DependsOn, earlier.ID)
				delete(loose, earlier.ID)
			}
		}
		s.Instruction = "Find out about " + s.ID
		loose[s.ID] = true
		p.Steps = append(p.Steps, s)
	}
	end := plan.Step{ID: "end", Instruction: "Bring it together", DependsOn: []string{}}
	for _, s := range p.Steps {
		if loose[s.ID] {
			end.DependsOn = append(end.DependsOn, s.ID)
		}
	}
	p.Steps = append(p.Steps, end)
	return p
}

// randomWork is how the executors carry a plan's steps out: at once, or after
// one or two turns of tools.
func randomWork(r *rand.Rand, p plan.Plan) map[string][]reply {
	city, sum := use{"get_city", `{"name":"Quillhaven"}`}, use{"calculate", `{"expression":"156000 / 130"}`}
	work := map[string][]reply{}
	for _, s := range p.Steps {
		done := reply{text: fmt.Sprintf(`{"result":"what %s came to"}`, s.ID)}
		work[s.ID] = slices.Clone([][]reply{
			{done},
			{{calls: []use{city}}, done},
			{{calls: []use{city, sum}}, done},
			{{calls: []use{city}}, {calls: []use{sum}}, done},
		}[r.IntN(4)])
	}
	return work
}

// wrongPlans are answers of a planner that are sent back.
func wrongPlans(n int) []reply {
	all := []reply{
		{text: `{"steps":[{"id":"s1","instruction":"Look","depends_on":["s9"]}]}`},
		{text: `{"steps":[{"id":"s1","instruction":"Look","depends_on":[]},{"id":"s2","instruction":"Look on","depends_on":[]}]}`},
		{text: `{"steps":[]}`},
	}
	return slices.Clone(all[:n])
}

func written(p plan.Plan) reply {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // a plan is JSON
	}
	return reply{text: string(b)}
}
