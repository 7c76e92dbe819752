package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// turns is a planner that answers one text after the other and keeps what it
// was asked; after the last it repeats it.
type turns struct {
	mu    sync.Mutex
	texts []string
	asked []model.Request
}

func (p *turns) answer(_ context.Context, req model.Request) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.texts[min(len(p.asked), len(p.texts)-1)]
	p.asked = append(p.asked, req)
	if text == "down" {
		return "", &model.Error{Kind: model.Unavailable, Message: "the planner is down"}
	}
	return text, nil
}

// request returns the n-th thing that the planner was asked.
func (p *turns) request(n int) model.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[n]
}

func (p *turns) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func written(t *testing.T, p plan.Plan) string {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const finalize = `{"finalize": true}`

func TestReplanOnFailure(t *testing.T) { // BEHAVIOUR 7.1, 7.2, 7.3
	rest := plan.Plan{Steps: []plan.Step{
		{ID: "s2b", Instruction: "two, in another way"},
		{ID: "s3", Instruction: "join", DependsOn: []string{"s1", "s2b"}},
	}}
	p := &turns{texts: []string{written(t, diamond()), written(t, rest)}}
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
	r := h.end(h.ask(auto, replans(plan.ReplanOnFailure, 3)).ID)
	if r.Status != plan.RunStatusSucceeded || r.Replans != 1 || len(r.Versions) != 2 {
		t.Fatalf("ended %s after %d replans with %d versions: %+v", r.Status, r.Replans, len(r.Versions), r.Error)
	}
	if n := h.model.count("executor:s1"); n != 1 {
		t.Errorf("s1 succeeded and was asked %d times", n)
	}
	want := map[string]plan.Change{"s1": plan.ChangeKept, "s2": plan.ChangeRemoved, "s2b": plan.ChangeAdded, "s3": plan.ChangeChanged}
	if got := changes(r.Versions[0], r.Versions[1]); !maps.Equal(got, want) {
		t.Errorf("changes = %v", got)
	}
	if !slices.Equal(r.Versions[1].Kept, []string{"s1"}) || !r.Step("s1").Kept || r.Step("s2b").Kept {
		t.Errorf("kept = %v, steps %+v", r.Versions[1].Kept, r.Steps)
	}
	told := p.request(1).Messages[len(p.request(1).Messages)-1].Text
	for _, part := range []string{"step s2 failed", `"step":"s1"`, "result of s1", "FAILED", "s2 broke", "SKIPPED"} {
		if !strings.Contains(told, part) {
			t.Errorf("the planner was not told %q:\n%s", part, told)
		}
	}
	if !slices.Equal(r.Answer.RestsOn, []string{"s1", "s2b", "s3"}) {
		t.Errorf("rests on %v", r.Answer.RestsOn)
	}
}

func TestAReplanIsApprovedAsTheRunWas(t *testing.T) { // BEHAVIOUR 7.3
	rest := plan.Plan{Steps: []plan.Step{{ID: "s4", Instruction: "instead", DependsOn: []string{"s1"}}}}
	for name, tt := range map[string]struct {
		approval string
		waits    bool
	}{"same": {plan.ReplanSame, true}, "auto": {plan.ReplanAuto, false}} {
		t.Run(name, func(t *testing.T) {
			p := &turns{texts: []string{written(t, diamond()), written(t, rest)}}
			h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
			r := h.until(h.ask(replans(plan.ReplanOnFailure, 1), func(a *runs.Ask) { a.Options.Replan.Approval = tt.approval }).ID, is(plan.RunStatusAwaitingApproval))
			if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
				t.Fatal(err)
			}
			if tt.waits {
				r = h.until(r.ID, func(r *plan.Run) bool { return len(r.Versions) == 2 && r.Status == plan.RunStatusAwaitingApproval })
				if n := h.model.count("executor:s4"); n != 0 {
					t.Errorf("s4 ran %d times before approval", n)
				}
				if _, err := h.Approve(t.Context(), r.ID, 2, "me"); err != nil {
					t.Fatal(err)
				}
			}
			r = h.end(r.ID)
			if r.Status != plan.RunStatusSucceeded || h.model.count("executor:s4") != 1 {
				t.Errorf("ended %s, %+v", r.Status, r.Error)
			}
		})
	}
}

