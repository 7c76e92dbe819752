package handlers

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"planwave/internal/people"
	"planwave/internal/plan"
)

// watching opens streams of a run that does not end by itself, and returns a
// function that reads them to their end.
func (s *team) watching(run string, who ...[]string) (untilEnd func()) {
	s.t.Helper()
	var open []*http.Response
	for _, headers := range who {
		for _, at := range []string{"/api/v1/runs/" + run + "/events", "/runs/" + run + "/live"} {
			resp, err := s.client.Do(s.request(http.MethodGet, at, nil, headers...))
			if err != nil || resp.StatusCode != http.StatusOK {
				s.t.Fatalf("%s: %v %v", at, resp, err)
			}
			s.t.Cleanup(func() { _ = resp.Body.Close() })
			open = append(open, resp)
		}
	}
	return func() {
		s.t.Helper()
		for _, resp := range open {
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				s.t.Errorf("the stream broke off: %v", err)
			}
		}
	}
}

// endless makes a run that waits until the test ends.
func (s *team) endless(who []string) string {
	s.t.Helper()
	id := s.askAs(who)
	s.untilStep(id, "s1", plan.StepStatusRunning)
	return id
}

func newWaitingTeam(t *testing.T) *team {
	t.Helper()
	release := make(chan struct{})
	s := newTeam(t, &scriptedModel{executor: held(release)})
	t.Cleanup(func() { close(release) })
	return s
}

func TestWhoIsRemovedIsOutAtOnce(t *testing.T) { // issue 6: streams end within a second
	s := newWaitingTeam(t)
	ben, olga := s.joined("ben", people.Member), s.joined("olga", people.Owner)
	browser, program, owner := s.cookie(ben), s.token(ben), s.cookie(olga)
	run := s.endless(browser)
	end := s.watching(run, browser, program)
	s.leads(s.post("/settings/people/"+ben.ID+"/remove", nil, owner...), "/settings#people")
	end()
	s.outside(browser)
	s.outside(program)
	s.says(s.logIn("ben", goodPassword, "/"), http.StatusUnprocessableEntity, "is wrong")
	s.inside(owner)
	s.says(s.post("/settings/people/"+ben.ID+"/remove", nil, owner...), http.StatusUnprocessableEntity, "There is no such person")
	if strings.Contains(document(t, s.get("/settings", owner...).body).Find("#people").Text(), "ben") {
		t.Error("who was removed is still listed")
	}
}

func TestAnotherRoleHoldsAtOnce(t *testing.T) {
	s := newWaitingTeam(t)
	ben, olga := s.joined("ben", people.Member), s.joined("olga", people.Owner)
	browser, program, owner := s.cookie(ben), s.token(ben), s.cookie(olga)
	run := s.endless(browser)
	end := s.watching(run, browser, program)
	s.leads(s.post("/settings/people/"+ben.ID+"/role", url.Values{"role": {"viewer"}}, owner...), "/settings#people")
	end()
	s.outside(browser)
	s.says(s.do("POST", "/api/v1/runs/"+run+"/cancel", "{}", program...), http.StatusForbidden, "change nothing")
	s.says(s.post("/settings/people/"+ben.ID+"/role", url.Values{"role": {"king"}}, owner...), http.StatusUnprocessableEntity, "The role is owner, member or viewer.")
}

func TestTheLastOwnerStays(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	olga, ben := s.joined("olga", people.Owner), s.joined("ben", people.Member)
	owner, at := s.cookie(olga), "/settings/people/"+olga.ID
	s.says(s.post(at+"/remove", nil, owner...), http.StatusUnprocessableEntity, "This is the last owner: make somebody else an owner first.")
	s.says(s.post(at+"/role", url.Values{"role": {"member"}}, owner...), http.StatusUnprocessableEntity, "This is the last owner")
	s.inside(owner)
	s.leads(s.post("/settings/people/"+ben.ID+"/role", url.Values{"role": {"owner"}}, owner...), "/settings#people")
	s.leads(s.post(at+"/remove", nil, owner...), "/settings#people")
	s.outside(owner)
	s.says(s.get("/settings", s.cookie(ben)...), http.StatusOK, "Make a link to join")
}

