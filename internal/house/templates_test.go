package house

import (
	"regexp"
	"strings"
	"testing"
)

// markup is what a template must not contain, since the content policy refuses
// it or since it would let foreign text become code.
func markup() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"an inline style, which the content policy refuses: use a class":        regexp.MustCompile(`(?i)[\s"]style\s*=|<style\b`),
		"an inline handler, which the content policy refuses: listen in a file": regexp.MustCompile(`(?i)\s(on[a-z]+|hx-on[:a-z-]*)\s*=[{"' ]`),
		"a javascript: address":                            regexp.MustCompile(`(?i)javascript:`),
		"a css or script block, which templ writes inline": regexp.MustCompile(`(?m)^(css|script)\s+\w+\(`),
		"text that is not escaped":                         regexp.MustCompile(`templ\.(Raw|SafeURL|SafeCSS|JSUnsafe\w*)\b`),
	}
}

// unescaped are the places that may pass templ text as it is, each with its
// reason.
var unescaped = map[string]string{}

func TestTemplatesHoldToTheContentPolicy(t *testing.T) {
	for _, name := range files(t, ".templ") {
		text := readFile(t, name)
		for what, pattern := range markup() {
			if unescaped[name] != "" && what == "text that is not escaped" {
				continue
			}
			for _, at := range pattern.FindAllStringIndex(text, -1) {
				t.Errorf("%s:%d: %s", name, lineOf(text, at[0]), what)
			}
		}
		for _, at := range scriptsInline(text) {
			t.Errorf("%s:%d: an inline script, which the content policy refuses: use a file", name, lineOf(text, at))
		}
	}
}

// scriptsInline returns where text opens a script element that is no reference
// to a file.
func scriptsInline(text string) []int {
	var found []int
	for _, at := range regexp.MustCompile(`(?is)<script\b(.*?)>(\s*</script>)?`).FindAllStringSubmatchIndex(text, -1) {
		if attributes := text[at[2]:at[3]]; !strings.Contains(attributes, "src=") || at[4] < 0 {
			found = append(found, at[0])
		}
	}
	return found
}

func lineOf(text string, at int) int { return strings.Count(text[:at], "\n") + 1 }

func TestTheRulesForTemplatesFindWhatTheyForbid(t *testing.T) {
	bad := []string{
		`<p style="color:red">`, `<p class="a" style={ css }>`, "<style>", `<a onclick="x()">`, `<a hx-on:click="x()">`,
		`<a href="javascript:x()">`, "script hello() {", "css red() {", "@templ.Raw(s)", "href={ templ.SafeURL(u) }",
		"<script>x()</script>", `<script src="/a.js">x()</script>`, `<script type="module">`,
	}
	for _, text := range bad {
		found := len(scriptsInline(text))
		for _, pattern := range markup() {
			found += len(pattern.FindAllString(text, -1))
		}
		if found == 0 {
			t.Errorf("nothing is found in %s", text)
		}
	}
	good := `<p class="style">on = 1</p><script src="/a.js" defer></script><script src={ u } defer></script>`
	found := len(scriptsInline(good))
	for what, pattern := range markup() {
		if pattern.MatchString(good) {
			t.Errorf("%s is found in %s", what, good)
		}
	}
	if found != 0 {
		t.Errorf("an inline script is found in %s", good)
	}
}
