package main

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"planwave/internal/db"
)

// The main job with scripts switched off: ask, edit the plan in its form,
// approve, and read what came of it, all by plain forms and links.
func TestTheMainJobWithoutScripts(t *testing.T) { // UX: "without JavaScript"
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 800, 900)
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	click := func(selector string) { do(t, ctx, chromedp.Click(chromedp.CSS(selector))) }
	// load clicks what leads to another page, and waits for that.
	load := func(selector string) {
		do(t, ctx, chromedp.Query(chromedp.CSS(selector)))
		eval[bool](t, ctx, `(document.documentElement.setAttribute("data-old", ""), true)`)
		click(selector)
		do(t, ctx, chromedp.Query(chromedp.CSS("html:not([data-old]) .foot")))
	}
	do(t, ctx, chromedp.Navigate(app.URL()), chromedp.SendKeys(chromedp.CSS("#question"), sampleQuestion))
	load("#ask button.primary")
	do(t, ctx, chromedp.Query(chromedp.CSS("#run")))
	app.reload(t, ctx, `a[href$="?edit=1"]`)
	load(`a[href$="?edit=1"]`)

	// The form breaks a rule: it says so, and its mend puts it right.
	click("label:has(> #dep-3-0)")
	load("#editor-actions button[value=save]")
	load(`#violations-3 button[value^="mend:"]`)
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#instruction-0"), "By hand. "))
	load("#op-add")
	load("#op-trash-4")
	load("#editor-actions button[value=approve]")
	do(t, ctx, chromedp.Query(chromedp.CSS("#run:not(:has(#editor))")))
	app.reload(t, ctx, "#answer .figure-value")
	load("#node-s1")
	do(t, ctx, chromedp.Query(chromedp.CSS("#panel[data-step=s1]")))
	all, err := app.store.List(t.Context(), db.Filter{})
	if err != nil || len(all.Runs) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	r, err := app.runs.Get(t.Context(), all.Runs[0].ID)
	if err != nil || len(r.Versions) != 2 || r.Approved != 2 || len(r.Plan().Steps) != 4 {
		t.Errorf("%d versions, %d is approved: %v", len(r.Versions), r.Approved, err)
	}
}

// reload loads the page again until an element is there, as a person without
// scripts does.
func (a *app) reload(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	changed, stop := a.store.Watch("")
	defer stop()
	for {
		do(t, ctx, chromedp.Reload())
		if eval[bool](t, ctx, "document.querySelector(`"+selector+"`) !== null") {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s is never there", selector)
		}
	}
}

// key presses a key as a keyboard does.
func key(t *testing.T, ctx context.Context, name, text string, modifiers int64) {
	t.Helper()
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			p := input.DispatchKeyEventParams{Type: kind, Key: name, Code: name, Modifiers: modifiers, WindowsVirtualKeyCode: codes()[name]}
			if kind == input.DispatchKeyEventTypeKeyDown {
				p.Text = text
			}
			if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p); err != nil {
				return err
			}
		}
		return nil
	}))
}

// codes are the numbers of keys, by which browsers tell what they do.
func codes() map[string]int64 {
	return map[string]int64{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowRight": 39, "d": 68}
}

// tabTo presses Tab until an element has the focus.
func tabTo(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	const most = 80
	for range most {
		if eval[bool](t, ctx, `document.activeElement.matches(`+"`"+selector+"`"+`)`) {
			return
		}
		key(t, ctx, "Tab", "", 0)
	}
	t.Fatalf("Tab does not lead to %s; it is at %s", selector, eval[string](t, ctx, "document.activeElement.outerHTML.slice(0, 200)"))
}

// The main job with the keyboard only: ask, draw a dependency, approve, and read
// a step's result.
func TestTheMainJobByKeyboard(t *testing.T) { // UX: "every action works from the keyboard"
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 1280, 1000)
	do(t, ctx, chromedp.Navigate(app.URL()))
	await(t, ctx, pageReady+` && document.activeElement.id === "question"`) // the question has the focus
	do(t, ctx, chromedp.KeyEvent(sampleQuestion))
	key(t, ctx, "Enter", "", 2) // with Ctrl
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 4 && `+pageReady)
	tabTo(t, ctx, `#run-actions a[href$="?edit=1"]`)
	key(t, ctx, "Enter", "\r", 0)
	await(t, ctx, `document.querySelector("[data-undo]") && !document.querySelector("[data-undo]").hidden`)

	// s2 is to need s1: D on s1, the arrow to s2, Enter.
	tabTo(t, ctx, "#node-s1")
	key(t, ctx, "d", "d", 0)
	says(t, ctx, "#editor-say", "Choose the step that is to need s1")
	key(t, ctx, "ArrowRight", "", 0)
	key(t, ctx, "Enter", "\r", 0)
	await(t, ctx, needs(1, "s1")+" && "+edges(4))
	tabTo(t, ctx, "#editor-actions button[value=approve]")
	key(t, ctx, "Enter", "\r", 0)
	await(t, ctx, `!document.querySelector("#editor")`)
	says(t, ctx, "#run-head", "Succeeded")
	tabTo(t, ctx, "#node-s1")
	key(t, ctx, "Enter", "\r", 0)
	await(t, ctx, `document.querySelector("#panel")?.dataset.step === "s1" && location.search === "?step=s1"`)
}
