// Package markdown turns foreign Markdown into safe HTML. It is the one place
// where text that a model, a tool or a person wrote becomes markup.
//
// There are two lines of defence: goldmark drops raw HTML and writes only what
// Markdown means, and what is left passes a list of allowed elements. Images
// are not on it, since loading one tells its server that the text was read;
// neither are ids, classes and styles, which could imitate the page.
package markdown

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// Renderer renders Markdown. It may be used by several goroutines at once.
type Renderer struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

// New returns a renderer of CommonMark with tables, strikethrough and bare
// links.
func New() *Renderer {
	return &Renderer{
		md: goldmark.New(goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.Linkify,
		)),
		policy: policy(),
	}
}

// Render returns the text as a component that holds safe HTML.
func (r *Renderer) Render(text string) templ.Component { return templ.Raw(r.HTML(text)) }

// HTML returns the text as safe HTML.
func (r *Renderer) HTML(text string) string {
	var out bytes.Buffer
	if err := r.md.Convert([]byte(text), &out); err != nil {
		return "<p>" + html.EscapeString(text) + "</p>"
	}
	return r.policy.SanitizeReader(&out).String()
}

// Text returns what the Markdown says, on one line and without any markup.
func (r *Renderer) Text(text string) string {
	plain := html.UnescapeString(bluemonday.StrictPolicy().Sanitize(r.HTML(text)))
	return strings.Join(strings.Fields(plain), " ")
}

// policy lists every element and attribute that a text may become.
func policy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li",
		"em", "strong", "del", "code", "pre", "table", "thead", "tbody", "tr", "th", "td",
	)
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.AllowRelativeURLs(false)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}
