package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// run is the one page of a run, from asking to reviewing.
func (s *server) run(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	if c.QueryParam("edit") != "" && v.run.Editable() {
		version, _ := v.run.Version()
		return s.showEditor(c, http.StatusOK, v, draft{Base: version.Number, Plan: version.Plan})
	}
	p, err := s.runPage(c, v)
	if err != nil {
		return err
	}
	s.knowBrowser(c)
	return show(c, http.StatusOK, templates.Run(p))
}

// view is what the fragments of a run's page are rendered from: one state of
// the run, and what is selected.
type view struct {
	run  *plan.Run
	step string // the selected step, "" for none
	now  time.Time
	oob  bool // fragments replace what is on the page
	look look // what is shown, and how
	// past says that it shows a moment of an ended run: the one after the event
	// moment, of last.
	past   bool
	moment plan.Event
	last   int64
	// watches says that the viewer may not change the run.
	watches bool
	// shared is the link that it is seen by, if it is.
	shared sharedLink
	// estimate is what the plan will take, while it waits for approval.
	estimate *runs.Estimate
	// typed is a larger budget that was refused, to be shown again as it was.
	typed *budgetForm
}

// newView is a state of a run as a page shows it, with a step selected that may
// not be there.
func (s *server) newView(ctx context.Context, r *plan.Run, step string) (view, error) {
	v := view{run: r, step: step, now: s.Clock()}
	if v.step != "" && r.Step(v.step) == nil {
		v.step = ""
	}
	if !r.Approvable() {
		return v, nil
	}
	e, err := s.Runs.Estimate(ctx, r)
	if err != nil {
		return v, err
	}
	v.estimate = &e
	return v, nil
}

// viewOf reads which run and step a request is about.
func (s *server) viewOf(c echo.Context) (view, error) {
	shared := sharedOf(c)
	r, err := s.Runs.Get(c.Request().Context(), shownRun(c))
	if err != nil {
		return view{}, err
	}
	v, err := s.newView(c.Request().Context(), shared.shows(r), c.QueryParam("step"))
	if err != nil {
		return v, err
	}
	v.shared, v.watches = shared, may(personOf(c), toChange, r.By) != nil
	v.look = lookOf(c.Request())
	if v.shows(showReplay) && r.Status.Ended() {
		return s.toMoment(c.Request().Context(), v)
	}
	return v, nil
}

func (s *server) runPage(c echo.Context, v view) (templates.RunPageProps, error) {
	ctx := c.Request().Context()
	panel, err := s.panelOf(ctx, v)
	if err != nil {
		return templates.RunPageProps{}, err
	}
	p := templates.RunPageProps{
		Page: s.pageProps(c, v.run.Question, "history"), Head: v.head(), Notice: s.noticeOf(ctx, v), Approvals: s.approvalsOf(v),
		Stream: v.stream(), Now: v.nowOf(s.Runs.Now(v.run.ID)), Answer: s.answerOf(v), Panel: panel, Views: v.views(), Replay: v.replayOf(), Graph: templates.GraphProps{Away: true},
	}
	if p.Actions, err = s.actionsOf(ctx, v); err != nil {
		return p, err
	}
	if !v.mayTrace() {
		p.Now = templates.NowProps{}
	}
	if v.hasGraph() {
		p.Graph = s.graphOf(ctx, v)
	}
	if v.hasRejections() {
		p.Rejections = v.rejections()
	}
	if v.hasTimeline() {
		p.Waves = v.waves()
	}
	if v.hasTrace() {
		calls, err := s.Store.Trace(ctx, v.run.ID)
		if err != nil {
			return p, err
		}
		p.Trace = v.trace(calls)
	}
	p.Page.Shared = v.shared.props()
	p.Page.Title, p.Page.Icon, p.Page.Wide = v.words()+" – "+plan.Short(v.run.Question, 80), tabIcon(v.run.Status), true
	return p, nil
}

// graph is the graph as a fragment, drawn as the address says, with a stream
// that keeps it so.
func (s *server) graph(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	goesTo(c, v)
	g := s.graphOf(c.Request().Context(), v)
	v.oob = true
	return show(c, http.StatusOK, templates.Together(templates.Graph(g), templates.Stream(v.stream()), templates.Replay(v.replayOf())))
}

// panel answers a click on a step, with the nudge that keeps it live.
func (s *server) panel(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	p, err := s.panelOf(c.Request().Context(), v)
	if err != nil {
		return err
	}
	goesTo(c, v)
	v.oob = true
	stream := v.stream()
	if v.past { // it is held at the moment that was looked at
		return show(c, http.StatusOK, templates.Together(templates.Panel(p), templates.Stream(stream), templates.Replay(v.replayOf())))
	}
	p.Nudge = &stream
	return show(c, http.StatusOK, templates.Panel(p))
}

