package fetch

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"planwave/internal/plan"
)

// inner are names that lead inside.
func inner() map[string][][]string {
	all := map[string][][]string{}
	for i, a := range []string{
		"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::", "fd00::1", "fe80::1",
		"::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "168.63.129.16",
	} {
		all[fmt.Sprintf("inner%d.example", i)] = [][]string{{a}}
	}
	all["localhost"] = [][]string{{"127.0.0.1"}}
	all["some.example"] = [][]string{{"10.0.0.1", "127.0.0.1", "::1"}}
	return all
}

// refused are addresses that lead inside, or would for some program. In each,
// PORT is that of a server that listens on every address of this machine.
func refused() []string {
	all := []string{
		"http://127.0.0.1:PORT/", "HTTP://127.0.0.1:PORT", "http://127.255.255.254:PORT/", "http://localhost:PORT/", "http://localhost.:PORT/",
		"http://LocalHost:PORT/", "http://2130706433:PORT/", "http://017700000001:PORT/", "http://0x7f000001:PORT/", "http://0x7F.1:PORT/",
		"http://127.1:PORT/", "http://127.0.1:PORT/", "http://0177.0.0.1:PORT/", "http://0x7f.0.0.1:PORT/", "http://127.0.0.01:PORT/",
		"http://127.0.0.1.:PORT/", "http://0:PORT/", "http://0.0.0.0:PORT/", "http://0.0.0.1:PORT/", "http://127。0。0。1:PORT/",
		"http://１２７.0.0.1:PORT/", "http://①②⑦.⓪.⓪.①:PORT/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/",
		"http://[::1]:PORT/", "http://[::]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/", "http://[0000::0001]:PORT/", "http://[::ffff:127.0.0.1]:PORT/",
		"http://[::ffff:7f00:1]:PORT/", "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[::ffff:0:127.0.0.1]:PORT/",
		"http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b::7f00:1]:PORT/", "http://[64:ff9b:1::127.0.0.1]:PORT/", "http://[2002:7f00:1::]:PORT/",
		"http://[2001:0:7f00:1::80ff:fffe]:PORT/", "http://[::1%25lo]:PORT/", "http://[fe80::1%25eth0]:PORT/", "http://[fe80::1]:PORT/",
		"http://[fec0::1]:PORT/", "http://[fd00:ec2::254]/latest/meta-data/", "http://[fc00::1]/", "http://[ff02::1]:PORT/", "http://[2001:db8::1]/",
		"http://[::ffff:169.254.169.254]/latest/meta-data/", "http://[64:ff9b::169.254.169.254]/", "http://169.254.169.254/latest/meta-data/",
		"http://2852039166/latest/meta-data/", "http://0xa9fea9fe/", "http://169.254.170.2/v2/credentials", "http://168.63.129.16/", "http://100.100.100.200/",
		"http://192.0.0.192/", "http://10.0.0.1/", "http://10.255.255.255/", "http://0xa.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/",
		"http://192.168.0.1/", "http://3232235521/", "http://100.64.0.1/", "http://198.18.0.1/", "http://192.0.2.1/", "http://198.51.100.1/",
		"http://203.0.113.1/", "http://224.0.0.1/", "http://239.255.255.250:1900/", "http://240.0.0.1/", "http://255.255.255.255/",
		"https://127.0.0.1:PORT/", "https://localhost:PORT/", "http://example.com@127.0.0.1:PORT/", "http://me:secret@127.0.0.1:PORT/",
		"http://127.0.0.1:PORT#@example.com/", "http://127.0.0.1:PORT?@example.com/", "file:///etc/passwd", "file://127.0.0.1/etc/passwd",
		"gopher://127.0.0.1:PORT/_GET", "ftp://127.0.0.1:PORT/", "dict://127.0.0.1:PORT/", "javascript:alert(1)", "data:text/html,inside", "unix:///run/docker.sock",
		"http://public.example:0/",
	}
	for name := range inner() {
		all = append(all, "http://"+name+":PORT/", "https://"+strings.ToUpper(name)+".:PORT/")
	}
	return all
}

