package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// editing opens the editor on a new run of the sample question.
func editing(ctx context.Context, t *testing.T, app *app) (page string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(app.URL()),
		chromedp.SendKeys(chromedp.CSS("#question"), sampleQuestion),
		chromedp.Click(chromedp.CSS("#ask button.primary")))
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 4 && `+pageReady)
	page = eval[string](t, ctx, "location.href")
	do(t, ctx, chromedp.Navigate(page+"?edit=1"))
	await(t, ctx, `document.querySelector("[data-undo]") && !document.querySelector("[data-undo]").hidden`)
	return page
}

// needs is true when a step of the form needs another.
func needs(step int, id string) string {
	return fmt.Sprintf(`document.querySelector('#step-%d .deps input[value=%q]').checked`, step, id)
}

// edges is true when so many edges are drawn.
func edges(n int) string {
	return fmt.Sprintf(`document.querySelectorAll("#graph-edges .edge").length === %d`, n)
}

// dragged moves the pointer from the handle of a node to another node.
func dragged(from, to string) string {
	return fmt.Sprintf(`(() => {
		const mid = (el) => { const b = el.getBoundingClientRect(); return { clientX: b.x + b.width / 2, clientY: b.y + b.height / 2, bubbles: true, cancelable: true, button: 0 } }
		const handle = document.querySelector("#node-%s [data-join]"), to = mid(document.querySelector("#node-%s"))
		handle.dispatchEvent(new PointerEvent("pointerdown", mid(handle)))
		handle.dispatchEvent(new PointerEvent("pointermove", to))
		window.drawn = document.querySelectorAll(".edge-drawn").length
		handle.dispatchEvent(new PointerEvent("pointerup", to))
		return window.drawn === 1
	})()`, from, to)
}

func TestADependencyIsDrawn(t *testing.T) { // UX, Run: "drawn from node to node"
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 1280, 1000)
	editing(ctx, t, app)

	// Drawn from node to node, undone, done again.
	if !eval[bool](t, ctx, dragged("s1", "s2")) {
		t.Error("no line follows the pointer")
	}
	await(t, ctx, needs(1, "s1")+" && "+edges(4))
	await(t, ctx, `!document.querySelector("[data-undo]").disabled`)
	click(t, ctx, "[data-undo]")
	await(t, ctx, "!"+needs(1, "s1")+" && "+edges(3))
	click(t, ctx, "[data-redo]")
	await(t, ctx, needs(1, "s1")+" && "+edges(4))

	// One that would make steps wait on each other is refused with the reason.
	eval[bool](t, ctx, dragged("s2", "s1"))
	says(t, ctx, "#editor-say", "they would wait on each other")
	if !eval[bool](t, ctx, "!"+needs(0, "s2")) {
		t.Error("a cycle was drawn")
	}

	// A click on an edge takes it off.
	eval[bool](t, ctx, `document.querySelector('.edge-hit[data-from=s1][data-to=s2]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	await(t, ctx, "!"+needs(1, "s1")+" && "+edges(3))

	// What is not saved survives a reload, and is gone once it is discarded.
	eval[bool](t, ctx, dragged("s1", "s3"))
	await(t, ctx, needs(2, "s1")+" && "+edges(4))
	eval[bool](t, ctx, `(window.onbeforeunload = null, document.querySelector("#editor").dataset.changed = "false", true)`)
	do(t, ctx, chromedp.Reload())
	says(t, ctx, "#editor-say", "Your unsaved changes from")
	await(t, ctx, needs(2, "s1")+" && "+edges(4))
	click(t, ctx, "#editor-actions a")
	await(t, ctx, `!document.querySelector("#editor") && `+pageReady+" && "+edges(3))
	click(t, ctx, `a[href$="?edit=1"]`)
	await(t, ctx, `document.querySelector("[data-undo]") && !document.querySelector("[data-undo]").hidden && `+edges(3)+" && !"+needs(2, "s1"))
}

// Two tabs edit one plan: the second to save is shown both changes, and loses
// neither.
func TestTwoTabsDoNotOverwriteEachOther(t *testing.T) { // BEHAVIOUR 3.2, 3.3; case 113
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 1280, 1000)
	page := editing(ctx, t, app)
	second := another(t, ctx)
	do(t, second, chromedp.Navigate(page+"?edit=1"))
	await(t, second, `document.querySelector("[data-undo]") && !document.querySelector("[data-undo]").hidden`)

	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#instruction-0"), " First tab."))
	await(t, ctx, `document.querySelector("#node-s1").innerText.includes("First tab")`)
	click(t, ctx, `#editor-actions button[value=save]`)
	await(t, ctx, `!document.querySelector("#editor") && `+pageReady)

	do(t, second, chromedp.SendKeys(chromedp.CSS("#instruction-1"), " Second tab."))
	await(t, second, `document.querySelector("#node-s2").innerText.includes("Second tab")`)
	click(t, second, `#editor-actions button[value=approve]`)
	says(t, second, "#run-notice", "Version 2 was saved meanwhile")
	says(t, second, "#run-notice", "it changes s1")
	await(t, second, `document.querySelector("#instruction-0").value.includes("First tab.") && document.querySelector("#instruction-1").value.includes("Second tab.")`)
	await(t, second, `!document.querySelector("#editor-actions button[value=approve]").disabled`)
	click(t, second, `#editor-actions button[value=approve]`)
	await(t, second, `!document.querySelector("#editor")`)
	await(t, second, `/Succeeded|Partly answered/.test(document.querySelector("#run-head").innerText)`)
	for i, want := range []string{"First tab.", "Second tab."} {
		do(t, second, chromedp.Navigate(fmt.Sprintf("%s?step=s%d", page, i+1)))
		says(t, second, "#panel", want)
	}
}
