package runs_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// mends is an executor that breaks at a step until it is told to mend it.
func mends(step string) (executor func(context.Context, string, model.Request) (model.Response, error), mended *atomic.Bool) {
	mended = &atomic.Bool{}
	return func(ctx context.Context, id string, req model.Request) (model.Response, error) {
		if id == step && !mended.Load() {
			return fails(step)(ctx, id, req)
		}
		return says("result of " + id)
	}, mended
}

func TestRetryOfAnEndedRun(t *testing.T) { // BEHAVIOUR 5.8
	executor, mended := mends("b")
	h := newHarness(t, &script{executor: executor})
	p := wide("end", "a", "b")
	r := h.end(h.ask(auto, given(p)).ID)
	if r.Status != plan.RunStatusPartial || !slices.Equal(r.Skipped(), []string{"end"}) {
		t.Fatalf("ended %s, skipped %v", r.Status, r.Skipped())
	}
	mended.Store(true)
	if _, err := h.Retry(t.Context(), r.ID, "b", "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusSucceeded || r.Error != nil || r.Answer == nil {
		t.Fatalf("ended %s, %+v", r.Status, r.Error)
	}
	for id, want := range map[string]int{"a": 1, "b": 2, "end": 1} {
		if n := h.model.count("executor:" + id); n != want {
			t.Errorf("%s was asked %d times, want %d", id, n, want)
		}
	}
	if b := r.Step("b"); b.Attempts != 2 || len(b.History) != 2 || b.History[0].Status != plan.StepStatusFailed {
		t.Errorf("history of b = %+v", b.History)
	}
	if h.model.count("synthesizer") != 2 {
		t.Errorf("the answer was written %d times", h.model.count("synthesizer"))
	}
}

func TestRetryWhileTheRunGoesOn(t *testing.T) { // BEHAVIOUR 5.8
	for _, schedule := range []plan.Schedule{plan.ScheduleWaves, plan.ScheduleReady} {
		t.Run(string(schedule), func(t *testing.T) {
			executor, mended := mends("b")
			hold, there := make(chan struct{}), make(chan struct{}, 1)
			h := newHarness(t, &script{executor: func(ctx context.Context, id string, req model.Request) (model.Response, error) {
				if id == "slow" {
					there <- struct{}{}
					<-hold
				}
				return executor(ctx, id, req)
			}})
			p := wide("end", "slow", "b")
			id := h.ask(auto, given(p), func(a *runs.Ask) { a.Options.Schedule = schedule }).ID
			<-there
			h.until(id, func(r *plan.Run) bool { return r.Step("b").Status == plan.StepStatusFailed })
			mended.Store(true)
			r, err := h.Retry(t.Context(), id, "b", "me")
			if err != nil || r.Step("end").Status != plan.StepStatusPending || r.Step("slow").Status != plan.StepStatusRunning {
				t.Fatalf("%v, steps %+v", err, r.Steps)
			}
			close(hold)
			if r = h.end(id); r.Status != plan.RunStatusSucceeded || h.model.count("executor:slow") != 1 || h.model.count("synthesizer") != 1 {
				t.Errorf("ended %s, slow asked %d times", r.Status, h.model.count("executor:slow"))
			}
		})
	}
}

func TestRetryAfterACancel(t *testing.T) { // BEHAVIOUR 5.7, 5.8
	there := make(chan struct{}, 1)
	var free atomic.Bool
	h := newHarness(t, &script{executor: func(ctx context.Context, id string, _ model.Request) (model.Response, error) {
		if id == "b" && !free.Load() {
			return model.Response{}, hang(ctx, there)
		}
		return says("result of " + id)
	}})
	id := h.ask(auto, given(wide("end", "a", "b"))).ID
	<-there
	h.until(id, func(r *plan.Run) bool { return r.Step("a").Status == plan.StepStatusSucceeded })
	if _, err := h.Cancel(t.Context(), id, "me"); err != nil {
		t.Fatal(err)
	}
	free.Store(true)
	if _, err := h.Retry(t.Context(), id, "b", "me"); err != nil {
		t.Fatal(err)
	}
	if r := h.end(id); r.Status != plan.RunStatusSucceeded || h.model.count("executor:a") != 1 {
		t.Errorf("ended %s, a asked %d times", r.Status, h.model.count("executor:a"))
	}
}

