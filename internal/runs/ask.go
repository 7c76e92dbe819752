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
	// Options as the asker wants them, who starts from [Service.Defaults]; models
	// and tools that are not named are filled in from what is configured.
	Options plan.Options
	// Plan, when given, is the plan to run, and no planner is asked.
	Plan *plan.Plan
	By   string
}

// Defaults returns the options of a run that names none: those of the program
// with the configured cost limit.
func (s *Service) Defaults() plan.Options {
	o := plan.DefaultOptions()
	if s.CostLimit != nil {
		limit := *s.CostLimit
		o.Budget.CostUSD = &limit
	}
	return o
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
		p, mends, warnings, err := s.checked(&plan.Run{Options: a.Options}, *a.Plan)
		if err != nil {
			return nil, err
		}
		v, err := version(r, p, a.By, "given with the question", mends, warnings)
		if err != nil {
			return nil, err
		}
		events = started(&plan.Run{Options: a.Options}, append(events, plan.PlanProposed{Version: v}), v)
	}
	return s.begin(ctx, r.ID, events)
}

// begin makes a run of its first events and sets it going.
func (s *Service) begin(ctx context.Context, id string, events []plan.Payload) (*plan.Run, error) {
	l := s.hold(id)
	defer s.release(l)
	l.mu.Lock()
	l.set(&plan.Run{ID: id})
	l.mu.Unlock()
	if err := l.record(ctx, db.Batch{}, events...); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.set(l.run)
	l.mu.Unlock()
	s.wake(l)
	return l.snapshot(), nil
}

// complete fills in what the asker left open and refuses what cannot be.
func (s *Service) complete(a *Ask) error {
	a.Question = strings.TrimSpace(strings.ReplaceAll(a.Question, "\r\n", "\n"))
	return refused(func(bad reject) {
		checkQuestion(a.Question, bad)
		checkOptions(a.Options, bad)
		s.bind(&a.Options, bad)
	})
}

// checkOptions holds the options of a run to what can be, apart from what is
// configured here.
func checkOptions(o plan.Options, bad reject) {
	if o.MaxSteps < 1 || o.MaxSteps > plan.MostSteps {
		bad("max_steps", "max_steps is %d; it can be 1 to %d.", o.MaxSteps, plan.MostSteps)
	}
	if o.MaxParallel < 1 || o.MaxParallel > mostParallel {
		bad("max_parallel", "max_parallel is %d; it can be 1 to %d.", o.MaxParallel, mostParallel)
	}
	checkChoices(o, bad)
	checkBudget(o.Budget, bad)
}

// refused gathers what is wrong with a request into one error, nil for nothing.
func refused(check func(bad reject)) error {
	var problems []plan.Violation
	check(func(field, format string, args ...any) {
		problems = append(problems, plan.Violation{
			Code: plan.CodeInvalid, Steps: []string{}, Field: field, Message: fmt.Sprintf(format, args...),
		})
	})
	if len(problems) == 0 {
		return nil
	}
	e := plan.NewError(plan.CodeInvalid, "The request cannot be carried out as it is: "+problems[0].Message, nil)
	e.Violations = problems
	return e
}

func checkQuestion(question string, bad reject) {
	switch n := utf8.RuneCountInString(question); {
	case !strings.ContainsFunc(question, visible):
		bad("question", "The question is empty. Write what you want to know.")
	case n > plan.MostQuestion:
		bad("question", "The question has %d characters; %d is the most. Shorten it.", n, plan.MostQuestion)
	case !utf8.ValidString(question):
		bad("question", "The question is not valid UTF-8 text.")
	case strings.ContainsFunc(question, control):
		bad("question", "The question holds control characters. Type it anew.")
	}
}

// visible says whether a character can be seen.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// control says whether a character is one that no text needs.
func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// mostParallel is the largest number of steps at once that can be asked for.
const mostParallel = 1_000

type reject func(field, format string, args ...any)

func checkChoices(o plan.Options, bad reject) {
	if o.Strategy != plan.StrategyPlan && o.Strategy != plan.StrategyRounds {
		bad("strategy", "The strategy %q is not there; the strategies are: plan, rounds.", o.Strategy)
	}
	if o.Approval != plan.ApprovalManual && o.Approval != plan.ApprovalAuto {
		bad("approval", "The approval %q is not there; it is manual or auto.", o.Approval)
	}
	if o.Schedule != plan.ScheduleWaves && o.Schedule != plan.ScheduleReady {
		bad("schedule", "The schedule %q is not there; it is waves or ready.", o.Schedule)
	}
	checkReplan(o, bad)
	if o.Webhook != "" {
		bad("webhook", "Webhooks are not there yet; leave the field out.")
	}
}

func checkReplan(o plan.Options, bad reject) {
	switch o.Replan.When {
	case plan.ReplanNever, plan.ReplanOnFailure:
	case plan.ReplanEveryRound:
		if o.Schedule == plan.ScheduleReady {
			bad("replan.when", "Replanning every_round needs the schedule waves: as ready there are no rounds to plan after.")
		}
	default:
		bad("replan.when", "Replanning %q is not there; it is never, on_failure or every_round.", o.Replan.When)
	}
	if o.Replan.Max < 0 || o.Replan.Max > plan.MostReplans {
		bad("replan.max", "replan.max is %d; it can be 0 to %d.", o.Replan.Max, plan.MostReplans)
	}
	if o.Replan.Approval != plan.ReplanSame && o.Replan.Approval != plan.ReplanAuto {
		bad("replan.approval", "The approval %q of replans is not there; it is same or auto.", o.Replan.Approval)
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

// bind fills in models and tools.
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
}
