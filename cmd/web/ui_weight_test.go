package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// mostWeight is what a run's page may weigh, compressed, with all that it loads
// and without the graph.
const mostWeight = 80_000

// got is a body as it comes over the wire, and as it is.
func got(t *testing.T, url string) (wire int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip") // so that the client leaves it compressed
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return len(raw), raw
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	body, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return len(raw), body
}

// apiOf is the API's address of the run of a page.
func apiOf(page string) string { return strings.Replace(page, "/runs/", "/api/v1/runs/", 1) }

// The page of a run that has ended, with its styles, scripts and icons.
func TestAPageWeighsLittle(t *testing.T) {
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	page := started(t, app, `{"question":"Which?","approval":"auto","plan":`+fan(3)+`}`)
	got(t, apiOf(page)+"/events") // which ends with the run
	_, html := got(t, page)
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	doc.Find("#graph").Remove()
	rest, err := doc.Html()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, rest); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	total := packed.Len()
	seen := map[string]bool{}
	var load func(text []byte)
	load = func(text []byte) {
		for _, m := range regexp.MustCompile(`(/static/[0-9a-f]+/)([\w./-]+)`).FindAllSubmatch(text, -1) {
			if path := string(m[0]); !seen[path] {
				seen[path] = true
				n, body := got(t, app.URL()+path)
				total += n
				for _, imported := range regexp.MustCompile(`from '\./([\w.]+)'`).FindAllSubmatch(body, -1) {
					load([]byte(string(m[1]) + "js/" + string(imported[1])))
				}
			}
		}
	}
	load([]byte(rest))
	t.Logf("%d bytes compressed, in %d files", total, len(seen)+1)
	if len(seen) < 10 || total > mostWeight {
		t.Errorf("the page weighs %d bytes compressed in %d files, at most %d are allowed", total, len(seen)+1, mostWeight)
	}
}

// A stream is never compressed: whoever compresses holds back.
func TestStreamsAreNotCompressed(t *testing.T) {
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	page := started(t, app, `{"question":"Which?","approval":"auto","plan":`+fan(3)+`}`)
	got(t, apiOf(page)+"/events") // which ends with the run
	for _, url := range []string{page + "/live?after=1", page + "/play?at=1&play=16", apiOf(page) + "/events"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := (&http.Client{Timeout: patience}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %s, %q", url, resp.Status, resp.Header.Get("Content-Encoding"))
		}
	}
}
