package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
)

// injected tries to become elements wherever it is shown, and has the tag of an
// image for a test to find as text.
const injected = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script> & 'quotes' ` + "`"

// brokenPlan has ids that are no ids, as in case 53.
const brokenPlan = `[{"id":"a\"><img src=x onerror=alert(1)>","instruction":"<script>window.hit=1</script> & \"quotes\" ' ` + "`" + `","tool":"search","input":{"q":"<img src=x>"},"depends_on":[]},
	{"id":"final","instruction":"do final","tool":"answer","input":{},"depends_on":["a\"><img src=x onerror=alert(1)>"]}]`

// cutAt is a text whose n-th character is the first of three that take four
// bytes and, in a browser, two units each.
func cutAt(n int) string { return strings.Repeat("x", n-1) + "💰💰💰" }

// asJSON is a value as JSON.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hostileModel plans with ids that break the rules, then with hostile
// instructions and inputs, and answers with the same.
func hostileModel(t *testing.T) *httptest.Server {
	var others atomic.Int32 // requests that are no executor's
	type step map[string]any
	good := asJSON(t, map[string]any{"steps": []step{
		{"id": "s1", "instruction": injected + cutAt(300-len(injected)), "depends_on": []string{}},
		{"id": "s2", "instruction": cutAt(300), "tool": "calculate", "input": map[string]string{"expression": injected + cutAt(80)}, "depends_on": []string{}},
		{"id": "s3", "instruction": cutAt(299), "depends_on": []string{"s1", "s2"}},
	}})
	answer := asJSON(t, map[string]string{"result": injected + cutAt(160)})
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		text := answer
		if !strings.Contains(string(body), "step id=") {
			switch others.Add(1) {
			case 1:
				text = brokenPlan
			case 2:
				text = good
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "m", "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
		})
	}))
	t.Cleanup(models.Close)
	return models
}

// harmless says that no element was made of what is shown, and that no
// character was cut in two.
func harmless(t *testing.T, ctx context.Context) {
	t.Helper()
	const js = `!window.hit && !document.querySelector("img, iframe, [onerror]") && [...document.scripts].every((s) => s.src) &&
		!document.documentElement.outerHTML.includes("\ufffd") && document.documentElement.outerHTML.isWellFormed()`
	if !eval[bool](t, ctx, js) {
		t.Errorf("%s has elements or broken characters of what is shown:\n%s", eval[string](t, ctx, "location.href"), text(ctx))
	}
}

// What a plan, a question and a model say is text wherever it is shown, and what
// is shortened is cut between characters. Ids that break the rules are sent back
// in words.
func TestHostileTextsAreTexts(t *testing.T) { // cases 53 and 55
	models := hostileModel(t)
	app := serve(t, func(c *config) { c.OpenAIBaseURL, c.OpenAIKey, c.Model = models.URL, "k", "openai:m" })
	status, answer := app.send(t, http.MethodPost, "/api/v1/runs", `{"question":"Which?","plan":{"steps":`+brokenPlan+`}}`)
	if status != http.StatusUnprocessableEntity || !strings.Contains(answer, "bad_id") || !json.Valid([]byte(answer)) {
		t.Errorf("ids that are no ids: %d %s", status, answer)
	}
	page := started(t, app, `{"question":`+asJSON(t, cutAt(80)+injected)+`}`)
	id := page[strings.LastIndex(page, "/")+1:]
	ctx := browser(t, 1280, 900)
	shows := func(at, selector, words string) {
		t.Helper()
		do(t, ctx, chromedp.Navigate(at))
		await(t, ctx, fmt.Sprintf(pageReady+` && document.querySelector(%q)?.textContent.includes(%q)`, selector, words))
		harmless(t, ctx)
	}
	shows(page, "#node-s1", `<img src=x`)
	says(t, ctx, "#node-s3", "💰…")
	shows(page+"?view=rejections", "#rejections", `<img src=x onerror=alert(1)>`)
	await(t, ctx, `document.querySelector("#rejections").textContent.includes("An id is 1 to 64 of the characters")`)
	shows(page+"?edit=1", "#editor", `<img src=x`)
	do(t, ctx, chromedp.Navigate(page))
	await(t, ctx, pageReady)
	click(t, ctx, `#run-actions form[action$="/approve"] button`)
	says(t, ctx, "#run-head", "Partly")
	harmless(t, ctx)
	shows(page, "#answer", `<img src=x`)
	shows(page+"?step=s1", "#panel .panel-instruction", injected)
	shows(page+"?step=s2", "#panel", `<img src=x`)
	shows(page+"?view=trace", "#trace", "executor")
	eval[bool](t, ctx, `(document.querySelectorAll("#trace details").forEach((d) => { d.open = true }), true)`)
	await(t, ctx, `[...document.querySelectorAll("#trace .call")].every((c) => c.querySelector(".part")) && document.querySelectorAll("#trace .call").length === 5`)
	harmless(t, ctx)
	shows(page+"?view=timeline", "#waves", "s1")
	shows(app.URL()+"/runs", "#rows", `<img src=x`)
	shows(app.URL(), "#latest", `<img src=x`)
	shared := app.call(t, http.MethodPost, "/api/v1/runs/"+id+"/shares", `{"expires_in":"1h","trace":true}`)
	shows(fmt.Sprint(shared["url"]), "#run", `<img src=x`)

	for _, path := range []string{"", "/trace", "/versions", "/export?format=json", "/export?format=md", "/export?format=mermaid", "/export?format=dot", "/export?format=svg"} {
		status, answer := app.send(t, http.MethodGet, "/api/v1/runs/"+id+path, "")
		if status != http.StatusOK || !utf8.ValidString(answer) || strings.Contains(answer, "\ufffd") || strings.Contains(strings.ToLower(answer), `\ufffd`) {
			t.Errorf("%s: %d, or a character was cut in two: %.3000s", path, status, answer)
		}
		if strings.HasSuffix(path, "svg") && (strings.Contains(answer, "<img") || strings.Contains(answer, "<script")) {
			t.Errorf("the picture has elements of what it shows: %s", answer)
		}
	}
}
