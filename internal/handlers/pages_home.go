package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// latestRuns is how many runs the home page lists.
const latestRuns = 6

// home asks for a question. Its form is filled in from the address, as by the
// examples and by "Ask again".
func (s *server) home(c echo.Context) error {
	form := s.defaultForm()
	q := c.QueryParams()
	if q.Has("q") {
		form.Question = plan.Short(q.Get("q"), plan.MostQuestion)
	}
	for name, into := range optionFields(&form) {
		if q.Has(name) {
			*into = plan.Short(q.Get(name), 100)
			form.Open = true
		}
	}
	return s.showHome(c, http.StatusOK, form)
}

func (s *server) showHome(c echo.Context, status int, form templates.AskProps) error {
	latest, err := s.latestProps(c)
	if err != nil {
		return err
	}
	return show(c, status, templates.Home(templates.HomeProps{
		Page: s.pageProps(c, "Ask", "home"), Ask: form, Examples: s.Examples, Latest: latest, DemoOnly: s.DemoOnly,
	}))
}

// latest is the list of the home page alone, which asks for it again while a
// run goes on.
func (s *server) latest(c echo.Context) error {
	latest, err := s.latestProps(c)
	if err != nil {
		return err
	}
	return show(c, http.StatusOK, templates.Latest(latest))
}

func (s *server) latestProps(c echo.Context) (templates.LatestProps, error) {
	page, err := s.Store.List(c.Request().Context(), db.Filter{Limit: latestRuns})
	if err != nil {
		return templates.LatestProps{}, err
	}
	return templates.LatestProps{
		Runs: s.rowsOf(page.Runs), URL: "/runs/latest", Now: s.Clock(),
		Live: slices.ContainsFunc(page.Runs, func(r db.Summary) bool { return !r.Status.Ended() }),
	}, nil
}

func (s *server) rowsOf(list []db.Summary) []templates.RunRow {
	rows := make([]templates.RunRow, len(list))
	for i, r := range list {
		rows[i] = templates.RunRow{
			ID: r.ID, URL: runURL(r.ID), Question: r.Question, Status: r.Status, Answer: s.markdown.Text(r.Answer), CreatedAt: r.CreatedAt,
			Calls: r.Usage.Requests, Tokens: r.Usage.TotalTokens, Corrections: r.Corrections, Recorded: r.Recorded,
		}
		if r.Usage.Requests > 0 {
			rows[i].Cost = templates.Money(r.Usage.CostUSD)
		}
		if r.ErrorCode != "" {
			rows[i].Answer = failureTitle(r.ErrorCode)
		}
		if !r.FinishedAt.IsZero() {
			rows[i].Took = r.FinishedAt.Sub(r.CreatedAt)
		}
		if len(r.Models) > 0 {
			rows[i].Model = r.Models[0]
		}
	}
	return rows
}

// defaultForm is the form with what is in force when nothing is chosen.
func (s *server) defaultForm() templates.AskProps {
	o := s.Runs.Defaults()
	form := templates.AskProps{
		Nonce: s.NewID(), Strategy: string(o.Strategy), Replan: o.Replan.When, MaxReplans: strconv.Itoa(o.Replan.Max), ReplanApproval: o.Replan.Approval,
		Approval: string(o.Approval), Schedule: string(o.Schedule),
		MaxSteps: strconv.Itoa(o.MaxSteps), MaxParallel: strconv.Itoa(o.MaxParallel),
		Requests: strconv.Itoa(*o.Budget.Requests), Tokens: strconv.Itoa(*o.Budget.Tokens),
		Model: s.Models.Default(plan.RolePlanner), Models: s.Models.Names(),
	}
	if limit := o.Budget.CostUSD; limit != nil {
		form.Cost = strconv.FormatFloat(limit.Dollars(), 'f', -1, 64)
	}
	if !slices.Contains(form.Models, form.Model) {
		form.Models = append([]string{form.Model}, form.Models...)
	}
	return form
}

// optionFields are the form's options by the names of their fields.
func optionFields(f *templates.AskProps) map[string]*string {
	return map[string]*string{
		"strategy": &f.Strategy, "replan": &f.Replan, "max_replans": &f.MaxReplans, "replan_approval": &f.ReplanApproval,
		"approval": &f.Approval, "schedule": &f.Schedule, "max_steps": &f.MaxSteps, "max_parallel": &f.MaxParallel,
		"requests": &f.Requests, "tokens": &f.Tokens, "cost": &f.Cost, "model": &f.Model,
	}
}

// ask makes a run from the form, or shows the form again with what is wrong.
func (s *server) ask(c echo.Context) error {
	values, err := c.FormParams()
	if err != nil {
		return badForm("question", "The form cannot be read. Go back and send it again.")
	}
	form := s.defaultForm()
	form.Question = values.Get("question")
	for name, into := range optionFields(&form) {
		if values.Has(name) {
			*into = strings.TrimSpace(values.Get(name))
		}
	}
	ask, problems := askOf(form, by(c))
	if len(problems) == 0 {
		run, err := s.Runs.Ask(c.Request().Context(), ask)
		if err == nil {
			return c.Redirect(http.StatusSeeOther, runURL(run.ID))
		}
		if plan.CodeOf(err) != plan.CodeInvalid {
			return err
		}
		problems = fieldProblems(plan.AsError(err))
	}
	form.Problems = problems
	form.Open = slices.ContainsFunc(problems, func(p templates.FieldProblem) bool { return p.Field != "question" })
	return s.showHome(c, http.StatusUnprocessableEntity, form)
}