func TestRetriesThatCannotBe(t *testing.T) { // BEHAVIOUR 5.8, 11
	h := newHarness(t, &script{planner: writes(diamond()), executor: fails("s1")})
	waits := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval)).ID
	ended := h.end(h.ask(auto).ID).ID
	tests := map[string]struct {
		run, step string
		code      plan.Code
		says      string
	}{
		"no such run":       {"nothing", "s1", plan.CodeNotFound, "no run"},
		"no such step":      {ended, "s9", plan.CodeNotFound, "no step"},
		"a step that is ok": {ended, "s2", plan.CodeUnexpected, "run again from there"},
		"a skipped step":    {ended, "s3", plan.CodeUnexpected, "step s1, which failed first"},
		"before approval":   {waits, "s1", plan.CodeUnexpected, "only a failed"},
	}
	for name, tt := range tests {
		_, err := h.Retry(t.Context(), tt.run, tt.step, "me")
		if plan.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFork(t *testing.T) { // BEHAVIOUR 5.9
	h := newHarness(t, &script{})
	p := plan.Plan{Steps: []plan.Step{
		{ID: "a", Instruction: "a"},
		{ID: "b", Instruction: "b"},
		{ID: "c", Instruction: "c", DependsOn: []string{"a"}},
		{ID: "end", Instruction: "end", DependsOn: []string{"b", "c"}},
	}}
	parent := h.end(h.ask(auto, given(p)).ID)
	edited := p.Clone()
	edited.Steps[2].Instruction = "c, but better"
	tests := map[string]struct {
		fork runs.Fork
		kept []string
	}{
		"from one step":         {runs.Fork{From: []string{"c"}}, []string{"a", "b"}},
		"from a root":           {runs.Fork{From: []string{"a"}}, []string{"b"}},
		"with an edited plan":   {runs.Fork{Plan: &edited}, []string{"a", "b"}},
		"edited, and from more": {runs.Fork{Plan: &edited, From: []string{"b"}}, []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := h.model.count("executor:a") + h.model.count("executor:b")
			tt.fork.By = "me"
			r, err := h.Fork(t.Context(), parent.ID, tt.fork)
			if err != nil {
				t.Fatal(err)
			}
			if r.ForkedFrom != parent.ID || r.ID == parent.ID {
				t.Errorf("forked from %q", r.ForkedFrom)
			}
			r = h.end(r.ID)
			if r.Status != plan.RunStatusSucceeded {
				t.Fatalf("ended %s: %+v", r.Status, r.Error)
			}
			for _, s := range r.Steps {
				if s.Kept != slices.Contains(tt.kept, s.ID) || s.Kept != (s.Attempts == 0) || s.Result.Text == "" {
					t.Errorf("%s: kept %v after %d attempts, %q", s.ID, s.Kept, s.Attempts, s.Result.Text)
				}
			}
			ran := 2 - len(slices.DeleteFunc(slices.Clone(tt.kept), func(id string) bool { return id != "a" && id != "b" }))
			if got := h.model.count("executor:a") + h.model.count("executor:b") - before; got != ran {
				t.Errorf("a and b were asked %d times, want %d", got, ran)
			}
			if r.Usage.Requests != len(r.Steps)-len(tt.kept)+1 {
				t.Errorf("used %d requests: what is kept costs nothing", r.Usage.Requests)
			}
		})
	}
	if now, err := h.Get(t.Context(), parent.ID); err != nil || now.Seq != parent.Seq {
		t.Errorf("the parent is at %d, was at %d: history is never rewritten", now.Seq, parent.Seq)
	}
}

func TestAForkWaitsForApprovalAsItsParentDid(t *testing.T) { // BEHAVIOUR 3.1, 5.9
	h := newHarness(t, &script{})
	r := h.ask(given(line("a", "b")))
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	h.end(r.ID)
	r, err := h.Fork(t.Context(), r.ID, runs.Fork{From: []string{"b"}, By: "me"})
	if err != nil || r.Status != plan.RunStatusAwaitingApproval || r.Step("a").Status != plan.StepStatusSucceeded {
		t.Fatalf("%s, %v", r.Status, err)
	}
	if r, err = h.Edit(t.Context(), r.ID, 1, line("a", "c"), "me"); err != nil || r.Step("a").Status != plan.StepStatusSucceeded {
		t.Fatalf("%v: an edit keeps what is kept", err)
	}
	if _, err := h.Approve(t.Context(), r.ID, 2, "me"); err != nil {
		t.Fatal(err)
	}
	if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded || h.model.count("executor:a") != 1 {
		t.Errorf("ended %s, a asked %d times", r.Status, h.model.count("executor:a"))
	}
}

