package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a model whose answers are Go code, by role.
type script struct {
	planner     func(ctx context.Context, req model.Request) (string, error)
	executor    func(ctx context.Context, step string, req model.Request) (model.Response, error)
	synthesizer func(ctx context.Context, req model.Request) (string, error)

	mu    sync.Mutex
	asked []string // role, or executor:step, in order
}

var stepTag = regexp.MustCompile(`<step id="([^"]+)">`)

// stepOf reads from the prompt which step an executor is asked for.
func stepOf(req model.Request) string {
	if m := stepTag.FindStringSubmatch(req.Messages[0].Text); m != nil {
		return m[1]
	}
	return "?"
}

func (s *script) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	name := string(req.Role)
	if req.Role == plan.RoleExecutor {
		name += ":" + stepOf(req)
	}
	s.mu.Lock()
	s.asked = append(s.asked, name)
	s.mu.Unlock()
	usage := plan.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5, TotalTokens: 15}
	text := func(out string, err error) (model.Response, error) {
		return model.Response{Text: out, Usage: usage}, err
	}
	switch req.Role {
	case plan.RolePlanner:
		return text(s.planner(ctx, req))
	case plan.RoleSynthesizer:
		if s.synthesizer != nil {
			return text(s.synthesizer(ctx, req))
		}
		return text(`{"result":"the answer"}`, nil)
	case plan.RoleExecutor, plan.RoleJudge, plan.RoleProposer:
	}
	if s.executor == nil {
		return text(`{"result":"result of `+stepOf(req)+`"}`, nil)
	}
	resp, err := s.executor(ctx, stepOf(req), req)
	resp.Usage = usage
	return resp, err
}

// count says how often the model was asked as name.
func (s *script) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.asked), func(a string) bool { return a != name }))
}

// writes is a planner that answers with these plans, one after the other.
func writes(plans ...plan.Plan) func(context.Context, model.Request) (string, error) {
	var mu sync.Mutex
	n := 0
	return func(context.Context, model.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		p := plans[min(n, len(plans)-1)]
		n++
		b, err := json.Marshal(p)
		return string(b), err
	}
}

// says is an executor's answer in words.
func says(text string) (model.Response, error) {
	b, err := json.Marshal(map[string]string{"result": text})
	return model.Response{Text: string(b)}, err
}

// scripted binds every role to one model.
type scripted struct{ m model.Model }

func (s scripted) Resolve(name string) (model.Model, string, error) {
	if name != "test:model" {
		return nil, "", plan.NewError(plan.CodeInvalid, fmt.Sprintf("There is no model %q; there is test:model.", name), nil)
	}
	return s.m, "model", nil
}
func (scripted) Retry(m model.Model) model.Model { return m }
func (scripted) Default(plan.Role) string        { return "test:model" }
func (scripted) Cost(_ string, u plan.Usage) *plan.USD {
	c := plan.USD(u.TotalTokens) * 1000
	return &c
}

// harness is the real service over a real database and a scripted model.
type harness struct {
	*runs.Service
	t     testing.TB
	store *db.DB
	path  string
	model *script
}

func newHarness(t testing.TB, m *script) *harness {
	t.Helper()
	return openHarness(t, filepath.Join(t.TempDir(), "runs.db"), m)
}

