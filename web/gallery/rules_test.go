package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// everything is every page and every fragment.
func everything() []state { return append(states(), fragments()...) }

func TestNothingInline(t *testing.T) {
	handler := regexp.MustCompile(`^(on|hx-on)`)
	for _, s := range everything() {
		doc := parse(t, render(t, s.component))
		doc.Find("*").Each(func(_ int, el *goquery.Selection) {
			for _, a := range el.Nodes[0].Attr {
				if a.Key == "style" || handler.MatchString(a.Key) {
					t.Errorf("%s: <%s> has the attribute %s=%q", s.name, goquery.NodeName(el), a.Key, a.Val)
				}
				if slices.Contains([]string{"href", "src", "action", "formaction"}, a.Key) && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					t.Errorf("%s: <%s %s=%q>", s.name, goquery.NodeName(el), a.Key, a.Val)
				}
			}
		})
		if n := doc.Find("style").Length(); n > 0 {
			t.Errorf("%s has %d <style>", s.name, n)
		}
		doc.Find("script").Each(func(_ int, el *goquery.Selection) {
			if src := el.AttrOr("src", ""); !strings.HasPrefix(src, "/static/") || strings.TrimSpace(el.Text()) != "" {
				t.Errorf("%s has a script that is no file of ours: src=%q %q", s.name, src, el.Text())
			}
		})
	}
}

func TestIDsAreUnique(t *testing.T) {
	for _, s := range everything() {
		seen := map[string]bool{}
		parse(t, render(t, s.component)).Find("[id]").Each(func(_ int, el *goquery.Selection) {
			id := el.AttrOr("id", "")
			if id == "" || seen[id] {
				t.Errorf("%s has the id %q twice, or it is empty", s.name, id)
			}
			seen[id] = true
		})
	}
}

func TestARunsPageHasEveryPartThatIsReplaced(t *testing.T) {
	parts := []string{
		"run", "stream", "live-status", "run-head", "run-actions", "run-notice", "approvals", "answer", "graph", "panel", "rejections", "waves", "trace",
	}
	for _, s := range states() {
		if !strings.HasPrefix(s.name, "run-") {
			continue
		}
		doc := parse(t, render(t, s.component))
		for _, id := range parts {
			if doc.Find("#"+id).Length() != 1 {
				t.Errorf("%s has no #%s: a fragment would be lost", s.name, id)
			}
		}
	}
}

func TestEveryStatusHasIconAndWord(t *testing.T) {
	for _, s := range everything() {
		parse(t, render(t, s.component)).Find(".status, .state").Each(func(_ int, el *goquery.Selection) {
			if strings.TrimSpace(el.Text()) == "" || !strings.Contains(el.Find("svg use").AttrOr("href", ""), "/icons.svg#") {
				html, _ := el.Html()
				t.Errorf("%s shows a status without icon or word: %s", s.name, html)
			}
		})
	}
}

// UX: statuses are not told by colour alone, so that no two look the same.
func TestNoTwoStepStatusesLookTheSame(t *testing.T) {
	seen := map[string]string{}
	for _, s := range fragments() {
		if !strings.HasPrefix(s.name, "node-") || s.name == "node-changed" || s.name == "node-estimated" || s.name == "node-stack" {
			continue
		}
		el := parse(t, render(t, s.component)).Find(".status")
		look := el.Text() + el.Find("use").AttrOr("href", "")
		if other, taken := seen[look]; taken {
			t.Errorf("%s looks like %s", s.name, other)
		}
		seen[look] = s.name
	}
	if len(seen) != len(plan.StepStatuses())+1 {
		t.Errorf("%d looks for %d statuses and kept", len(seen), len(plan.StepStatuses()))
	}
}