func TestAPersonEditsAReplan(t *testing.T) { // BEHAVIOUR 3.2, 7.2
	p := &turns{texts: []string{written(t, diamond()), written(t, plan.Plan{Steps: []plan.Step{{ID: "s4", Instruction: "instead", DependsOn: []string{"s1"}}}})}}
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
	r := h.until(h.ask(replans(plan.ReplanOnFailure, 1)).ID, is(plan.RunStatusAwaitingApproval))
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.until(r.ID, func(r *plan.Run) bool { return len(r.Versions) == 2 && r.Status == plan.RunStatusAwaitingApproval })
	edited := r.Plan().Clone()
	edited.Steps[1].Instruction = "instead, but better"
	r, err := h.Edit(t.Context(), r.ID, 2, edited, "me")
	if err != nil || !slices.Equal(r.Versions[2].Kept, []string{"s1"}) {
		t.Fatalf("%v, kept %v: an edit beside s1 keeps it", err, r.Versions)
	}
	edited.Steps[0].Instruction = "one, but better"
	r, err = h.Edit(t.Context(), r.ID, 3, edited, "me")
	if err != nil || len(r.Versions[3].Kept) != 0 || r.Step("s1").Status != plan.StepStatusPending {
		t.Fatalf("%v: an edit of s1 runs it again", err)
	}
	if _, err := h.Approve(t.Context(), r.ID, 4, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusSucceeded || h.model.count("executor:s1") != 2 || r.Step("s1").Attempts != 2 {
		t.Errorf("ended %s, s1 asked %d times", r.Status, h.model.count("executor:s1"))
	}
}

func TestFinalizeAnswersFromWhatThereIs(t *testing.T) { // BEHAVIOUR 7.2, 9.1, 9.3
	p := &turns{texts: []string{written(t, diamond()), finalize}}
	var synth string
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2"), synthesizer: func(_ context.Context, req model.Request) (string, error) {
		synth = req.Messages[0].Text
		return `{"result":"half an answer"}`, nil
	}})
	r := h.end(h.ask(auto, replans(plan.ReplanOnFailure, 3)).ID)
	if r.Status != plan.RunStatusPartial || len(r.Versions) != 1 || !strings.Contains(synth, "FAILED") {
		t.Errorf("ended %s with %d versions; told:\n%s", r.Status, len(r.Versions), synth)
	}
}

func TestAtTheLimitOfReplansTheAnswerIsWritten(t *testing.T) { // BEHAVIOUR 7.1
	again := func(id string) plan.Plan {
		return plan.Plan{Steps: []plan.Step{{ID: id, Instruction: "try " + id, DependsOn: []string{"s1"}}}}
	}
	p := &turns{texts: []string{written(t, diamond()), written(t, again("a")), written(t, again("b")), written(t, again("c"))}}
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2", "a", "b", "c")})
	r := h.end(h.ask(auto, replans(plan.ReplanOnFailure, 2)).ID)
	if r.Status != plan.RunStatusPartial || r.Replans != 2 || p.count() != 3 || h.model.count("executor:c") != 0 {
		t.Errorf("ended %s after %d replans, the planner was asked %d times", r.Status, r.Replans, p.count())
	}
}