// unreadable are addresses that no request can be made of.
func unreadable() []string {
	return []string{
		`http://example.com\@127.0.0.1:PORT/`, "http://127%2e0%2e0%2e1:PORT/", "http://127.0.0.1%00.example.com:PORT/", "http://[127.0.0.1]:PORT/",
		"http://127.0.0.1:PORT:80/", "http://[::1:PORT/", "http://127.0.0.1 .example.com:PORT/", "http://127.0.0.1\t:PORT/", "http://exa\nmple.com:PORT/",
		"http:///127.0.0.1:PORT/", "http:127.0.0.1:PORT/", "//127.0.0.1:PORT/", "/etc/passwd", "127.0.0.1", "127.0.0.1:PORT/", "", "http://", "http://:PORT/",
	}
}

// inside is a server on every address of this machine that counts who comes in,
// and its port.
func inside(t *testing.T) (port string, hits *atomic.Int32) {
	t.Helper()
	hits = &atomic.Int32{}
	at := served(t, "", func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port(), hits
}

// BEHAVIOUR 11: loopback, link-local, private and metadata addresses are refused, however they are written and by any name.
func TestNoAddressInsideIsOpened(t *testing.T) {
	port, hits := inside(t)
	r := tool(t, "", Config{Resolver: (&names{lists: inner()}).resolver(t)})
	for _, form := range refused() {
		out := fetched(t, r, strings.ReplaceAll(form, "PORT", port))
		if !out.IsError || out.Code != plan.CodeAddressRefused || !strings.Contains(out.Text, "PLANWAVE_FETCH_ALLOW") {
			t.Errorf("%s is %q with the code %q", form, out.Text, out.Code)
		}
		if n := hits.Swap(0); n > 0 {
			t.Errorf("%s came in", form)
		}
	}
	for _, form := range unreadable() {
		out := fetched(t, r, strings.ReplaceAll(form, "PORT", port))
		if !out.IsError || hits.Swap(0) > 0 {
			t.Errorf("%q is %q", form, out.Text)
		}
	}
}

// BEHAVIOUR 11: also on every redirect. All of 127.0.0.0/8 is this machine on
// Linux: the server that redirects has an address of its own there.
func TestNoRedirectLeadsInside(t *testing.T) {
	port, hits := inside(t)
	front := served(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.FormValue("to"))
		w.WriteHeader([]int{301, 302, 303, 307, 308}[len(r.FormValue("to"))%5])
	})
	r := tool(t, "127.0.0.2", Config{Resolver: (&names{lists: inner()}).resolver(t)})
	for _, form := range refused() {
		to := strings.ReplaceAll(form, "PORT", port)
		for _, from := range []string{to, front + "/?to=" + url.QueryEscape(to)} { // directly, and from a second redirect
			out := fetched(t, r, front+"/?to="+url.QueryEscape(from))
			if !out.IsError || out.Code != plan.CodeAddressRefused || !strings.Contains(out.Text, "redirects to an address that is not opened") {
				t.Errorf("a redirect to %s is %q with the code %q", form, out.Text, out.Code)
			}
			if n := hits.Swap(0); n > 0 {
				t.Errorf("a redirect to %s came in", form)
			}
		}
	}
	for _, form := range unreadable() {
		if strings.HasPrefix(form, "/") && !strings.HasPrefix(form, "//") || strings.HasPrefix(form, "127") {
			continue // relative to the server that redirects: its own pages
		}
		out := fetched(t, r, front+"/?to="+url.QueryEscape(strings.ReplaceAll(form, "PORT", port)))
		if !out.IsError || hits.Swap(0) > 0 {
			t.Errorf("a redirect to %q is %q", form, out.Text)
		}
	}
}

