package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// fate is what becomes of the attempts at a step.
type fate string

const (
	succeeds fate = "succeeds"
	breaks   fate = "breaks"          // the model call fails
	mendsIt  fate = "mends it"        // breaks its contract, and mends it when told
	breaksIt fate = "breaks it twice" // breaks its contract, told or not
	badTool  fate = "bad tool"        // a tool step whose tool reports an error
	goodTool fate = "good tool"
)

// story is a random run: its plan, what becomes of its steps, its budget and
// when it is cancelled.
type story struct {
	question string
	plan     plan.Plan
	fates    map[string]fate
	schedule plan.Schedule
	parallel int
	requests int // 0: no limit
	cancelAt int // cancelled in this call of an executor, from 1; 0: never

	mu    sync.Mutex
	calls int
	gone  chan struct{} // closed when it is to be cancelled
}

func drawStory(t *rapid.T, question string) *story {
	st := &story{
		question: question, fates: map[string]fate{}, gone: make(chan struct{}),
		schedule: rapid.SampledFrom([]plan.Schedule{plan.ScheduleWaves, plan.ScheduleReady}).Draw(t, "schedule"),
		parallel: rapid.IntRange(1, 5).Draw(t, "parallel"),
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "steps") {
		s := plan.Step{ID: fmt.Sprintf("s%d", i), Instruction: "do", DependsOn: []string{}}
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				s.DependsOn = append(s.DependsOn, fmt.Sprintf("s%d", j))
			}
		}
		f := rapid.SampledFrom([]fate{succeeds, succeeds, succeeds, succeeds, goodTool, mendsIt, breaks, breaksIt, badTool}).Draw(t, "fate")
		switch f {
		case mendsIt, breaksIt:
			s.Contract = &plan.Contract{Required: []string{"n"}, Checks: []string{"n > 0"}}
		case goodTool:
			s.Tool, s.Input = "calculate", json.RawMessage(`{"expression":"1+1"}`)
		case badTool:
			s.Tool, s.Input = "calculate", json.RawMessage(`{"expression":"1/0"}`)
		case succeeds, breaks:
		}
		st.plan.Steps, st.fates[s.ID] = append(st.plan.Steps, s), f
	}
	st.plan.Deliverable = plan.Terminals(st.plan)[0]
	st.plan.Steps = rapid.Permutation(st.plan.Steps).Draw(t, "order")
	switch rapid.IntRange(0, 3).Draw(t, "ends") {
	case 0:
		st.requests = rapid.IntRange(1, 12).Draw(t, "requests")
	case 1:
		st.cancelAt = rapid.IntRange(1, 8).Draw(t, "cancel at")
	}
	return st
}

// execute is the executor of a story's step.
func (st *story) execute(ctx context.Context, step string, req model.Request) (model.Response, error) {
	st.mu.Lock()
	st.calls++
	now := st.calls == st.cancelAt
	st.mu.Unlock()
	if now {
		close(st.gone)
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return model.Response{}, model.FromContext(ctx)
	}
	switch told := len(req.Messages) > 1; st.fates[step] {
	case breaks:
		return model.Response{}, &model.Error{Kind: model.BadResponse, Message: "broke"}
	case mendsIt:
		if told {
			return model.Response{Text: `{"result":"ok","n":1}`}, nil
		}
		return model.Response{Text: `{"result":"not ok","n":0}`}, nil
	case breaksIt:
		return model.Response{Text: `{"result":"not ok","n":-1}`}, nil
	case succeeds, goodTool, badTool:
	}
	return says("result of " + step)
}

// outcome is the status that an attempt at a step comes to.
func (f fate) outcome() plan.StepStatus {
	switch f {
	case breaks, badTool:
		return plan.StepStatusFailed
	case breaksIt:
		return plan.StepStatusInvalid
	case succeeds, mendsIt, goodTool:
	}
	return plan.StepStatusSucceeded
}