func TestForksThatCannotBe(t *testing.T) { // BEHAVIOUR 5.9, 11
	there := make(chan struct{}, 1)
	h := newHarness(t, &script{planner: func(ctx context.Context, _ model.Request) (string, error) { return "", hang(ctx, there) }})
	planless := h.ask().ID
	<-there
	r := h.end(h.ask(auto, given(line("a", "b"))).ID)
	broken := loose()
	tests := map[string]struct {
		id   string
		fork runs.Fork
		code plan.Code
	}{
		"no such run":              {"nothing", runs.Fork{From: []string{"a"}}, plan.CodeNotFound},
		"no plan yet":              {planless, runs.Fork{From: []string{"a"}}, plan.CodeUnexpected},
		"nothing named":            {r.ID, runs.Fork{}, plan.CodeInvalid},
		"no such step":             {r.ID, runs.Fork{From: []string{"z"}}, plan.CodeInvalid},
		"a plan that breaks rules": {r.ID, runs.Fork{Plan: &broken}, plan.CodePlanInvalid},
	}
	for name, tt := range tests {
		if _, err := h.Fork(t.Context(), tt.id, tt.fork); plan.CodeOf(err) != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// limited asks with a budget of so many requests.
func limited(requests int) func(*runs.Ask) {
	return func(a *runs.Ask) { a.Options.Budget.Requests = &requests }
}

func budgetOf(requests int) plan.Budget {
	b := plan.DefaultBudget()
	b.Requests = &requests
	return b
}

func TestContinueAfterTheBudget(t *testing.T) { // BEHAVIOUR 8.3
	for used := 1; used <= 5; used++ { // planner, three steps, answer: it stops at each of them
		h := newHarness(t, &script{planner: writes(line("a", "b", "c"))})
		r := h.end(h.ask(auto, limited(used)).ID)
		if used == 5 {
			if r.Status != plan.RunStatusSucceeded {
				t.Errorf("with exactly what it takes it ended %s", r.Status)
			}
			continue
		}
		if r.Status != plan.RunStatusFailed || r.Error.Code != plan.CodeBudgetExhausted || len(r.Failed()) > 0 {
			t.Fatalf("ended %s, %+v, failed %v", r.Status, r.Error, r.Failed())
		}
		done := r.WithStatus(plan.StepStatusSucceeded)
		if _, err := h.Continue(t.Context(), r.ID, budgetOf(used), "me"); plan.CodeOf(err) != plan.CodeInvalid {
			t.Errorf("no more budget than before: %v", err)
		}
		if _, err := h.Continue(t.Context(), r.ID, budgetOf(40), "me"); err != nil {
			t.Fatal(err)
		}
		r = h.end(r.ID)
		if r.Status != plan.RunStatusSucceeded || r.Usage.Requests != 5 || *r.Options.Budget.Requests != 40 {
			t.Errorf("after %d: ended %s with %d requests, %+v", used, r.Status, r.Usage.Requests, r.Error)
		}
		for _, id := range done {
			if n := h.model.count("executor:" + id); n != 1 {
				t.Errorf("%s had succeeded and was asked %d times", id, n)
			}
		}
		if _, err := h.Continue(t.Context(), r.ID, budgetOf(80), "me"); plan.CodeOf(err) != plan.CodeUnexpected {
			t.Errorf("a run that succeeded: %v", err)
		}
	}
}

func TestAnswerFromWhatThereIsAfterTheBudget(t *testing.T) { // BEHAVIOUR 8.3, 9.1
	var told string
	h := newHarness(t, &script{synthesizer: func(_ context.Context, req model.Request) (string, error) {
		told = req.Messages[0].Text
		return `{"result":"from a"}`, nil
	}})
	r := h.end(h.ask(auto, given(line("a", "b")), limited(1)).ID)
	if r.Error == nil || r.Error.Code != plan.CodeBudgetExhausted {
		t.Fatalf("%+v", r.Error)
	}
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusPartial || r.Answer.Result != "from a" || r.Error != nil || h.model.count("executor:b") != 0 {
		t.Errorf("ended %s: %+v, %+v", r.Status, r.Answer, r.Error)
	}
	if !strings.Contains(told, "NOT RUN") {
		t.Errorf("the synthesizer was told:\n%s", told)
	}
	if *r.Options.Budget.Requests != 3 || *r.Options.Budget.Tokens != plan.DefaultTokens {
		t.Errorf("allowed %v", r.Options.Budget)
	}
}

func TestAnswerAgain(t *testing.T) { // BEHAVIOUR 9.3
	var n atomic.Int32
	h := newHarness(t, &script{planner: writes(line("a", "b")), synthesizer: func(context.Context, model.Request) (string, error) {
		switch n.Add(1) {
		case 1:
			return `{"result":"first"}`, nil
		case 2:
			return `{"result":"second"}`, nil
		}
		return "", &model.Error{Kind: model.Unavailable, Message: "the server is down"}
	}})
	r := h.end(h.ask(auto).ID)
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID)
	if r.Status != plan.RunStatusSucceeded || r.Answer.Result != "second" || r.AnswerAttempts != 2 || h.model.count("executor:a") != 1 {
		t.Fatalf("ended %s: %+v", r.Status, r.Answer)
	}
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); err != nil {
		t.Fatal(err)
	}
	r = h.end(r.ID) // nothing is lost where the model is down
	if r.Status != plan.RunStatusSucceeded || r.Answer.Result != "second" || r.Error == nil || r.Error.Code != plan.CodeModelUnreachable {
		t.Errorf("ended %s with %+v, %+v", r.Status, r.Answer, r.Error)
	}
}