func TestLoggingOutEverywhereEndsSessionsAndStreams(t *testing.T) {
	s := newWaitingTeam(t)
	ben := s.joined("ben", people.Member)
	here, there, program := s.cookie(ben), s.cookie(ben), s.token(ben)
	end := s.watching(s.endless(here), here, there)
	s.leads(s.post("/logout/everywhere", nil, here...), "/login")
	end()
	s.outside(here)
	s.outside(there)
	s.inside(program)
}

func TestLoggingOutEndsTheStreamsOfThisBrowser(t *testing.T) {
	s := newWaitingTeam(t)
	ben := s.joined("ben", people.Member)
	here, there := s.cookie(ben), s.cookie(ben)
	end := s.watching(s.endless(here), here)
	s.leads(s.post("/logout", nil, here...), "/login")
	end()
	s.outside(here)
	s.inside(there)
}

func TestTokensOfPrograms(t *testing.T) {
	s := newWaitingTeam(t)
	ben := s.joined("ben", people.Member)
	browser := s.cookie(ben)
	s.says(s.post("/settings/tokens", url.Values{"label": {" "}}, browser...), http.StatusUnprocessableEntity, "A label has 1 to 100 characters.")
	made := s.post("/settings/tokens", url.Values{"label": {"nightly <b>"}}, browser...)
	s.says(made, http.StatusOK, "It is not shown again.")
	secret := strings.TrimSpace(document(t, made.body).Find(".notice pre").Text())
	if len(secret) < 22 || strings.Contains(s.get("/settings", browser...).body, secret) {
		t.Errorf("the token is %q, or is shown again", secret)
	}
	program := []string{"Authorization", "bearer " + secret}
	s.inside(program)
	page := document(t, s.get("/settings", browser...).body).Find("#tokens")
	if text := page.Text(); !strings.Contains(text, "nightly <b>") || !strings.Contains(text, "last used") {
		t.Errorf("the page says of the token: %s", text)
	}
	action, _ := page.Find("form").Attr("action")
	other := s.cookie(s.joined("olga", people.Owner))
	s.says(s.post(action, nil, other...), http.StatusNotFound, "There is no such token")
	end := s.watching(s.endless(program), program)
	s.leads(s.post(action, nil, browser...), "/settings#people")
	end()
	s.outside(program)
	s.says(s.post(action, nil, browser...), http.StatusNotFound, "There is no such token")
}

func TestChangingOnesPassword(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	ben := s.joined("ben", people.Member)
	here, there := s.cookie(ben), s.cookie(ben)
	change := func(current, password, again string) answer {
		return s.post("/settings/password", url.Values{"current": {current}, "password": {password}, "again": {again}}, here...)
	}
	const next = "another good one"
	s.says(change("not it at all", next, next), http.StatusUnprocessableEntity, "The name or the password is wrong.")
	s.says(change(goodPassword, "short", "short"), http.StatusUnprocessableEntity, "12 to 1000 characters")
	s.says(change(goodPassword, next, "something else"), http.StatusUnprocessableEntity, "not the same")
	s.inside(there)
	s.says(change(goodPassword, next, next), http.StatusOK, "Your password is changed")
	s.inside(here)
	s.outside(there)
	s.says(s.logIn("ben", goodPassword, "/"), http.StatusUnprocessableEntity, "is wrong")
	s.leads(s.logIn("ben", next, "/"), "/")
	for range people.AccountTries {
		change("not it at all", goodPassword, goodPassword)
	}
	s.says(change(next, goodPassword, goodPassword), http.StatusUnprocessableEntity, "Try again in")
}
