package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const sampleQuestion = "Which of Brindlemoor, Quillhaven and Tarnby is the most densely populated?"

// ready is true once the page's scripts are in charge of it.
const pageReady = `document.readyState === "complete" && typeof htmx !== "undefined"`

func TestTheMainJobInABrowser(t *testing.T) {
	app := serve(t)
	ctx := browser(t, 1280, 900)

	// Ask.
	do(t, ctx, chromedp.Navigate(app.URL()),
		chromedp.SendKeys(chromedp.CSS("#question"), sampleQuestion),
		chromedp.Click(chromedp.CSS("#ask button.primary")))
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 4`)
	await(t, ctx, `document.querySelector("#run-head").innerText.includes("Waiting for your approval")`)

	// The first plan was visibly sent back once and mended.
	if s := eval[string](t, ctx, `document.querySelector("#rejections").innerText`); !strings.Contains(s, "The first plan was sent back: s1, s2 and s3 were loose ends") {
		t.Errorf("rejections say %q", s)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll("#graph-edges path.edge").length`); n != 3 {
		t.Errorf("%d edges are drawn, want 3", n)
	}

	// Edit a step and approve.
	click(t, ctx, `a[href$="?edit=1"]`)
	do(t, ctx, chromedp.Query(chromedp.CSS("#editor")))
	await(t, ctx, pageReady)
	do(t, ctx,
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#instruction-0").value = ""`),
		chromedp.SendKeys(chromedp.CSS("#instruction-0"), "Look up Brindlemoor with get_city, as edited by a person."))
	await(t, ctx, `document.querySelector("#node-s1").innerText.includes("as edited by a person")`)
	watchFromTheStart(t, ctx, `window.seen = new Set(); new MutationObserver(() => {
		const ids = [...document.querySelectorAll("#graph .node[data-status=running]")].map(n => n.dataset.n).sort().join(",");
		if (ids) window.seen.add(ids);
	}).observe(document, {subtree: true, childList: true, attributes: true})`)
	click(t, ctx, "#editor-actions button[value=approve]")
	await(t, ctx, `!document.querySelector("#editor") && `+pageReady)

	// Watch the nodes change wave by wave, and read the answer.
	await(t, ctx, `document.querySelector("#run-head").innerText.includes("Succeeded")`)
	seen := eval[[]string](t, ctx, `[...window.seen]`)
	if len(seen) < 2 || !slices.Contains(seen, "s4") {
		t.Errorf("running together at different moments: %q; want at least two sets, one of them s4 alone", seen)
	}
	answer := eval[string](t, ctx, `document.querySelector("#answer").innerText`)
	if !strings.Contains(answer, "1,200.0") || !strings.Contains(answer, "Quillhaven") {
		t.Errorf("the answer is %q", answer)
	}
	if c := eval[bool](t, ctx, `document.querySelector("#stream").hasAttribute("sse-connect")`); c {
		t.Error("an ended run's page still holds a stream")
	}

	// Reload shows the same.
	before := eval[string](t, ctx, runText)
	do(t, ctx, chromedp.Reload())
	await(t, ctx, pageReady)
	if after := eval[string](t, ctx, runText); after != before {
		t.Errorf("after a reload the page says\n%s\nbefore it said\n%s", after, before)
	}

	// A step's panel shows what was edited, by its own address.
	click(t, ctx, "#node-s1")
	await(t, ctx, `document.querySelector("#panel").innerText.includes("as edited by a person") && location.search === "?step=s1"`)

	// History shows it.
	click(t, ctx, `nav a[href="/runs"]`)
	await(t, ctx, fmt.Sprintf(`location.pathname === "/runs" && document.body.innerText.includes(%q)`, sampleQuestion))
	if s := text(ctx); !strings.Contains(s, "succeeded") {
		t.Errorf("the history says %q", s)
	}
}

// watchFromTheStart has a script run in every page from now on, before anything
// of the page is there.
func watchFromTheStart(t testing.TB, ctx context.Context, js string) {
	t.Helper()
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js})
		return err
	}))
}

// runText is what a run's page says, without clocks that are counted on.
const runText = `["#run-head", "#answer", "#graph", "#rejections"].map(s => document.querySelector(s).innerText).join("\n")`

