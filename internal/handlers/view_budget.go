package handlers

import (
	"context"
	"math"
	"net/url"
	"strconv"
	"strings"

	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// budgetForm is a budget as it is typed, with what was wrong with it.
type budgetForm struct {
	values   url.Values
	problems []templates.FieldProblem
}

// text is what was typed in a field.
func (f *budgetForm) text(field string) string { return strings.TrimSpace(f.values.Get(field)) }

func (f *budgetForm) bad(field, message string) {
	f.problems = append(f.problems, templates.FieldProblem{Field: field, Message: message})
}

// whole reads a field as a whole number; empty is nil.
func (f *budgetForm) whole(field string) *int {
	text := f.text(field)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		f.bad(field, "Write a whole number.")
		return nil
	}
	return &n
}

// dollars reads a field as an amount of money; empty is nil.
func (f *budgetForm) dollars(field string) *plan.USD {
	text := f.text(field)
	if text == "" {
		return nil
	}
	var usd plan.USD
	if err := usd.UnmarshalJSON([]byte(text)); err != nil {
		f.bad(field, "Write an amount in dollars, as 0.50.")
		return nil
	}
	return &usd
}

// read is the budget that was typed.
func (f *budgetForm) read() plan.Budget {
	return plan.Budget{Requests: f.whole("requests"), Tokens: f.whole("tokens"), CostUSD: f.dollars("cost"), Steps: f.whole("steps")}
}

// budgetOf are the choices of a run that ran out of budget. The larger budget
// that is proposed is twice the old one, and no less than what is left of the
// plan will take.
func (s *server) budgetOf(ctx context.Context, v view) *templates.BudgetProps {
	if !v.run.Continuable() {
		return nil
	}
	e, err := s.Runs.Estimate(ctx, v.run)
	if err != nil {
		e = runs.Estimate{} // then the proposal is twice the old budget
	}
	b, used := v.run.Options.Budget, v.run.Used()
	answer := v.answerURL()
	if !v.outOfBudget() {
		answer = "" // it is written
	}
	p := &templates.BudgetProps{ContinueURL: v.url() + "/continue", Nonce: s.NewID(), AnswerURL: answer, AnswerNonce: v.answerNonce(), Results: len(v.run.WithStatus(plan.StepStatusSucceeded))}
	p.Fields = []templates.BudgetField{
		{Name: "requests", Label: "Calls", Value: more(b.Requests, used.Requests+e.Requests), Used: templates.Count(used.Requests)},
		{Name: "tokens", Label: "Tokens", Value: more(b.Tokens, used.Tokens+e.Tokens), Used: templates.Count(used.Tokens)},
		{Name: "cost", Label: "US dollars", Value: moreMoney(b.CostUSD, used.CostUSD, e.CostUSD), Used: templates.Money(v.run.Usage.CostUSD), Decimal: true},
	}
	if b.Steps != nil || v.typed != nil && v.typed.values.Has("steps") {
		p.Fields = append(p.Fields, templates.BudgetField{
			Name: "steps", Label: "Attempts", Value: more(b.Steps, used.Steps+len(e.Steps)), Used: templates.Count(used.Steps),
		})
	}
	if v.typed != nil {
		v.typed.fill(p.Fields)
	}
	return p
}

// fill puts back what was typed, and what was wrong with it.
func (f *budgetForm) fill(fields []templates.BudgetField) {
	for i := range fields {
		field := &fields[i]
		field.Value = f.text(field.Name)
		for _, p := range f.problems {
			if p.Field == field.Name && field.Problem == "" {
				field.Problem = p.Message
			}
		}
	}
}

// more proposes a larger limit; "" where there is none.
func more(limit *int, need int) string {
	if limit == nil {
		return ""
	}
	double := *limit
	if double <= math.MaxInt/2 {
		double *= 2
	}
	return strconv.Itoa(max(double, need))
}

func moreMoney(limit *plan.USD, used plan.USD, need *plan.USD) string {
	if limit == nil {
		return ""
	}
	usd := max(*limit, used)
	if usd <= math.MaxInt64/4 {
		usd *= 2
	}
	if need != nil {
		usd = max(usd, used+*need)
	}
	return strconv.FormatFloat(usd.Dollars(), 'f', -1, 64)
}
