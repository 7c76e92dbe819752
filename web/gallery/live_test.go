package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"planwave/internal/plan"
	"planwave/web/templates"
)

func TestAFragmentReplacesItsElementAndKeepsTheSelection(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	<-b.run.opened
	head := runSucceeded(page("")).Head
	head.OOB = true
	n := node(plan.StepStatusSucceeded)
	b.run.events <- event("patch", "43", templates.Node(n), templates.RunHead(head),
		templates.Edges(templates.EdgesProps{W: 1, H: 1, OOB: true}),
		templates.Announce(templates.AnnounceProps{Text: "Wave 2 of 2 started", OOB: true}))
	b.await("document.querySelector('#node-s2').dataset.status === 'succeeded'")
	b.await("document.title.startsWith('Succeeded')")
	b.await("document.querySelector('#live-status').textContent === 'Wave 2 of 2 started'")
	if icon := eval[string](b, "document.querySelector('#tab-icon').href"); !strings.HasSuffix(icon, "/icon/succeeded.svg") {
		t.Errorf("the tab's icon is %s", icon)
	}
	if !eval[bool](b, "document.querySelector('#node-s2').getAttribute('aria-current') === 'true'") {
		t.Error("the node lost its selection")
	}
	if ns := eval[string](b, "document.querySelector('#graph-edges').namespaceURI"); !strings.HasSuffix(ns, "svg") {
		t.Errorf("the edges are of the namespace %s", ns)
	}
	b.silent("run-running")
}

func TestTheSelectedStepsPanelFollowsItsEvents(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	<-b.run.opened
	b.run.events <- event("step-s2", "43")
	b.await("document.querySelector('#panel .status').textContent.trim() === 'succeeded'")
	b.do(chromedp.Click(chromedp.CSS("#node-s4")))
	b.await("document.querySelector('#panel').dataset.step === 's4' && document.querySelector('#nudge').dataset.step === 's4'")
	if at := eval[string](b, "location.search"); at != "?step=s4" {
		t.Errorf("the address says %q", at)
	}
	b.await("document.querySelector('#node-s4').getAttribute('aria-current') === 'true' && !document.querySelector('#node-s2').hasAttribute('aria-current')")
	eval[bool](b, "document.querySelector('#panel').id = 'old', true")
	eval[bool](b, "document.querySelector('#old').id = 'panel', delete document.querySelector('#panel').dataset.step, true")
	b.run.events <- event("step-s4", "44")
	b.await("document.querySelector('#panel').dataset.step === 's4'")
}

func TestOpenDetailsStayOpenWhenTheyAreReplaced(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	<-b.run.opened
	b.do(chromedp.Click(chromedp.CSS("#trace-all > summary")), chromedp.Click(chromedp.CSS("#call-1 > summary")))
	longer := trace(6)
	longer.OOB = true
	b.run.events <- event("patch", "43", templates.Trace(longer))
	b.await("document.querySelectorAll('#trace .call').length === 6 && document.querySelector('#trace-all').open && document.querySelector('#call-1').open")
}

// UX: a hidden or finished run page holds no connection.
func TestAHiddenPageLetsGoAndGoesOnWhereItWas(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-running")
	if q := <-b.run.opened; q != "after=42" {
		t.Errorf("the stream was opened with %q", q)
	}
	b.run.events <- event("patch", "57", templates.Announce(templates.AnnounceProps{Text: "seen", OOB: true}))
	b.await("document.querySelector('#live-status').textContent === 'seen'")
	hide := func(is string) {
		eval[bool](b, "Object.defineProperty(document, 'hidden', {value: "+is+", configurable: true}), document.dispatchEvent(new Event('visibilitychange'))")
	}
	hide("true")
	<-b.run.closed
	hide("false")
	if q := <-b.run.opened; q != "after=57" {
		t.Errorf("the stream went on with %q", q)
	}
	b.run.events <- event("patch", "58", templates.Announce(templates.AnnounceProps{Text: "again", OOB: true}))
	b.await("document.querySelector('#live-status').textContent === 'again'")
	b.run.events <- event("patch", "59", templates.Stream(templates.StreamProps{OOB: true})) + "event: done\ndata: {}\n\n"
	<-b.run.closed
	hide("true")
	hide("false")
	b.await("!document.querySelector('#stream').hasAttribute('sse-connect')")
	if len(b.run.opened) != 0 {
		t.Error("an ended run's page opened a stream again")
	}
}

func TestTypingShowsViolationsAndLeavesTheFieldsAlone(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("edit")
	b.do(chromedp.SendKeys(chromedp.CSS("#instruction-0"), "more"))
	b.await("document.querySelector('#violations-3 button')?.textContent.includes('Make s4 the final step')")
	b.await("document.querySelector('#editor-actions button').disabled && document.querySelector('#blocked').textContent.includes('two rules')")
	if got := eval[string](b, "document.activeElement.id + ' ' + document.activeElement.value.includes('more')"); got != "instruction-0 true" {
		t.Errorf("typing was disturbed: %s", got)
	}
	if got := b.run.posted(); len(got) != 1 {
		t.Errorf("four keys sent %q", got)
	}
	if w := eval[int](b, "document.querySelector('#graph .node').offsetWidth"); w != templates.NodeWidth {
		t.Errorf("a node of the new picture is %d px wide", w)
	}
	b.silent("edit")
}

func TestAButtonOfTheEditorGoesBeforeWhatIsBeingTyped(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("edit")
	b.do(chromedp.SendKeys(chromedp.CSS("#instruction-0"), "x"), chromedp.Click(chromedp.CSS("#op-add")))
	b.await("document.activeElement.id === 'instruction-4'")
	posts := b.run.posted()
	if posts[len(posts)-1] != "plan add" {
		t.Errorf("the editor sent %q", posts)
	}
	if n := eval[int](b, "document.querySelectorAll('#editor').length"); n != 1 {
		t.Errorf("the page has %d editors", n)
	}
	b.silent("edit")
}

func TestARefusedActionSaysWhy(t *testing.T) {
	b := open(t, 1280, 900)
	b.show("run-waiting")
	b.do(chromedp.Click(chromedp.CSS("#run-actions form button")))
	b.await("document.querySelector('#flash').textContent.includes('The plan has changed meanwhile')")
	if eval[bool](b, "document.querySelector('#run-actions form button').disabled") {
		t.Error("the button stays off after a refusal")
	}
	b.silent("run-waiting")
}