func TestSampleQuestionsAndOneBeyond(t *testing.T) { // BEHAVIOUR 13
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 1280, 900)
	tests := []struct{ question, state, want, mustNot string }{
		{sampleQuestion, "Succeeded", "1,200.0", ""},
		{"By how many percent is Ashwick larger than Brindlemoor?", "Succeeded", "150.0", ""},
		{"What is the combined population of Quillhaven and Atlantis?", "Succeeded", "Atlantis is not known", "figure-value"},
		{"Who wrote Faust?", "Failed", "The demo model only knows", ""},
	}
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			do(t, ctx, chromedp.Navigate(app.URL()),
				chromedp.SendKeys(chromedp.CSS("#question"), tt.question),
				chromedp.Click(chromedp.CSS("#ask button.primary")))
			await(t, ctx, `location.pathname.startsWith("/runs/") && /Waiting for your approval|Failed/.test(document.querySelector("#run-head")?.innerText ?? "")`)
			if tt.state == "Succeeded" {
				click(t, ctx, "#run-actions button.primary")
			}
			await(t, ctx, fmt.Sprintf(`document.querySelector("#run-head").innerText.includes(%q) && document.querySelector("#run").innerText.includes(%q)`, tt.state, tt.want))
			if html := eval[string](t, ctx, `document.querySelector("#answer").innerHTML`); tt.mustNot != "" && strings.Contains(html, tt.mustNot) {
				t.Errorf("the answer has a value, which would be invented: %s", html)
			}
		})
	}
}

func TestViolationsAppearWhileTyping(t *testing.T) { // BEHAVIOUR 3.2
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(app.URL()),
		chromedp.SendKeys(chromedp.CSS("#question"), sampleQuestion),
		chromedp.Click(chromedp.CSS("#ask button.primary")))
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 4 && `+pageReady)
	click(t, ctx, `a[href$="?edit=1"]`)
	do(t, ctx, chromedp.Query(chromedp.CSS("#editor")))
	await(t, ctx, pageReady)

	// A dependency taken off: s1 becomes a loose end, at the step concerned and with its mend.
	click(t, ctx, "label:has(> #dep-3-0)")
	await(t, ctx, `document.querySelector("#violations-3").innerText.includes("Make s4 final")`)
	if !eval[bool](t, ctx, `document.querySelector("#editor-actions button[value=approve]").disabled`) {
		t.Error("an invalid plan can be approved")
	}
	// The mend puts it right.
	click(t, ctx, `#violations-3 button[value^="mend:"]`)
	await(t, ctx, `document.querySelector("#violations-3").innerText === "" && !document.querySelector("#editor-actions button[value=approve]").disabled`)

	// A step added has no instruction yet; taken out again, all is well.
	click(t, ctx, "#op-add")
	await(t, ctx, `document.querySelectorAll("#editor .step-card").length === 5 && document.querySelector("#violations-4").innerText.includes("has no instruction")`)
	click(t, ctx, "#op-trash-4")
	await(t, ctx, `document.querySelectorAll("#editor .step-card").length === 4 && !document.querySelector("#editor-actions button[value=approve]").disabled`)
}

func TestAskingForChangesAndCancelling(t *testing.T) { // BEHAVIOUR 2.5, 5.7
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	ctx := browser(t, 390, 844)
	do(t, ctx, chromedp.Navigate(app.URL()),
		chromedp.SendKeys(chromedp.CSS("#question"), sampleQuestion),
		chromedp.Click(chromedp.CSS("#ask button.primary")))
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 4 && `+pageReady)
	click(t, ctx, "#revise summary")
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#comment"), "also look at Ashwick"))
	click(t, ctx, "#revise button.primary")
	await(t, ctx, `document.querySelectorAll("#graph .node").length === 5 && document.querySelector("#graph").innerText.includes("Ashwick")`)
	click(t, ctx, "#cancel summary")
	click(t, ctx, "#cancel button.danger")
	await(t, ctx, `document.querySelector("#run-head").innerText.includes("Cancelled")`)
	if wide := eval[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page scrolls sideways on a phone")
	}
}
