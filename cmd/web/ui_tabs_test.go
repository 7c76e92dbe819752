package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// held is a program whose executors answer when they are let go.
type held struct {
	*app
	t    *testing.T
	goOn chan struct{}
	once sync.Once
}

func newHeld(t *testing.T) *held {
	h := &held{t: t, goOn: make(chan struct{})}
	models := newChat(t, func(ctx context.Context, id string) string {
		select {
		case <-h.goOn:
		case <-ctx.Done():
		}
		return `{"result":"` + id + ` is done","city":"Quillhaven"}`
	})
	h.app = serve(t, func(c *config) { c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m" })
	t.Cleanup(h.letGo)
	return h
}

// letGo lets every executor answer, now and from now on.
func (h *held) letGo() { h.once.Do(func() { close(h.goOn) }) }

// ask makes a run of three steps and returns its id and the address of its page.
func (h *held) ask(approval string) (id, page string) {
	r := h.call(h.t, http.MethodPost, "/api/v1/runs", `{"question":"Which?","approval":"`+approval+`","plan":`+densest+`}`)
	id = fmt.Sprint(r["id"])
	return id, h.URL() + "/runs/" + id
}

// another opens a further tab of a browser.
func another(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	tab, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	return tab
}

// events counts the events of a type in a run's log.
func (h *held) events(id, event string) int {
	h.t.Helper()
	all, err := h.store.Events(h.t.Context(), id, 0, 10_000)
	if err != nil {
		h.t.Fatal(err)
	}
	n := 0
	for _, e := range all {
		if string(e.Type()) == event {
			n++
		}
	}
	return n
}

// A double click is one wish, on asking and on approving, also in two tabs.
func TestADoubleClickDoesNothingTwice(t *testing.T) { // BEHAVIOUR 3.3, 11; case 111
	h := newHeld(t)
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(h.URL()), chromedp.SendKeys(chromedp.CSS("#question"), "Which is it?"))
	await(t, ctx, pageReady)
	eval[bool](t, ctx, `(b => (b.click(), b.click(), true))(document.querySelector("#ask button.primary"))`)
	await(t, ctx, `location.pathname.startsWith("/runs/")`)
	if list, _ := h.call(t, http.MethodGet, "/api/v1/runs", "")["runs"].([]any); len(list) != 1 {
		t.Errorf("two clicks made %d runs", len(list))
	}

	id, page := h.ask("manual")
	second := another(t, ctx)
	for _, tab := range []context.Context{ctx, second} {
		do(t, tab, chromedp.Navigate(page))
		await(t, tab, pageReady)
	}
	const twice = `(b => (b.click(), b.click(), true))(document.querySelector("#run-actions button.primary"))`
	eval[bool](t, ctx, twice)
	eval[bool](t, second, `(b => b ? (b.click(), true) : true)(document.querySelector("#run-actions button.primary"))`)
	h.letGo()
	for _, tab := range []context.Context{ctx, second} {
		says(t, tab, "#run-head", "Succeeded")
	}
	if n := h.events(id, "plan.approved"); n != 1 {
		t.Errorf("the plan was approved %d times", n)
	}
	if n := h.events(id, "step.started"); n != 3 {
		t.Errorf("%d steps were started", n)
	}
}

// A person who comes back to a page sees the run as it is by then.
func TestTheBackButtonShowsTheEnd(t *testing.T) { // case 139
	h := newHeld(t)
	_, page := h.ask("auto")
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(page))
	says(t, ctx, "#run-head", "Wave 1 of 2")
	click(t, ctx, `nav a[href="/runs"]`)
	await(t, ctx, `location.pathname === "/runs"`)
	h.letGo()
	says(t, ctx, "main", "succeeded")
	eval[bool](t, ctx, `(history.back(), true)`)
	await(t, ctx, `location.pathname.startsWith("/runs/") && document.querySelector("#run-head").innerText.includes("Succeeded")`)
	if n := eval[int](t, ctx, `document.querySelectorAll("#graph .node[data-status=succeeded]").length`); n != 3 {
		t.Errorf("%d nodes have succeeded", n)
	}
}

// Browsers open six connections to a host. Eight tabs of a running run are all
// live.
func TestManyTabsAreAllLive(t *testing.T) { // UX, Everywhere; case 133
	h := newHeld(t)
	_, page := h.ask("auto")
	ctx := browser(t, 1280, 900)
	tabs := []context.Context{ctx}
	for range 7 {
		tabs = append(tabs, another(t, ctx))
	}
	for _, tab := range tabs {
		do(t, tab, chromedp.Navigate(page))
		await(t, tab, pageReady)
		says(t, tab, "#run-head", "Wave 1 of 2")
	}
	h.letGo()
	for i, tab := range tabs {
		says(t, tab, "#run-head", "Succeeded")
		if v := eval[string](t, tab, `document.visibilityState`); v != "visible" && i == 7 {
			t.Logf("tab %d is %s", i, v)
		}
	}
}
