package runs

import (
	"context"
	"unicode/utf8"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Estimate is what is left of a plan will take.
type Estimate struct {
	Take
	// CriticalPath is the chain of steps that takes the most tokens.
	CriticalPath []string
	// Steps is what each step that has not run will take, and Answer the answer.
	Steps  map[string]Take
	Answer Take
}

// Take is what a part of a run takes.
type Take struct {
	Requests, Tokens int
	// CostUSD is nil when the price of the model is unknown.
	CostUSD *plan.USD
}

// plus returns the sum of two parts. An unknown cost stays unknown.
func (t Take) plus(u Take) Take {
	sum := Take{Requests: t.Requests + u.Requests, Tokens: t.Tokens + u.Tokens}
	if t.CostUSD != nil && u.CostUSD != nil {
		c := *t.CostUSD + *u.CostUSD
		sum.CostUSD = &c
	}
	return sum
}

// Without a history, an agent's prompt and answer are taken to have so many
// tokens beside the texts of the run, and an agent with tools to take two calls.
const (
	promptTokens     = 500
	answerWritten    = 250
	charactersAToken = 4
)

// Estimate says what the newest plan of a run will still take: from what the
// same models took lately where there is such a history, else from the sizes of
// the prompts. A tool step takes no model call.
func (s *Service) Estimate(ctx context.Context, r *plan.Run) (Estimate, error) {
	executor, err := s.usual(ctx, r, plan.RoleExecutor)
	if err != nil {
		return Estimate{}, err
	}
	synthesizer, err := s.usual(ctx, r, plan.RoleSynthesizer)
	if err != nil {
		return Estimate{}, err
	}
	p, free := r.Plan(), plan.USD(0)
	e := Estimate{Take: Take{CostUSD: &free}, Steps: make(map[string]Take, len(p.Steps))}
	for _, step := range p.Steps {
		if st := r.Step(step.ID); st != nil && st.Status.Ended() {
			continue
		}
		t := Take{CostUSD: &free}
		if step.Tool == "" {
			t = executor(step.Instruction, len(step.DependsOn))
		}
		e.Steps[step.ID], e.Take = t, e.plus(t)
	}
	e.Answer = synthesizer("", len(p.Steps))
	e.Take = e.plus(e.Answer)
	e.CriticalPath, err = plan.CriticalPath(p, func(id string) float64 { return float64(1 + e.Steps[id].Tokens) })
	return e, err
}

// usual returns what one attempt of an agent takes, by its instruction and the
// number of results that it is told.
func (s *Service) usual(ctx context.Context, r *plan.Run, role plan.Role) (func(string, int) Take, error) {
	name := r.Options.Models[role]
	h, err := s.Store.History(ctx, name, role)
	if err != nil {
		return nil, err
	}
	if h.Attempts > 0 {
		t := average(h)
		return func(string, int) Take { return t }, nil
	}
	calls := 1
	if role == plan.RoleExecutor && len(r.Options.Tools) > 0 {
		calls = 2
	}
	return func(instruction string, results int) Take {
		written := utf8.RuneCountInString(r.Question) + utf8.RuneCountInString(r.Options.Instructions) + utf8.RuneCountInString(instruction)
		in := promptTokens + written/charactersAToken + results*answerWritten
		u := plan.Usage{Requests: calls, InputTokens: calls * in, OutputTokens: calls * answerWritten}
		u.TotalTokens = u.InputTokens + u.OutputTokens
		return Take{Requests: calls, Tokens: u.TotalTokens, CostUSD: s.Models.Cost(name, u)}
	}, nil
}

// average is what one attempt took in a history.
func average(h db.History) Take {
	each := func(n int) int { return (n + h.Attempts - 1) / h.Attempts }
	t := Take{Requests: each(h.Calls), Tokens: each(h.Tokens)}
	if h.CostUSD != nil {
		c := *h.CostUSD / plan.USD(h.Attempts)
		t.CostUSD = &c
	}
	return t
}
