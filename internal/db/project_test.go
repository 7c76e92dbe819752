package db

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

// wantSummary is what lists are to show of a state.
func wantSummary(r *plan.Run) Summary {
	s := Summary{
		ID: r.ID, Seq: r.Seq, Question: plan.Short(r.Question, 300), Status: r.Status, Strategy: r.Options.Strategy, Owner: r.By,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Version: len(r.Versions),
		Corrections: len(r.Rejections), Steps: len(r.Steps), Usage: r.Usage, Models: []string{},
	}
	for _, role := range []plan.Role{plan.RolePlanner, plan.RoleExecutor, plan.RoleSynthesizer} {
		if m := r.Options.Models[role]; m != "" && !slices.Contains(s.Models, m) {
			s.Models = append(s.Models, m)
		}
	}
	for _, st := range r.Steps {
		if st.Status == plan.StepStatusSucceeded {
			s.Succeeded++
		}
	}
	if a := r.Answer; a != nil {
		s.Answer, s.Subject, s.Value = strings.TrimSpace(strings.Split(strings.TrimSpace(a.Result), "\n")[0]), a.Subject, a.Value
	}
	if r.Error != nil {
		s.ErrorCode = r.Error.Code
	}
	return s
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameRows fails unless the rows of a run say exactly what its state says.
func sameRows(t failer, d *DB, r *plan.Run) {
	t.Helper()
	ctx := context.Background()
	page, err := d.List(ctx, Filter{Limit: MostLimit})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	at := slices.IndexFunc(page.Runs, func(s Summary) bool { return s.ID == r.ID })
	if at < 0 {
		t.Fatalf("run %s is not listed", r.ID)
	}
	if want := wantSummary(r); !reflect.DeepEqual(page.Runs[at], want) {
		t.Fatalf("the run's row says\n%+v\nand the state\n%+v", page.Runs[at], want)
	}
	for _, v := range r.Versions {
		if got, err := d.PlanByHash(ctx, v.Hash); err != nil || !reflect.DeepEqual(got, v.Plan) {
			t.Fatalf("version %d is %+v, %v; want %+v", v.Number, got, err, v.Plan)
		}
	}
}

// teller draws what may happen next to a run.
type teller struct {
	t     *rapid.T
	run   *plan.Run
	calls int
}

// next draws an event that fits the state.
func (n *teller) next() plan.Payload {
	for {
		p := n.payload(rapid.SampledFrom(n.kinds()).Draw(n.t, "type"))
		if p == nil {
			continue
		}
		// Every state admits some event, but those that end a run are drawn
		// as often as others: most of them are passed over.
		switch p.(type) {
		case plan.RunSucceeded, plan.RunPartial, plan.RunFailed, plan.RunCancelled:
			if rapid.IntRange(0, 7).Draw(n.t, "end") > 0 {
				continue
			}
		}
		if n.run.Clone().Apply(plan.Event{Seq: n.run.Seq + 1, Data: p}) == nil {
			return p
		}
	}
}

// kinds are the types that are drawn from: all there are, or, while steps run,
// mostly those of steps, so that their lives are long.
func (n *teller) kinds() []plan.EventType {
	if n.run.Status != plan.RunStatusRunning || rapid.IntRange(0, 3).Draw(n.t, "any type") == 0 {
		return plan.EventTypes()
	}
	return []plan.EventType{
		plan.EventStepStarted, plan.EventStepSucceeded, plan.EventStepInvalid, plan.EventStepFailed, plan.EventStepReset,
		plan.EventUsageReserved, plan.EventUsageSettled,
	}
}

func (n *teller) text(label string) string {
	return rapid.SampledFrom([]string{
		"", "Quillhaven", "the densest city\nof three", `"quotes" AND *stars*`, "héllo 🚀 wörld", "\n\n  1,200.0 per km²  \n", "null", "${s1}",
	}).Draw(n.t, label)
}

func (n *teller) step() string {
	return rapid.SampledFrom([]string{"s1", "s2", "s3", "s4"}).Draw(n.t, "step")
}

func (n *teller) usage() plan.Usage {
	u := plan.Usage{Requests: 1, InputTokens: rapid.IntRange(0, 99).Draw(n.t, "tokens"), ThinkingTokens: 3, CachedTokens: 1, OutputTokens: 4}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	if rapid.Bool().Draw(n.t, "price known") {
		c := plan.USD(u.TotalTokens) * 1000
		u.CostUSD = &c
	}
	return u
}

func (n *teller) fault() plan.Fault {
	return plan.Fault{Code: plan.CodeToolFailed, Message: n.text("message")}
}

func (n *teller) version() plan.Version {
	v := chain(rapid.IntRange(1, 4).Draw(n.t, "steps"))
	v.Number = len(n.run.Versions) + 1
	v.Hash = fmt.Sprintf("sha256:%s-%d", n.run.ID, v.Number)
	return v
}

// payload draws an event of a type, nil where there is none.
func (n *teller) payload(t plan.EventType) plan.Payload {
	newest, _ := n.run.Version()
	switch t {
	case plan.EventPlanRequested:
		return plan.PlanRequested{Comment: n.text("comment"), By: "ada"}
	case plan.EventPlanRejected:
		return plan.PlanRejected{Text: n.text("plan")}
	case plan.EventPlanProposed:
		return plan.PlanProposed{Version: n.version()}
	case plan.EventPlanEdited:
		return plan.PlanEdited{Version: n.version()}
	case plan.EventPlanApproved:
		return plan.PlanApproved{Version: newest.Number, Hash: newest.Hash, By: "ada"}
	case plan.EventRunStarted:
		return plan.RunStarted{}
	case plan.EventWaveStarted:
		return plan.WaveStarted{Wave: len(n.run.Waves) + 1, Steps: []string{n.step()}}
	case plan.EventWaveFinished:
		return plan.WaveFinished{Wave: len(n.run.Waves)}
	case plan.EventAnswerStarted:
		return plan.AnswerStarted{Attempt: n.run.AnswerAttempts + 1}
	case plan.EventAnswerWritten:
		a := plan.Answer{Result: n.text("answer"), Subject: n.text("subject"), RestsOn: []string{"s1"}}
		if rapid.Bool().Draw(n.t, "with a number") {
			v := rapid.Float64Range(-1e6, 1e6).Draw(n.t, "number")
			a.Value = &v
		}
		return plan.AnswerWritten{Answer: a}
	case plan.EventRunResumed:
		return plan.RunResumed{}
	case plan.EventRunSucceeded:
		return plan.RunSucceeded{}
	case plan.EventRunPartial:
		return plan.RunPartial{}
	case plan.EventRunFailed:
		return plan.RunFailed{Error: n.fault()}
	case plan.EventRunCancelled:
		return plan.RunCancelled{By: "ada"}
	case plan.EventUsageReserved:
		n.calls++
		return plan.UsageReserved{Call: fmt.Sprint(n.calls), Agent: plan.RoleExecutor, Step: n.step(), Model: "demo"}
	case plan.EventUsageSettled:
		for call, open := range n.run.Open {
			return plan.UsageSettled{Call: call, Agent: open.Agent, Step: open.Step, Usage: n.usage()}
		}
	default:
		return n.ofStep(t, n.step())
	}
	return nil
}

func (n *teller) ofStep(t plan.EventType, id string) plan.Payload {
	attempt := 1
	if st := n.run.Step(id); st != nil {
		attempt = st.Attempts
	}
	switch t {
	case plan.EventStepStarted:
		return plan.StepStarted{Step: id, Attempt: attempt + 1, Wave: 1}
	case plan.EventStepToolCalled:
		return plan.StepToolCalled{Step: id, Attempt: attempt, ID: "t", Tool: "calculate", Arguments: []byte(`{"expression":"1"}`)}
	case plan.EventStepSucceeded:
		return plan.StepSucceeded{Step: id, Attempt: attempt, Result: plan.Result{Text: n.text("result"), Data: []byte(`{"x":1}`)}}
	case plan.EventStepFailed:
		return plan.StepFailed{Step: id, Attempt: attempt, Error: n.fault()}
	case plan.EventStepInvalid:
		return plan.StepInvalid{Step: id, Attempt: attempt, Error: n.fault(), Result: plan.Result{Text: n.text("result")}}
	case plan.EventStepSkipped:
		return plan.StepSkipped{Step: id, Cause: "s1"}
	case plan.EventStepCancelled:
		return plan.StepCancelled{Step: id, Attempt: attempt}
	case plan.EventStepReset:
		return plan.StepReset{Steps: []string{id}}
	default:
		return nil
	}
}

// TestRowsAreTheFold holds that whatever happens to a run, in batches of
// whatever size, the rows that pages query say what the fold of its events says,
// that the fold is read back whole, and that exactly what the log says is found.
func TestRowsAreTheFold(t *testing.T) {
	d := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		s := newStory(d, fmt.Sprintf("r%d", runs))
		n := &teller{t: t, run: s.run}
		created := asked(n.text("question"))
		created.Options.Models = map[plan.Role]string{plan.RolePlanner: "demo", plan.RoleExecutor: n.text("model"), plan.RoleJudge: "x"}
		payloads := []plan.Payload{created}
		if rapid.Bool().Draw(t, "running already") {
			payloads = append(payloads, begin("", rapid.IntRange(1, 4).Draw(t, "steps"))[1:]...)
		}
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			b, err := s.batch(payloads...)
			if err != nil {
				t.Fatalf("apply: %v", err)
			}
			for range rapid.IntRange(0, 6).Draw(t, "further events") {
				if s.run.Status.Ended() {
					break
				}
				more, err := s.batch(n.next())
				if err != nil {
					t.Fatalf("apply: %v", err)
				}
				b.Events = append(b.Events, more.Events...)
			}
			if err := d.Append(context.Background(), b); err != nil {
				t.Fatalf("append: %v", err)
			}
			sameRows(t, d, s.run)
			if s.run.Status.Ended() {
				break
			}
			payloads = []plan.Payload{n.next()}
		}
		got, err := d.Load(context.Background(), s.run.ID)
		if err != nil || !reflect.DeepEqual(got, s.run) {
			t.Fatalf("read %v\n%+v\nwant\n%+v", err, got, s.run)
		}
		if err := d.Delete(context.Background(), s.run.ID); err != nil {
			t.Fatalf("delete: %v", err)
		}
	})
	sound(t, d)
}

