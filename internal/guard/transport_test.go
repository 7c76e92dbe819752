package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestHowAURLMayBeWritten(t *testing.T) {
	g := guardOf(t, "")
	for text, says := range map[string]string{
		"http://example.com": "", "https://example.com:8443/a?b#c": "", "HTTP://EXAMPLE.COM/": "", "https://münchen.example/": "",
		"https://8.8.8.8/": "", "https://[2606:4700::1111]:443/": "", "https://1.2.3.4.example/": "", "https://0x7f.example": "", "https://a.0xyz/": "",
		"ftp://example.com/": "http://", "file:///etc/passwd": "http://", "gopher://127.0.0.1:70/": "http://", "javascript:alert(1)": "http://",
		"data:text/html,x": "http://", "//example.com/": "http://", "http:example.com": "no host", "http:///x": "no host", "http://:80/": "no host",
		"http://me@example.com/": "user name", "http://me:secret@example.com/": "user name", "http://@example.com/": "user name",
		"http://example.com@127.0.0.1/": "user name", "http://[fe80::1%25eth0]/": "interface", "http://example.com:0/": "port",
		"http://example.com:65536/": "port", "http://127.0.0.1/": "loopback", "http://127.0.0.1:/": "loopback", "http://[::1]/": "loopback",
		"http://2130706433/": "number", "http://127.1/": "number", "http://127.0.1/": "number", "http://0177.0.0.1/": "number",
		"http://0x7f.0.0.1/": "number", "http://0x7f000001/": "number", "http://017700000001/": "number", "http://127.0.0.01/": "number",
		"http://127.0.0.1./": "number", "http://127.0.0.1../": "number", "http://256.0.0.1/": "number", "http://1.2.3.4.5/": "number",
		"http://0/": "number", "http://0x/": "number", "http://0X7F.1/": "number", "http://a.b.1/": "number", "http://0x7f.0x1/": "number",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := why(t, g.URL(u)); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%s %q, want %q in it", text, got, says)
		}
	}
}

// send makes a request and says what came of it.
func send(t *testing.T, tr *Transport, method, to string, body io.Reader) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func TestNothingIsSentToARefusedAddress(t *testing.T) {
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer s.Close()
	body := io.NopCloser(strings.NewReader("a letter"))
	_, err := send(t, guardOf(t, "").Transport(Options{}), http.MethodPost, s.URL, body)
	if got := why(t, err); !strings.Contains(got, "loopback") || hits != 0 {
		t.Errorf("a letter to %s: %v, %d arrived", s.URL, err, hits)
	}
	name := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	_, err = send(t, guardOf(t, "").Transport(Options{}), http.MethodPost, name, body)
	if got := why(t, err); !strings.Contains(got, "loopback") || !strings.Contains(err.Error(), `"localhost" leads to`) || hits != 0 {
		t.Errorf("a letter to %s: %v, %d arrived", name, err, hits)
	}
	code, err := send(t, guardOf(t, "127.0.0.1").Transport(Options{}), http.MethodPost, s.URL, body)
	if code != http.StatusOK || err != nil || hits != 1 {
		t.Errorf("a letter to an allowed address: %d, %v, %d arrived", code, err, hits)
	}
}

// A proxy of the environment would be dialled in place of the address that is judged.
func TestNoProxyIsUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:9")
	if guardOf(t, "").Transport(Options{}).base.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

func TestOnlyTCPIsDialled(t *testing.T) {
	g := guardOf(t, "127.0.0.1")
	for _, tt := range [][3]string{
		{"tcp4", "127.0.0.1:80", ""},
		{"tcp4", "10.0.0.1:80", "private"},
		{"tcp6", "[::1]:80", "loopback"},
		{"tcp6", "[fe80::1%eth0]:80", "interface"},
		{"udp4", "127.0.0.1:53", "only TCP"},
		{"unix", "/run/docker.sock", "only TCP"},
		{"tcp4", "localhost:80", "no address"},
		{"tcp4", "", "no address"},
	} {
		if got := why(t, g.Control(t.Context(), tt[0], tt[1], nil)); !strings.Contains(got, tt[2]) || (got == "") != (tt[2] == "") {
			t.Errorf("%s %s: %q, want %q in it", tt[0], tt[1], got, tt[2])
		}
	}
}
