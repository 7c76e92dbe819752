package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"planwave/internal/plan"
)

// huge is a plan of two steps, the first of which has an instruction of so many
// characters.
func huge(n int) string {
	const start = "How many people live in Quillhaven? "
	return fmt.Sprintf(`{"steps":[{"id":"s1","instruction":%q,"depends_on":[]},{"id":"s2","instruction":"How many people live in Tarnby?","depends_on":["s1"]}]}`,
		start+strings.Repeat("y", n-len(start)))
}

// An instruction beyond the limit is refused with the limit, over the API and in
// the editor, which loses nothing.
func TestAHugeInstructionIsRefused(t *testing.T) { // case 57
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	const far = 200_000
	said := fmt.Sprintf("has %d characters and %d is the limit", far, plan.MostInstruction)
	status, answer := app.send(t, http.MethodPost, "/api/v1/runs", `{"question":"Which?","plan":`+huge(far)+`}`)
	if status != http.StatusUnprocessableEntity || !strings.Contains(answer, said) || len(answer) > 2_000 {
		t.Errorf("a plan of %d characters was answered with %d %.2000s", far, status, answer)
	}
	ctx := browser(t, 1280, 900)
	page := started(t, app, `{"question":"Which?","plan":`+huge(100)+`}`)
	do(t, ctx, chromedp.Navigate(page+"?edit=1"))
	await(t, ctx, pageReady)
	eval[bool](t, ctx, fmt.Sprintf(`((el) => { el.value = "z".repeat(%d); el.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector("#instruction-0"))`, far))
	says(t, ctx, "#violations-0", said)
	whole := fmt.Sprintf(`document.querySelector("#instruction-0").value === "z".repeat(%d)`, far)
	if !eval[bool](t, ctx, whole+` && document.querySelector("#editor-actions button[value=approve]").disabled`) {
		t.Error("what was typed was lost, or can be approved")
	}
	eval[bool](t, ctx, `(document.querySelector("#editor").dataset.changed = "false", true)`) // or the browser asks whether to leave
	do(t, ctx, chromedp.Reload())
	await(t, ctx, pageReady+" && "+whole)
}

// An instruction as long as may be is whole where its step is shown, and nowhere
// else.
func TestALongInstructionIsNotCarriedAround(t *testing.T) { // case 57
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	page := started(t, app, `{"question":"Which?","approval":"auto","plan":`+huge(plan.MostInstruction)+`}`)
	app.until(t, page[strings.LastIndex(page, "/")+1:], "done")
	ctx := browser(t, 1280, 900)
	for at, want := range map[string]bool{
		app.URL(): false, app.URL() + "/runs": false, app.URL() + "/api/v1/runs": false, page + "/panel?step=s1": true, page + "/graph": false,
	} {
		do(t, ctx, chromedp.Navigate(at))
		if has := eval[bool](t, ctx, `document.documentElement.outerHTML.includes("y".repeat(1000))`); has != want {
			t.Errorf("%s: carries the whole instruction is %t, want %t", at, has, want)
		}
	}
	do(t, ctx, chromedp.Navigate(page))
	if n := eval[int](t, ctx, `document.querySelector("#graph").innerText.length`); n == 0 || n > 1_000 {
		t.Errorf("the graph's text has %d characters", n)
	}
}

// A chain of 500 is refused where 6 are allowed, and else drawn, approved, and
// its first failure skips all that follows.
func TestALongChain(t *testing.T) { // case 59
	app := serve(t, func(c *config) { c.demoAtOnce = true })
	const long = 500
	if status, answer := app.send(t, http.MethodPost, "/api/v1/runs", `{"question":"Which?","plan":`+chain(long, "Who wrote Faust?")+`}`); status != http.StatusUnprocessableEntity || !strings.Contains(answer, "500 steps") {
		t.Errorf("beyond the limit: %d %.300s", status, answer)
	}
	page := started(t, app, fmt.Sprintf(`{"question":"Which?","max_steps":%d,"budget":{"requests":null,"tokens":null},"plan":%s}`, long, chain(long, "Who wrote Faust?")))
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(page))
	await(t, ctx, fmt.Sprintf(pageReady+` && document.querySelectorAll("#graph .node").length === %d && document.querySelectorAll("#graph-edges path.edge").length === %d`, long, long-1))
	click(t, ctx, `#run-actions form[action$="/approve"] button`)
	says(t, ctx, "#run-head", "Failed")
	await(t, ctx, fmt.Sprintf(`document.querySelector("#node-s1[data-status=failed]") && document.querySelectorAll("#graph .node[data-status=skipped]").length === %d`, long-1))
	await(t, ctx, fmt.Sprintf(`document.querySelector("#node-s%d").textContent.includes("s1 failed")`, long))
}

