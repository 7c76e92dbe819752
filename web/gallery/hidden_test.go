package main

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// hidden makes every page that the tab loads from now on believe that nobody
// sees it, as one that is opened in the background.
func (b *tab) hidden() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
			Source: "Object.defineProperty(document, 'hidden', {value: true, configurable: true})",
		})
		return err
	}))
}

// UX: a hidden run page holds no connection, also when it was never seen.
func TestAPageThatIsOpenedHiddenConnectsWhenItIsShown(t *testing.T) {
	b := open(t, 1280, 900)
	b.hidden()
	b.show("run-running")
	const connection = "document.querySelector('#stream')['htmx-internal-data'].sseEventSource"
	b.await(connection + " !== undefined")
	if state := eval[int](b, connection+".readyState"); state != 2 || len(b.run.opened) != 0 {
		t.Errorf("the hidden page's connection is in the state %d, not closed", state)
	}
	eval[bool](b, "Object.defineProperty(document, 'hidden', {value: false, configurable: true}), document.dispatchEvent(new Event('visibilitychange'))")
	if q := <-b.run.opened; q != "after=42" {
		t.Errorf("the shown page opened the stream with %q", q)
	}
	b.run.events <- event("patch", "43", templates.Announce(templates.AnnounceProps{Text: "seen", OOB: true}))
	b.await("document.querySelector('#live-status').textContent === 'seen'")
	b.silent("run-running")
}

// BEHAVIOUR 11: a clear error; what the page does by itself does not take it away.
func TestARefusalStaysWhileThePageRefreshesItself(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	<-b.run.opened
	b.do(chromedp.Click(chromedp.CSS("#cancel > summary")), chromedp.Click(chromedp.CSS("#cancel form button")))
	b.await("document.querySelector('#flash').textContent.includes('The plan has changed meanwhile')")
	eval[bool](b, "document.querySelector('#panel').dataset.old = 'yes', true")
	b.run.events <- event("step-s2", "43")
	b.await("document.querySelector('#panel').dataset.old === undefined")
	if !eval[bool](b, "document.querySelector('#flash').textContent.includes('The plan has changed meanwhile')") {
		t.Error("the explanation is gone before it could be read")
	}
	b.do(chromedp.Click(chromedp.CSS("#node-s4")))
	b.await("document.querySelector('#panel').dataset.step === 's4' && document.querySelector('#flash').textContent === ''")
}

// UX: every action works from the keyboard; the focus is always visible.
func TestAReplacedNodeKeepsTheFocus(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	<-b.run.opened
	b.do(chromedp.Focus(chromedp.CSS("#node-s2")))
	b.run.events <- event("patch", "43", templates.Node(node(plan.StepStatusSucceeded)))
	b.await("document.querySelector('#node-s2').dataset.status === 'succeeded'")
	b.await("document.activeElement.id === 'node-s2'")
}

// BEHAVIOUR 11: nothing is lost. A check that begins while a button's answer is
// on its way must not take the button's request back.
func TestACheckDoesNotTakeAButtonBack(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("edit")
	eval[bool](b, `document.querySelector('#op-add').click(),
		document.querySelector('#editor').dispatchEvent(new Event('change', {bubbles: true})), true`)
	b.await("document.activeElement.id === 'instruction-4'")
	b.silent("edit")
}
