package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planwave/internal/db"
	"planwave/internal/people"
)

// movedClock is the machine's clock, moved by hand.
type movedClock struct{ by atomic.Int64 }

func (m *movedClock) now() time.Time       { return time.Now().Add(time.Duration(m.by.Load())) }
func (m *movedClock) move(d time.Duration) { m.by.Add(int64(d)) }

// cheap makes hashing take no time. What it costs is not tested here.
func cheap() people.Cost { return people.Cost{Memory: 8, Times: 1, Threads: 1} }

// team is a site where people log in.
type team struct {
	*site
	clock *movedClock
}

func newTeam(t *testing.T, m *scriptedModel) *team {
	t.Helper()
	return newTeamOf(t, m, Access{Auth: AuthPassword, Cost: cheap()})
}

func newTeamOf(t *testing.T, m *scriptedModel, access Access) *team {
	t.Helper()
	clock := &movedClock{}
	s := newSiteOf(t, m, parts{access: access, clock: clock.now})
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &team{site: s, clock: clock}
}

// goodPassword is the password of everybody.
const goodPassword = "correct horse battery"

// joined makes a person as a link does.
func (s *team) joined(name string, role people.Role) people.Person {
	s.t.Helper()
	secret := people.NewSecret()
	i := people.Invite{ID: secret, Hash: people.HashOf(secret), Role: role, ExpiresAt: s.clock.now().Add(time.Hour)}
	if err := s.store.AddInvite(s.t.Context(), i, ""); err != nil {
		s.t.Fatal(err)
	}
	kept, key, err := people.Name(name)
	if err != nil {
		s.t.Fatal(err)
	}
	hash, err := people.NewPasswords(cheap()).Hash(s.t.Context(), goodPassword)
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := s.store.Join(s.t.Context(), i.Hash, db.NewPerson{ID: secret[:8], Name: kept, Key: key, Password: hash})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// cookie opens a session of a person and returns the header that a browser sends.
func (s *team) cookie(p people.Person) []string {
	s.t.Helper()
	secret := people.NewSecret()
	if err := s.store.AddSession(s.t.Context(), people.HashOf(secret), p.ID, s.clock.now().Add(sessionLasts)); err != nil {
		s.t.Fatal(err)
	}
	return []string{"Cookie", sessionCookie + "=" + secret}
}

// token makes a token of a person and returns the header that a program sends.
func (s *team) token(p people.Person) []string {
	s.t.Helper()
	secret := people.NewSecret()
	if err := s.store.AddToken(s.t.Context(), people.Token{ID: secret[:8], Hash: people.HashOf(secret), Label: "l"}, p.ID); err != nil {
		s.t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + secret}
}

// post sends a form.
func (s *team) post(path string, fields url.Values, headers ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}, headers...)...)
}

// get asks for a page.
func (s *team) get(path string, headers ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", append([]string{"Accept", "text/html"}, headers...)...)
}

// askAs makes a run whose steps are carried out at once, and returns its id.
func (s *team) askAs(who []string) string {
	s.t.Helper()
	var r struct {
		ID string `json:"id"`
	}
	s.want(http.StatusCreated, "POST", "/api/v1/runs", `{"question":"q","approval":"auto","plan":`+planText(diamond())+`}`, who...).json(s.t, &r)
	return r.ID
}

// says fails the test where an answer has another status or lacks a text.
func (s *team) says(a answer, status int, want string) {
	s.t.Helper()
	if a.status != status || !strings.Contains(a.body, want) {
		s.t.Errorf("answered %d, want %d and %q\n%.1500s", a.status, status, want, a.body)
	}
}

// leads fails the test where an answer does not lead to a path.
func (s *team) leads(a answer, to string) {
	s.t.Helper()
	if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != to {
		s.t.Errorf("answered %d to %q, want 303 to %q\n%.800s", a.status, got, to, a.body)
	}
}

// outside fails the test where a browser or program is let in.
func (s *team) outside(who []string) {
	s.t.Helper()
	if a := s.do(http.MethodGet, "/api/v1/tools", "", who...); a.status != http.StatusUnauthorized {
		s.t.Errorf("%s is let in: %d", who[0], a.status)
	}
}

// inside fails the test where it is not.
func (s *team) inside(who []string) {
	s.t.Helper()
	s.want(http.StatusOK, http.MethodGet, "/api/v1/tools", "", who...)
}