// exec: replanning (crewAIInc/crewAI#5392): a replan that fails counts, too.
func TestAFailedReplanCounts(t *testing.T) { // BEHAVIOUR 7.3
	for name, second := range map[string]string{"the model is down": "down", "no plan that keeps the rules": `{"steps": []}`} {
		t.Run(name, func(t *testing.T) {
			p := &turns{texts: []string{written(t, diamond()), second}}
			h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
			r := h.end(h.ask(auto, replans(plan.ReplanOnFailure, 2)).ID)
			if r.Status != plan.RunStatusPartial || r.Replans != 2 || r.Answer == nil {
				t.Errorf("ended %s after %d replans: %+v", r.Status, r.Replans, r.Error)
			}
			if r.Step("s1").Status != plan.StepStatusSucceeded || h.model.count("executor:s1") != 1 {
				t.Errorf("s1 is %s: what succeeded before stays", r.Step("s1").Status)
			}
		})
	}
}

func TestReplanAfterEveryRound(t *testing.T) { // BEHAVIOUR 7.1
	next := func(ids ...string) string { return written(t, line(ids...)) }
	p := &turns{texts: []string{next("a", "b", "c"), next("b2", "c2"), next("c3"), finalize}}
	h := newHarness(t, &script{planner: p.answer})
	r := h.end(h.ask(auto, replans(plan.ReplanEveryRound, 3)).ID)
	if r.Status != plan.RunStatusSucceeded || r.Replans != 2 {
		t.Fatalf("ended %s after %d replans: %+v", r.Status, r.Replans, r.Error)
	}
	if got := r.Plan().IDs(); !slices.Equal(got, []string{"a", "b2", "c3"}) {
		t.Errorf("the last plan has %v", got)
	}
	if got := r.Waves; len(got) != 3 || got[2][0] != "c3" {
		t.Errorf("waves = %v", got)
	}
}

func TestAfterTheLastReplanTheApprovedPlanGoesOn(t *testing.T) { // BEHAVIOUR 5.10, 7.1
	for name, texts := range map[string][]string{
		"the limit is reached": {written(t, line("a", "b", "c")), written(t, line("b", "c"))},
		"the planner is down":  {written(t, line("a", "b", "c")), "down"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &turns{texts: texts}
			h := newHarness(t, &script{planner: p.answer})
			r := h.end(h.ask(auto, replans(plan.ReplanEveryRound, 1)).ID)
			if r.Status != plan.RunStatusSucceeded || r.Replans != 1 {
				t.Fatalf("ended %s after %d replans: %+v", r.Status, r.Replans, r.Error)
			}
			for _, id := range []string{"a", "b", "c"} {
				if n := h.model.count("executor:" + id); n != 1 {
					t.Errorf("%s ran %d times", id, n)
				}
			}
		})
	}
}

func TestFinalizeBetweenRoundsLeavesNothingPending(t *testing.T) { // BEHAVIOUR 5.10, 7.2
	p := &turns{texts: []string{written(t, line("a", "b", "c")), finalize}}
	h := newHarness(t, &script{planner: p.answer})
	r := h.end(h.ask(auto, replans(plan.ReplanEveryRound, 3)).ID)
	if r.Status != plan.RunStatusPartial {
		t.Errorf("ended %s", r.Status)
	}
	for _, id := range []string{"b", "c"} {
		if s := r.Step(id); s.Status != plan.StepStatusCancelled || s.Reason == "" {
			t.Errorf("%s is %s (%q)", id, s.Status, s.Reason)
		}
	}
}

