package handlers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// A replay is played with pauses of at most longestPause, since a run may have
// waited for a person for days, and with at least shortestPause between two
// pictures.
const (
	longestPause  = 2 * time.Second
	shortestPause = 40 * time.Millisecond
)

// speeds are how many times as fast as it was a run can be played.
func speeds() []int { return []int{1, 4, 16} }

// log reads all events of a run up to one.
func (s *server) log(ctx context.Context, id string, upTo int64) ([]plan.Event, error) {
	var all []plan.Event
	for {
		page, err := s.Store.Events(ctx, id, int64(len(all)), eventPage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if n := int64(len(all)); n >= upTo || len(page) < eventPage {
			return all[:min(n, upTo)], nil
		}
	}
}

// toMoment turns the view of an ended run into that of the moment after the event
// that its look names: the same state that was shown then, since a state is a
// fold over the events.
func (s *server) toMoment(ctx context.Context, v view) (view, error) {
	last := v.run.Seq
	if v.look.at == 0 || v.look.at > last {
		v.look.at = last
	}
	events, err := s.log(ctx, v.run.ID, v.look.at)
	if err != nil {
		return v, err
	}
	r, err := plan.Fold(v.run.ID, events)
	if err != nil {
		return v, err
	}
	r = v.shared.shows(r)
	return v.momentOf(r, events[len(events)-1], last), nil
}

// momentOf is the view of a state after an event, of a run that has last events.
func (v view) momentOf(r *plan.Run, e plan.Event, last int64) view {
	v.run, v.now, v.look.at = r, e.At, e.Seq
	v.past, v.moment, v.last, v.estimate = true, e, last, nil
	return v
}

// replayOf is the scrubber.
func (v view) replayOf() templates.ReplayProps {
	if !v.past {
		return templates.ReplayProps{OOB: v.oob}
	}
	p := templates.ReplayProps{
		RunURL: v.url(), At: v.look.at, Last: v.last, Took: v.now.Sub(v.run.CreatedAt), Type: string(v.moment.Type()),
		Steps: few(touched([]plan.Event{v.moment})), When: v.now, Playing: v.look.play, OOB: v.oob,
	}
	l := v.look
	l.at, l.play = 0, 0
	for name, values := range l.values() {
		p.Kept = append(p.Kept, templates.Field{Name: name, Value: values[0]})
	}
	slices.SortFunc(p.Kept, func(a, b templates.Field) int { return cmp.Compare(a.Name, b.Name) })
	if v.step != "" {
		p.Kept = append(p.Kept, templates.Field{Name: "step", Value: v.step})
	}
	l.at = v.look.at
	p.PauseURL = l.address(v.url(), v.step)
	if l.at >= v.last {
		l.at = 1 // from the start
	}
	for _, n := range speeds() {
		l.play = n
		p.Plays = append(p.Plays, templates.PlayProps{Speed: n, URL: l.address(v.url(), v.step)})
	}
	return p
}

// moment is what a page of another moment of the run has to change.
func (s *server) moment(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	if !v.past {
		return plan.NewError(plan.CodeUnexpected, "This run has not ended, so it cannot be replayed yet.", nil)
	}
	v.oob, v.look.play = true, 0
	parts, err := s.picture(c.Request().Context(), v)
	if err != nil {
		return err
	}
	parts = append(parts, templates.ReplayFacts(v.replayOf()), templates.Stream(v.stream()))
	text, err := rendered(c.Request().Context(), parts)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Hx-Replace-Url", v.look.address(v.url(), v.step))
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.HTML(http.StatusOK, text)
}

// picture is what a moment shows besides the scrubber.
func (s *server) picture(ctx context.Context, v view) ([]templ.Component, error) {
	panel, err := s.panelOf(ctx, v)
	if err != nil {
		return nil, err
	}
	panel.OOB = true
	return []templ.Component{
		templates.RunHead(v.head()), templates.Graph(s.graphOf(ctx, v)), templates.Answer(s.answerOf(v)), templates.Panel(panel), templates.Waves(v.waves()),
	}, nil
}

// play streams the moments of an ended run after the one that is named, at its
// own pace or faster.
func (s *server) play(c echo.Context) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	if !v.past || !slices.Contains(speeds(), v.look.play) {
		return plan.NewError(plan.CodeUnexpected, "Only a run that has ended is played, at 1, 4 or 16 times its speed.", nil)
	}
	free, _ := s.slots.take(c.Request())
	defer free()
	ctx := c.Request().Context()
	events, err := s.log(ctx, v.run.ID, v.last)
	if err != nil {
		return err
	}
	st, err := s.openStream(c)
	if err != nil {
		return err
	}
	defer s.Metrics.StreamOpened()()
	v.oob = true
	r, err := plan.Fold(v.run.ID, events[:v.look.at])
	if err != nil {
		return err
	}
	p := player{server: s, st: st, run: r, view: v, pace: time.Duration(v.look.play)}
	if err := p.play(ctx, events[v.look.at:]); err != nil && !errors.Is(err, errGone) && ctx.Err() == nil {
		s.Logger.WarnContext(ctx, "replay broke off", "run", v.run.ID, "error", err)
	}
	return nil
}

// errGone ends a replay whose viewer may see it no more.
var errGone = errors.New("the link was closed")

// player shows the events of a run one after the other.
type player struct {
	*server
	st   *stream
	run  *plan.Run // as it was, of which the view may show less
	view view
	pace time.Duration // how many times as fast
}

func (p *player) play(ctx context.Context, events []plan.Event) error {
	due := time.Duration(0)
	for i, e := range events {
		due += min(e.At.Sub(p.view.now), longestPause) / p.pace
		if err := p.run.Apply(e); err != nil {
			return err
		}
		p.view = p.view.momentOf(p.view.shared.shows(p.run), e, p.view.last)
		if last := i == len(events)-1; due < shortestPause && !last {
			continue // it is shown with the next
		}
		if !sleep(ctx, p.Quit, due) {
			return ctx.Err()
		}
		due = 0
		if err := p.show(ctx, i == len(events)-1); err != nil {
			return err
		}
	}
	p.st.send("done", "", "{}")
	return p.st.flush()
}

// show sends the picture of a moment. With the last one the stream is taken off
// the page.
func (p *player) show(ctx context.Context, last bool) error {
	if last {
		p.view.look.play = 0
	}
	if open, err := p.stillOpen(ctx, p.view.shared); err != nil || !open {
		return errors.Join(err, sendGone(ctx, p.st, false), p.st.flush(), errGone)
	}
	parts, err := p.picture(ctx, p.view)
	if err != nil {
		return err
	}
	parts = append(parts, templates.Replay(p.view.replayOf()))
	if last {
		parts = append(parts, templates.Stream(p.view.stream()))
	}
	text, err := rendered(ctx, parts)
	if err != nil {
		return err
	}
	p.st.send("patch", "", text)
	return p.st.flush()
}

// sleep waits, and says whether to go on after it.
func sleep(ctx context.Context, quit <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-quit:
	}
	return false
}
