package runs

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Ask is a question and how it is to be answered.
type Ask struct {
	Question string
	// Options as the asker wants them; models and tools that are not named are
	// filled in from what is configured.
	Options plan.Options
	// Plan, when given, is the plan to run, and no planner is asked.
	Plan *plan.Plan
	By   string
}

// Ask makes a run and sets it going. What is wrong with the request is
// reported all at once, and then no run is made.
func (s *Service) Ask(ctx context.Context, a Ask) (*plan.Run, error) {
	if err := s.complete(&a); err != nil {
		return nil, err
	}
	r := &plan.Run{ID: s.NewID()}
	events := []plan.Payload{plan.RunCreated{Question: a.Question, Options: a.Options, By: a.By}}
	if a.Plan == nil {
		events = append(events, plan.PlanRequested{By: a.By})
	} else {
		p, mends, warnings, err := s.checked(a.Options, *a.Plan)
		if err != nil {
			return nil, err
		}
		v, err := version(r, p, a.By, "given with the question", mends, warnings)
		if err != nil {
			return nil, err
		}
		events = started(a.Options, append(events, plan.PlanProposed{Version: v}), v)
	}
	l := newLive(s, r, a.Options)
	s.mu.Lock()
	s.live[r.ID] = l
	s.mu.Unlock()
	if err := l.record(ctx, db.Batch{}, events...); err != nil {
		s.forget(r.ID)
		return nil, err
	}
	s.wake(l)
	return l.snapshot(), nil
}

// complete fills in what the asker left open and refuses what cannot be.
func (s *Service) complete(a *Ask) error {
	var problems []plan.Violation
	bad := func(field, format string, args ...any) {
		problems = append(problems, plan.Violation{
			Code: plan.CodeInvalid, Steps: []string{}, Field: field, Message: fmt.Sprintf(format, args...),
		})
	}
	a.Question = strings.TrimSpace(strings.ReplaceAll(a.Question, "\r\n", "\n"))
	switch n := utf8.RuneCountInString(a.Question); {
	case !strings.ContainsFunc(a.Question, visible):
		bad("question", "The question is empty. Write what you want to know.")
	case n > plan.MostQuestion:
		bad("question", "The question has %d characters; %d is the most. Shorten it.", n, plan.MostQuestion)
	case !utf8.ValidString(a.Question):
		bad("question", "The question is not valid UTF-8 text.")
	case strings.ContainsFunc(a.Question, control):
		bad("question", "The question holds control characters. Type it anew.")
	}
	o := &a.Options
	if o.MaxSteps < 1 || o.MaxSteps > plan.MostSteps {
		bad("max_steps", "max_steps is %d; it can be 1 to %d.", o.MaxSteps, plan.MostSteps)
	}
	if o.MaxParallel < 1 || o.MaxParallel > mostParallel {
		bad("max_parallel", "max_parallel is %d; it can be 1 to %d.", o.MaxParallel, mostParallel)
	}
	checkChoices(o, bad)
	checkBudget(o.Budget, bad)
	s.bind(o, bad)
	if len(problems) == 0 {
		return nil
	}
	msg := "The request cannot be carried out as it is: " + problems[0].Message
	e := plan.NewError(plan.CodeInvalid, msg, nil)
	e.Violations = problems
	return e
}

// visible says whether a character can be seen.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// control says whether a character is one that no text needs.
func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// mostParallel is the largest number of steps at once that can be asked for.
const mostParallel = 1_000

type reject func(field, format string, args ...any)

func checkChoices(o *plan.Options, bad reject) {
	if o.Strategy != plan.StrategyPlan {
		bad("strategy", "The strategy %q is not there; the strategies are: plan.", o.Strategy)
	}
	if o.Approval != plan.ApprovalManual && o.Approval != plan.ApprovalAuto {
		bad("approval", "The approval %q is not there; it is manual or auto.", o.Approval)
	}
	if o.Schedule != plan.ScheduleWaves && o.Schedule != plan.ScheduleReady {
		bad("schedule", "The schedule %q is not there; it is waves or ready.", o.Schedule)
	}
	if o.Replan.When != plan.ReplanNever {
		bad("replan", "Replanning %q is not there; it is never.", o.Replan.When)
	}
	if o.Webhook != "" {
		bad("webhook", "Webhooks are not there yet; leave the field out.")
	}
}

func checkBudget(b plan.Budget, bad reject) {
	least := func(field string, n *int) {
		if n != nil && *n < 1 {
			bad("budget."+field, "budget.%s is %d; it is at least 1, or null for no limit.", field, *n)
		}
	}
	least("requests", b.Requests)
	least("tokens", b.Tokens)
	least("steps", b.Steps)
	if b.CostUSD != nil && *b.CostUSD <= 0 {
		bad("budget.cost_usd", "budget.cost_usd is %v; it is more than 0, or null for no limit.", b.CostUSD.Dollars())
	}
}

// bind fills in models, tools and the default cost limit.
func (s *Service) bind(o *plan.Options, bad reject) {
	models := map[plan.Role]string{}
	for _, role := range plan.Roles() {
		name := o.Models[role]
		if name == "" {
			name = s.Models.Default(role)
		}
		if _, _, err := s.Models.Resolve(name); err != nil {
			bad("models."+string(role), "%s", plan.AsError(err).Message)
		}
		models[role] = name
	}
	for role := range o.Models {
		if _, ok := models[role]; !ok {
			bad("models", "There is no role %q; the roles are planner, executor, synthesizer, judge, proposer.", role)
		}
	}
	o.Models = models
	if o.Tools == nil {
		o.Tools = s.Tools.Names()
	}
	if _, err := s.Tools.Subset(o.Tools); err != nil {
		bad("tools", "%s", err.Error())
	}
	if o.Budget.CostUSD == nil {
		o.Budget.CostUSD = s.CostLimit
	}
}
