package fetch

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var errNested = errors.New("is nested too deep to be read")

// readable is the text of an HTML page: headings, lists, tables and links in a
// form that reads as text, without scripts, styles, navigation and controls.
// Where the page says what its main part is, that alone.
func readable(page string, base *url.URL) (string, error) {
	doc, err := html.Parse(strings.NewReader(fewRoots(page)))
	if err != nil {
		return "", errNested
	}
	r := reader{base: baseOf(doc, base)}
	text := r.text(mainOf(doc))
	if text == "" {
		text = r.text(doc)
	}
	if text == "" {
		r.all = true
		text = r.text(doc)
	}
	title := oneLine(textOf(find(doc, isElement(atom.Title))))
	if text == "" || title == "" || strings.Contains(firstLine(text), title) {
		return text, nil
	}
	return title + "\n\n" + text, nil
}

var rootTag = regexp.MustCompile(`(?i)<(?:html|body)`)

// mostRoots is how many tags that begin a page or its body are read as such.
const mostRoots = 20

// fewRoots renames the tags of a page that begin it again and again. The parser
// compares the attributes of each with those of all before, so that a page made
// of them takes an hour.
func fewRoots(page string) string {
	n := 0
	return rootTag.ReplaceAllStringFunc(page, func(tag string) string {
		if n++; n <= mostRoots {
			return tag
		}
		return "<again-" + tag[1:]
	})
}

// reader walks a page and writes its text.
type reader struct {
	writer
	base *url.URL
	all  bool  // navigation, too
	main int   // how many main parts and articles are around
	next []int // the numbers of the next items of the lists around
}

func (r *reader) text(n *html.Node) string {
	if n == nil {
		return ""
	}
	r.writer, r.main = writer{}, 0
	if n.Type != html.DocumentNode {
		r.main = 1
	}
	r.node(n)
	return r.done()
}

func (r *reader) node(n *html.Node) {
	switch {
	case r.full():
	case n.Type == html.TextNode:
		r.write(n.Data)
	case n.Type == html.DocumentNode:
		r.children(n)
	case n.Type == html.ElementNode && !r.noise(n):
		r.element(n)
	}
}

func (r *reader) children(n *html.Node) {
	for c := range n.ChildNodes() {
		r.node(c)
	}
}

func (r *reader) element(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		r.link(n)
	case atom.Br:
		r.br(1)
	case atom.Hr:
		r.br(2)
	case atom.Img:
		if alt := oneLine(attr(n, "alt")); alt != "" {
			r.write(" [image: " + alt + "] ")
		}
	case atom.Pre:
		r.br(2)
		r.verbatim(textOf(n))
		r.br(2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(n.Data[1] - '0')
		r.block(n, 2, strings.Repeat("#", level)+" ", "")
	case atom.Li:
		r.item(n)
	case atom.Blockquote:
		r.block(n, 2, "", "> ")
	case atom.Dd:
		r.block(n, 1, "", indent)
	case atom.Ul, atom.Ol, atom.Menu:
		r.list(n)
	case atom.Tr:
		r.br(1)
		r.children(n)
		r.parts = 0
		r.br(1)
	case atom.Td, atom.Th:
		r.cell(n)
	case atom.Main, atom.Article:
		r.main++
		r.block(n, 2, "", "")
		r.main--
	default:
		r.block(n, breaks(n), "", "")
	}
}

// breaks is how many line breaks stand around an element.
func breaks(n *html.Node) int {
	switch n.DataAtom {
	case atom.P, atom.Table, atom.Figure, atom.Dl, atom.Section, atom.Details, atom.Fieldset:
		return 2
	case atom.Div, atom.Header, atom.Footer, atom.Aside, atom.Address, atom.Figcaption, atom.Dt, atom.Caption,
		atom.Form, atom.Summary, atom.Legend, atom.Center, atom.Body, atom.Nav, atom.Option, atom.Hgroup:
		return 1
	default:
		return 0
	}
}

// block writes an element between line breaks, with a mark before its first
// line and more before every one.
func (r *reader) block(n *html.Node, lines int, mark, more string) {
	r.br(lines)
	back := r.enter(mark, more)
	r.children(n)
	back()
	r.br(lines)
}

// unnumbered is the number of an item in a list without numbers.
const unnumbered = -1 << 31

// list writes a list.
func (r *reader) list(n *html.Node) {
	first := unnumbered
	if n.DataAtom == atom.Ol {
		first = whole(attr(n, "start"), 1)
	}
	lines := 2
	if len(r.next) > 0 {
		lines, r.breaks = 1, min(r.breaks, 1)
	}
	r.next = append(r.next, first)
	r.block(n, lines, "", "")
	r.next = r.next[:len(r.next)-1]
}

// item writes an item of a list.
func (r *reader) item(n *html.Node) {
	mark := "- "
	if len(r.next) > 0 && r.next[len(r.next)-1] != unnumbered {
		at := &r.next[len(r.next)-1]
		*at = whole(attr(n, "value"), *at)
		mark = strconv.Itoa(*at) + ". "
		*at++
	}
	r.block(n, 1, mark, indent)
}

// mostNumber is the highest number that is believed of an item.
const mostNumber = 1_000_000_000

// whole is a text as a whole number, or another where it is none.
func whole(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < -mostNumber || n > mostNumber {
		return otherwise
	}
	return n
}

// cell writes a cell of a table, parted from the one before.
func (r *reader) cell(n *html.Node) {
	for c := n.PrevSibling; c != nil; c = c.PrevSibling {
		if c.Type == html.ElementNode {
			r.part()
			break
		}
	}
	end := r.startCell()
	r.children(n)
	end()
}

// link writes the text of a link and its address after it.
func (r *reader) link(n *html.Node) {
	if c := n.FirstChild; c != nil && c.Type == html.TextNode && (c.Data == "¶" || c.Data == "#") {
		return // the handle of a heading
	}
	before := r.len()
	r.children(n)
	if to := r.address(attr(n, "href")); to != "" && r.len() > before && !strings.HasSuffix(r.since(before), to) {
		r.append(" (" + to + ")")
	}
}

// mostLink is how long an address is that is still written out, in bytes.
const mostLink = 500

// address is where a link leads, or "" where that is not another page.
func (r *reader) address(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || strings.HasPrefix(href, "#") || len(href) > mostLink {
		return ""
	}
	u, err := r.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return ""
	}
	if to := u.String(); len(to) <= mostLink {
		return to
	}
	return ""
}
