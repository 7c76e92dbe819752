package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// thousand is a run of 1,000 steps in ten waves, each step needing up to three
// of the wave before.
func thousand(question string) string {
	var steps, ends []string
	const waves, wide = 10, 100
	for n := range waves * wide {
		var deps []string
		for k := range min(3, n/wide*3) {
			deps = append(deps, fmt.Sprintf(`"s%d"`, (n/wide-1)*wide+(n*7+k*31)%wide+1))
		}
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","instruction":"Look up what number %d of the list is about.","depends_on":[%s]}`, n+1, n+1, strings.Join(deps, ",")))
		ends = append(ends, fmt.Sprintf(`"s%d"`, n+1))
	}
	steps[len(steps)-1] = fmt.Sprintf(`{"id":"s%d","instruction":"Put it all together.","depends_on":[%s]}`, len(steps), strings.Join(ends[:len(ends)-1], ","))
	return fmt.Sprintf(`{"question":%q,"approval":"manual","max_steps":2000,"plan":{"steps":[%s]}}`, question, strings.Join(steps, ","))
}

// BenchmarkRunPage1000 loads the page of a run of 1,000 steps in a real browser:
// how long until anything is painted, and how large the page is.
func BenchmarkRunPage1000(b *testing.B) {
	app := serve(b, func(c *config) { c.demoAtOnce = true })
	ctx := b.Context()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, app.URL()+"/api/v1/runs", strings.NewReader(thousand("What is it all about?")))
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
	ctx = browser(b, 1280, 900)
	var painted, size float64
	for b.Loop() {
		do(b, ctx, chromedp.Navigate(app.URL()+resp.Header.Get("Location")[len("/api/v1"):]))
		await(b, ctx, pageReady+` && performance.getEntriesByName("first-contentful-paint").length === 1 && document.querySelectorAll("#graph .node").length === 1000`)
		painted += eval[float64](b, ctx, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
		size = eval[float64](b, ctx, `performance.getEntriesByType("navigation")[0].decodedBodySize`)
	}
	b.ReportMetric(painted/float64(b.N), "ms-to-paint")
	b.ReportMetric(size/1024, "KB-html")
}
