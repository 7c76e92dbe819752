package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
)

// page is what a path shows.
func (s *site) page(path string) *goquery.Document {
	s.t.Helper()
	return document(s.t, s.want(http.StatusOK, http.MethodGet, path, "", "Accept", "text/html").body)
}

// submit sends the form of a page that posts to a path, as its button does
// without scripts, and returns where that leads.
func (s *site) submit(on, action string, more ...string) string {
	s.t.Helper()
	form := s.page(on).Find(`form[action="` + action + `"]`).First()
	if form.Length() != 1 {
		s.t.Fatalf("%s has no form that posts to %s", on, action)
	}
	fields := url.Values{}
	form.Find("input").Each(func(_ int, el *goquery.Selection) {
		fields.Set(el.AttrOr("name", ""), el.AttrOr("value", ""))
	})
	for i := 0; i+1 < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	first := s.form(action, fields)
	if first.status != http.StatusSeeOther {
		s.t.Fatalf("%s answered %d:\n%.2000s", action, first.status, first.body)
	}
	// ui: double submit. A second click does nothing more, and leads to the same.
	again := s.form(action, fields)
	if again.status != http.StatusSeeOther || again.header.Get("Location") != first.header.Get("Location") {
		s.t.Errorf("a double click on %s led to %d %q, the first to %q\n%.2000s", action, again.status, again.header.Get("Location"), first.header.Get("Location"), again.body)
	}
	return first.header.Get("Location")
}

// has holds that an element shows texts, words a space apart.
func has(t *testing.T, p *goquery.Document, selector string, texts ...string) {
	t.Helper()
	var words []string
	for _, el := range p.Find(selector).Nodes {
		for n := range el.Descendants() {
			if n.Type == html.TextNode {
				words = append(words, strings.Fields(n.Data)...)
			}
		}
	}
	got := strings.Join(words, " ")
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%s says %q, without %q", selector, got, text)
		}
	}
}

func TestTryingAStepAgainByForm(t *testing.T) { // BEHAVIOUR 5.8
	s := newPageSite(t, &scriptedModel{executor: failingOnce("s2", wellDone)})
	r := s.start(diamond())
	s.until(r, plan.RunStatusPartial)
	path := "/runs/" + r
	has(t, s.page(path), "#run-actions", "Try s2 again")
	has(t, s.page(path+"?step=s2"), "#panel", "Try again", "Run again from here", "With it s3 runs again; every other result is kept.")
	for _, step := range []string{"s1", "s3"} {
		if n := s.page(path + "?step=" + step).Find(`#panel form[action$="/retry"]`).Length(); n > 0 {
			t.Errorf("%s did not fail and can be tried again", step)
		}
	}
	if to := s.submit(path+"?step=s2", path+"/retry"); to != path+"?step=s2" {
		t.Errorf("trying again led to %q", to)
	}
	run := s.until(r, plan.RunStatusSucceeded)
	if n := run.Step("s1").Attempts; n != 1 {
		t.Errorf("s1 was carried out %d times", n)
	}
	p := s.page(path + "?step=s2")
	has(t, p, "#panel", "Attempts before", "Attempt 1", "failed")
	has(t, p, "#waves", "Wave 3")
	if a := s.form(path+"/retry", url.Values{"step": {"s1"}, "attempt": {"1"}}); a.status != http.StatusConflict || !strings.Contains(a.body, "Back to the run") {
		t.Errorf("trying what succeeded again answered %d", a.status)
	}
}

func TestRunningAgainFromAStepByForm(t *testing.T) { // BEHAVIOUR 5.9
	s := newPageSite(t, &scriptedModel{})
	parent := s.start(diamond())
	s.until(parent, plan.RunStatusSucceeded)
	to := s.submit("/runs/"+parent+"?step=s2", "/runs/"+parent+"/fork")
	r := strings.TrimPrefix(to, "/runs/")
	run := s.until(r, plan.RunStatusSucceeded)
	if r == parent || run.ForkedFrom != parent || !run.Step("s1").Kept || run.Step("s2").Kept {
		t.Errorf("%s is forked from %q; kept: s1 %v, s2 %v", r, run.ForkedFrom, run.Step("s1").Kept, run.Step("s2").Kept)
	}
	p := s.page(to)
	has(t, p, "#run-head", "run again from an earlier run 1 result kept")
	has(t, p, "#node-s1", "kept")
	if href, _ := p.Find("#run-head .facts a").Attr("href"); href != "/runs/"+parent {
		t.Errorf("the head links to %q", href)
	}
	other := s.submit("/runs/"+parent+"?step=s2", "/runs/"+parent+"/fork")
	if other == to {
		t.Error("running again from there once more is not a run of its own")
	}
	s.until(strings.TrimPrefix(other, "/runs/"), plan.RunStatusSucceeded)
}

