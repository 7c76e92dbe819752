package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const article = `<!doctype html><html lang="en"><head><title>Tarnby in figures</title><style>p{color:red}</style></head>
<body><nav><a href="/">Home</a></nav><main><h1>Tarnby</h1><p>A town of <b>39,000</b> people.
See <a href="/area">its area</a>.</p><script>track()</script></main><footer>© 2026</footer></body></html>`

// BEHAVIOUR 4.4: fetch_url, and 11: the operator allows an address.
func TestAPageIsReadAsText(t *testing.T) {
	var asked http.Header
	at := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/town", http.StatusMovedPermanently)
			return
		}
		say(w, article)
	})
	r := tool(t, "127.0.0.1", Config{Version: "1.2.3", About: "https://planwave.example/about"})
	const text = "Tarnby in figures\n\n# Tarnby\n\nA town of 39,000 people. See its area (%[1]s/area)."
	want := fmt.Sprintf(text, at)
	if out := fetched(t, r, " "+at+"/town#people\n"); out.IsError || out.Text != want || out.Data != nil {
		t.Errorf("the page is %q, %s", out.Text, out.Data)
	}
	if got := asked.Get("User-Agent"); got != "Planwave/1.2.3 (+https://planwave.example/about)" {
		t.Errorf("the agent is %q", got)
	}
	want = fmt.Sprintf("(%[1]s/old redirects to %[1]s/town)\n\n", at) + want
	if out := fetched(t, r, at+"/old"); out.IsError || out.Text != want {
		t.Errorf("the page by a redirect is %q", out.Text)
	}
	info, _ := r.Get(Name)
	if !info.ReadOnly {
		t.Error("fetch_url waits for a person")
	}
	if out, err := r.Call(t.Context(), Name, json.RawMessage(`"`+at+`/town"`)); err != nil || out.IsError {
		t.Errorf("the address as a text is %q, %v", out.Text, err)
	}
}

func TestJSONAndPlainTextAreGivenAsTheyAre(t *testing.T) {
	for _, tt := range []struct{ kind, body, text, data string }{
		{"application/json", `{"population": 39000}`, `{"population": 39000}`, `{"population": 39000}`},
		{"application/problem+json; charset=utf-8", `[1]`, `[1]`, `[1]`},
		{"text/json", "\xef\xbb\xbf[1]", "[1]", "[1]"},
		{"application/json", `{"broken`, `{"broken`, ``},
		{"text/plain", "a  b\n<p>c", "a  b\n<p>c", ""},
		{"text/csv; header=present", "a,b\n1,2\n", "a,b\n1,2\n", ""},
		{"application/atom+xml", "<feed/>", "<feed/>", ""},
		{"application/yaml", "a: 1", "a: 1", ""},
		{"application/octet-stream", "only words", "only words", ""},
		{"", "only words", "only words", ""},
		{"nonsense;;;=", "only words", "only words", ""},
		{"application/octet-stream", "<!doctype html><p>words</p>", "words", ""},
	} {
		out := fetched(t, tool(t, "127.0.0.1", Config{}), answering(t, tt.kind, tt.body))
		if out.IsError || out.Text != tt.text || string(out.Data) != tt.data {
			t.Errorf("%q as %q is %q, %s", tt.body, tt.kind, out.Text, out.Data)
		}
	}
}