func TestRounds(t *testing.T) { // BEHAVIOUR 7.4
	round := func(deps []string, ids ...string) string {
		var p plan.Plan
		for _, id := range ids {
			p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: "do " + id, DependsOn: deps})
		}
		return written(t, p)
	}
	rounds := func(a *runs.Ask) { a.Options.Strategy = plan.StrategyRounds }
	tests := map[string]struct {
		texts  []string
		broken []string
		status plan.RunStatus
		waves  int
		asked  int
	}{
		"finalized after the second": {[]string{round(nil, "a", "b"), round([]string{"a", "b"}, "c"), finalize}, nil, plan.RunStatusSucceeded, 2, 3},
		"the limit forces the answer": {
			[]string{round(nil, "a"), round(nil, "b"), round(nil, "c"), round(nil, "d")}, nil, plan.RunStatusSucceeded, 3, 3,
		},
		"a task of the last round failed": {[]string{round(nil, "a", "b"), finalize}, []string{"b"}, plan.RunStatusPartial, 1, 2},
		"a task of an earlier round failed": {
			[]string{round(nil, "a", "b"), round([]string{"a"}, "c"), finalize}, []string{"b"}, plan.RunStatusSucceeded, 2, 3,
		},
		"nothing succeeded": {[]string{round(nil, "a"), finalize}, []string{"a"}, plan.RunStatusFailed, 1, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &turns{texts: tt.texts}
			h := newHarness(t, &script{planner: p.answer, executor: fails(tt.broken...)})
			r := h.end(h.ask(auto, rounds).ID)
			if r.Status != tt.status || len(r.Waves) != tt.waves || p.count() != tt.asked {
				t.Errorf("ended %s (%+v) after %d waves, the planner was asked %d times", r.Status, r.Error, len(r.Waves), p.count())
			}
			if !slices.Equal(r.Failed(), append([]string{}, tt.broken...)) {
				t.Errorf("failed = %v: rounds that were stay in the plan", r.Failed())
			}
		})
	}
}

func TestARoundIsHeldToItsRules(t *testing.T) { // BEHAVIOUR 7.4
	five := plan.Plan{}
	for _, id := range []string{"a", "b", "c", "d"} {
		five.Steps = append(five.Steps, plan.Step{ID: id, Instruction: "do " + id})
	}
	p := &turns{texts: []string{written(t, line("a", "b")), written(t, five), written(t, plan.Plan{Steps: five.Steps[:3]}), finalize}}
	h := newHarness(t, &script{planner: p.answer})
	r := h.end(h.ask(auto, func(a *runs.Ask) { a.Options.Strategy, a.Options.MaxParallel = plan.StrategyRounds, 3 }).ID)
	if r.Status != plan.RunStatusSucceeded || len(r.Rejections) != 2 {
		t.Fatalf("ended %s with %d rejections: %+v", r.Status, len(r.Rejections), r.Error)
	}
	if got := r.Rejections[0].Violations[0].Code; got != plan.CodeNotIndependent {
		t.Errorf("first sent back for %s", got)
	}
	if got := r.Rejections[1].Violations[0].Code; got != plan.CodeTooManySteps {
		t.Errorf("then sent back for %s", got)
	}
	for _, limit := range []string{"at most 3 rounds", "at most 3 step"} {
		if !strings.Contains(p.request(0).System, limit) {
			t.Errorf("the planner is not told %q", limit)
		}
	}
}

func TestReplanOptionsThatCannotBe(t *testing.T) { // BEHAVIOUR 11
	h := newHarness(t, &script{})
	for field, change := range map[string]func(*plan.Options){
		"replan.when":     func(o *plan.Options) { o.Replan.When = "sometimes" },
		"replan.max":      func(o *plan.Options) { o.Replan.When, o.Replan.Max = plan.ReplanOnFailure, 21 },
		"replan.approval": func(o *plan.Options) { o.Replan.Approval = "mine" },
		"strategy":        func(o *plan.Options) { o.Strategy = "guess" },
	} {
		a := runs.Ask{Question: "q", Options: plan.DefaultOptions()}
		change(&a.Options)
		_, err := h.Ask(t.Context(), a)
		var e *plan.Error
		if !errors.As(err, &e) || e.Violations[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	a := runs.Ask{Question: "q", Options: plan.DefaultOptions()}
	a.Options.Replan.When, a.Options.Schedule = plan.ReplanEveryRound, plan.ScheduleReady
	if _, err := h.Ask(t.Context(), a); plan.CodeOf(err) != plan.CodeInvalid {
		t.Errorf("every_round as ready: %v", err)
	}
}