func TestTheChoicesWhenTheBudgetIsUsedUp(t *testing.T) { // BEHAVIOUR 8.3
	s := newPageSite(t, &scriptedModel{})
	two := 2
	ranOut := func() string {
		r := s.start(diamond(), func(o *plan.Options) { o.Budget.Requests = &two })
		s.until(r, plan.RunStatusFailed)
		return r
	}
	r := ranOut()
	path := "/runs/" + r
	p := s.page(path)
	has(t, p, "#run-notice", "The budget is used up", "Go on with this budget", "Answer from what there is", "From 2 results", "leave it as it is")
	if v, _ := p.Find("#f-requests").Attr("value"); v != "4" {
		t.Errorf("%s calls are proposed, want 4: twice the budget, and what a step and the answer take", v)
	}
	for field, wrong := range map[string]struct{ typed, says string }{
		"requests": {"2", "2 are used already"}, "tokens": {"many", "Write a whole number."}, "cost": {"cheap", "amount in dollars"},
	} {
		f := url.Values{"requests": {"9"}, "tokens": {"7777"}, "cost": {""}}
		f.Set(field, wrong.typed)
		a := s.form(path+"/continue", f)
		if a.status != http.StatusUnprocessableEntity {
			t.Fatalf("%s=%s answered %d", field, wrong.typed, a.status)
		}
		shown := document(t, a.body)
		has(t, shown, "#f-"+field+"-problem", wrong.says)
		if v, _ := shown.Find("#f-" + field).Attr("value"); v != wrong.typed {
			t.Errorf("what was typed as %s is shown as %q", field, v)
		}
	}
	s.submit(path, path+"/continue")
	if run := s.until(r, plan.RunStatusSucceeded); *run.Options.Budget.Requests != 4 || run.Usage.Requests != 4 {
		t.Errorf("%d calls of %d", run.Usage.Requests, *run.Options.Budget.Requests)
	}

	r = ranOut()
	path = "/runs/" + r
	s.submit(path, path+"/answer")
	s.until(r, plan.RunStatusPartial)
	has(t, s.page(path), "#answer", "the answer", "fewer results than planned")
	has(t, s.page(path), "#run-actions", "Write the answer again")
}

func TestAnAnswerThatCannotBeWrittenAgainStands(t *testing.T) { // BEHAVIOUR 9.3
	m := &scriptedModel{}
	s := newPageSite(t, m)
	written := false
	m.synthesizer = func(ctx context.Context, req model.Request) (string, error) {
		if written {
			return broken(ctx, req)
		}
		written = true
		return `{"result":"the first answer"}`, nil
	}
	r := s.start(diamond())
	s.until(r, plan.RunStatusSucceeded)
	path := "/runs/" + r
	if a := s.form(path+"/answer", nil); a.status != http.StatusSeeOther {
		t.Fatalf("answered %d", a.status)
	}
	s.until(r, plan.RunStatusSucceeded)
	p := s.page(path)
	has(t, p, "#run-notice", "could not be written again", "The key was refused.", "before stands")
	has(t, p, "#answer", "the first answer")
}

func TestDecidingOnAToolCallByForm(t *testing.T) { // BEHAVIOUR 4.6
	for say, want := range map[string]plan.RunStatus{
		"allow-once": plan.RunStatusSucceeded, "allow-run": plan.RunStatusSucceeded, "deny-once": plan.RunStatusPartial, "deny-run": plan.RunStatusPartial,
	} {
		t.Run(say, func(t *testing.T) {
			s := newPageSite(t, &scriptedModel{executor: func(context.Context, model.Request) (string, error) {
				return `{"result":"<script>alert(1)</script>` + "\u202e" + `"}`, nil
			}})
			r := s.start(letter())
			s.until(r, plan.RunStatusAwaitingToolApproval)
			path := "/runs/" + r
			p := s.page(path)
			has(t, p, "#run-head", "Waiting for your word on a tool call")
			has(t, p, "#approvals", "Step s2 wants to call send", "Sends a <b>letter</b>.", `"text": "<b><script>alert(1)</script>\u202e</b>"`)
			has(t, p, "#node-s2 .status", "awaiting approval")
			if n := p.Find("#approvals script, #approvals b").Length(); n > 0 {
				t.Errorf("arguments became %d elements", n)
			}
			s.submit(path, path+"/decide", "say", say)
			s.until(r, want)
			if n := s.page(path).Find("#approvals article").Length(); n != 0 {
				t.Errorf("%d calls still wait", n)
			}
			if a := s.form(path+"/decide", url.Values{"approval": {"nothere"}, "say": {say}}); a.status != http.StatusNotFound {
				t.Errorf("deciding on nothing answered %d", a.status)
			}
			if a := s.form(path+"/decide", url.Values{"say": {"perhaps-once"}}); a.status != http.StatusUnprocessableEntity {
				t.Errorf("deciding perhaps answered %d", a.status)
			}
		})
	}
}

