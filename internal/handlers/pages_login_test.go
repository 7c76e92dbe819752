package handlers

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"planwave/internal/people"
)

// logIn fills in the form of the log-in.
func (s *team) logIn(name, password, to string) answer {
	s.t.Helper()
	return s.post("/login", url.Values{"name": {name}, "password": {password}, "return": {to}})
}

// given is the header that a browser sends after an answer set its cookie.
func (s *team) given(a answer) []string {
	s.t.Helper()
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == sessionCookie && c.Value != "" {
			return []string{"Cookie", c.Name + "=" + c.Value}
		}
	}
	s.t.Fatalf("no session is opened: %d %v", a.status, a.header)
	return nil
}

func TestLoggingInLeadsOnAndSetsItsCookie(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	s.joined("Ada Lovelace", people.Member)
	s.says(s.get("/login?return=/runs%3Fq%3Dx"), http.StatusOK, `name="return" value="/runs?q=x"`)
	for to, want := range map[string]string{"/runs?q=x": "/runs?q=x", "https://evil.example": "/", "//evil.example": "/", "": "/"} {
		s.leads(s.logIn("ada  lovelace", goodPassword, to), want)
	}
	a := s.logIn("ADA LOVELACE", goodPassword, "/")
	who := s.given(a)
	s.inside(who)
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"; Path=/", "; HttpOnly", "; SameSite=Lax", "; Max-Age=2592000"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie is %q, without %q", cookie, want)
		}
	}
	if strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Domain") {
		t.Errorf("over HTTP on loopback the cookie is %q", cookie)
	}
	s.says(s.get("/", who...), http.StatusOK, "Ada Lovelace")
	gone := s.post("/logout", nil, who...)
	s.leads(gone, "/login")
	if !strings.Contains(gone.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("the cookie stays: %q", gone.header.Get("Set-Cookie"))
	}
	s.outside(who)
}

func TestANewLogInEndsTheOneBeforeInThisBrowser(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	before := s.cookie(s.joined("ada", people.Member))
	a := s.post("/login", url.Values{"name": {"ada"}, "password": {goodPassword}}, before...)
	s.inside(s.given(a))
	s.outside(before)
}

func TestCookiesAreSecureBehindTLS(t *testing.T) {
	base, err := url.Parse("https://planwave.example.com")
	if err != nil {
		t.Fatal(err)
	}
	s := newTeamOf(t, &scriptedModel{}, Access{Auth: AuthPassword, Cost: cheap(), BaseURL: base})
	s.joined("ada", people.Member)
	if a := s.logIn("ada", goodPassword, "/"); !strings.Contains(a.header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("the cookie is %q", a.header.Get("Set-Cookie"))
	}
}

