package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// mesh is a run of steps in waves of 100, each step needing three of the wave
// before.
func mesh(steps int) string {
	var all []string
	const wide = 100
	for n := range steps {
		var deps []string
		for k := range min(3, n/wide*3) {
			deps = append(deps, fmt.Sprintf(`"s%d"`, (n/wide-1)*wide+(n*7+k*31)%wide+1))
		}
		all = append(all, fmt.Sprintf(`{"id":"s%d","instruction":"How many people live in Quillhaven, number %d?","depends_on":[%s]}`, n+1, n+1, strings.Join(deps, ",")))
	}
	var ends []string
	for n := range steps - 1 {
		ends = append(ends, fmt.Sprintf(`"s%d"`, n+1))
	}
	all[steps-1] = fmt.Sprintf(`{"id":"s%d","instruction":"Put it all together.","depends_on":[%s]}`, steps, strings.Join(ends, ","))
	return fmt.Sprintf(`{"question":"What is it all about?","approval":"manual","max_steps":2000,"budget":{"requests":null,"tokens":null},"plan":{"steps":[%s]}}`, strings.Join(all, ","))
}

// meshed starts a run over the API and returns its page.
func meshed(b *testing.B, app *app, body string) string {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, app.URL()+"/api/v1/runs", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		b.Fatalf("%d %.300s, %v", resp.StatusCode, answer, err)
	}
	if err := resp.Body.Close(); err != nil {
		b.Fatal(err)
	}
	return app.URL() + resp.Header.Get("Location")[len("/api/v1"):]
}

// BenchmarkRunPage loads the page of a large run in a real browser: how long
// until anything is painted, until the graph is there and has its size, how large
// the page is, and how long a step of zoom takes.
func BenchmarkRunPage(b *testing.B) {
	for _, steps := range []int{200, 1000, 2000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			app := serve(b, func(c *config) { c.demoAtOnce = true })
			page, ctx := meshed(b, app, mesh(steps)), browser(b, 1280, 900)
			sums := map[string]float64{}
			for b.Loop() {
				do(b, ctx, chromedp.Navigate(page))
				await(b, ctx, pageReady+fmt.Sprintf(` && performance.getEntriesByName("first-contentful-paint").length === 1 && document.querySelectorAll("#graph .node").length === %d`, steps))
				for name, js := range map[string]string{
					"ms-to-paint": `performance.getEntriesByName("first-contentful-paint")[0].startTime`,
					"ms-to-graph": `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`,
					"KB-html":     `performance.getEntriesByType("navigation")[0].decodedBodySize / 1024`,
				} {
					sums[name] += eval[float64](b, ctx, js)
				}
				sums["ms-a-zoom"] += frame(b, ctx, `document.querySelector("[data-zoom=out]").click()`)
			}
			for name, sum := range sums {
				b.ReportMetric(sum/float64(b.N), name)
			}
		})
	}
}

// frame is how long an action and the next frame take.
func frame(b *testing.B, ctx context.Context, act string) float64 {
	b.Helper()
	eval[bool](b, ctx, `(() => { const t = performance.now(); window.took = null; `+act+`; requestAnimationFrame(() => setTimeout(() => { window.took = performance.now() - t })); return true })()`)
	await(b, ctx, "window.took !== null")
	return eval[float64](b, ctx, "window.took")
}

// latencies notes, for each node that starts to run, how long after the start
// the frame that shows it was painted: a node says when its step started.
const latencies = `(() => {
	window.seen = []
	const known = new Set()
	new MutationObserver((all) => {
		const started = []
		for (const n of all.flatMap((m) => [...m.addedNodes])) {
			const since = n.id && n.querySelector?.(".node-facts [data-since]")?.dataset.since
			if (since && !known.has(n.id)) started.push(since)
			known.add(n.id)
		}
		if (started.length) requestAnimationFrame(() => setTimeout(() => { for (const t of started) window.seen.push(Date.now() - t) }))
	}).observe(document.body, { subtree: true, childList: true })
	return true
})()`

// BenchmarkRunPageLive shows a run of 1,000 steps while it runs: how long after
// a step has started its node shows it.
func BenchmarkRunPageLive(b *testing.B) {
	app, ctx := serve(b), browser(b, 1280, 900)
	var all []float64
	for b.Loop() {
		do(b, ctx, chromedp.Navigate(meshed(b, app, mesh(1000))))
		await(b, ctx, pageReady+` && document.querySelectorAll("#graph .node").length === 1000`)
		do(b, ctx, chromedp.Click(chromedp.CSS("#run-actions form .primary")))
		await(b, ctx, `document.querySelector("#node-s1[data-status=succeeded]")`)
		eval[bool](b, ctx, latencies)
		await(b, ctx, "window.seen.length > 100")
		all = append(all, eval[[]float64](b, ctx, "window.seen")...)
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2], "ms-p50")
	b.ReportMetric(all[len(all)*95/100], "ms-p95")
}

// BenchmarkEdit50 takes a dependency away and draws it again in the editor of 50
// steps: how long after the click the plan is checked, and its picture redrawn.
func BenchmarkEdit50(b *testing.B) {
	app, ctx := serve(b), browser(b, 1280, 900)
	do(b, ctx, chromedp.Navigate(meshed(b, app, mesh(50))+"?edit=1"))
	await(b, ctx, pageReady+` && document.querySelectorAll("#graph .node").length === 50`)
	var all []float64
	for b.Loop() {
		eval[bool](b, ctx, `(() => { window.took = null; const t = performance.now(), n = document.querySelectorAll(".edge").length;
			const o = new MutationObserver(() => { if (document.querySelectorAll(".edge").length === n) return; o.disconnect(); requestAnimationFrame(() => setTimeout(() => { window.took = performance.now() - t })) })
			o.observe(document.body, { subtree: true, childList: true });
			[...document.querySelectorAll("#editor .deps [type=checkbox]")].at(-1).click(); return true })()`)
		await(b, ctx, "window.took !== null")
		all = append(all, eval[float64](b, ctx, "window.took"))
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2], "ms-p50")
	b.ReportMetric(all[len(all)*95/100], "ms-p95")
}
