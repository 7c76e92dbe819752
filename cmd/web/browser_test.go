package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to become what a test waits for. It is
// a bound on a hang, not a measure.
const patience = 60 * time.Second

// chromium finds the browser. A machine without one fails the test: no browser
// test is skipped in silence.
func chromium(t testing.TB) string {
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

// browser is a headless Chromium of its own, with an empty profile.
func browser(t testing.TB, width, height int) context.Context {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chromium(t)), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.WindowSize(width, height), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := chromedp.NewContext(allocator)
	ctx, giveUp := context.WithTimeout(ctx, 3*patience)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("close the browser: %v", err)
		}
		giveUp()
		cancel()
		stop()
	})
	// The first context that runs anything owns the browser.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return ctx
}

// serve runs the whole app on a free port with the demo model.
func serve(t testing.TB, change ...func(*config)) *app {
	t.Helper()
	c, err := readConfig([]string{"-addr", "127.0.0.1:0", "-samples", "off", "-shutdown-grace", "0s", "-db", filepath.Join(t.TempDir(), "planwave.db")},
		func(string) string { return "" }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&c)
	}
	a, err := newApp(context.Background(), c, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// do runs browser actions and fails the test on an error, with the page's text.
func do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	bound, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := chromedp.Do(bound, steps...); err != nil {
		t.Fatalf("%v; the page says:\n%s", err, text(ctx))
	}
}

// eval returns the value of a JavaScript expression.
func eval[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// await waits until a JavaScript expression is true, also over a change of page.
func await(t testing.TB, ctx context.Context, js string) {
	t.Helper()
	bound, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(bound, chromedp.Poll[bool](`(() => { try { return !!(`+js+`) } catch { return false } })()`))
		if ok && err == nil {
			return
		}
		if bound.Err() != nil {
			t.Fatalf("waiting for %s: %v; the page says:\n%s", js, err, text(ctx))
		}
	}
}

func text(ctx context.Context) string {
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return s
}

// click clicks an element as soon as it is there. Finding and clicking are one
// step, since a live page may replace the element at any moment.
func click(t testing.TB, ctx context.Context, selector string) {
	t.Helper()
	await(t, ctx, fmt.Sprintf(`(el => el && !el.disabled && (el.click(), true))(document.querySelector(%q))`, selector))
}
