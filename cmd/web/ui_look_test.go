package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTheColoursAndExamplesNeedNoReload(t *testing.T) {
	app, ctx := serve(t), browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(app.URL()))
	await(t, ctx, pageReady)
	eval[bool](t, ctx, "window.still = true")
	click(t, ctx, "[name=theme][value=dark]")
	await(t, ctx, `getComputedStyle(document.body).backgroundColor === "rgb(14, 17, 22)"`)
	click(t, ctx, ".examples li:nth-child(2) a")
	await(t, ctx, `document.activeElement.id === "question" && document.activeElement.value.startsWith("By how many percent")`)
	if !eval[bool](t, ctx, `window.still && location.pathname === "/"`) {
		t.Error("the page was loaded again")
	}
	do(t, ctx, chromedp.Reload())
	await(t, ctx, `getComputedStyle(document.body).backgroundColor === "rgb(14, 17, 22)"`)
}

// fan is a plan of n siblings and a step that needs them all.
func fan(n int) string {
	var steps, ids []string
	for i := range n {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","instruction":"How many people live in Quillhaven, number %d?","depends_on":[]}`, i+1, i+1))
		ids = append(ids, fmt.Sprintf(`"s%d"`, i+1))
	}
	return fmt.Sprintf(`{"steps":[%s,{"id":"all","instruction":"How many people live in Tarnby?","depends_on":[%s]}]}`, strings.Join(steps, ","), strings.Join(ids, ","))
}

// started asks with a plan over the API, waits for the run's end where it is not
// to be approved, and returns the address of its page.
func started(t *testing.T, app *app, body string) string {
	t.Helper()
	run := (&program{url: app.URL()}).call(t, http.MethodPost, "/api/v1/runs", body)
	return app.URL() + "/runs/" + fmt.Sprint(run["id"])
}

// A wide fan is one stack with counts, which opens and folds in place by the
// mouse and by the keyboard, with its state in the address.
func TestAWideFanIsFolded(t *testing.T) {
	app, ctx := serve(t, func(c *config) { c.demoAtOnce = true }), browser(t, 1280, 900)
	page := started(t, app, `{"question":"Which?","max_steps":100,"budget":{"requests":null},"plan":`+fan(40)+`}`)
	do(t, ctx, chromedp.Navigate(page))
	await(t, ctx, pageReady)
	nodes := `document.querySelectorAll("#graph .node").length`
	if n := eval[int](t, ctx, nodes); n != 2 {
		t.Fatalf("a fan of 40 and its join are drawn with %d nodes", n)
	}
	says(t, ctx, "#node-s1", "40 steps")
	says(t, ctx, "#node-s1", "40 pending")
	eval[bool](t, ctx, `window.still = true; document.querySelector("#node-s1").focus(); true`)
	do(t, ctx, chromedp.KeyEvent("\r"))
	await(t, ctx, nodes+` === 41 && location.search.includes("open=s1") && document.activeElement.id === "node-s1"`)
	await(t, ctx, `document.querySelector(".minimap").getContext("2d").getImageData(0, 0, 176, 112).data.some(Boolean)`)
	do(t, ctx, chromedp.Reload())
	await(t, ctx, pageReady+" && "+nodes+" === 41")
	click(t, ctx, "#fold-s1")
	await(t, ctx, nodes+` === 2 && !location.search.includes("open") && document.activeElement.id === "node-s1"`)
	do(t, ctx, chromedp.NavigateBack())
	await(t, ctx, nodes+" === 41")

	// Approved, the stack counts what its steps are at.
	do(t, ctx, chromedp.Navigate(page))
	await(t, ctx, pageReady)
	click(t, ctx, `#run-actions form[action$="/approve"] button`)
	says(t, ctx, "#node-s1", "40 succeeded")
}