// expected is the reference: what each step comes to when nothing stops the
// run, by the definition alone.
func (st *story) expected(id string) plan.StepStatus {
	s, _ := st.plan.Step(id)
	for _, d := range s.DependsOn {
		if st.expected(d) != plan.StepStatusSucceeded {
			return plan.StepStatusSkipped
		}
	}
	return st.fates[id].outcome()
}

func (st *story) depth(id string) int {
	s, _ := st.plan.Step(id)
	deepest := 0
	for _, d := range s.DependsOn {
		deepest = max(deepest, st.depth(d))
	}
	return deepest + 1
}

// TestRandomRuns runs ten random runs at a time in one service and holds each to
// the reference. By hand: go test ./internal/runs -run RandomRuns -rapid.checks=1000
func TestRandomRuns(t *testing.T) { // BEHAVIOUR 5.1–5.7, 5.10, 6.3, 8.2, 8.3, 12.1
	var mu sync.Mutex
	stories := map[string]*story{} // by question
	tag := regexp.MustCompile(`story [0-9]+`)
	m := &script{executor: func(ctx context.Context, step string, req model.Request) (model.Response, error) {
		mu.Lock()
		st := stories[tag.FindString(req.Messages[0].Text)]
		mu.Unlock()
		return st.execute(ctx, step, req)
	}}
	h := newHarness(t, m)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		ids := map[string]*story{}
		for range 10 {
			n++
			st := drawStory(rt, fmt.Sprintf("story %d", n))
			mu.Lock()
			stories[st.question] = st
			mu.Unlock()
			ids[h.begin(rt, st)] = st
		}
		for id, st := range ids {
			r := h.end(id)
			st.check(rt, h, r)
		}
	})
}

// begin asks for a story's run, and cancels it when the story wants it.
func (h *harness) begin(rt *rapid.T, st *story) string {
	a := runs.Ask{Question: st.question, Options: plan.DefaultOptions(), By: "me", Plan: &st.plan}
	a.Options.Approval, a.Options.Schedule = plan.ApprovalAuto, st.schedule
	a.Options.MaxSteps, a.Options.MaxParallel = 9, st.parallel
	a.Options.Budget.Requests = nil
	a.Options.Budget.Tokens = nil
	if st.requests > 0 {
		a.Options.Budget.Requests = &st.requests
	}
	r, err := h.Ask(context.Background(), a)
	if err != nil {
		rt.Fatal(err)
	}
	if st.cancelAt > 0 {
		done := make(chan struct{})
		h.t.Cleanup(func() { <-done })
		go func() {
			defer close(done)
			select {
			case <-st.gone:
				_, _ = h.Cancel(context.Background(), r.ID, "me") // the check sees what came of it
			case <-h.ended(r.ID):
			}
		}()
	}
	return r.ID
}

// ended is closed when the run has ended.
func (h *harness) ended(id string) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		wake, stop := h.store.Watch(id)
		defer stop()
		for {
			if r, err := h.Get(context.Background(), id); err != nil || r.Status.Ended() {
				return
			}
			<-wake
		}
	}()
	return over
}

