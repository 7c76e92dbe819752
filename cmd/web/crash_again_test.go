package main

import (
	"math/rand/v2"
	"net/http"

	"planwave/internal/plan"
)

// The kinds of runs that go on after something went wrong.

// triedAgain has a step that is refused the first time; a person tries it
// again, at once or when the run has ended.
func triedAgain(r *rand.Rand) story {
	p := shaped("a:", "b:", "c:a", "end:b,c")
	work := randomWork(r, p)
	work["a"] = []reply{{refuse: true, once: true}}
	atOnce := r.IntN(2) == 0
	return story{
		body: asking(r, plan.ApprovalAuto, &p), model: script{steps: work},
		next: func(run *plan.Run) *move {
			a := run.Step("a")
			if a == nil || a.Status != plan.StepStatusFailed || !run.Status.Ended() && (!atOnce || run.Status != plan.RunStatusRunning) {
				return nil
			}
			return &move{method: http.MethodPost, path: "/steps/a/retry", body: map[string]any{}, event: plan.EventStepReset}
		},
		ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
}

// exhausted says whether a run has ended because its budget is used up.
func exhausted(run *plan.Run) bool {
	return run.Status == plan.RunStatusFailed && run.Error != nil && run.Error.Code == plan.CodeBudgetExhausted
}

// continues goes on without a limit.
func continues() *move {
	body := map[string]any{"budget": map[string]any{"requests": nil, "tokens": nil}}
	return &move{method: http.MethodPost, path: "/continue", body: body, event: plan.EventRunContinued}
}

// continued runs out of requests on its way and goes on with more.
func continued(r *rand.Rand) story {
	s := tinyBudget(r)
	s.budget, s.ends = 0, []plan.RunStatus{plan.RunStatusSucceeded}
	s.next = func(run *plan.Run) *move {
		if exhausted(run) {
			return continues()
		}
		return nil
	}
	return s
}

// answeredAnyway runs out of requests, and a person has the answer written from
// what there is, if there is anything.
func answeredAnyway(r *rand.Rand) story {
	s := tinyBudget(r)
	s.budget, s.repeats = 0, 1
	s.ends = []plan.RunStatus{plan.RunStatusSucceeded, plan.RunStatusPartial}
	s.next = func(run *plan.Run) *move {
		switch {
		case !exhausted(run):
			return nil
		case !run.Answerable():
			return continues()
		}
		return &move{method: http.MethodPost, path: "/answer", body: map[string]any{}, event: plan.EventRunContinued}
	}
	return s
}

// replanned has a step that is always refused, and a planner that finds another
// way.
func replanned(r *rand.Rand) story {
	first, rest := shaped("a:", "b:", "end:a,b"), shaped("a2:b", "end2:a2")
	work := randomWork(r, first)
	work["a"] = []reply{{refuse: true}}
	approval := []plan.Approval{plan.ApprovalAuto, plan.ApprovalManual}[r.IntN(2)]
	s := story{
		body: asking(r, approval, nil), model: script{plans: []reply{written(first), written(rest)}, steps: work},
		next: approves, ends: []plan.RunStatus{plan.RunStatusSucceeded},
	}
	if approval == plan.ApprovalAuto {
		s.next = waits // what waits for a moment, in the middle of a commit, is never seen
	}
	s.body["replan"] = map[string]any{"when": plan.ReplanOnFailure, "max": 2}
	return s
}

// inRounds plans two rounds, the second with a task that needs the first.
func inRounds(r *rand.Rand) story {
	first, second := shaped("a:", "b:"), shaped("c:a,b", "d:")
	work := randomWork(r, first)
	s := story{
		body: asking(r, plan.ApprovalAuto, nil),
		// Asked for a third round the planner writes the second again, is sent
		// back since nothing is left of it to run, and gives up.
		model: script{plans: []reply{written(first), written(second), {text: `{"finalize": true}`}}, steps: work},
		next:  waits, ends: []plan.RunStatus{plan.RunStatusSucceeded}, rejected: 1,
	}
	s.body["strategy"] = plan.StrategyRounds
	s.body["max_parallel"] = 2
	return s
}
