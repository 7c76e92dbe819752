package handlers

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"planwave/internal/people"
)

// loopbackProxies are the networks that tests come from.
func loopbackProxies() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func TestAProxySaysWhoIsThere(t *testing.T) {
	s := newTeamOf(t, &scriptedModel{}, Access{Auth: AuthHeader, Header: "X-Remote-User", Proxies: loopbackProxies()})
	as := func(name string) []string { return []string{"X-Remote-User", name} }
	s.says(s.get("/settings", as("olga@example.com")...), http.StatusOK, "Whom the proxy names for the first time becomes a member.")
	ben := s.get("/settings", as("Ben")...)
	s.says(ben, http.StatusOK, "member")
	if strings.Contains(ben.body, "Log out") || strings.Contains(ben.body, `id="people"`) {
		t.Error("a member behind a proxy is offered to log out, or to manage people")
	}
	s.get("/settings", as("BEN")...)
	all, err := s.store.People(t.Context())
	if err != nil || len(all) != 2 || all[0].Role != people.Owner || all[1].Role != people.Member {
		t.Fatalf("people: %+v, %v", all, err)
	}
	s.says(s.get("/settings"), http.StatusUnauthorized, "The proxy in front of this server did not say who you are.")
	s.says(s.get("/settings", as("")...), http.StatusUnauthorized, "did not say who you are")
	s.says(s.do("GET", "/api/v1/tools", ""), http.StatusUnauthorized, "Bearer")
	s.says(s.get("/settings", as("local")...), http.StatusForbidden, "The proxy names nobody who can be")
	req := s.request(http.MethodGet, "/settings", strings.NewReader(""))
	req.Header["X-Remote-User"] = []string{"ben", "olga@example.com"}
	s.says(s.send(req), http.StatusForbidden, "it is named once")
	s.inside(s.token(all[1]))
	s.leads(s.post("/settings/people/"+all[1].ID+"/remove", nil, as("olga@example.com")...), "/settings#people")
	s.says(s.get("/settings", as("ben")...), http.StatusForbidden, "You were removed from here.")
	s.says(s.get("/login", as("olga@example.com")...), http.StatusNotFound, "There is nothing at")
}

func TestOnlyTheProxySaysWhoIsThere(t *testing.T) {
	s := newTeamOf(t, &scriptedModel{}, Access{Auth: AuthHeader, Header: "X-Remote-User", Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	s.says(s.get("/", "X-Remote-User", "olga", "X-Forwarded-For", "10.0.0.1"), http.StatusForbidden, "Only the proxy may say who is there")
	if all, err := s.store.People(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("people: %v, %v", all, err)
	}
}

func TestTheAddressOfAClient(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"straight":             {"192.0.2.1:5", nil, "192.0.2.1"},
		"a liar":               {"192.0.2.1:5", []string{"203.0.113.9"}, "192.0.2.1"},
		"through a proxy":      {"10.0.0.1:5", []string{"203.0.113.9"}, "203.0.113.9"},
		"a liar through one":   {"10.0.0.1:5", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
		"through two":          {"10.0.0.1:5", []string{"203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"two headers":          {"10.0.0.1:5", []string{"1.1.1.1", "203.0.113.9"}, "203.0.113.9"},
		"nonsense from it":     {"10.0.0.1:5", []string{"unknown"}, "10.0.0.1"},
		"no word from a proxy": {"10.0.0.1:5", nil, "10.0.0.1"},
		"six":                  {"[fd00::1]:5", []string{"2001:db8::7"}, "2001:db8::7"},
		"four in six":          {"[::ffff:10.0.0.1]:5", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
	}
	for name, tt := range tests {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := (Access{Proxies: proxies}).client(r).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestWhetherTheBrowserCameOverTLS(t *testing.T) {
	base, err := url.Parse("https://planwave.example.com")
	if err != nil {
		t.Fatal(err)
	}
	forwarded := http.Header{"X-Forwarded-Proto": {"https"}}
	tests := map[string]struct {
		a    Access
		r    http.Request
		want bool
		base string
	}{
		"plain":               {Access{}, http.Request{Host: "localhost:8080"}, false, "http://localhost:8080"},
		"TLS":                 {Access{}, http.Request{Host: "localhost:8080", TLS: &tls.ConnectionState{}}, true, "https://localhost:8080"},
		"base URL":            {Access{BaseURL: base}, http.Request{Host: "x"}, true, "https://planwave.example.com"},
		"a liar":              {Access{}, http.Request{Host: "x", Header: forwarded, RemoteAddr: "127.0.0.1:1"}, false, "http://x"},
		"a proxy that has it": {Access{Proxies: loopbackProxies()}, http.Request{Host: "x", Header: forwarded, RemoteAddr: "127.0.0.1:1"}, true, "http://x"},
	}
	for name, tt := range tests {
		if got := tt.a.secure(&tt.r); got != tt.want {
			t.Errorf("%s: secure is %v", name, got)
		}
		if got := tt.a.base(&tt.r); got != tt.base {
			t.Errorf("%s: links begin with %s, want %s", name, got, tt.base)
		}
	}
}

func TestTheHostOfTheBaseURLIsAnsweredTo(t *testing.T) {
	base, err := url.Parse("https://planwave.example.com")
	if err != nil {
		t.Fatal(err)
	}
	s := newTeamOf(t, &scriptedModel{}, Access{Auth: AuthPassword, Cost: cheap(), BaseURL: base})
	for host, want := range map[string]int{
		"planwave.example.com": 200, "PLANWAVE.example.com:443": 200, "localhost:1": 200, "evil.example": 403, "x.planwave.example.com": 403, "": 200,
	} {
		req := s.request(http.MethodGet, "/login", strings.NewReader(""))
		req.Host = host
		if a := s.send(req); a.status != want {
			t.Errorf("host %q answered %d, want %d", host, a.status, want)
		}
	}
	req := s.request(http.MethodGet, "/login", strings.NewReader(""))
	req.Host = "evil.example"
	s.says(s.send(req), http.StatusForbidden, "planwave.example.com")
	link := s.post("/settings/invites", url.Values{"role": {"member"}}, s.cookie(s.joined("olga", people.Owner))...)
	s.says(link, http.StatusOK, "https://planwave.example.com/join/")
}

func TestAPageOfAnotherSiteChangesNothing(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	olga := s.cookie(s.joined("olga", people.Owner))
	for _, at := range []string{"/login", "/logout", "/settings/invites", "/settings/tokens"} {
		if a := s.post(at, nil, append([]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, olga...)...); a.status != http.StatusForbidden {
			t.Errorf("%s from another site answered %d", at, a.status)
		}
	}
	s.inside(olga)
}

// A proxy that connects by another name than the browser's must not make its own
// pages foreign.
func TestTheBaseURLIsNoOtherSite(t *testing.T) {
	base, err := url.Parse("https://planwave.example.com")
	if err != nil {
		t.Fatal(err)
	}
	s := newTeamOf(t, &scriptedModel{}, Access{Auth: AuthPassword, Cost: cheap(), BaseURL: base})
	s.joined("ada", people.Member)
	for origin, want := range map[string]int{"https://planwave.example.com": http.StatusSeeOther, "http://planwave.example.com": http.StatusForbidden, "https://x.example": http.StatusForbidden} {
		a := s.post("/login", url.Values{"name": {"ada"}, "password": {goodPassword}}, "Origin", origin)
		if a.status != want {
			t.Errorf("a form from %s answered %d, want %d", origin, a.status, want)
		}
	}
}