// A press on the map brings that part into view.
func TestTheMapMovesTheView(t *testing.T) {
	app, ctx := serve(t), browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(started(t, app, `{"question":"Which?","max_steps":100,"plan":`+fan(60)+`}`)+"?open=*"))
	await(t, ctx, pageReady+` && document.querySelector("[data-view]").scrollWidth > 2000`)
	eval[bool](t, ctx, `(m => { const r = m.getBoundingClientRect(); m.dispatchEvent(new PointerEvent("pointerdown", { buttons: 1, clientX: r.x + 170, clientY: r.y + 2, bubbles: true })); return true })(document.querySelector(".minimap"))`)
	await(t, ctx, `document.querySelector("[data-view]").scrollLeft > 1000`)
}

// The graph lies as the window does, unless it was turned.
func TestTheGraphLiesAsTheWindowDoes(t *testing.T) {
	app := serve(t)
	page := started(t, app, `{"question":"Which?","max_steps":20,"plan":`+fan(8)+`}`)
	for _, w := range []struct {
		wide, high int
		right      bool
	}{{1280, 900, true}, {500, 900, false}} {
		ctx := browser(t, w.wide, w.high)
		do(t, ctx, chromedp.Navigate(app.URL()))
		await(t, ctx, pageReady)
		do(t, ctx, chromedp.Navigate(page))
		await(t, ctx, pageReady)
		if right := eval[bool](t, ctx, `!!document.querySelector(".flow-right")`); right != w.right {
			t.Errorf("in a window of %d by %d: from the left to the right is %t", w.wide, w.high, right)
		}
		along := map[bool]string{true: "ArrowRight", false: "ArrowDown"}[w.right]
		eval[bool](t, ctx, fmt.Sprintf(`(n => { n.focus(); n.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true })); return true })(document.querySelector("#node-s1"))`, along))
		await(t, ctx, `document.activeElement.id === "node-all"`)
		click(t, ctx, `.graph-tools a`)
		await(t, ctx, fmt.Sprintf(`location.search.includes("dir=") && !!document.querySelector(".flow-right") === %t`, !w.right))
	}
}

// A run that has ended can be gone through, moment by moment and played, and
// each moment is as it was.
func TestARunIsReplayed(t *testing.T) { // BEHAVIOUR 12.4
	app, ctx := serve(t, func(c *config) { c.demoAtOnce = true }), browser(t, 1280, 900)
	page := started(t, app, `{"question":"Which?","approval":"auto","plan":`+fan(3)+`}`)
	do(t, ctx, chromedp.Navigate(page))
	says(t, ctx, "#run-head", "Succeeded")
	click(t, ctx, `#views a:last-child`)
	await(t, ctx, `location.search === "?view=replay" && !document.querySelector("#replay").hidden`)
	says(t, ctx, "#replay-facts", "run.succeeded")

	// The keyboard goes back to the start, where nothing has run.
	eval[bool](t, ctx, `document.querySelector("#replay-at").focus(); true`)
	do(t, ctx, chromedp.KeyEvent(kb.Home))
	await(t, ctx, `location.search === "?at=1"`)
	says(t, ctx, "#replay-facts", "run.created")
	await(t, ctx, `!document.querySelector("#node-s1") && document.querySelector("#answer").hidden`)
	if !eval[bool](t, ctx, `document.activeElement.id === "replay-at" && !document.querySelector("#run-actions *")`) {
		t.Error("the scrubber lost the focus, or a past moment can be acted on")
	}

	// Played, it ends where the run ended, and holds no stream then.
	click(t, ctx, `.replay-plays a:last-child`)
	says(t, ctx, "#replay-facts", "run.succeeded")
	await(t, ctx, `document.querySelectorAll("#graph .node.tone-succeeded").length === 4 && !document.querySelector("#stream[sse-connect]") && !document.querySelector("#answer").hidden`)

	// Without a script, the form goes to a moment's page.
	do(t, ctx, chromedp.Navigate(page+"?at=1"))
	says(t, ctx, "#replay-facts", "event 1 of")
}
