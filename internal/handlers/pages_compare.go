package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// mostCompared is how many runs are held against each other at most.
const mostCompared = 4

// compare shows two to four runs side by side. The first is what the others are
// held against.
func (s *server) compare(c echo.Context) error {
	views, err := s.comparedRuns(c)
	if err != nil {
		return err
	}
	p := templates.ComparePageProps{Page: s.pageProps(c, "Compare runs", "history"), Figures: figuresOf(views), Verdict: verdictOf(views), Steps: aligned(views)}
	p.Page.Wide, p.Page.Styles = true, []string{"css/versions.css", "css/compare.css"}
	longest := time.Duration(0)
	for _, v := range views {
		longest = max(longest, v.ran())
	}
	same := true
	for _, v := range views {
		p.Runs = append(p.Runs, s.comparedRun(v, views[0], longest))
		same = same && v.run.Question == views[0].run.Question
	}
	if same {
		p.AgainURL = "/?" + url.Values{"q": {views[0].run.Question}}.Encode()
	}
	return show(c, http.StatusOK, templates.Compare(p))
}

// comparedRuns reads the runs that a request names, as runs=a,b or runs=a&runs=b.
func (s *server) comparedRuns(c echo.Context) ([]view, error) {
	var ids []string
	for _, list := range c.QueryParams()["runs"] {
		for id := range strings.SplitSeq(list, ",") {
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) < 2 || len(ids) > mostCompared {
		return nil, badForm("runs", fmt.Sprintf("Choose two to %d different runs to compare; %s chosen.", mostCompared, templates.Counted(len(ids), "is", "are")))
	}
	var views []view
	for _, id := range ids {
		r, err := s.Runs.Get(c.Request().Context(), id)
		if err != nil {
			return nil, err
		}
		views = append(views, view{run: r, now: s.Clock()})
	}
	return views, nil
}

// ran is how long a run took from its question to its end, or has taken so far.
func (v view) ran() time.Duration {
	if v.run.FinishedAt.IsZero() {
		return v.now.Sub(v.run.CreatedAt)
	}
	return v.run.FinishedAt.Sub(v.run.CreatedAt)
}

func (s *server) comparedRun(v, first view, longest time.Duration) templates.ComparedRun {
	r := v.run
	out := templates.ComparedRun{
		Question: r.Question, URL: v.url(), Status: r.Status, Facts: append([]string{string(r.Options.Strategy), string(r.Options.Schedule)}, models(r.Options)...),
		Took: v.ran(), Missing: "There is no answer: " + strings.ToLower(v.words()) + ".",
	}
	if r.Answer != nil {
		text, was := s.markdown.Text(r.Answer.Result), ""
		if a := first.run.Answer; a != nil {
			was = s.markdown.Text(a.Result)
		}
		if r == first.run || was == "" {
			was = text
		}
		out.Answer, out.Subject = plan.Words(was, text), r.Answer.Subject
		if r.Answer.Value != nil {
			out.Value = number(*r.Answer.Value)
		}
	}
	if version, ok := r.Version(); ok {
		out.Picture = "/api/v1" + v.url() + "/export?format=svg"
		if base, ok := first.run.Version(); ok && r != first.run {
			d := compared{was: base, now: version}
			changes := plan.Diff(base.Plan, version.Plan)
			out.Changes = counts(changes)
			for _, ch := range changes {
				if ch.Change != plan.ChangeKept {
					out.Lines = append(out.Lines, templates.StepDifference{ID: ch.Step, Change: string(ch.Change), Lines: d.stepLines(ch)})
				}
			}
		}
	}
	for _, st := range r.Steps {
		if st.StartedAt.IsZero() {
			continue
		}
		took := v.until(st).Sub(st.StartedAt)
		out.Bars = append(out.Bars, templates.BarProps{
			Step: templates.StepLink{ID: st.ID, URL: v.link(st.ID).URL}, Status: st.Status, Kept: st.Kept, Took: took,
			Offset: thousandths(st.StartedAt.Sub(r.CreatedAt), longest), Length: thousandths(took, longest),
		})
	}
	return out
}

// figure is something that less is better of.
type figure struct {
	name string
	of   func(view) (float64, string)
}

func figures() []figure {
	count := func(n int) (float64, string) { return float64(n), templates.Count(n) }
	return []figure{
		{"Time, question to end", func(v view) (float64, string) { return v.ran().Seconds(), templates.Duration(v.ran()) }},
		{"Model calls", func(v view) (float64, string) { return count(v.run.Usage.Requests) }},
		{"Tokens", func(v view) (float64, string) { return count(v.run.Usage.TotalTokens) }},
		{"Cost", func(v view) (float64, string) {
			if c := v.run.Usage.CostUSD; c != nil {
				return c.Dollars(), templates.Money(c)
			}
			return -1, templates.Money(nil)
		}},
		{"Corrections of the plan", func(v view) (float64, string) { return count(v.run.Corrections()) }},
		{"Waves", func(v view) (float64, string) { return count(len(v.run.Waves)) }},
		{"Steps that failed", func(v view) (float64, string) { return count(len(v.run.Failed())) }},
		{"Steps that were skipped", func(v view) (float64, string) { return count(len(v.run.WithStatus(plan.StepStatusSkipped))) }},
	}
}

func figuresOf(views []view) []templates.FigureRow {
	var rows []templates.FigureRow
	for _, f := range figures() {
		row := templates.FigureRow{Name: f.name, Best: make([]bool, len(views))}
		values := make([]float64, len(views))
		for i, v := range views {
			var text string
			values[i], text = f.of(v)
			row.Values = append(row.Values, text)
		}
		if least := slices.Min(values); least >= 0 && least < slices.Max(values) {
			for i := range values {
				row.Best[i] = values[i] == least
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// verdictOf says in one line for each other run how it did against the first.
func verdictOf(views []view) []string {
	var out []string
	for i, v := range views[1:] {
		a, b := views[0], v
		out = append(out, fmt.Sprintf("Against the first run, the %s took %s the time, %s the model calls and %s the tokens; it %s, the first %s.",
			templates.Ordinal(i+2), times(b.ran().Seconds(), a.ran().Seconds()), times(float64(b.run.Usage.Requests), float64(a.run.Usage.Requests)),
			times(float64(b.run.Usage.TotalTokens), float64(a.run.Usage.TotalTokens)), ended(b.run), ended(a.run)))
	}
	return out
}

func times(of, than float64) string {
	if than == 0 {
		return "an unknown multiple of"
	}
	return strconv.FormatFloat(of/than, 'f', 2, 64) + " times"
}

func ended(r *plan.Run) string {
	if !r.Status.Ended() {
		return "goes on"
	}
	return map[plan.RunStatus]string{
		plan.RunStatusSucceeded: "succeeded", plan.RunStatusPartial: "was answered in part", plan.RunStatusFailed: "failed", plan.RunStatusCancelled: "was cancelled",
	}[r.Status]
}

// aligned are the steps of all runs by their ids, in the order of the first that
// has each.
func aligned(views []view) []templates.AlignedStep {
	var rows []templates.AlignedStep
	at := map[string]int{}
	for i, v := range views {
		for _, st := range v.run.Steps {
			n, there := at[st.ID]
			if !there {
				n = len(rows)
				at[st.ID] = n
				rows = append(rows, templates.AlignedStep{ID: st.ID, Cells: make([]templates.StepCell, len(views))})
			}
			cell := templates.StepCell{There: true, Link: v.link(st.ID), Status: st.Status, Kept: st.Kept, Tokens: st.Usage.TotalTokens}
			if !st.StartedAt.IsZero() {
				cell.Took = v.until(st).Sub(st.StartedAt)
			}
			rows[n].Cells[i] = cell
		}
	}
	return rows
}
