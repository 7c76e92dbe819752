package fetch

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func base(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://example.com/towns/list?page=2")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// BEHAVIOUR 4.4: what is readable of a page.
func TestWhatIsReadableOfAPage(t *testing.T) {
	for _, tt := range []struct{ what, html, want string }{
		{"paragraphs", "<p>One\n  two</p><p> three <p>four<br>five", "One two\n\nthree\n\nfour\nfive"},
		{"spaces", "a<b> b</b>c <i> d</i>\u00a0e<span> </span>f", "a bc d e f"},
		{"headings", "<h1>Top</h1>text<h3><span>Sub</span></h3><h2></h2>more", "# Top\n\ntext\n\n### Sub\n\nmore"},
		{"lists", "<ul><li>a<li><p>b<ul><li>c</ul>d<li></ul>after", "- a\n- b\n  - c\n  d\n\nafter"},
		{"a heading in a list", "<ul><li><h3>T</h3>text<li><h3></h3>x</ul>", "- ### T\n\n  text\n- x"},
		{"numbers", "<ol start=3><li>c<li value=9>i<li>j<ol><li>k</ol><li>l</ol>", "3. c\n9. i\n10. j\n  1. k\n11. l"},
		{"numbers that are none", "<ol start=x><li value=99999999999999999999>a<li value=1e9>b</ol>", "1. a\n2. b"},
		{"items without a list", "<li>a<li>b", "- a\n- b"},
		{"definitions", "<dl><dt>Tarnby<dd>39,000<dt>Ashwick<dd>210,000</dl>", "Tarnby\n  39,000\nAshwick\n  210,000"},
		{"tables", "<table><tr><th>Town<th>People<tr><td><p>Tarnby</p><td><div>39,000</div><tr><td><td>none<td></table>after", "Town | People\n\nTarnby | 39,000\n| none\n\nafter"},
		{"a quote", "<blockquote><p>one<p>two</blockquote>three", "> one\n\n> two\n\nthree"},
		{"code", "<p>so:<pre>\n  if x {\n\ty  z\n  }\n</pre>and <code>a  b</code><pre> </pre>", "so:\n\n```\n  if x {\n\ty  z\n  }\n```\n\nand a b"},
		{"links", `<a href=/a>one</a>, <a href="b?c=d#e">two</a>, <a href=//other.example/>three</a>.`, "one (https://example.com/a), two (https://example.com/towns/b?c=d#e), three (https://other.example/)."},
		{"links that are none", `<a href=#x>a</a> <a href=javascript:x()>b</a> <a href=mailto:a@b.example>c</a> <a href="http://u:p@x.example">d</a> <a>e</a> <a href="http://[">f</a> <a href="/` +
			strings.Repeat("x", 600) + `">g</a>`, "a b c d e f g"},
		{"links without text", `<a href=/a><svg><text>x</text></svg></a><h2>T <a href=#t>¶</a></h2><a href=/b><img alt="a map"></a>`, "## T\n\n[image: a map] (https://example.com/b)"},
		{"a link to itself", `<a href="https://example.com/a">https://example.com/a</a>`, "https://example.com/a"},
		{"a link around blocks", `<a href=/a><h2>T</h2><p>more</p></a><p>x`, "## T\n\nmore (https://example.com/a)\n\nx"},
		{"another base", `<base href="https://other.example/x/"><a href=y>a</a>`, "a (https://other.example/x/y)"},
		{"a base that is none", `<base href="javascript:x"><a href=y>a</a>`, "a (https://example.com/towns/y)"},
		{"noise", `<nav>n</nav><header>h</header><script>s</script><style>t</style><template>u</template><noscript>v</noscript><iframe>w</iframe><svg><title>x</title></svg>
			<form>Search<input value=y><button>z</button><select><option>o</select><textarea>p</textarea></form><aside>q</aside><footer>r</footer><div role=navigation>n</div>text`, "Search\ntext"},
		{"what is hidden", `<p hidden>a<p aria-hidden=true>b<p style="color:red; DISPLAY : none">c<p style="visibility:hidden">d<p style="display:block">e`, "e"},
		{"a page that a program uncovers", `<body style="visibility:hidden"><p>a`, "a"},
		{"a main part", `<div>before</div><main><header>head</header>a<nav>n</nav></main><div>after</div>`, "head\na"},
		{"a main part by its role", `<div>before</div><div role=main>a</div>`, "a"},
		{"an article", `<div>before</div><article><header><h1>T</h1></header>a<footer>by B</footer></article>`, "# T\n\na\nby B"},
		{"several articles", `<p>before<article>a</article><article>b</article>`, "before\n\na\n\nb"},
		{"an empty main part", `<main><script>x()</script></main><p>a`, "a"},
		{"nothing but navigation", `<nav><ul><li><a href=/a>one</a></ul></nav>`, "- one (https://example.com/a)"},
		{"a title", `<title> Towns &amp;\n cities </title><p>a`, `Towns &\n cities` + "\n\na"},
		{"a title that is the heading", `<title>Towns</title><h1>Towns and cities</h1>a`, "# Towns and cities\n\na"},
		{"a title alone", `<title>Towns</title>`, ""},
		{"what nobody sees", "a\u200bb\u00adc\ufeffd\U000e0041\U000e0042e\x07f", "abcde f"},
		{"entities", "&lt;b&gt; &eacute; &#8212; &nbsp;&unknown;", "<b> é — &unknown;"},
		{"other scripts", "<p>Привет <b>мир</b><p>日本語", "Привет мир\n\n日本語"},
		{"text without a page", "only words", "only words"},
	} {
		got, err := readable(tt.html, base(t))
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.what, got, err, tt.want)
		}
	}
}

