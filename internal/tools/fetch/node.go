package fetch

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// noise says whether an element is no part of what a page says.
func (r *reader) noise(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Embed, atom.Svg,
		atom.Canvas, atom.Audio, atom.Video, atom.Noembed, atom.Noframes, atom.Map, atom.Datalist:
		return true
	default:
	}
	if hidden(n) {
		return true
	}
	return !r.all && r.furniture(n)
}

// furniture says whether an element is part of the site rather than of the
// page.
func (r *reader) furniture(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Button, atom.Select, atom.Textarea, atom.Input, atom.Dialog:
		return true
	case atom.Header, atom.Footer, atom.Aside:
		return r.main == 0
	default:
	}
	switch strings.ToLower(attr(n, "role")) {
	case "navigation", "search", "banner", "contentinfo", "complementary", "dialog", "alertdialog", "menu", "toolbar":
		return true
	}
	return false
}

// hidden says whether nobody who looks at the page sees an element.
func hidden(n *html.Node) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false // a program in the browser shows it
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && strings.EqualFold(a.Val, "true"):
			return true
		case a.Key == "style":
			style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
			return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		}
	}
	return false
}

// mainOf is the one main part of a page, else its one article, else all of it.
func mainOf(doc *html.Node) *html.Node {
	for _, is := range []func(*html.Node) bool{isMain, isElement(atom.Article)} {
		var found []*html.Node
		for n := range doc.Descendants() {
			if is(n) && !hidden(n) {
				found = append(found, n)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return doc
}

func isMain(n *html.Node) bool {
	return n.Type == html.ElementNode && (n.DataAtom == atom.Main || strings.EqualFold(attr(n, "role"), "main"))
}

func isElement(a atom.Atom) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.Type == html.ElementNode && n.DataAtom == a && n.Namespace == "" }
}

// find is the first element that fits, or nil.
func find(doc *html.Node, is func(*html.Node) bool) *html.Node {
	for n := range doc.Descendants() {
		if is(n) {
			return n
		}
	}
	return nil
}

// baseOf is the address that links are relative to.
func baseOf(doc *html.Node, page *url.URL) *url.URL {
	n := find(doc, isElement(atom.Base))
	if n == nil {
		return page
	}
	u, err := page.Parse(strings.TrimSpace(attr(n, "href")))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return page
	}
	return u
}

// attr is an attribute of an element, or "".
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf is all text in a node as it stands in the source.
func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode && (c.Parent.DataAtom != atom.Script && c.Parent.DataAtom != atom.Style):
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// oneLine is text with every run of white space as one space.
func oneLine(text string) string { return strings.Join(strings.Fields(strings.Map(kept, text)), " ") }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
