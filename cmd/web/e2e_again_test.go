package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// densest is a plan whose second step must name a city.
const densest = `{"steps":[{"id":"s1","instruction":"one","depends_on":[]},
	{"id":"s2","instruction":"two","depends_on":[],"contract":{"required":["city"]}},
	{"id":"s3","instruction":"join","depends_on":["s1","s2"]}]}`

// says waits until an element's text holds some words.
func says(t testing.TB, ctx context.Context, selector, words string) {
	t.Helper()
	await(t, ctx, fmt.Sprintf(`document.querySelector(%q).innerText.includes(%q)`, selector, words))
}

func TestOnceMoreInABrowser(t *testing.T) { // BEHAVIOUR 5.8, 5.9, 8.3
	var mended atomic.Bool
	models := newChat(t, func(_ context.Context, id string) string {
		if id == "s2" && !mended.Load() {
			return `{"result":"somewhere"}`
		}
		return `{"result":"done","city":"Quillhaven"}`
	})
	app := serve(t, func(c *config) { c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m" })
	api := &program{url: app.URL()}
	ask := func(budget string) string {
		run := api.call(t, http.MethodPost, "/api/v1/runs", `{"question":"Which?","approval":"auto","budget":`+budget+`,"plan":`+densest+`}`)
		return app.URL() + "/runs/" + fmt.Sprint(run["id"])
	}
	ctx := browser(t, 1280, 900)

	// A step that broke its contract is tried again, and nothing else is.
	first := ask(`{}`)
	do(t, ctx, chromedp.Navigate(first))
	says(t, ctx, "#run-head", "Partly answered")
	mended.Store(true)
	click(t, ctx, "#node-s2")
	says(t, ctx, "#panel", "With it s3 runs again; every other result is kept.")
	click(t, ctx, `#panel form[action$="/retry"] button`)
	says(t, ctx, "#run-head", "Succeeded")
	says(t, ctx, "#panel", "Attempts before")
	if at := eval[string](t, ctx, "location.pathname + location.search"); !strings.HasSuffix(first+"?step=s2", at) {
		t.Errorf("the address is %s", at)
	}
	if n := models.count("s1"); n != 1 {
		t.Errorf("s1 was carried out %d times", n)
	}

	// Run again from there, in a run of its own that keeps the rest.
	click(t, ctx, `#panel form[action$="/fork"] button`)
	await(t, ctx, fmt.Sprintf(`location.href !== %q && location.search === "" && %s`, first, pageReady))
	says(t, ctx, "#run-head", "Succeeded")
	says(t, ctx, "#run-head", "run again from an earlier run")
	says(t, ctx, "#node-s1", "kept")
	if n := models.count("s1"); n != 1 {
		t.Errorf("s1 was carried out %d times, also for the new run", n)
	}
	click(t, ctx, `#run-head .facts a`)
	await(t, ctx, fmt.Sprintf(`location.href === %q`, first))

	// A budget that is used up: one that leaves no room is refused at its field,
	// one that does lets the run go on.
	do(t, ctx, chromedp.Navigate(ask(`{"requests":2}`)))
	says(t, ctx, "#run-notice", "The budget is used up")
	says(t, ctx, "#run-notice", "Answer from what there is")
	budget := func(calls string) {
		await(t, ctx, pageReady)
		do(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#f-requests").value = ""`),
			chromedp.SendKeys(chromedp.CSS("#f-requests"), calls))
		click(t, ctx, `form[action$="/continue"] button`)
	}
	budget("2")
	says(t, ctx, "#f-requests-problem", "2 are used already")
	budget("9")
	says(t, ctx, "#run-head", "Succeeded")
	says(t, ctx, "#run-head", "4 of 9")
}