// askOf reads the form's texts as numbers.
func askOf(f templates.AskProps, by string) (runs.Ask, []templates.FieldProblem) {
	var problems []templates.FieldProblem
	whole := func(field, text string) *int {
		if text == "" {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			problems = append(problems, templates.FieldProblem{Field: field, Message: "Write a whole number."})
			return nil
		}
		return &n
	}
	or0 := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	o := plan.DefaultOptions()
	o.Strategy = plan.Strategy(f.Strategy)
	o.Replan = plan.ReplanPolicy{When: f.Replan, Max: or0(whole("max_replans", f.MaxReplans)), Approval: f.ReplanApproval}
	o.Approval, o.Schedule = plan.Approval(f.Approval), plan.Schedule(f.Schedule)
	o.MaxSteps, o.MaxParallel = or0(whole("max_steps", f.MaxSteps)), or0(whole("max_parallel", f.MaxParallel))
	o.Budget = plan.Budget{Requests: whole("requests", f.Requests), Tokens: whole("tokens", f.Tokens)}
	if f.Cost != "" {
		var usd plan.USD
		if err := usd.UnmarshalJSON([]byte(f.Cost)); err != nil {
			problems = append(problems, templates.FieldProblem{Field: "cost", Message: "Write an amount in dollars, as 0.50."})
		}
		o.Budget.CostUSD = &usd
	}
	if f.Model != "" {
		o.Models = map[plan.Role]string{}
		for _, role := range plan.Roles() {
			o.Models[role] = f.Model
		}
	}
	return runs.Ask{Question: f.Question, Options: o, By: by}, problems
}

// fieldProblems puts what was wrong with a request beside the form's fields.
func fieldProblems(e *plan.Error) []templates.FieldProblem {
	var out []templates.FieldProblem
	for _, v := range e.Violations {
		field := strings.TrimPrefix(v.Field, "budget.")
		switch field {
		case "cost_usd":
			field = "cost"
		case "replan.when":
			field = "replan"
		case "replan.max":
			field = "max_replans"
		case "replan.approval":
			field = "replan_approval"
		}
		if strings.HasPrefix(field, "models") {
			field = "model"
		}
		p := templates.FieldProblem{Field: field, Message: strings.ReplaceAll(v.Message, "null for no limit", "nothing for no limit")}
		if !slices.ContainsFunc(out, func(have templates.FieldProblem) bool { return have.Field == p.Field }) {
			out = append(out, p)
		}
	}
	return out
}

// history lists runs, searched and filtered by the address.
func (s *server) history(c echo.Context) error {
	q := c.QueryParams()
	f := db.Filter{Query: plan.Short(q.Get("q"), 1000), Cursor: q.Get("cursor")}
	for _, st := range plan.RunStatuses() {
		if slices.Contains(q["status"], string(st)) {
			f.Statuses = append(f.Statuses, st)
		}
	}
	page, err := s.Store.List(c.Request().Context(), f)
	if err != nil {
		return err
	}
	p := templates.HistoryProps{
		Page: s.pageProps(c, "History", "history"), Query: q.Get("q"), Runs: s.rowsOf(page.Runs),
		Filters: statusChips(q), Filtered: f.Query != "" || len(f.Statuses) > 0,
	}
	for i := range p.Runs {
		p.Runs[i].Pick = true
	}
	for _, st := range f.Statuses {
		p.Hidden = append(p.Hidden, templates.Field{Name: "status", Value: string(st)})
	}
	if page.Next != "" {
		p.Next = historyURL(q, "cursor", page.Next)
	}
	return show(c, http.StatusOK, templates.History(p))
}

// statusChips are one switch for each status.
func statusChips(q url.Values) []templates.FilterChip {
	var chips []templates.FilterChip
	for _, st := range plan.RunStatuses() {
		on := slices.Contains(q["status"], string(st))
		next := url.Values{"q": q["q"]}
		for _, other := range q["status"] {
			if other != string(st) {
				next.Add("status", other)
			}
		}
		if !on {
			next.Add("status", string(st))
		}
		chips = append(chips, templates.FilterChip{Label: st.Words(), URL: listURL(next), On: on})
	}
	return chips
}

// historyURL is the list's address with one parameter set.
func historyURL(q url.Values, name, value string) string {
	next := url.Values{"q": q["q"], "status": q["status"]}
	next.Set(name, value)
	return listURL(next)
}

func listURL(q url.Values) string {
	if q.Get("q") == "" {
		q.Del("q")
	}
	if len(q) == 0 {
		return "/runs"
	}
	return "/runs?" + q.Encode()
}

func runURL(id string) string { return "/runs/" + url.PathEscape(id) }
