package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"pgregory.net/rapid"
)

// injections are texts that try to become more than text.
func injections() []string {
	return []string{
		`<script>alert(1)</script>`,
		`<img src=x onerror=alert(1)>`,
		`![tracker](https://evil.example/pixel.png)`,
		`![x](x "onerror=alert(1)")`,
		`[click](javascript:alert(1))`,
		`[click](JaVaScRiPt:alert(1))`,
		`[click](java&#115;cript:alert(1))`,
		"[click](java\tscript:alert(1))",
		`[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
		`[click](vbscript:msgbox(1))`,
		`[click](/runs/1/cancel)`,
		`[click](//evil.example "x")`,
		`<javascript:alert(1)>`,
		`<a href="https://ok.example" onclick="alert(1)">x</a>`,
		`<svg onload=alert(1)><use href="data:x"/></svg>`,
		`<iframe src="https://evil.example"></iframe>`,
		`<form action="/runs"><button>x</button></form>`,
		`<style>body{display:none}</style>`,
		`<div id="run-head" class="banner" style="position:fixed">x</div>`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
		"```\"><script>alert(1)</script>\ncode\n```",
		"```js onload=alert(1)\n</code></pre><script>alert(1)</script>\n```",
		"| a | b |\n|:-|-:|\n| <script>x</script> | ![y](z) |",
		`<div hx-get="/x" hx-trigger="load" hx-on:click="alert(1)">x</div>`,
		"[ref]: javascript:alert(1)\n[ref]",
		"\"'><svg/onload=alert(1)>",
		`&lt;script&gt;alert(1)&lt;/script&gt;`,
		"\x00<scr\x00ipt>alert(1)</script>",
		`[x](https://ok.example" onmouseover="alert(1))`,
		`# <a id="panel" name="panel">x</a>`,
	}
}

// safe fails when the HTML holds an element or attribute that is not allowed.
func safe(t interface{ Errorf(string, ...any) }, text, out string) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(out))
	if err != nil {
		t.Errorf("%q: %v", text, err)
		return
	}
	allowed := " p br hr h1 h2 h3 h4 h5 h6 blockquote ul ol li em strong del code pre table thead tbody tr th td a "
	doc.Find("body *").Each(func(_ int, s *goquery.Selection) {
		name := goquery.NodeName(s)
		if !strings.Contains(allowed, " "+name+" ") {
			t.Errorf("%q becomes <%s>: %s", text, name, out)
		}
		for _, a := range s.Nodes[0].Attr {
			switch name + " " + a.Key {
			case "a rel", "a target", "ol start", "th align", "td align":
			case "a href":
				if !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") {
					t.Errorf("%q links to %q", text, a.Val)
				}
			default:
				t.Errorf("%q becomes <%s %s=%q>", text, name, a.Key, a.Val)
			}
		}
	})
	doc.Find("a[href]").Each(func(_ int, s *goquery.Selection) {
		if rel := s.AttrOr("rel", ""); !strings.Contains(rel, "nofollow") || !strings.Contains(rel, "noopener") ||
			!strings.Contains(rel, "noreferrer") {
			t.Errorf("%q: a link's rel is %q", text, rel)
		}
	})
	if head := doc.Find("head *").Length(); head > 0 {
		t.Errorf("%q becomes %d elements of the head: %s", text, head, out)
	}
}

func TestInjectionsStayText(t *testing.T) {
	r := New()
	for _, text := range injections() {
		safe(t, text, r.HTML(text))
	}
}

func TestInjectionsInsideAnythingStayText(t *testing.T) {
	r := New()
	corpus := injections()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(append(corpus, "\n\n", "> ", "- ", "    ", "`", "**", "|", "<", "\"", "--")), 1, 8).Draw(t, "parts")
		text := strings.Join(parts, rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "glue"))
		safe(t, text, r.HTML(text))
	})
}

func TestMarkdownMeansWhatItSays(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"paragraphs":    {"One.\n\nTwo **bold**.", "<p>One.</p>\n<p>Two <strong>bold</strong>.</p>\n"},
		"list":          {"3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		"code":          {"`a < b`", "<p><code>a &lt; b</code></p>\n"},
		"language":      {"```go\nx\n```", "<pre><code>x\n</code></pre>\n"},
		"raw is gone":   {"a <b>x</b>", "<p>a x</p>\n"},
		"link":          {"[a](https://a.example)", `<p><a href="https://a.example" rel="nofollow noreferrer noopener" target="_blank">a</a></p>` + "\n"},
		"image is text": {"![alt](https://a.example/x.png)", "<p></p>\n"},
		"table":         {"|a|\n|-:|\n|1|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n"},
		"empty":         {"", ""},
	}
	r := New()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := r.HTML(tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestComponentWritesTheHTML(t *testing.T) {
	var out bytes.Buffer
	if err := New().Render("*x*").Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "<p><em>x</em></p>\n" {
		t.Errorf("got %q", out.String())
	}
}

func BenchmarkAnswer(b *testing.B) {
	r := New()
	text := strings.Repeat("Quillhaven has **1,200.0** people per km².\n\n- one\n- two\n\n", 10)
	for b.Loop() {
		r.HTML(text)
	}
}

func TestTextIsWhatItSays(t *testing.T) {
	for in, want := range map[string]string{
		"**Quillhaven** is the *densest*":     "Quillhaven is the densest",
		"# Title\n\n- one\n- two":             "Title one two",
		"a < b & c <script>alert(1)</script>": "a < b & c alert(1)",
		"":                                    "",
	} {
		if got := New().Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}
