package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"planwave/internal/plan"
)

// between is a proxy before the app whose streams a test holds back and cuts.
type between struct {
	*httptest.Server
	gate chan struct{} // streams pass once it is closed
	came chan string   // the Last-Event-ID of each stream that is asked for

	mu   sync.Mutex
	cuts []context.CancelFunc
}

func newBetween(t *testing.T, app *app) *between {
	t.Helper()
	to, err := url.Parse(app.URL())
	if err != nil {
		t.Fatal(err)
	}
	b := &between{gate: make(chan struct{}), came: make(chan string, 100)}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/live") && !strings.HasSuffix(r.URL.Path, "/events") {
			proxy.ServeHTTP(w, r)
			return
		}
		b.came <- r.Header.Get("Last-Event-ID")
		select {
		case <-b.gate:
		case <-r.Context().Done():
			return
		}
		ctx, cut := context.WithCancel(r.Context())
		defer cut()
		b.mu.Lock()
		b.cuts = append(b.cuts, cut)
		b.mu.Unlock()
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(func() {
		b.Close()
		transport.CloseIdleConnections()
	})
	return b
}

// page is the address of an app's page behind the proxy.
func (b *between) page(app *app, page string) string {
	return strings.Replace(page, app.URL(), b.URL, 1)
}

// cut breaks every stream off.
func (b *between) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cut := range b.cuts {
		cut()
	}
	b.cuts = nil
}

// chain is a plan of n steps, each of which needs the one before.
func chain(n int, first string) string {
	steps := []string{fmt.Sprintf(`{"id":"s1","instruction":%q,"depends_on":[]}`, first)}
	for i := 2; i <= n; i++ {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","instruction":"How many people live in Quillhaven, number %d?","depends_on":["s%d"]}`, i, i, i-1))
	}
	return `{"steps":[` + strings.Join(steps, ",") + `]}`
}

// countsStreams notes the patches that a page's own stream brings, and how often
// it was opened.
const countsStreams = `window.patches = []; window.opens = 0; const Real = EventSource
	window.EventSource = class extends Real {
		constructor(url, how) {
			super(url, how)
			if (!url.includes("/live")) return
			this.addEventListener("open", () => window.opens++)
			this.addEventListener("patch", (e) => window.patches.push(Number(e.lastEventId)))
		}
	}`

// listens has a page read the whole log of its run as it happens.
func listens(id string) string {
	var types []string
	for _, t := range plan.EventTypes() {
		types = append(types, string(t))
	}
	return fmt.Sprintf(`((types) => {
		window.log = []; window.logOpens = 0; window.logEnds = false
		const es = new EventSource("/api/v1/runs/%s/events")
		es.addEventListener("open", () => window.logOpens++)
		es.addEventListener("done", () => { es.close(); window.logEnds = true })
		for (const type of types) es.addEventListener(type, (e) => window.log.push(e.lastEventId + " " + type))
		return true
	})("%s".split(","))`, id, strings.Join(types, ","))
}