func openHarness(t testing.TB, path string, m *script, more ...tools.Tool) *harness {
	t.Helper()
	store, err := db.Open(t.Context(), path, db.Options{Logger: quiet(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.New(append(more, tools.City(), tools.Calculate())...)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := store.List(t.Context(), db.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids struct {
		sync.Mutex
		n int
	}
	h := &harness{t: t, store: store, path: path, model: m, Service: runs.New(runs.Config{
		Store: store, Models: scripted{m}, Tools: set, Clock: time.Now, Logger: quiet(),
		NewID: func() string {
			ids.Lock()
			defer ids.Unlock()
			ids.n++
			return fmt.Sprintf("%s-%d-%04d", filepath.Base(filepath.Dir(path)), len(opened.Runs), ids.n)
		},
	})}
	t.Cleanup(h.close)
	return h
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (h *harness) close() {
	h.Stop()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *harness) ask(change ...func(*runs.Ask)) *plan.Run {
	h.t.Helper()
	a := runs.Ask{Question: "What is it?", Options: plan.DefaultOptions(), By: "me"}
	for _, f := range change {
		f(&a)
	}
	r, err := h.Ask(h.t.Context(), a)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func auto(a *runs.Ask) { a.Options.Approval = plan.ApprovalAuto }

func replans(when string, most int) func(*runs.Ask) {
	return func(a *runs.Ask) { a.Options.Replan.When, a.Options.Replan.Max = when, most }
}

func given(p plan.Plan) func(*runs.Ask) { return func(a *runs.Ask) { a.Plan = &p } }

// until waits for the run to be as wanted, woken by the store.
func (h *harness) until(id string, want func(*plan.Run) bool) *plan.Run {
	h.t.Helper()
	wake, stop := h.store.Watch(id)
	defer stop()
	for {
		r, err := h.Get(h.t.Context(), id)
		if err != nil {
			h.t.Fatal(err)
		}
		if want(r) {
			return r
		}
		if r.Status.Ended() {
			h.t.Fatalf("the run ended %s (%+v) and was never as wanted", r.Status, r.Error)
		}
		<-wake
	}
}

func is(s plan.RunStatus) func(*plan.Run) bool {
	return func(r *plan.Run) bool { return r.Status == s }
}

func (h *harness) end(id string) *plan.Run {
	h.t.Helper()
	return h.until(id, func(r *plan.Run) bool { return r.Status.Ended() })
}

// events returns the run's log.
func (h *harness) events(id string) []plan.Event {
	h.t.Helper()
	events, err := h.store.Events(h.t.Context(), id, 0, 100_000)
	if err != nil {
		h.t.Fatal(err)
	}
	return events
}

func types(events []plan.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = string(e.Type())
	}
	return out
}

// diamond is s1 and s2 side by side, and s3 needing both.
func diamond() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "one"},
		{ID: "s2", Instruction: "two"},
		{ID: "s3", Instruction: "join", DependsOn: []string{"s1", "s2"}},
	}}
}

// loose is a diamond whose last step forgets its dependencies.
func loose() plan.Plan {
	p := diamond()
	p.Steps[2].DependsOn = nil
	return p
}

// fails is an executor that breaks at the named steps and answers the others.
func fails(steps ...string) func(context.Context, string, model.Request) (model.Response, error) {
	return func(_ context.Context, step string, _ model.Request) (model.Response, error) {
		if slices.Contains(steps, step) {
			return model.Response{}, &model.Error{Kind: model.BadResponse, Message: step + " broke"}
		}
		return says("result of " + step)
	}
}

// line makes a plan of steps that each need the one before.
func line(ids ...string) plan.Plan {
	var p plan.Plan
	for i, id := range ids {
		s := plan.Step{ID: id, Instruction: "do " + id}
		if i > 0 {
			s.DependsOn = ids[i-1 : i]
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// wide makes a plan of steps that need nothing and one that needs them all.
func wide(last string, ids ...string) plan.Plan {
	var p plan.Plan
	for _, id := range ids {
		p.Steps = append(p.Steps, plan.Step{ID: id, Instruction: "do " + id})
	}
	p.Steps = append(p.Steps, plan.Step{ID: last, Instruction: "do " + last, DependsOn: ids})
	return p
}

// changes says in short what became of each step.
func changes(from, to plan.Version) map[string]plan.Change {
	out := map[string]plan.Change{}
	for _, c := range plan.Diff(from.Plan, to.Plan) {
		out[c.Step] = c.Change
	}
	return out
}