func (st *story) check(rt *rapid.T, h *harness, r *plan.Run) {
	events := h.events(r.ID)
	for i, e := range events {
		if e.Seq != int64(i+1) {
			rt.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
	}
	st.checkOrder(rt, events)
	st.checkStatuses(rt, r)
	st.checkBudget(rt, r, events)
	st.checkProjections(rt, h, r, events)
}

// checkOrder holds that no step started without its dependencies, and none
// after it had succeeded.
func (st *story) checkOrder(rt *rapid.T, events []plan.Event) {
	done := map[string]bool{}
	for _, e := range events {
		switch p := e.Data.(type) {
		case plan.StepStarted:
			s, _ := st.plan.Step(p.Step)
			for _, d := range s.DependsOn {
				if !done[d] {
					rt.Fatalf("%s started without %s", p.Step, d)
				}
			}
			if done[p.Step] {
				rt.Fatalf("%s started though it had succeeded", p.Step)
			}
		case plan.StepSucceeded:
			done[p.Step] = true
		}
	}
}

func (st *story) checkStatuses(rt *rapid.T, r *plan.Run) {
	stopped := r.Status == plan.RunStatusCancelled || r.Error != nil && r.Error.Code == plan.CodeBudgetExhausted
	for _, s := range r.Steps {
		want := st.expected(s.ID)
		left := r.Status == plan.RunStatusCancelled && s.Status == plan.StepStatusCancelled ||
			r.Status != plan.RunStatusCancelled && s.Status == plan.StepStatusPending
		if s.Status != want && (!stopped || !left) {
			rt.Fatalf("%s: step %s is %s, want %s (run %s, %+v)", st.question, s.ID, s.Status, want, r.Status, r.Error)
		}
	}
	if !stopped {
		st.checkEnd(rt, r)
	}
}

// checkEnd holds how a run ends that nothing stopped, and its waves.
func (st *story) checkEnd(rt *rapid.T, r *plan.Run) {
	want := plan.RunStatusPartial
	switch {
	case len(r.WithStatus(plan.StepStatusSucceeded)) == 0:
		want = plan.RunStatusFailed
	case st.expected(st.plan.Deliverable) == plan.StepStatusSucceeded:
		want = plan.RunStatusSucceeded
	}
	if r.Status != want || (r.Answer == nil) != (want == plan.RunStatusFailed) {
		rt.Fatalf("the run ended %s, want %s; %+v", r.Status, want, r.Error)
	}
	for w, ids := range r.Waves {
		for _, id := range ids {
			if st.depth(id) != w+1 {
				rt.Fatalf("waves = %v, and %s is %d deep", r.Waves, id, st.depth(id))
			}
		}
	}
}

// checkBudget holds that no call went beyond the budget, and that each call is
// settled.
func (st *story) checkBudget(rt *rapid.T, r *plan.Run, events []plan.Event) {
	reserved := len(slices.DeleteFunc(slices.Clone(events), func(e plan.Event) bool { return e.Type() != plan.EventUsageReserved }))
	if st.requests > 0 && reserved > st.requests {
		rt.Fatalf("%d calls with %d allowed", reserved, st.requests)
	}
	if r.Usage.Requests != reserved || len(r.Open) > 0 {
		rt.Fatalf("%d calls reserved, %d settled, %d open", reserved, r.Usage.Requests, len(r.Open))
	}
	if r.Error != nil && r.Error.Code == plan.CodeBudgetExhausted && st.requests == 0 {
		rt.Fatalf("a run without a limit ended %+v", r.Error)
	}
}

// checkProjections holds that the fold of the log is the state that was held,
// and what lists show of it.
func (st *story) checkProjections(rt *rapid.T, h *harness, r *plan.Run, events []plan.Event) {
	folded, err := plan.Fold(r.ID, events)
	if err != nil || !reflect.DeepEqual(folded, r) {
		rt.Fatalf("the log folds to\n%+v\nheld is\n%+v (%v)", folded, r, err)
	}
	page, err := h.store.List(context.Background(), db.Filter{Query: `"` + st.question + `"`, Limit: 200})
	if err != nil {
		rt.Fatal(err)
	}
	i := slices.IndexFunc(page.Runs, func(s db.Summary) bool { return s.ID == r.ID })
	if i < 0 {
		rt.Fatalf("%s is not found among %d", st.question, len(page.Runs))
	}
	s := page.Runs[i]
	if s.Status != r.Status || s.Seq != r.Seq || s.Succeeded != len(r.WithStatus(plan.StepStatusSucceeded)) || !reflect.DeepEqual(s.Usage, r.Usage) {
		rt.Fatalf("listed is %+v\nheld is %+v", s, r)
	}
}