func TestCharactersAreReadAsTheyAreMeant(t *testing.T) {
	for _, tt := range []struct{ kind, body, want string }{
		{"text/html; charset=iso-8859-1", "Qu\xeblle", "Quëlle"},
		{"text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		{"text/html; charset=shift_jis", "\x93\xfa\x96\x7b", "日本"},
		{"text/plain; charset=utf-16", "\xff\xfea\x00\xeb\x00", "aë"},
		{"text/plain; charset=utf-16le", "\x1f\x04\x40\x04", "Пр"},
		{"text/plain", "\xef\xbb\xbfnaïve", "naïve"},
		{"text/plain", "Qu\xeblle", "Quëlle"},
		{"text/plain", strings.Repeat(" ", 2000) + "naïve", strings.Repeat(" ", 2000) + "naïve"},
		{"text/html; charset=iso-8859-1", "naïve", "naïve"}, // it says one thing and is another
		{"text/html; charset=utf-8", "Qu\xeblle", "Qu\uFFFDlle"},
		{"text/plain; charset=nothing", "naïve", "naïve"},
		{"application/json; charset=latin1", `"naïve"`, `"naïve"`},
	} {
		out := fetched(t, tool(t, "127.0.0.1", Config{}), answering(t, tt.kind, tt.body))
		if out.IsError || out.Text != tt.want {
			t.Errorf("%q as %q is %q, want %q", tt.body, tt.kind, out.Text, tt.want)
		}
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	for _, tt := range []struct{ kind, body, says string }{
		{"image/png", "\x89PNG\r\n\x1a\n", `of the type "image/png", which cannot be read`},
		{"application/pdf", "%PDF-1.7", `of the type "application/pdf"`},
		{"image/svg+xml", "<svg/>", `of the type "image/svg+xml"`},
		{"", "\x89PNG\r\n\x1a\n\x00\x00", `of the type "image/png"`},
		{"application/octet-stream", "\x00\x01\x02\x03", `of the type "application/octet-stream"`},
		{"text/plain", "words\x00\x01", `is not text, although its type is "text/plain"`},
		{"text/html", "<p>words\x00", "is not text"},
		{"text/html", "", "has no text"},
		{"text/html", "<div id=root></div><script>render()</script>", "has no text"},
		{"text/html", strings.Repeat("<b>", 600) + "deep", "nested too deep"},
	} {
		out := fetched(t, tool(t, "127.0.0.1", Config{}), answering(t, tt.kind, tt.body))
		if !out.IsError || out.Code != "" || !strings.Contains(out.Text, tt.says) || !strings.HasPrefix(out.Text, "http://127.0.0.1:") {
			t.Errorf("%q as %q is %q", tt.body[:min(len(tt.body), 80)], tt.kind, out.Text)
		}
	}
}

func TestAnErrorOfTheServerIsToldWithWhatItSays(t *testing.T) {
	at := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/html":
			w.WriteHeader(http.StatusNotFound)
			say(w, "<title>Gone</title><p>No such town"+strings.Repeat(" x", 1000))
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			say(w, `{"error":"slowly"}`)
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.WriteHeader(http.StatusTeapot)
			say(w, "\x89PNG")
		case "/odd":
			w.WriteHeader(599)
		}
	})
	r := tool(t, "127.0.0.1", Config{})
	for path, says := range map[string][]string{
		"/html": {"the status 404 Not Found.", "It says: Gone", "No such town"}, "/json": {"429 Too Many Requests", `{"error":"slowly"}`},
		"/image": {"418 I'm a teapot."}, "/odd": {"the status 599."},
	} {
		out := fetched(t, r, at+path)
		if !out.IsError || out.Data != nil || len(out.Text) > 700 {
			t.Errorf("%s is %q", path, out.Text)
		}
		mentions(t, out.Text, says...)
	}
}

// packed is text in gzip, so many times over.
func packed(t *testing.T, text []byte, times int) []byte {
	t.Helper()
	for range times {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text = b.Bytes()
	}
	return text
}

