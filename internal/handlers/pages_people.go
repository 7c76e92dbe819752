package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/people"
	"planwave/web/templates"
)

// inviteLasts is how long somebody who is invited has to join.
const inviteLasts = 7 * 24 * time.Hour

// peopleOf is the part of the settings that is about people, nil without log-in.
func (s *server) peopleOf(c echo.Context) (*templates.PeopleProps, error) {
	if s.Access.Auth == AuthOff {
		return nil, nil
	}
	ctx, me := c.Request().Context(), personOf(c)
	p := &templates.PeopleProps{Name: me.Name, Role: string(me.Role), Passwords: s.Access.Auth == AuthPassword, MayManage: may(me, toManage, "") == nil}
	tokens, err := s.Store.Tokens(ctx, me.ID)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		p.Tokens = append(p.Tokens, templates.TokenProps{
			ID: t.ID, Label: t.Label, CreatedAt: t.CreatedAt, SeenAt: t.SeenAt, RevokeURL: "/settings/tokens/" + t.ID + "/revoke",
		})
	}
	if !p.MayManage {
		return p, nil
	}
	for _, r := range people.Roles() {
		p.Roles = append(p.Roles, string(r))
	}
	all, err := s.Store.People(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		at := "/settings/people/" + one.ID
		p.People = append(p.People, templates.PersonProps{
			ID: one.ID, Name: one.Name, Role: string(one.Role), Since: one.CreatedAt, Me: one.ID == me.ID, RoleURL: at + "/role", RemoveURL: at + "/remove",
		})
	}
	invites, err := s.Store.Invites(ctx)
	for _, i := range invites {
		p.Invites = append(p.Invites, templates.InviteProps{
			By: i.By, Role: string(i.Role), ExpiresAt: i.ExpiresAt, WithdrawURL: "/settings/invites/" + i.ID + "/withdraw",
		})
	}
	return p, err
}

// toPeople leads back to the people on the settings page after a change, or says
// there why there was none.
func (s *server) toPeople(c echo.Context, err error, place func(p *templates.PeopleProps, problem string)) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/settings#people")
	}
	problem := told(c, err)
	if problem == "" {
		return err
	}
	return s.showSettings(c, http.StatusUnprocessableEntity, func(p *templates.SettingsProps) { place(p.People, problem) })
}

// ofPeople, ofPassword and ofTokens are where a problem is said.
func ofPeople(p *templates.PeopleProps, problem string)   { p.Problem = problem }
func ofPassword(p *templates.PeopleProps, problem string) { p.PasswordProblem = problem }
func ofTokens(p *templates.PeopleProps, problem string)   { p.TokenProblem = problem }

// setRole gives somebody another role. They are logged out, so that every page
// and stream of theirs goes by it.
func (s *server) setRole(c echo.Context) error {
	role, err := people.ParseRole(c.FormValue("role"))
	if err == nil {
		err = s.Store.SetRole(c.Request().Context(), c.Param("person"), role)
	}
	if err == nil {
		s.doors.shutPerson(c.Param("person"), "")
		s.Logger.InfoContext(c.Request().Context(), "role changed", "person", c.Param("person"), "role", string(role), "by", personOf(c).ID)
	}
	return s.toPeople(c, err, ofPeople)
}

// removePerson keeps somebody from coming back, at once.
func (s *server) removePerson(c echo.Context) error {
	err := s.Store.RemovePerson(c.Request().Context(), c.Param("person"))
	if err == nil {
		s.doors.shutPerson(c.Param("person"), "")
		s.Logger.InfoContext(c.Request().Context(), "person removed", "person", c.Param("person"), "by", personOf(c).ID)
	}
	return s.toPeople(c, err, ofPeople)
}

// invite makes a link for one new person, and shows it once.
func (s *server) invite(c echo.Context) error {
	role, err := people.ParseRole(c.FormValue("role"))
	if err != nil {
		return s.toPeople(c, err, ofPeople)
	}
	secret := people.NewSecret()
	i := people.Invite{ID: s.NewID(), Hash: people.HashOf(secret), Role: role, ExpiresAt: s.Clock().Add(inviteLasts)}
	if err := s.Store.AddInvite(c.Request().Context(), i, personOf(c).ID); err != nil {
		return err
	}
	return s.showSettings(c, http.StatusOK, func(p *templates.SettingsProps) {
		p.People.NewLink = JoinURL(s.Access.base(c.Request()), secret)
	})
}

// JoinURL is the link with which somebody joins.
func JoinURL(base, secret string) string { return base + "/join/" + secret }

// withdraw takes a link back.
func (s *server) withdraw(c echo.Context) error {
	return s.toPeople(c, s.Store.WithdrawInvite(c.Request().Context(), c.Param("invite")), ofPeople)
}

// setPassword gives the person another password, who has to know the one before.
// Every other browser of theirs is logged out.
func (s *server) setPassword(c echo.Context) error {
	ctx, p := c.Request().Context(), personOf(c)
	err := people.CheckPassword(c.FormValue("password"))
	if err == nil && c.FormValue("password") != c.FormValue("again") {
		err = errOtherPassword
	}
	if err == nil {
		_, err = s.prove(c, p.Name, c.FormValue("current"))
	}
	if err != nil {
		return s.toPeople(c, err, ofPassword)
	}
	hash, err := s.passwords.Hash(ctx, c.FormValue("password"))
	if err != nil {
		return err
	}
	if err := s.Store.SetPassword(ctx, p.ID, hash, p.session); err != nil {
		return err
	}
	s.doors.shut(func(q person) bool { return q.ID == p.ID && q.token == "" && q.session != p.session })
	return s.showSettings(c, http.StatusOK, func(p *templates.SettingsProps) {
		p.People.Said = "Your password is changed, and your other browsers are logged out."
	})
}

// makeToken makes a token for a program, and shows it once.
func (s *server) makeToken(c echo.Context) error {
	label, err := people.Label(c.FormValue("label"))
	if err != nil {
		return s.toPeople(c, err, ofTokens)
	}
	secret := people.NewSecret()
	t := people.Token{ID: s.NewID(), Hash: people.HashOf(secret), Label: label}
	if err := s.Store.AddToken(c.Request().Context(), t, personOf(c).ID); err != nil {
		return err
	}
	return s.showSettings(c, http.StatusOK, func(p *templates.SettingsProps) { p.People.NewToken = secret })
}

// revokeToken ends a token and the streams that it holds open.
func (s *server) revokeToken(c echo.Context) error {
	hash, err := s.Store.RevokeToken(c.Request().Context(), personOf(c).ID, c.Param("token"))
	if err != nil {
		return err
	}
	s.doors.shut(func(p person) bool { return p.token == hash })
	return s.toPeople(c, nil, ofTokens)
}