// A name that leads elsewhere when it is asked for again is judged again.
func TestANameThatIsReboundIsRefused(t *testing.T) {
	port, hits := inside(t)
	zone := &names{lists: map[string][][]string{
		"rebound.example": {{"127.0.0.2"}, {"127.0.0.1"}},
		"again.example":   {{"127.0.0.2"}, {"127.0.0.1"}},
		"both.example":    {{"127.0.0.1", "127.0.0.2"}},
	}}
	front := served(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/inside":
			http.Redirect(w, r, "http://rebound.example:"+port+"/", http.StatusFound)
		case "/same":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			say(w, "the front")
		}
	})
	at, err := url.Parse(front)
	if err != nil {
		t.Fatal(err)
	}
	r := tool(t, "127.0.0.2", Config{Resolver: zone.resolver(t)})
	out := fetched(t, r, "http://rebound.example:"+at.Port()+"/inside")
	if out.Code != plan.CodeAddressRefused || hits.Load() > 0 {
		t.Errorf("a name that is rebound is %q with the code %q, %d came in", out.Text, out.Code, hits.Load())
	}
	mentions(t, out.Text, `"rebound.example" leads to what is a loopback address`)
	if strings.Contains(out.Text, "127.0.0.1") {
		t.Errorf("the refusal tells where the name leads: %s", out.Text)
	}
	if out := fetched(t, r, "http://again.example:"+at.Port()+"/same"); out.Code != plan.CodeAddressRefused {
		t.Errorf("a redirect to the same server is %q with the code %q: the connection was used again", out.Text, out.Code)
	}
	// Of several addresses of a name, those that may be dialled are.
	if out := fetched(t, r, "http://both.example:"+at.Port()+"/"); out.IsError || out.Text != "the front" {
		t.Errorf("a name of both is %q", out.Text)
	}
}

func TestRedirects(t *testing.T) {
	var front string
	front = served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		var left int
		if n, err := fmt.Sscanf(r.URL.Path, "/%d", &left); n == 1 && err == nil && left > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
			return
		}
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, front+"/loop", http.StatusFound)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		default:
			say(w, fmt.Sprintf("referer %q cookie %q", r.Header.Get("Referer"), r.Header.Get("Cookie")))
		}
	})
	r := tool(t, "127.0.0.1", Config{})
	if out := fetched(t, r, front+"/5?secret=1"); out.IsError || out.Text != `referer "" cookie ""` {
		t.Errorf("five redirects are %q", out.Text)
	}
	for path, says := range map[string]string{
		"/6": "redirects more than 5 times", "/loop": "redirects more than 5 times", "/nowhere": "the status 302 Found",
	} {
		if out := fetched(t, r, front+path); !out.IsError || out.Code != "" || !strings.Contains(out.Text, says) {
			t.Errorf("%s is %q with the code %q", path, out.Text, out.Code)
		}
	}
}

func TestNoCookieIsKept(t *testing.T) {
	front := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
		if r.URL.Path == "/first" {
			http.Redirect(w, r, "/second", http.StatusFound)
			return
		}
		say(w, fmt.Sprintf("cookie %q", r.Header.Get("Cookie")))
	})
	r := tool(t, "127.0.0.1", Config{})
	for range 2 {
		if out := fetched(t, r, front+"/first"); out.Text != `cookie ""` {
			t.Errorf("the page is %q", out.Text)
		}
	}
}

// secure is a server with a certificate for example.com and 127.0.0.1.
func secure(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestEncryptedPages(t *testing.T) {
	plainText := answering(t, "text/plain", "in plain sight")
	var s *httptest.Server
	s = secure(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Redirect(w, r, plainText, http.StatusFound)
		case "/same":
			http.Redirect(w, r, s.URL+"/", http.StatusFound)
		default:
			say(w, "encrypted")
		}
	})
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:errcheck // it is what httptest makes
	r := tool(t, "127.0.0.1", Config{Roots: roots})
	for _, path := range []string{"/", "/same"} {
		if out := fetched(t, r, s.URL+path); out.IsError || out.Text != "encrypted" {
			t.Errorf("%s is %q", path, out.Text)
		}
	}
	out := fetched(t, r, s.URL+"/down")
	if !out.IsError || out.Code != "" {
		t.Errorf("from https to http is %q with the code %q", out.Text, out.Code)
	}
	mentions(t, out.Text, "not encrypted", plainText)
	up := served(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.URL, http.StatusFound) })
	if out := fetched(t, r, up); out.IsError || out.Text != "encrypted" {
		t.Errorf("from http to https is %q", out.Text)
	}
	out = fetched(t, tool(t, "127.0.0.1", Config{}), s.URL)
	if !out.IsError {
		t.Errorf("a page whose certificate nobody vouches for is %q", out.Text)
	}
	mentions(t, out.Text, `The certificate of "127.0.0.1" is not valid`)
}