// BEHAVIOUR 11: bodies over the limit are refused.
func TestTheSizeOfAPageIsLimited(t *testing.T) {
	fits := bytes.Repeat([]byte("a"), mostBody)
	bomb := packed(t, make([]byte, 64<<20), 1)
	at := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/fits":
			say(w, string(fits))
		case "/told":
			w.Header().Set("Content-Length", "9000000000")
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(fits); err != nil {
					return
				}
			}
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			say(w, string(packed(t, []byte("small"), 1)))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			say(w, string(bomb))
		case "/twice":
			w.Header().Set("Content-Encoding", "gzip, gzip")
			say(w, string(packed(t, []byte("small"), 2)))
		case "/broken":
			w.Header().Set("Content-Encoding", "gzip")
			say(w, "not gzip at all")
		case "/other":
			w.Header().Set("Content-Encoding", "br")
			say(w, "packed otherwise")
		case "/short":
			w.Header().Set("Content-Length", "100")
			say(w, "broken off")
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}
	})
	r := tool(t, "127.0.0.1", Config{})
	if out := fetched(t, r, at+"/fits"); out.IsError || len(out.Text) != mostBody {
		t.Errorf("a page that fits is %.200q of %d bytes", out.Text, len(out.Text))
	}
	if out := fetched(t, r, at+"/packed"); out.IsError || out.Text != "small" {
		t.Errorf("a packed page is %q", out.Text)
	}
	for path, says := range map[string]string{
		"/told": "larger than 2 MiB", "/endless": "larger than 2 MiB", "/bomb": "larger than 2 MiB", "/twice": `packed as "gzip, gzip"`,
		"/broken": "cannot be unpacked", "/other": `packed as "br"`, "/short": "broke off", "/header": "could not be reached",
	} {
		out := fetched(t, r, at+path)
		if !out.IsError || out.Code != "" || len(out.Text) > 500 {
			t.Errorf("%s is %.500q", path, out.Text)
		}
		mentions(t, out.Text, says)
	}
}

// BEHAVIOUR 11: a server that is slow or hangs.
func TestTheTimeOfACallIsLimited(t *testing.T) {
	release := make(chan struct{})
	at := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.Header().Set("Content-Type", "text/plain")
			say(w, "the beginning")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Log(err)
			}
		}
		<-release
	})
	defer close(release)
	r := tool(t, "127.0.0.1", Config{Timeout: 100 * time.Millisecond})
	for _, path := range []string{"/body", "/header"} {
		out := fetched(t, r, at+path)
		if !out.IsError || out.Code != "" {
			t.Errorf("%s is %q", path, out.Text)
		}
		mentions(t, out.Text, at+path, "within 100ms")
	}
}

// BEHAVIOUR 5.7: a cancelled call is no failure of the page.
func TestACancelledCallEndsAtOnce(t *testing.T) {
	stopped := errors.New("somebody pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := make(chan struct{})
	at := served(t, "127.0.0.1", func(_ http.ResponseWriter, r *http.Request) {
		cancel(stopped)
		<-r.Context().Done()
		close(gone)
	})
	_, err := tool(t, "127.0.0.1", Config{}).Call(ctx, Name, json.RawMessage(`{"url":"`+at+`"}`))
	if !errors.Is(err, stopped) {
		t.Errorf("the call ends with %v", err)
	}
	<-gone
}

func TestWhatIsWrongWithAServerIsSaid(t *testing.T) {
	closed := served(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) {})
	zone := &names{lists: map[string][][]string{}}
	hangsUp := served(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	r := tool(t, "127.0.0.1", Config{Resolver: zone.resolver(t)})
	for at, says := range map[string]string{
		"http://nowhere.example/x": `There is no host "nowhere.example". Check the address.`,
		hangsUp:                    "could not be reached: EOF",
		strings.Replace(closed, "http:", "https:", 1): "could not be reached",
		"example.com/page": "not a whole web address; write one as https://example.com/page",
		"https://example.com/" + strings.Repeat("x", 8000): "longer than 8000 bytes",
	} {
		out := fetched(t, r, at)
		if !out.IsError || out.Code != "" || len(out.Text) > 600 {
			t.Errorf("%.100s is %.1000q with the code %q", at, out.Text, out.Code)
		}
		mentions(t, out.Text, says)
	}
}

func TestTheAgentHasAName(t *testing.T) {
	for _, tt := range [][3]string{
		{"1.2.3", "https://planwave.example", "Planwave/1.2.3 (+https://planwave.example)"}, {"", "", "Planwave/dev"}, {"2", "", "Planwave/2"},
	} {
		if got := agentName(tt[0], tt[1]); got != tt[2] {
			t.Errorf("version %q of %q is %q", tt[0], tt[1], got)
		}
	}
}