// A stream that breaks off three times goes on where it was: each event comes
// once, none is lost, and the page is at the end what the run is.
func TestAStreamThatBreaksOffLosesNothing(t *testing.T) { // case 107
	goOn := make(chan struct{})
	models := newChat(t, func(ctx context.Context, _ string) string {
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return `{"result":"done"}`
	})
	app := serve(t, func(c *config) { c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m" })
	b := newBetween(t, app)
	close(b.gate)
	page := started(t, app, `{"question":"Which?","approval":"auto","max_steps":8,"plan":`+chain(8, "one")+`}`)
	id := page[strings.LastIndex(page, "/")+1:]
	ctx := browser(t, 1280, 900)
	watchFromTheStart(t, ctx, countsStreams)
	do(t, ctx, chromedp.Navigate(b.page(app, page)))
	await(t, ctx, pageReady+` && document.querySelector("#node-s1[data-status=running]")`)
	eval[bool](t, ctx, listens(id))
	step := 0
	succeeds := func() { // the next step, and the page shows it
		goOn <- struct{}{}
		step++
	}
	shown := func() string { return fmt.Sprintf(`document.querySelector("#node-s%d[data-status=succeeded]")`, step) }
	for n := range 3 {
		await(t, ctx, fmt.Sprintf("window.opens === %d && window.logOpens === %d", n+1, n+1))
		succeeds()
		await(t, ctx, shown())
		b.cut()
		succeeds() // while nobody listens
		await(t, ctx, shown())
	}
	succeeds()
	succeeds()
	says(t, ctx, "#run-head", "Succeeded")
	await(t, ctx, `window.logEnds && document.querySelectorAll("#graph .node[data-status=succeeded]").length === 8 && !document.querySelector("#stream[sse-connect]")`)

	all, err := app.store.Events(t.Context(), id, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range all {
		want = append(want, fmt.Sprintf("%d %s", e.Seq, e.Type()))
	}
	if got := eval[[]string](t, ctx, "window.log"); !slices.Equal(got, want) || len(want) <= 20 {
		t.Errorf("over four connections came\n%q\nthe log is\n%q", got, want)
	}
	patches := eval[[]int64](t, ctx, "window.patches")
	for i, seq := range patches[1:] {
		if seq <= patches[i] {
			t.Errorf("the page was brought up to the events %v: not each once", patches)
		}
	}
	if last := patches[len(patches)-1]; last != all[len(all)-1].Seq {
		t.Errorf("the page was brought up to event %d of %d", last, len(all))
	}
	close(b.came)
	again := 0
	for at := range b.came {
		if at != "" {
			again++
		}
	}
	if again != 6 {
		t.Errorf("%d streams were taken up after an event, want two after each of three cuts", again)
	}
}

// What happens between the rendering of a page and its stream is not lost: the
// whole run ends meanwhile.
func TestAStreamThatComesLateShowsTheEnd(t *testing.T) { // case 109
	h := newHeld(t)
	b := newBetween(t, h.app)
	id, page := h.ask("auto")
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(b.page(h.app, page)))
	says(t, ctx, "#run-head", "Wave 1 of 2")
	<-b.came // the page has asked for its stream, and waits
	h.letGo()
	h.until(t, id, "done")
	if s := eval[string](t, ctx, `document.querySelector("#run-head").innerText`); !strings.Contains(s, "Wave 1 of 2") {
		t.Fatalf("without a stream the page says %q", s)
	}
	close(b.gate)
	says(t, ctx, "#run-head", "Succeeded")
	await(t, ctx, `document.querySelectorAll("#graph .node[data-status=succeeded]").length === 3 && !document.querySelector("#stream[sse-connect], .node-facts [data-since]")`)
}

// A running run that is deleted is stopped first, two who watch it are told, and
// it does not come back, neither in the history nor after a restart.
func TestADeletedRunDoesNotComeBack(t *testing.T) { // case 123
	stopped := make(chan string, 10)
	models := newChat(t, func(ctx context.Context, id string) string {
		<-ctx.Done()
		stopped <- id
		return ""
	})
	file := filepath.Join(t.TempDir(), "p.db")
	first := startProgram(t, file, models.URL)
	at := "/runs/" + fmt.Sprint(first.call(t, http.MethodPost, "/api/v1/runs", `{"question":"Which is deleted?","approval":"auto","plan":`+densest+`}`)["id"])
	ctx := browser(t, 1280, 900)
	list := another(t, ctx)
	do(t, list, chromedp.Navigate(first.url+"/runs"))
	says(t, list, "main", "Which is deleted?")
	watching := []context.Context{ctx, another(t, ctx)}
	for _, tab := range watching {
		do(t, tab, chromedp.Navigate(first.url+at))
		await(t, tab, pageReady+` && document.querySelectorAll("#graph .node[data-status=running]").length === 2`)
	}
	if status := deleted(t, first.url+"/api/v1"+at); status != http.StatusNoContent {
		t.Fatalf("deleting was answered with %d", status)
	}
	if both := []string{<-stopped, <-stopped}; !slices.Contains(both, "s1") || !slices.Contains(both, "s2") {
		t.Errorf("the model calls of %v were stopped", both)
	}
	for _, tab := range watching {
		says(t, tab, "#run-notice", "This run was deleted")
		await(t, tab, `!document.querySelector("#run-actions *") && !document.querySelector("#stream[sse-connect]")`)
	}
	do(t, list, chromedp.Reload())
	says(t, list, "main", "No run yet")
	do(t, ctx, chromedp.Reload())
	says(t, ctx, "main", "no run")
	first.kill()

	second := startProgram(t, file, models.URL)
	do(t, list, chromedp.Navigate(second.url+"/runs"))
	says(t, list, "main", "No run yet")
	do(t, ctx, chromedp.Navigate(second.url+at))
	says(t, ctx, "main", "no run")
	if asked := models.count("s1") + models.count("s2"); asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
}

// deleted deletes what is at an address.
func deleted(t *testing.T, url string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// A step that succeeds on its third try shows all three, when and for how long
// each was, and why there was another: tries that a model's failures made
// necessary, and tries that a person asked for.
func TestEveryTryOfAStepIsShown(t *testing.T) { // case 141
	for status, person := range map[int]bool{http.StatusServiceUnavailable: false, http.StatusBadRequest: true} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var asked atomic.Int32
			good := newChat(t, func(context.Context, string) string { return `{"result":"done"}` })
			models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				if n := asked.Add(1); n <= 2 {
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, `{"error":{"message":"the engine is cold, said %d times"}}`, n)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				good.Config.Handler.ServeHTTP(w, r)
			}))
			t.Cleanup(models.Close)
			app := serve(t, func(c *config) {
				c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m"
				c.Retry.Backoff = 1
			})
			page := started(t, app, `{"question":"Which?","approval":"auto","plan":{"steps":[{"id":"s1","instruction":"one","depends_on":[]}]}}`)
			ctx := browser(t, 1280, 900)
			do(t, ctx, chromedp.Navigate(page+"?step=s1"))
			if person {
				for n := range 2 {
					await(t, ctx, fmt.Sprintf(pageReady+` && document.querySelector("#panel").innerText.includes("said %d times")`, n+1))
					click(t, ctx, `#panel form[action$="/retry"] button`)
				}
			}
			says(t, ctx, "#run-head", "Succeeded")
			await(t, ctx, `document.querySelectorAll("#panel .call").length === 3`)
			tries := eval[[]string](t, ctx, `[...document.querySelectorAll("#panel .call")].map((d) => { d.open = true; return d.innerText })`)
			times := eval[[]int](t, ctx, `[...document.querySelectorAll("#panel .call")].map((d) => d.querySelectorAll("time[data-time=moment]").length)`)
			for i, try := range tries {
				reason := fmt.Sprintf("said %d times", i+1)
				if strings.Contains(try, reason) != (i < 2) || strings.Contains(try, "failed") != (i < 2) || times[i] != 1 {
					t.Errorf("try %d is shown as %q, with %d times", i+1, try, times[i])
				}
			}
			before := eval[[]string](t, ctx, `[...document.querySelectorAll("#panel .attempts li")].map((el) => el.innerText)`)
			if person && (len(before) != 2 || !strings.Contains(before[0], "said 1 times") || !strings.Contains(before[1], "said 2 times")) {
				t.Errorf("the attempts before are shown as %q", before)
			}
			bars := map[bool]int{false: 1, true: 3}[person]
			await(t, ctx, fmt.Sprintf(`document.querySelectorAll("#waves .wave-bar").length === %d`, bars))

			// The trace has them in order, each with its reason.
			do(t, ctx, chromedp.Navigate(page+"?view=trace"))
			await(t, ctx, pageReady+` && document.querySelectorAll("#trace .call").length === 4`)
			eval[bool](t, ctx, `(document.querySelectorAll("#trace details").forEach((d) => { d.open = true }), true)`)
			await(t, ctx, `[1, 2].every((n) => document.querySelectorAll("#trace .call")[n - 1].innerText.includes("said " + n + " times"))`)
			if s := eval[string](t, ctx, `document.querySelectorAll("#trace .call")[2].innerText`); strings.Contains(s, "attempt 3") != person {
				t.Errorf("the third try is traced as %q", s)
			}
		})
	}
}