// goesTo has the browser show the address of what a click asked for. A panel
// that is asked for again by the page itself has no new address.
func goesTo(c echo.Context, v view) {
	if c.Request().Header.Get("Hx-Trigger") != "nudge" {
		c.Response().Header().Set("Hx-Push-Url", v.look.address(v.url(), v.step))
	}
}

// call is the prompt and output of one call of the trace.
func (s *server) call(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	calls, err := s.Store.Trace(c.Request().Context(), v.run.ID)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if call.ID == c.Param("call") && v.mayTrace() {
			return show(c, http.StatusOK, templates.CallBody(v.callBody(call)))
		}
	}
	return plan.NewError(plan.CodeNotFound, "This run has no such call.", nil)
}

// approve starts the version that the form names.
func (s *server) approve(c echo.Context) error {
	number, err := strconv.Atoi(c.FormValue("version"))
	if err != nil {
		return badForm("version", "The form does not say which version is approved. Reload the page.")
	}
	return s.changed(c, func(ctx context.Context, id string) (*plan.Run, error) {
		r, err := s.Runs.Approve(ctx, id, number, by(c))
		if plan.CodeOf(err) == plan.CodeUnexpected {
			// A second click on the same approval has nothing left to do.
			if r, getErr := s.Runs.Get(ctx, id); getErr == nil && r.Approved == number {
				return r, nil
			}
		}
		return r, err
	})
}

// revise sends the plan back to the planner with a comment.
func (s *server) revise(c echo.Context) error {
	return s.changed(c, func(ctx context.Context, id string) (*plan.Run, error) {
		return s.Runs.Revise(ctx, id, c.FormValue("comment"), by(c))
	})
}

// cancel stops the run.
func (s *server) cancel(c echo.Context) error {
	return s.changed(c, func(ctx context.Context, id string) (*plan.Run, error) {
		r, err := s.Runs.Cancel(ctx, id, by(c))
		if plan.CodeOf(err) == plan.CodeUnexpected {
			return s.Runs.Get(ctx, id) // it has ended meanwhile, and the page shows how
		}
		return r, err
	})
}

// changed makes a change and goes to the run's page.
func (s *server) changed(c echo.Context, change func(ctx context.Context, id string) (*plan.Run, error)) error {
	r, err := change(c.Request().Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return toRun(c, r.ID, "")
}

// toRun goes to a run's page, with a step selected where one is named.
func toRun(c echo.Context, id, step string) error {
	to := runURL(id)
	if step != "" {
		to += "?step=" + url.QueryEscape(step)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// inFlightWait is how long a form that is sent twice waits for its first answer.
const inFlightWait = 10 * time.Second

// submittedOnce makes a form that is sent twice, as by a double click, one
// request: the second is answered as the first was.
func (s *server) submittedOnce(next echo.HandlerFunc) echo.HandlerFunc {
	once := s.idempotent(next)
	return func(c echo.Context) error {
		nonce := c.FormValue("nonce")
		if nonce == "" || len(nonce) > mostKey {
			return next(c)
		}
		c.Request().Header.Set(idempotencyKey, url.QueryEscape(nonce))
		changed, stop := s.Store.Watch("")
		defer stop()
		limit := time.NewTimer(inFlightWait)
		defer limit.Stop()
		for {
			err := once(c)
			if !errors.Is(err, db.ErrInFlight) {
				return err
			}
			select {
			case <-changed:
			case <-limit.C:
				return err
			case <-c.Request().Context().Done():
				return err
			}
		}
	}
}

// planByHash is a plan that was saved; by a link, one of the run that it shows.
func (s *server) planByHash(c echo.Context, hash string) (plan.Plan, error) {
	ctx := c.Request().Context()
	if shared := sharedOf(c); shared.is() {
		r, err := s.Runs.Get(ctx, shared.RunID)
		if err != nil {
			return plan.Plan{}, err
		}
		if !slices.ContainsFunc(r.Versions, func(v plan.Version) bool { return v.Hash == hash }) {
			return plan.Plan{}, db.ErrNotFound
		}
	}
	return s.Store.PlanByHash(ctx, hash)
}

// layoutCSS places the nodes of a plan. It is the same for ever, since a plan
// is named by its hash.
func (s *server) layoutCSS(c echo.Context) error {
	p, err := s.planByHash(c, "sha256:"+c.Param("hash"))
	if errors.Is(err, db.ErrNotFound) {
		return plan.NewError(plan.CodeNotFound, "There is no plan of this hash.", err)
	}
	if err != nil {
		return err
	}
	l := lookOf(c.Request())
	g := s.drawAs(c.Request().Context(), p, drawingAs(p, l.dir, l.open, false))
	keepForEver(c)
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(templates.GraphCSS(g)))
}

// keepForEver lets a browser keep an answer, unless it came by a link, which may
// be taken back.
func keepForEver(c echo.Context) {
	if !sharedOf(c).is() {
		c.Response().Header().Set(echo.HeaderCacheControl, "private, max-age=31536000, immutable")
	}
}
