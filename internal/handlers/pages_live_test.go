package handlers

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/web/markdown"
	"planwave/web/templates"
)

// pageServer renders pages of a site's runs at any moment of theirs.
type pageServer struct {
	*server
	site *site
	now  time.Time
}

func newPageServer(t *testing.T, s *site) *pageServer {
	t.Helper()
	p := &pageServer{site: s, now: time.Now()}
	p.server = &server{
		Config:   Config{Runs: s.runs, Store: s.store, Clock: func() time.Time { return p.now }, Tools: pageTools(t), NewID: counter(), Logger: slog.New(slog.DiscardHandler)},
		markdown: markdown.New(),
	}
	return p
}

// at is the page as it is rendered after the given events.
func (p *pageServer) at(t *testing.T, id, step string, events []plan.Event) *goquery.Document {
	t.Helper()
	run, err := plan.Fold(id, events)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/runs/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	props, err := p.runPage(echo.New().NewContext(req, nil), p.view(t, run, step))
	if err != nil {
		t.Fatal(err)
	}
	return document(t, render(t, templates.RunBody(props)))
}

func (p *pageServer) view(t *testing.T, run *plan.Run, step string) view {
	t.Helper()
	v, err := p.newView(t.Context(), run, step)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// patched applies to a page what the stream sends for the events after it, as
// the browser does, panels included.
func (p *pageServer) patched(t *testing.T, page *goquery.Document, id, step string, events []plan.Event, after int) {
	t.Helper()
	run, err := plan.Fold(id, events)
	if err != nil {
		t.Fatal(err)
	}
	v := p.view(t, run, step)
	v.oob = true
	patch, err := p.patch(t.Context(), v, events[after:])
	if err != nil {
		t.Fatal(err)
	}
	swapOOB(t, page, patch)
	mine := "plan"
	if v.step != "" {
		mine = "step-" + v.step
	}
	for _, name := range nudges(run, events[after:]) {
		if name != mine && name != "panel" {
			continue
		}
		v.oob = false
		panel, err := p.panelOf(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		nudge := v.stream()
		nudge.OOB = true
		panel.Nudge = &nudge
		answer := document(t, render(t, templates.Panel(panel)))
		for _, id := range []string{"#panel", "#nudge"} {
			html, err := goquery.OuterHtml(answer.Find(id))
			if err != nil {
				t.Fatal(err)
			}
			page.Find(id).ReplaceWithHtml(oobAttribute.ReplaceAllString(html, ""))
		}
	}
}

func document(t testing.TB, html string) *goquery.Document {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var oobAttribute = regexp.MustCompile(` hx-swap-oob="[^"]*"`)

// swapOOB replaces elements by their ids, as htmx does.
func swapOOB(t *testing.T, page *goquery.Document, patch string) {
	t.Helper()
	document(t, patch).Find("body, template > svg").Children().Not("template").Each(func(_ int, el *goquery.Selection) {
		id, _ := el.Attr("id")
		how, _ := el.Attr("hx-swap-oob")
		target := page.Find("#" + id)
		if id == "" || how == "" || target.Length() > 1 {
			t.Fatalf("a fragment without id or way, or an id on the page twice: id %q, %q, %d on the page", id, how, target.Length())
		}
		html, err := goquery.OuterHtml(el)
		if err != nil {
			t.Fatal(err)
		}
		if how == "innerHTML" {
			inner, err := el.Html()
			if err != nil {
				t.Fatal(err)
			}
			target.SetHtml(inner)
			return
		}
		target.ReplaceWithHtml(oobAttribute.ReplaceAllString(html, ""))
	})
}

// seen is what a page shows, without what says where its stream goes on, the
// forms' nonces, what was announced to screen readers and which edges just moved.
func seen(t *testing.T, page *goquery.Document) string {
	t.Helper()
	page.Find("#live-status").SetText("")
	page.Find("input[name=nonce]").SetAttr("value", "N")
	page.Find("#stream").Each(func(_ int, el *goquery.Selection) {
		if u, ok := el.Attr("sse-connect"); ok {
			el.SetAttr("sse-connect", regexp.MustCompile(`after=\d+(&step=\w+)?`).ReplaceAllString(u, "after=N"))
		}
	})
	html, err := page.Find("body").Html()
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(html, " edge-used", ""), "><", ">\n<")
}

// TestAPageIsTheSameHoweverItGotThere opens the page after every event of a
// run, lets the stream bring it forward by any number of events, and compares
// it with the page rendered fresh.
func TestAPageIsTheSameHoweverItGotThere(t *testing.T) { // UX Run: safe to reload; ui: lost update, stream reconnect
	s := newSite(t, &scriptedModel{executor: failing("s2"), planner: looseThen(diamond())})
	r := s.ask(`{"question":"What is it?"}`)
	s.until(r, plan.RunStatusAwaitingApproval)
	s.want(http.StatusAccepted, "POST", "/api/v1/runs/"+r+"/approve", `{"version":1}`)
	s.until(r, plan.RunStatusPartial)
	sameHowever(t, s, r, "", "s1", "s3")
}

// sameHowever compares pages of a run as the test above says, with each of some
// steps selected.
func sameHowever(t *testing.T, s *site, r string, steps ...string) {
	t.Helper()
	events, p := s.events(r), newPageServer(t, s)
	for _, step := range steps {
		for k := 1; k < len(events); k++ {
			if run, err := plan.Fold(r, events[:k]); err != nil || run.Status.Ended() || step != "" && run.Step(step) == nil {
				continue // there is no stream any more, or no such step to select yet
			}
			for _, m := range []int{k + 1, len(events)} {
				page := p.at(t, r, step, events[:k])
				p.patched(t, page, r, step, events[:m], k)
				if got, want := seen(t, page), seen(t, p.at(t, r, step, events[:m])); got != want {
					t.Fatalf("step %q: page of event %d (%s), brought to %d (%s), differs from a fresh one:\n%s",
						step, k, events[k-1].Type(), m, events[m-1].Type(), firstDifference(got, want))
				}
			}
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(nothing)"
		}
		if line(a) != line(b) {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, line(a), line(b))
		}
	}
	return "(none)"
}

func TestThePageStreamResumesWhereItBroke(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalAuto)
	run := s.until(r, plan.RunStatusSucceeded)
	for after := range run.Seq + 1 {
		got := s.do(http.MethodGet, "/runs/"+r+"/live?after="+strconv.FormatInt(after, 10), "")
		text := got.body
		if strings.Count(text, "event: done") != 1 || !strings.HasSuffix(strings.TrimSpace(text), "data: {}") {
			t.Fatalf("after %d the stream does not end with done:\n%s", after, text)
		}
		if patched := strings.Contains(text, "event: patch"); patched != (after < run.Seq) {
			t.Fatalf("after %d of %d: patched is %v", after, run.Seq, patched)
		}
	}
}

// looseThen is a planner whose first plan forgets its last dependencies.
func looseThen(p plan.Plan) func(context.Context, model.Request) (string, error) {
	loose := p.Clone()
	loose.Steps[len(loose.Steps)-1].DependsOn = nil
	return func(_ context.Context, req model.Request) (string, error) {
		if len(req.Messages) == 1 {
			return planText(loose), nil
		}
		return planText(p), nil
	}
}