func TestEveryFileThatIsNamedIsThere(t *testing.T) {
	h := handler()
	icons := fetch(t, h, regexp.MustCompile(`/static/[^"#]+/icons\.svg`).FindString(render(t, states()[0].component)))
	seen := map[string]bool{}
	for _, s := range everything() {
		parse(t, render(t, s.component)).Find("link[href], script[src], use[href]").Each(func(_ int, el *goquery.Selection) {
			file, icon, _ := strings.Cut(el.AttrOr("href", el.AttrOr("src", "")), "#")
			if icon != "" && !strings.Contains(icons, `id="`+icon+`"`) {
				t.Errorf("%s uses the icon %q, which the sprite does not have", s.name, icon)
			}
			if !seen[file] && fetch(t, h, file) == "" {
				t.Errorf("%s names %s, which is not there", s.name, file)
			}
			seen[file] = true
		})
	}
}

func fetch(t *testing.T, h http.Handler, url string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	if w.Code != http.StatusOK {
		return ""
	}
	return w.Body.String()
}

func TestControlsHaveNames(t *testing.T) {
	for _, s := range states() {
		doc := parse(t, render(t, s.component))
		doc.Find("button, a, summary").Each(func(_ int, el *goquery.Selection) {
			if strings.TrimSpace(el.Text()) == "" && el.AttrOr("aria-label", "") == "" {
				html, _ := goquery.OuterHtml(el)
				t.Errorf("%s has a control without a name: %s", s.name, html)
			}
		})
		doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, el *goquery.Selection) {
			labelled := el.AttrOr("aria-label", "") != "" || el.Closest("label").Length() > 0
			doc.Find("label[for]").Each(func(_ int, l *goquery.Selection) {
				labelled = labelled || l.AttrOr("for", "") == el.AttrOr("id", "-")
			})
			if !labelled {
				t.Errorf("%s has the field %s without a label", s.name, el.AttrOr("name", ""))
			}
		})
	}
}

// BEHAVIOUR 11: all text from models, tools and people is untrusted in the page.
func TestHostileTextStaysText(t *testing.T) {
	for _, s := range states() {
		if !strings.HasSuffix(s.name, "-hostile") {
			continue
		}
		out := render(t, s.component)
		doc := parse(t, out)
		if n := doc.Find("img, iframe, svg[onload], [onerror], [onmouseover]").Length(); n > 0 {
			t.Errorf("%s: hostile text became %d elements or attributes", s.name, n)
		}
		if n := doc.Find("script").Length(); n != 3 {
			t.Errorf("%s has %d scripts, not our 3", s.name, n)
		}
		doc.Find(`[hx-get="/x"], a[href^="javascript"]`).Each(func(_ int, el *goquery.Selection) {
			t.Errorf("%s: hostile text became <%s>", s.name, goquery.NodeName(el))
		})
		if !strings.Contains(doc.Text(), "<script>alert(1)</script>") {
			t.Errorf("%s does not show the text as it is", s.name)
		}
	}
}

func TestAHostileIDStaysInItsRule(t *testing.T) {
	css := stylesheets()["hostile.css"]
	for i, line := range strings.Split(strings.TrimSpace(css), "\n") {
		if !regexp.MustCompile(`^(#graph (\.sheet|\[data-band="[0-9]+"\])|#(node|fold)-([A-Za-z0-9_-]|\\[0-9a-f]+ )*)\{[a-z:0-9.;px-]*\}$`).MatchString(line) {
			t.Errorf("line %d is not one rule: %q", i+1, line)
		}
	}
}

func TestTextareasKeepTheirText(t *testing.T) {
	e := runEditHostile(page("")).Editor
	e.Steps[0].Instruction = "\n  two\n\nlines  "
	doc := parse(t, render(t, states()[0].component))
	if got := doc.Find("#question").Text(); got != "" {
		t.Errorf("an empty question is shown as %q", got)
	}
	r := runEditHostile(page(""))
	r.Editor = e
	doc = parse(t, render(t, editState(r)))
	if got := doc.Find(`[name="steps.0.instruction"]`).Text(); got != "\n  two\n\nlines  " {
		t.Errorf("an instruction is shown as %q", got)
	}
}

func editState(r templates.RunPageProps) templ.Component { return templates.Run(r) }
