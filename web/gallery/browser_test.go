package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds a hang; it is no measure.
const patience = 60 * time.Second

// chromium finds the browser. A machine without one fails the test.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PLANWAVE_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium: install it (apt install chromium) or name it in PLANWAVE_CHROMIUM; make test does both")
	return ""
}

// tab is a tab of a headless Chromium with an empty profile, and a server of
// the gallery with a run that can be acted on.
type tab struct {
	t      *testing.T
	ctx    context.Context
	server *httptest.Server
	run    *fakeRun

	mu         sync.Mutex
	complaints []string // what the browser said about scripts and the content policy
}

// chrome is the browser that the tests of this package share; each has a tab of
// its own.
type chrome struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop []func()
}

var shared chrome

// start starts the browser. Its context must outlive the first action.
func (c *chrome) start(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	c.once.Do(func() {
		dir, err := os.MkdirTemp("", "planwave-gallery")
		if err != nil {
			c.err = err
			return
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(),
			chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
			chromedp.WindowSize(1280, 900), chromedp.UserDataDir(dir), chromedp.Flag("disable-dev-shm-usage", true),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
		ctx, cancel := chromedp.NewContext(allocator)
		c.ctx, c.err = ctx, chromedp.Do(ctx)
		c.stop = []func(){func() { _ = chromedp.Cancel(ctx) }, cancel, stop, func() { _ = os.RemoveAll(dir) }}
	})
	if c.err != nil {
		t.Fatalf("start %s: %v", path, c.err)
	}
	return c.ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range shared.stop {
		stop()
	}
	os.Exit(code)
}

func open(t *testing.T, width, height int) *tab {
	t.Helper()
	b := &tab{t: t, run: newFakeRun()}
	b.server = httptest.NewServer(b.run.handler())
	ctx, closeTab := chromedp.NewContext(shared.start(t))
	b.ctx = ctx
	t.Cleanup(func() {
		b.run.stop()
		closeTab()
		b.server.CloseClientConnections()
		b.server.Close()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear collects what must not be said: errors of scripts and violations of the
// content policy.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || e.Entry.Source == log.EntrySourceJavascript {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

// silent fails the test when the browser complained.
func (b *tab) silent(page string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("%s: the browser says %q", page, c)
	}
	b.complaints = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	bound, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(bound, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) show(page string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.server.URL+"/"+page), chromedp.WaitReady(chromedp.CSS("#main")))
}

func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// await waits until an expression is true.
func (b *tab) await(js string) {
	b.t.Helper()
	bound, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(bound, chromedp.Poll[bool](js)); err != nil {
		b.t.Fatalf("waiting for %s: %v; the page says:\n%s", js, err, eval[string](b, "document.body.innerText"))
	}
}

// UX: works at 1280 and 390 px; the page never scrolls sideways. DESIGN: nothing
// breaks the content policy.
func TestEveryPageFitsAndKeepsThePolicy(t *testing.T) {
	for _, width := range []int{1280, 390} {
		b := open(t, width, 900)
		for _, s := range states() {
			b.show(s.name)
			if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s is %d px wide at %d", s.name, wide, width)
			}
			b.silent(s.name)
		}
	}
}

func TestNodesLieWhereTheStylesheetSaysAndStayWithoutScripts(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-succeeded")
	const at = `JSON.stringify([...document.querySelectorAll('#graph .node')].map(n => [n.offsetLeft, n.offsetTop, n.offsetWidth, n.offsetHeight]))`
	byScript := eval[string](b, at)
	byStyle := eval[string](b, `(() => { document.querySelectorAll('#graph .node').forEach(n => n.removeAttribute('style')); return `+at+` })()`)
	if byScript != byStyle || !strings.Contains(byStyle, "224,104") {
		t.Errorf("by script %s, by stylesheet %s", byScript, byStyle)
	}
}

func TestArrowKeysWalkAlongTheEdges(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-waiting")
	walk := []struct{ key, from, to string }{
		{"ArrowDown", "s1", "s4"}, {"ArrowUp", "s4", "s2"}, {"ArrowRight", "s2", "s3"}, {"ArrowLeft", "s3", "s2"}, {"ArrowUp", "s2", "s2"},
	}
	b.do(chromedp.Focus(chromedp.CSS("#node-s1")))
	for _, w := range walk {
		eval[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '`+w.key+`', bubbles: true, cancelable: true}))`)
		if got := eval[string](b, "document.activeElement.dataset.n"); got != w.to {
			t.Errorf("%s leads from %s to %s, not to %s", w.key, w.from, got, w.to)
		}
	}
}

func TestZoomAndFit(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-large")
	const zoom = "Number(document.querySelector('.sheet').style.zoom)"
	first := eval[float64](b, zoom)
	b.do(chromedp.Click(chromedp.CSS("[data-zoom=in]")))
	if second := eval[float64](b, zoom); second <= first {
		t.Errorf("larger: %v after %v", second, first)
	}
	b.do(chromedp.Click(chromedp.CSS("[data-zoom=fit]")))
	fits := eval[bool](b, "(v => v.scrollWidth <= v.clientWidth && v.scrollHeight <= v.clientHeight)(document.querySelector('[data-view]'))")
	if !fits {
		t.Errorf("the graph does not fit at %v", eval[float64](b, zoom))
	}
}