func TestAnAnswerFromARunThatWaitedForItsReplan(t *testing.T) { // BEHAVIOUR 9.3
	p := &turns{texts: []string{written(t, diamond()), written(t, line("s4"))}}
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
	r := h.ask(replans(plan.ReplanOnFailure, 1))
	h.until(r.ID, is(plan.RunStatusAwaitingApproval))
	if _, err := h.Approve(t.Context(), r.ID, 1, "me"); err != nil {
		t.Fatal(err)
	}
	h.until(r.ID, func(r *plan.Run) bool { return len(r.Versions) == 2 && r.Status == plan.RunStatusAwaitingApproval })
	if _, err := h.Cancel(t.Context(), r.ID, "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Retry(t.Context(), r.ID, "s4", "me"); plan.CodeOf(err) != plan.CodeUnexpected {
		t.Errorf("running what nobody approved: %v", err) // BEHAVIOUR 3.5
	}
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); err != nil {
		t.Fatal(err)
	}
	if r = h.end(r.ID); r.Status != plan.RunStatusPartial || r.Answer == nil || h.model.count("executor:s4") != 0 {
		t.Errorf("ended %s: %+v", r.Status, r.Answer)
	}
}

func TestAnswersThatCannotBe(t *testing.T) { // BEHAVIOUR 9.3, 11
	h := newHarness(t, &script{planner: writes(line("a")), executor: fails("a")})
	waits := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval)).ID
	failed := h.end(h.ask(auto).ID).ID
	for name, id := range map[string]string{"before the end": waits, "nothing to answer from": failed} {
		if _, err := h.AnswerAgain(t.Context(), id, nil, "me"); plan.CodeOf(err) != plan.CodeUnexpected {
			t.Errorf("%s: %v", name, err)
		}
	}
	h = newHarness(t, &script{})
	done := h.end(h.ask(auto, given(line("a"))).ID).ID
	small := budgetOf(1)
	if _, err := h.AnswerAgain(t.Context(), done, &small, "me"); plan.CodeOf(err) != plan.CodeInvalid {
		t.Errorf("no room in the budget: %v", err)
	}
}

func TestAnAnswerFromWhatThereIsIsNoOneWayDoor(t *testing.T) { // BEHAVIOUR 8.3
	h := newHarness(t, &script{})
	r := h.end(h.ask(auto, given(line("a", "b")), limited(1)).ID)
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); err != nil {
		t.Fatal(err)
	}
	if r = h.end(r.ID); r.Status != plan.RunStatusPartial || !r.Continuable() {
		t.Fatalf("ended %s", r.Status)
	}
	if _, err := h.Continue(t.Context(), r.ID, budgetOf(40), "me"); err != nil {
		t.Fatal(err)
	}
	if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded || h.model.count("executor:a") != 1 || r.Continuable() {
		t.Errorf("ended %s, a asked %d times", r.Status, h.model.count("executor:a"))
	}
}

func TestAForkWithTheSamePlan(t *testing.T) { // BEHAVIOUR 5.9
	h := newHarness(t, &script{})
	p := line("a", "b")
	r := h.end(h.ask(auto, given(p)).ID)
	f, err := h.Fork(t.Context(), r.ID, runs.Fork{From: []string{"b"}, Plan: &p, By: "me"})
	if err != nil {
		t.Fatal(err)
	}
	if f = h.end(f.ID); f.Status != plan.RunStatusSucceeded || !f.Step("a").Kept || h.model.count("executor:b") != 2 {
		t.Errorf("ended %s, %+v", f.Status, f.Steps)
	}
}

func TestAPlanSentBackToAModelThatIsDown(t *testing.T) { // BEHAVIOUR 2.5, 11: nothing is lost
	p := &turns{texts: []string{written(t, diamond()), "down"}}
	h := newHarness(t, &script{planner: p.answer})
	r := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	edited := diamond()
	edited.Steps[0].Instruction = "one, edited"
	if _, err := h.Edit(t.Context(), r.ID, 1, edited, "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Revise(t.Context(), r.ID, "shorter", "me"); err != nil {
		t.Fatal(err)
	}
	r = h.until(r.ID, func(r *plan.Run) bool { return len(r.Versions) == 3 })
	if r.Versions[2].Hash != r.Versions[1].Hash || !strings.Contains(r.Versions[2].Reason, "could not be asked") {
		t.Errorf("version 3 is %+v", r.Versions[2])
	}
	if _, err := h.Approve(t.Context(), r.ID, 3, "me"); err != nil {
		t.Fatal(err)
	}
	if r = h.end(r.ID); r.Status != plan.RunStatusSucceeded {
		t.Errorf("ended %s", r.Status)
	}
}
