package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A viewer's clock that is wrong by more than a minute, either way, does not
// change for how long a step has been running.
func TestAWrongClockDoesNotShow(t *testing.T) { // case 115
	h := newHeld(t)
	id, page := h.ask("auto")
	for _, skew := range []int{-65_000, 65_000} {
		ctx := browser(t, 1280, 900)
		watchFromTheStart(t, ctx, fmt.Sprintf(`{ const real = Date.now.bind(Date); Date.now = () => real() + %d }`, skew))
		do(t, ctx, chromedp.Navigate(page))
		await(t, ctx, pageReady+` && document.querySelector("#node-s1[data-status=running] [data-since]")`)
		r, err := h.runs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		before := time.Since(r.Step("s1").StartedAt)
		shown := eval[string](t, ctx, `document.querySelector("#node-s1 [data-since]").textContent`)
		after := time.Since(r.Step("s1").StartedAt)
		var seconds float64
		if _, err := fmt.Sscanf(shown, "%f s", &seconds); err != nil {
			t.Fatalf("the clock says %q: %v", shown, err)
		}
		if seconds < before.Seconds()-1 || seconds > after.Seconds()+1 {
			t.Errorf("with a clock %d ms off a step runs for %q, and has for %v to %v", skew, shown, before, after)
		}
	}
}

// All times of a page are in the viewer's zone, which it names; hovering gives
// UTC.
func TestTimesAreInTheViewersZone(t *testing.T) { // UX, Everywhere; case 117
	h := newHeld(t)
	h.letGo()
	id, page := h.ask("auto")
	h.until(t, id, "done")
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
		return err
	}))
	do(t, ctx, chromedp.Navigate(page))
	await(t, ctx, pageReady+` && /Asia\/(Kolkata|Calcutta)/.test(document.querySelector("#zone").textContent)`)
	const right = `[...document.querySelectorAll("time[data-time=moment]")].every((el) => {
		const at = new Date(el.dateTime), own = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium", timeZone: "Asia/Kolkata"}).format(at)
		return el.textContent === own && el.title.includes("UTC") && el.title.includes(at.toISOString().slice(11, 19))
	}) && document.querySelectorAll("time[data-time=moment]").length > 0`
	if !eval[bool](t, ctx, right) {
		t.Errorf("times are %s", eval[string](t, ctx, `[...document.querySelectorAll("time")].map(el => el.outerHTML).join("\n")`))
	}
}