func TestAStepPointsToItsResultAsLongAsItHasOne(t *testing.T) { // BEHAVIOUR 5.8
	d := openNew(t)
	s := newStory(d, "r1")
	s.tell(t, begin("q", 1)...)
	s.tell(t, plan.UsageReserved{Call: "c", Step: "s1"}, plan.StepStarted{Step: "s1", Attempt: 1, Wave: 1})
	for _, next := range []plan.Payload{
		plan.StepSucceeded{Step: "s1", Attempt: 1, Result: plan.Result{Text: "the first"}},
		plan.UsageSettled{Call: "c", Step: "s1"}, // and the result stays
		plan.StepReset{Steps: []string{"s1"}},    // and the result goes
		plan.StepStarted{Step: "s1", Attempt: 2, Wave: 1},
		plan.StepInvalid{Step: "s1", Attempt: 2, Result: plan.Result{Text: "the second"}},
	} {
		s.tell(t, next)
		sameRows(t, d, s.run)
	}
}

func TestModelsOfAStrategy(t *testing.T) {
	models := map[plan.Role]string{
		plan.RolePlanner: "p", plan.RoleExecutor: "e", plan.RoleSynthesizer: "p", plan.RoleJudge: "j", plan.RoleProposer: "o",
	}
	tests := map[plan.Strategy][]string{
		plan.StrategyPlan:   {"p", "e"},
		plan.StrategyRounds: {"p", "e"},
		plan.StrategyReact:  {"e"},
		plan.StrategyTree:   {"o", "j", "p"},
	}
	for strategy, want := range tests {
		if got := modelsOf(plan.Options{Strategy: strategy, Models: models}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", strategy, got, want)
		}
	}
}