func TestTheEstimateBeforeApproval(t *testing.T) { // BEHAVIOUR 3.6
	s := newPageSite(t, &scriptedModel{})
	manual := func(o *plan.Options) { o.Approval = plan.ApprovalManual }
	three := 3
	r := s.start(letter(), manual, func(o *plan.Options) { o.Budget.Requests = &three })
	p := s.page("/runs/" + r)
	has(t, p, "#panel", "3 steps in 3 waves", "What it will take", "Calls 5 3", "Cost unknown no limit", "The budget may not suffice", "3 waves, critical path s1 → s2 → s3", "no model call", "about 2 calls,")
	has(t, p, "#node-s2", "no call")
	if n := p.Find(".node-critical").Length(); n != 3 {
		t.Errorf("%d nodes are on the critical path", n)
	}
	s.form("/runs/"+r+"/approve", url.Values{"version": {"1"}})
	s.until(r, plan.RunStatusAwaitingToolApproval)
	if text := s.page("/runs/" + r).Find("#run").Text(); strings.Contains(text, "about ") {
		t.Error("there is an estimate after approval")
	}
}

func TestWhatAReplanChanges(t *testing.T) { // BEHAVIOUR 7.3
	rest := plan.Plan{Steps: []plan.Step{
		{ID: "s4", Instruction: "instead of two", DependsOn: []string{}},
		{ID: "s3", Instruction: "join anew", DependsOn: []string{"s1", "s4"}},
	}}
	release := make(chan struct{})
	s := newPageSite(t, &scriptedModel{executor: failing("s2"), planner: func(ctx context.Context, _ model.Request) (string, error) {
		_, err := held(release)(ctx, model.Request{})
		return planText(rest), err
	}})
	r := s.start(diamond(), func(o *plan.Options) { o.Replan.When, o.Approval = plan.ReplanOnFailure, plan.ApprovalManual })
	s.form("/runs/"+r+"/approve", url.Values{"version": {"1"}})
	s.until(r, plan.RunStatusPlanning)
	p := s.page("/runs/" + r)
	has(t, p, "#run-head", "Planning again: step s2 failed", "replan 1 of 3 at most")
	close(release)
	s.untilVersions(r, 2)
	p = s.page("/runs/" + r)
	has(t, p, "#run-notice", "Planned again: step s2 failed", "adds s4, changes s3, removes s2, keeps s1")
	has(t, p, "#panel", "Since version 1", "s1 kept", "s4 added", "s3 changed", "s2 removed")
	has(t, p, "#node-s1 .status", "kept")
	has(t, p, "#node-s4", "added")
	has(t, p, "#node-s3", "changed")
}