// hostile are pages that are small and could become large, or take long.
func hostile(n int) map[string]string {
	long := "https://example.com/" + strings.Repeat("x", 450)
	var bodies, pages strings.Builder
	for i := range n / 20 {
		fmt.Fprintf(&bodies, "<BODY a%d=b>", i)
		fmt.Fprintf(&pages, "<html a%d=b>", i)
	}
	return map[string]string{
		"bodies":     bodies.String() + "a",
		"pages":      pages.String() + "a",
		"ends":       strings.Repeat("<x>", 500) + strings.Repeat("</y>", n/8) + "a",
		"links":      `<base href="` + long + `/">` + strings.Repeat("<a href=y>a</a>", n/15),
		"items":      "<ol>" + strings.Repeat("<li>a", n/5),
		"lists":      strings.Repeat("<ul><li>a", 200) + strings.Repeat("<br>a", n/5),
		"quotes":     strings.Repeat("<blockquote>", 400) + strings.Repeat("a<br>", n/5),
		"cells":      "<table><tr>" + strings.Repeat("<td>", n/4) + "a",
		"comments":   "<table><tr>" + strings.Repeat("<!---->", n/14) + strings.Repeat("<td>a", n/10),
		"formatting": strings.Repeat("<b><i><a href=y>a", n/17),
		"paragraphs": strings.Repeat("<p><b>", n/6) + "a",
		"code":       "<ul><li><ul><li><pre>" + strings.Repeat("a\n", n/2),
		"attributes": "<p " + strings.Repeat("a=b ", n/4) + ">a",
		"entities":   strings.Repeat("&CounterClockwiseContourIntegral;", n/33),
		"articles":   strings.Repeat("<article>a</article>", n/20),
	}
}

// BEHAVIOUR 11: tools that return junk.
func TestAHostilePageDoesNotGrow(t *testing.T) {
	for what, page := range hostile(50_000) {
		got, err := readable(page, base(t))
		if err != nil {
			continue // nested too deep: said in words
		}
		if len(got) > mostText+100 || !strings.Contains(got, "a") && !strings.Contains(got, "∳") {
			t.Errorf("%s: %d bytes, %.100q", what, len(got), got)
		}
	}
	got, err := readable(strings.Repeat("words ", mostText/5), base(t))
	if err != nil || len(got) > mostText+100 || !strings.HasSuffix(got, "\n\n… the page goes on and was cut here") {
		t.Errorf("a long page: %d bytes, %v", len(got), err)
	}
}

func BenchmarkReadable(b *testing.B) {
	pages := hostile(mostBody)
	pages["ordinary"] = strings.Repeat("<h2>Tarnby</h2><p>A town of <b>39,000</b> people, see <a href=/area>its area</a>.</p><ul><li>a<li>b</ul>", mostBody/110)
	for what, page := range pages {
		b.Run(what, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				if _, err := readable(page, base(b)); err != nil {
					b.ReportMetric(1, "refused")
				}
			}
		})
	}
}

// FuzzReadable holds that every page becomes text without what nobody sees, or
// is refused in words.
func FuzzReadable(f *testing.F) {
	for _, page := range hostile(200) {
		f.Add(page)
	}
	f.Add(article)
	f.Add("<table><tr><td><ul><li><pre>\r\n\x00</pre><td>|<td><h1><a href=' /x'>y<hr>z")
	f.Add("<svg><a href=x><title>a</svg><math><mi>b<table><caption><li value=3>")
	f.Fuzz(func(t *testing.T, page string) {
		text, err := readable(page, base(t))
		if err != nil {
			if text != "" {
				t.Errorf("%q comes with %v", text, err)
			}
			return
		}
		if utf8.ValidString(page) && !utf8.ValidString(text) {
			t.Errorf("%q is not UTF-8", text)
		}
		if len(text) > mostText+mostURL || text != strings.TrimSpace(text) || strings.Contains(text, "\n\n\n") && !strings.Contains(text, "```") {
			t.Errorf("%q has space around it or gaps", text)
		}
		for _, r := range text {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || kept(r) != r {
				t.Fatalf("%q holds %q", text, r)
			}
		}
	})
}
