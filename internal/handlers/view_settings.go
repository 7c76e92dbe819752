package handlers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools/mcp"
	"planwave/web/templates"
)

// modelNames are the models that are configured: those of the roles, and what
// each provider is asked for when nothing else is named.
func (s *server) modelNames() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, role := range plan.Roles() {
		add(s.Models.Default(role))
	}
	for _, name := range s.Models.Names() {
		if _, _, err := s.Models.Resolve(name); err == nil {
			add(name)
		}
	}
	return names
}

// providerOf is what is in force for a model.
func (s *server) providerOf(name string) templates.ProviderProps {
	provider, _, _ := strings.Cut(name, ":")
	p := templates.ProviderProps{
		Name: provider, Model: name, Demo: provider == model.Demo, TestURL: testURL(name), Tested: templates.TestedProps{ID: testedID(name)},
	}
	for _, info := range s.Models.Providers() {
		if info.Name == provider {
			p.Limits = limitsOf(info)
		}
	}
	if price, ok := s.Models.Price(name); ok {
		p.Price = fmt.Sprintf("In dollars per million tokens: %s in, %s out", perMillion(price.Input), perMillion(price.Output))
		if price.Cached != nil {
			p.Price += fmt.Sprintf(", %s from the cache", perMillion(*price.Cached))
		}
		p.Price += "."
	} else if !p.Demo {
		p.Price = "Its price is unknown, and so is what it costs; PLANWAVE_PRICES names a file with prices."
	}
	return p
}

// perMillion is a price per million tokens.
func perMillion(u plan.USD) string {
	return strings.TrimSuffix(fmt.Sprintf("%.2f", u.Dollars()), ".00")
}

// limitsOf puts what is let through to a provider into words.
func limitsOf(i model.Info) string {
	parts := []string{fmt.Sprintf("%d at the same time", i.InFlight)}
	if i.RequestsPerMinute > 0 {
		parts = append(parts, templates.Count(i.RequestsPerMinute)+" requests a minute")
	}
	if i.TokensPerMinute > 0 {
		parts = append(parts, templates.Count(i.TokensPerMinute)+" tokens a minute")
	}
	if i.Timeout > 0 {
		parts = append(parts, templates.Duration(i.Timeout)+" a call")
	}
	return "At most " + strings.Join(parts, ", ") + "."
}

// serverOf is what people are told of a server of tools.
func serverOf(st mcp.State) templates.ServerProps {
	return templates.ServerProps{
		Name: st.Name, Software: st.Software, Phase: string(st.Phase), Why: st.Why, Remote: st.Remote, Tools: st.Tools,
		Problems: st.Problems, Since: st.Since, Next: st.Next,
	}
}

// testedID names the element that shows what came of trying a model out.
func testedID(name string) string {
	var b strings.Builder
	b.WriteString("tested-")
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "_%x", r)
		}
	}
	return b.String()
}

// testedOf puts what came of trying a model out into words.
func testedOf(name string, resp model.Response, err error) templates.TestedProps {
	t := templates.TestedProps{ID: testedID(name), OK: true, Title: "It answers"}
	e, failed := errors.AsType[*model.Error](err)
	switch {
	case err == nil:
		t.Text = fmt.Sprintf("It wrote %q and used %s tokens.", plan.Short(strings.TrimSpace(resp.Text), 80), templates.Count(resp.Usage.TotalTokens))
	case failed && e.Kind == model.BeyondDemo:
		t.Text = "The demo is code: it is always there, and only knows the sample cities."
	case failed && e.Kind == model.Truncated:
		t.Text = "It was still thinking when its small allowance for this test was used up, which is ordinary."
	default:
		t.OK, t.Title, t.Text = false, failureTitle(plan.AsError(shownModelError(err)).Code), plan.AsError(shownModelError(err)).Message
	}
	return t
}

// shownModelError is a model's failure as people are shown it.
func shownModelError(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Shown()
	}
	return err
}

// limits are what is in force in a run that sets nothing else.
func (s *server) limits() []templates.Field {
	o := plan.DefaultOptions()
	cost := "no limit"
	if limit := s.Runs.CostLimit; limit != nil {
		cost = templates.Money(limit)
	}
	return []templates.Field{
		{Name: "Steps of a plan", Value: templates.Count(o.MaxSteps)},
		{Name: "Steps at the same time", Value: templates.Count(o.MaxParallel)},
		{Name: "Calls", Value: limitOf(o.Budget.Requests)},
		{Name: "Tokens", Value: limitOf(o.Budget.Tokens)},
		{Name: "Cost", Value: cost},
	}
}

func limitOf(n *int) string {
	if n == nil {
		return "no limit"
	}
	return templates.Count(*n)
}

// daysOf puts what was used by day into words. A cost that is not known is
// never zero.
func daysOf(days []db.Day) []templates.DayProps {
	var all []templates.DayProps
	for _, d := range days {
		p := templates.DayProps{Date: d.Start.Format("2006-01-02"), Calls: templates.Count(d.Calls), Tokens: templates.Count(d.Tokens), Cost: templates.Money(&d.Cost)}
		switch {
		case d.Unpriced > 0 && d.Cost == 0:
			p.Cost = "unknown"
		case d.Unpriced > 0:
			p.Cost += fmt.Sprintf(", and %s of unknown price", templates.Counted(d.Unpriced, "call", "calls"))
		}
		all = append(all, p)
	}
	return all
}

// storageOf puts how much room the runs take into words.
func storageOf(s db.Storage) []templates.Field {
	const mega = 1 << 20
	return []templates.Field{
		{Name: "Runs", Value: templates.Count(s.Runs)},
		{Name: "Database", Value: fmt.Sprintf("%.1f MB", float64(s.Bytes)/mega)},
	}
}