func TestTheOptionsOfReplanning(t *testing.T) { // BEHAVIOUR 7.1, 7.4
	s := newPageSite(t, &scriptedModel{})
	f := askForm("What is it?")
	f.Set("replan", plan.ReplanOnFailure)
	f.Set("max_replans", "2")
	f.Set("replan_approval", plan.ReplanAuto)
	a := s.form("/runs", f)
	run, err := s.runs.Get(t.Context(), strings.TrimPrefix(a.header.Get("Location"), "/runs/"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (plan.ReplanPolicy{When: plan.ReplanOnFailure, Max: 2, Approval: plan.ReplanAuto}); run.Options.Replan != want {
		t.Errorf("replans %+v", run.Options.Replan)
	}
	again := (view{run: run}).againURL()
	p := s.page(again)
	if v, _ := p.Find("#f-replan option[selected]").Attr("value"); v != plan.ReplanOnFailure {
		t.Errorf("asking again has %q", v)
	}
	for field, wrong := range map[string]struct{ typed, says string }{
		"max_replans": {"99", "it can be 0 to 20"}, "replan": {"daily", `"daily" is not there`},
		"replan_approval": {"perhaps", `"perhaps" of replans`}, "strategy": {"guess", `"guess" is not there`},
	} {
		f := askForm("What is it?")
		f.Set("nonce", field)
		f.Set(field, wrong.typed)
		has(t, document(t, s.form("/runs", f).body), "#f-"+field+"-problem", wrong.says)
	}
}

// unapproved is a store in which every approval comes too late.
type unapproved struct{ runs.Store }

// Append refuses approvals.
func (u unapproved) Append(ctx context.Context, b db.Batch) error {
	for _, e := range b.Events {
		if e.Type() == plan.EventPlanApproved {
			return plan.NewError(plan.CodeUnexpected, "Cannot approve the plan: the run was cancelled.", nil)
		}
	}
	return u.Store.Append(ctx, b)
}

func TestWhatIsSavedStaysTheBaseWhenItCannotBeApproved(t *testing.T) { // BEHAVIOUR 3.2, 3.3; ui: lost update
	s := newPageSite(t, &scriptedModel{}, func(st runs.Store) runs.Store { return unapproved{st} })
	r := s.start(diamond(), func(o *plan.Options) { o.Approval = plan.ApprovalManual })
	edited := diamond()
	edited.Steps[0].Instruction = "one, by hand"
	a := s.form("/runs/"+r+"/plan", editForm(edited, "approve"))
	if a.status != http.StatusConflict {
		t.Fatalf("answered %d", a.status)
	}
	p := document(t, a.body)
	if v, _ := p.Find(`#editor input[name=version]`).Attr("value"); v != "2" {
		t.Errorf("the form is made from version %s, and 2 is saved", v)
	}
	has(t, p, "#editor", "one, by hand", "Nothing is changed yet")
	if again := s.form("/runs/"+r+"/plan", editForm(edited, "save")); again.status != http.StatusConflict {
		t.Errorf("the old base is taken still: %d", again.status)
	}
}

func TestWhatIsAnnounced(t *testing.T) { // UX: live changes are announced politely
	s := newPageSite(t, &scriptedModel{})
	for approval, want := range map[plan.Approval]string{
		plan.ApprovalManual: "The plan is there: 3 steps. It waits for your approval.", plan.ApprovalAuto: "The plan is there: 3 steps.",
	} {
		r := s.start(letter(), func(o *plan.Options) { o.Approval = approval })
		events := s.events(r)
		at := slices.IndexFunc(events, func(e plan.Event) bool { return e.Type() == plan.EventPlanProposed })
		run, err := s.runs.Get(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := (view{run: run}).announce(events[at : at+1]); got != want {
			t.Errorf("%s: %q, want %q", approval, got, want)
		}
	}
}

func TestARunInRoundsHasNoDeliverable(t *testing.T) { // BEHAVIOUR 7.4
	s := newPageSite(t, &scriptedModel{})
	tasks := plan.Plan{Steps: diamond().Steps[:2]}
	for strategy, flags := range map[plan.Strategy]int{plan.StrategyRounds: 0, plan.StrategyPlan: 1} {
		p := tasks
		if strategy == plan.StrategyPlan {
			p = diamond()
		}
		r := s.start(p, func(o *plan.Options) { o.Strategy, o.Approval = strategy, plan.ApprovalManual })
		shown := s.page("/runs/" + r)
		if n := shown.Find(".node-final").Length(); n != flags {
			t.Errorf("%s: %d nodes are marked as final, want %d", strategy, n, flags)
		}
		if rounds := strings.Contains(shown.Find("#run-head").Text(), "round 1 of 3 at most"); rounds != (strategy == plan.StrategyRounds) {
			t.Errorf("%s: the head speaks of rounds: %v", strategy, rounds)
		}
	}
}

// An answer that is asked for twice by one click is written once, also when the
// first is written by the time of the second.
func TestADoubleClickWritesOneAnswer(t *testing.T) { // BEHAVIOUR 9.3; ui: double submit
	s := newPageSite(t, &scriptedModel{})
	r := s.start(diamond())
	s.until(r, plan.RunStatusSucceeded)
	path := "/runs/" + r
	nonce, _ := s.page(path).Find(`form[action="` + path + `/answer"] input[name=nonce]`).Attr("value")
	for range 2 {
		if a := s.form(path+"/answer", url.Values{"nonce": {nonce}}); a.status != http.StatusSeeOther || a.header.Get("Location") != path {
			t.Errorf("answered %d %q", a.status, a.header.Get("Location"))
		}
		s.wait(r, func(now *plan.Run) bool { return now.Status == plan.RunStatusSucceeded && now.AnswerAttempts == 2 })
	}
}