// A fan of 1,000 never has more in flight than allowed, and its page answers a
// click on a step meanwhile.
func TestAWideFanKeepsToItsLimit(t *testing.T) { // case 61
	const wide, most = 1000, 8
	var mu sync.Mutex
	flying, highest := 0, 0
	full, goOn := make(chan struct{}), make(chan struct{})
	models := newChat(t, func(ctx context.Context, _ string) string {
		mu.Lock()
		flying++
		highest = max(highest, flying)
		if flying == most && highest == most {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		mu.Lock()
		flying--
		mu.Unlock()
		return `{"result":"done"}`
	})
	app := serve(t, func(c *config) { c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m" })
	page := started(t, app, fmt.Sprintf(`{"question":"Which?","max_steps":%d,"max_parallel":%d,"budget":{"requests":null,"tokens":null},"plan":%s}`, wide+1, most, fan(wide)))
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(page))
	nodes := func(status string, n int) string {
		return fmt.Sprintf(`document.querySelectorAll("#graph .node[data-status=%s]").length === %d`, status, n)
	}
	await(t, ctx, pageReady)
	click(t, ctx, `#run-actions form[action$="/approve"] button`)
	<-full
	says(t, ctx, "#node-s1", fmt.Sprintf("%d running, %d pending", most, wide-most))
	click(t, ctx, "#node-s1") // which opens the fan
	await(t, ctx, nodes("running", most)+" && "+nodes("pending", wide+1-most))
	close(goOn)
	click(t, ctx, fmt.Sprintf("#node-s%d", wide/2)) // while results come in
	await(t, ctx, fmt.Sprintf(`document.querySelector("#panel").dataset.step === "s%d" && location.search.includes("step=s%d")`, wide/2, wide/2))
	says(t, ctx, "#run-head", "Succeeded")
	await(t, ctx, nodes("succeeded", wide+1))
	says(t, ctx, "#panel", "done")
	if highest != most {
		t.Errorf("%d steps were in flight at once, want %d", highest, most)
	}
}

// The pages of large runs open. A mesh of 450 is drawn whole, with a map; of
// 1,738 steps that are two fans the graph is folded, and the timeline and the
// trace have views of their own, with all of it.
func TestTheLargestPagesOpen(t *testing.T) { // case 119
	app, ctx := serve(t, func(c *config) { c.demoAtOnce = true }), browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(started(t, app, mesh(450))))
	await(t, ctx, pageReady+` && document.querySelectorAll("#graph .node").length === 450 && document.querySelector(".minimap").getContext("2d").getImageData(0, 0, 176, 112).data.some(Boolean)`)
	says(t, ctx, "#panel", "further steps are in the graph")

	const all, half = 1738, 868
	page := started(t, app, fmt.Sprintf(`{"question":"Which?","approval":"auto","max_steps":2000,"max_parallel":50,"budget":{"requests":null,"tokens":null},"plan":%s}`, twoFans(half)))
	app.until(t, page[strings.LastIndex(page, "/")+1:], "done")
	do(t, ctx, chromedp.Navigate(page))
	says(t, ctx, "#run-head", "Succeeded")
	await(t, ctx, pageReady+` && document.querySelectorAll("#graph .node").length === 4 && document.querySelector("#waves").hidden && document.querySelector("#trace").hidden`)
	says(t, ctx, "#graph", fmt.Sprintf("%d succeeded", half))

	click(t, ctx, `#views a[href$="view=timeline"]`)
	await(t, ctx, fmt.Sprintf(`location.search === "?view=timeline" && document.querySelectorAll("#waves .wave-bar").length === %d`, all))
	readable(t, ctx, "#waves .wave-bar:last-child")
	click(t, ctx, `#waves .waves > li:last-child .step-link`)
	await(t, ctx, `document.querySelector("#panel").dataset.step === "end"`)

	do(t, ctx, chromedp.Navigate(page+"?view=trace"))
	await(t, ctx, fmt.Sprintf(pageReady+` && document.querySelectorAll("#trace .call").length >= %d`, all))
	eval[bool](t, ctx, `(document.querySelector("#trace-all").open = true)`)
	click(t, ctx, "#trace .calls > li:last-child summary")
	await(t, ctx, `document.querySelector("#trace .calls > li:last-child .part .block")`)
	readable(t, ctx, "#trace .calls > li:last-child")
}

// twoFans is a plan of a fan, a step that needs all of it, a second fan, and a
// last step: 2n+2 steps.
func twoFans(n int) string {
	var steps, first, second []string
	for i := range n {
		first = append(first, fmt.Sprintf(`"a%d"`, i))
		second = append(second, fmt.Sprintf(`"b%d"`, i))
		steps = append(steps, fmt.Sprintf(`{"id":"a%d","instruction":"How many people live in Quillhaven, number %d?","depends_on":[]}`, i, i),
			fmt.Sprintf(`{"id":"b%d","instruction":"How many people live in Ashwick, number %d?","depends_on":["mid"]}`, i, i))
	}
	return fmt.Sprintf(`{"steps":[%s,{"id":"mid","instruction":"How many people live in Tarnby?","depends_on":[%s]},{"id":"end","instruction":"How many people live in Tarnby?","depends_on":[%s]}]}`,
		strings.Join(steps, ","), strings.Join(first, ","), strings.Join(second, ","))
}

// readable says that an element has a size in the window once it is scrolled
// to, and that nothing lies over it.
func readable(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	await(t, ctx, fmt.Sprintf(`((el) => {
		el.scrollIntoView({ block: "center" })
		const r = el.getBoundingClientRect()
		return r.width > 100 && r.height > 8 && r.right <= innerWidth && el.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))
	})(document.querySelector(%q))`, selector))
}