// Who guesses is not told whether the name or the password is wrong.
func TestAWrongLogInSaysWhatItIsAndNoMore(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	s.joined("ada", people.Member)
	gone := s.joined("gone", people.Member)
	s.joined("olga", people.Owner)
	if err := s.store.RemovePerson(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	for name, password := range map[string]string{
		"ada": "another password", "nobody": goodPassword, "gone": goodPassword, "": "", "\x01": "x", "local": goodPassword, "Olga": strings.Repeat("x", 5000),
	} {
		a := s.logIn(name, password, "/runs")
		s.says(a, http.StatusUnprocessableEntity, "The name or the password is wrong.")
		s.says(a, http.StatusUnprocessableEntity, `name="return" value="/runs"`)
		if a.header.Get("Set-Cookie") != "" || strings.Contains(a.body, password) && password != "" && password != "x" {
			t.Errorf("%q: a cookie or the password comes back", name)
		}
	}
}

func TestLogInsAreLimitedByAccount(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	s.joined("ada", people.Member)
	for range people.AccountTries {
		s.says(s.logIn("ada", "a wrong password", "/"), http.StatusUnprocessableEntity, "is wrong")
	}
	late := s.logIn("Ada", goodPassword, "/")
	s.says(late, http.StatusTooManyRequests, "Try again in")
	if late.header.Get("Retry-After") == "" {
		t.Error("it is not said when to come again")
	}
	s.clock.move(people.AccountPause)
	s.leads(s.logIn("ada", goodPassword, "/"), "/")
}

func TestLogInsAreLimitedByAddress(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	s.joined("ada", people.Member)
	for i := range people.AddressTries {
		s.logIn("nobody"+string(rune('a'+i)), "a wrong password", "/")
	}
	s.says(s.logIn("ada", goodPassword, "/"), http.StatusTooManyRequests, "That was tried too often.")
	s.clock.move(people.AddressPause)
	s.leads(s.logIn("ada", goodPassword, "/"), "/")
}

func TestSessionsExpire(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	ada := s.joined("ada", people.Member)
	idle, used := s.cookie(ada), s.cookie(ada)
	for range 4 {
		s.clock.move(6 * 24 * time.Hour)
		s.inside(used)
	}
	s.outside(idle)
	s.leads(s.get("/runs", idle...), "/login?return=%2Fruns")
	s.clock.move(7 * 24 * time.Hour) // 31 days in all
	s.outside(used)
}

func TestJoiningByALink(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	owner := s.cookie(s.joined("olga", people.Owner))
	s.joined("ada", people.Member)
	made := s.post("/settings/invites", url.Values{"role": {"viewer"}}, owner...)
	s.says(made, http.StatusOK, "It is not shown again.")
	link := strings.TrimSpace(document(t, made.body).Find(".notice pre").Text())
	if !strings.HasPrefix(link, s.url+"/join/") {
		t.Fatalf("the link is %q", link)
	}
	at := "/join/" + path.Base(link)
	if strings.Contains(s.get("/settings", owner...).body, at) {
		t.Error("the link is shown again")
	}
	page := s.get(at)
	s.says(page, http.StatusOK, "olga invites you, with the role viewer")
	if page.header.Get("Referrer-Policy") != "no-referrer" || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page of a secret link has %v", page.header)
	}
	join := func(name, password, again string) answer {
		return s.post(at, url.Values{"name": {name}, "password": {password}, "again": {again}})
	}
	s.says(join("", goodPassword, goodPassword), http.StatusUnprocessableEntity, "A name has 1 to 100")
	s.says(join("LOCAL", goodPassword, goodPassword), http.StatusUnprocessableEntity, "stands for the program itself")
	s.says(join("ADA", goodPassword, goodPassword), http.StatusUnprocessableEntity, "Somebody has or had this name")
	s.says(join("ben", "eleven char", "eleven char"), http.StatusUnprocessableEntity, "12 to 1000 characters")
	s.says(join("ben", goodPassword, "different one"), http.StatusUnprocessableEntity, "not the same")
	a := join("ben", goodPassword, goodPassword)
	s.leads(a, "/")
	s.says(s.get("/settings", s.given(a)...), http.StatusOK, "viewer")
	s.says(join("eve", goodPassword, goodPassword), http.StatusNotFound, "Ask for a new one")
	s.says(s.get(at), http.StatusNotFound, "Ask for a new one")
	s.says(s.get("/join/nonsense"), http.StatusNotFound, "Ask for a new one")
}

func TestALinkThatIsOverOrWithdrawnIsNone(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	olga := s.joined("olga", people.Owner)
	invite := func() string {
		a := s.post("/settings/invites", url.Values{"role": {"member"}}, s.cookie(olga)...)
		return "/join/" + path.Base(strings.TrimSpace(document(t, a.body).Find(".notice pre").Text()))
	}
	withdrawn := invite()
	action, _ := document(t, s.get("/settings", s.cookie(olga)...).body).Find("#invites form").Attr("action")
	s.leads(s.post(action, nil, s.cookie(olga)...), "/settings#people")
	s.says(s.get(withdrawn), http.StatusNotFound, "withdrawn")
	over := invite()
	s.clock.move(inviteLasts)
	s.says(s.get(over), http.StatusNotFound, "is over")
	s.says(s.post("/settings/invites", url.Values{"role": {"king"}}, s.cookie(olga)...), http.StatusUnprocessableEntity, "The role is owner, member or viewer.")
}

// Nothing that somebody could log in with is in the log.
func TestNoSecretIsLogged(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	owner := s.cookie(s.joined("olga", people.Owner))
	made := s.post("/settings/invites", url.Values{"role": {"member"}}, owner...)
	link := path.Base(strings.TrimSpace(document(t, made.body).Find(".notice pre").Text()))
	s.get("/join/" + link)
	joined := s.post("/join/"+link, url.Values{"name": {"ben"}, "password": {goodPassword}, "again": {goodPassword}})
	s.logIn("ben", "a wrong password", "/")
	token := strings.TrimSpace(document(t, s.post("/settings/tokens", url.Values{"label": {"ci"}}, owner...).body).Find(".notice pre").Text())
	s.inside([]string{"Authorization", "Bearer " + token})
	s.outside([]string{"Authorization", "Bearer " + token + "x"})
	log := s.log.String()
	if !strings.Contains(log, "/join/…") || !strings.Contains(log, "log-in refused") {
		t.Errorf("the log does not tell of the requests:\n%s", log)
	}
	for _, secret := range []string{link, token, goodPassword, "a wrong password", strings.TrimPrefix(owner[1], sessionCookie+"="), strings.TrimPrefix(s.given(joined)[1], sessionCookie+"=")} {
		if secret == "" || strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

func TestWithoutLogInThereIsNoLogIn(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, at := range []string{"/login", "/join/x"} {
		s.want(http.StatusNotFound, "GET", at, "")
	}
	page := s.want(http.StatusOK, "GET", "/settings", "").body
	if strings.Contains(page, "Log out") || strings.Contains(page, "Tokens for programs") {
		t.Error("the settings offer what is not there")
	}
}
