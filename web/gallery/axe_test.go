package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe reads the checker of accessibility, https://github.com/dequelabs/axe-core.
func axe(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PLANWAVE_NPM")
	if folder == "" {
		folder = filepath.Join("..", "..", "tmp", "npm")
	}
	b, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v: get axe-core with scripts/npm.sh; make test does", err)
	}
	return string(b)
}

// finding is a rule that a page breaks.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// audit runs the named rules over the page. It goes around the content policy, as
// a person's own tools do.
func (b *tab) audit(script, rules string) []finding {
	b.t.Helper()
	eval[bool](b, script+"; true")
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`new Promise((done, failed) => axe.run(document, {resultTypes: ["violations"],
		runOnly: `+rules+`}).then((r) => done(JSON.stringify(r.violations)), failed))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	var found []finding
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.t.Fatalf("%v in %s", err, text)
	}
	return found
}

// No page breaks a rule of WCAG 2.2 AA or of good practice, in either scheme.
// The dark one has the same elements, so only the rules about colours are asked.
func TestPagesAreAccessible(t *testing.T) { // UX, Look: WCAG 2.2 AA
	script := axe(t)
	b := open(t, 1280, 900)
	schemes := map[string]string{
		"light": `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`,
		"dark":  `["color-contrast", "link-in-text-block"]`,
	}
	for theme, rules := range schemes {
		for _, s := range states() {
			b.show(s.name + "?theme=" + theme)
			for _, f := range b.audit(script, rules) {
				var where []string
				for _, n := range f.Nodes {
					where = append(where, fmt.Sprintf("%.300s\n\t\t%s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n\t\t")))
				}
				t.Errorf("%s, %s: %s (%s), %d times:\n\t%s", s.name, theme, f.Help, f.ID, len(f.Nodes), strings.Join(where[:min(len(where), 3)], "\n\t"))
			}
		}
	}
}
