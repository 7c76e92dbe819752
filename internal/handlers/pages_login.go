package handlers

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/people"
	"planwave/internal/plan"
	"planwave/web/templates"
)

// sessionLasts is how long a browser stays logged in at most.
const sessionLasts = 30 * 24 * time.Hour

// people routes what is there where people log in.
func (s *server) people(e *echo.Echo) {
	e.POST("/settings/people/:person/role", s.setRole)
	e.POST("/settings/people/:person/remove", s.removePerson)
	e.POST("/settings/tokens", s.makeToken)
	e.POST("/settings/tokens/:token/revoke", s.revokeToken)
	if s.Access.Auth != AuthPassword {
		return
	}
	s.passwords = people.NewPasswords(s.Access.Cost)
	e.GET("/login", s.logInPage)
	e.POST("/login", s.logIn)
	e.POST("/logout", s.logOut)
	e.POST("/logout/everywhere", s.logOutEverywhere)
	e.GET("/join/:token", s.joinPage)
	e.POST("/join/:token", s.join)
	e.POST("/settings/password", s.setPassword)
	e.POST("/settings/invites", s.invite)
	e.POST("/settings/invites/:invite/withdraw", s.withdraw)
}

// logInPage asks who is there.
func (s *server) logInPage(c echo.Context) error {
	return s.showLogIn(c, http.StatusOK, templates.LogInProps{Return: ownPath(c.QueryParam("return"))})
}

func (s *server) showLogIn(c echo.Context, status int, p templates.LogInProps) error {
	p.Page = s.pageProps(c, "Log in", "")
	p.Page.Path = "/login"
	p.Page.Bare = true
	return show(c, status, templates.LogIn(p))
}

// logIn opens a session for a name and its password, and leads on to the page
// that was asked for. What is wrong of the two is not told.
func (s *server) logIn(c echo.Context) error {
	form := templates.LogInProps{Name: plan.Short(c.FormValue("name"), people.MostName), Return: ownPath(c.FormValue("return"))}
	p, err := s.prove(c, c.FormValue("name"), c.FormValue("password"))
	if form.Problem = told(c, err); form.Problem != "" {
		status := http.StatusUnprocessableEntity
		if c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
			status = http.StatusTooManyRequests
		}
		return s.showLogIn(c, status, form)
	}
	if err != nil {
		return err
	}
	return s.openSession(c, p.ID, form.Return)
}

// tooOften is a try that must wait.
type tooOften struct{ wait time.Duration }

// Error says for how long.
func (t tooOften) Error() string {
	return "That was tried too often. Try again in " + templates.Duration(t.wait) + "."
}

// told is what a person is told of an error of a name or a password, or "" for
// any other error and none. A try that must wait says so in a header, too.
func told(c echo.Context, err error) string {
	if late, ok := errors.AsType[tooOften](err); ok {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(late.wait.Seconds()))))
		return late.Error()
	}
	for _, kind := range []error{
		people.ErrWrong, people.ErrPassword, people.ErrName, people.ErrReserved, people.ErrLabel, people.ErrRole,
		errOtherPassword, db.ErrNameTaken, db.ErrLastOwner, db.ErrNoPerson,
	} {
		if errors.Is(err, kind) {
			return asSentence(kind.Error())
		}
	}
	return ""
}

// asSentence is an error's text as a sentence.
func asSentence(text string) string {
	if text == "" {
		return ""
	}
	return string(text[0]-'a'+'A') + text[1:] + "."
}

// prove returns the person of a name when the password is theirs. It takes as
// long when nobody has the name.
func (s *server) prove(c echo.Context, name, password string) (people.Person, error) {
	ctx, from := c.Request().Context(), s.Access.client(c.Request())
	_, key, _ := people.Name(name) // what cannot be a name is nobody's
	if wait := s.limit.Try(from, key); wait > 0 {
		s.Logger.WarnContext(ctx, "too many log-ins", "from", from.String(), "wait", wait)
		return people.Person{}, tooOften{wait}
	}
	p, kept, err := s.Store.PersonNamed(ctx, key)
	if err != nil && !errors.Is(err, db.ErrNoPerson) {
		return p, err
	}
	if err := s.passwords.Verify(ctx, kept, password); err != nil {
		s.Logger.InfoContext(ctx, "log-in refused", "from", from.String(), "error", err)
		return people.Person{}, err
	}
	s.limit.Succeeded(from, key)
	return p, nil
}

// openSession logs the browser in with a new secret, ends the session that it
// had, and leads on to a page.
func (s *server) openSession(c echo.Context, personID, to string) error {
	ctx := c.Request().Context()
	if err := s.endSession(ctx, c); err != nil {
		return err
	}
	secret := people.NewSecret()
	if err := s.Store.AddSession(ctx, people.HashOf(secret), personID, s.Clock().Add(sessionLasts)); err != nil {
		return err
	}
	s.setSession(c, secret, int(sessionLasts.Seconds()))
	return c.Redirect(http.StatusSeeOther, to)
}

// setSession gives the browser its cookie, or takes it with a negative age.
func (s *server) setSession(c echo.Context, secret string, age int) {
	c.SetCookie(&http.Cookie{ //nolint:gosec // on loopback there is no TLS
		Name: sessionCookie, Value: secret, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.Access.secure(c.Request()),
	})
}

// endSession ends the session of the browser's cookie, if it has one, and the
// streams in it.
func (s *server) endSession(ctx context.Context, c echo.Context) error {
	cookie, err := c.Cookie(sessionCookie)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	hash := people.HashOf(cookie.Value)
	if err := s.Store.EndSession(ctx, hash); err != nil {
		return err
	}
	s.doors.shut(func(p person) bool { return p.session == hash })
	return nil
}

// logOut ends the session of this browser.
func (s *server) logOut(c echo.Context) error {
	if err := s.endSession(c.Request().Context(), c); err != nil {
		return err
	}
	s.setSession(c, "", -1)
	return c.Redirect(http.StatusSeeOther, "/login")
}

// logOutEverywhere ends all sessions of the person. Tokens of programs stay.
func (s *server) logOutEverywhere(c echo.Context) error {
	p := personOf(c)
	if err := s.Store.EndSessions(c.Request().Context(), p.ID); err != nil {
		return err
	}
	s.doors.shut(func(q person) bool { return q.ID == p.ID && q.token == "" })
	s.setSession(c, "", -1)
	return c.Redirect(http.StatusSeeOther, "/login")
}

// joinPage asks somebody who was invited for a name and a password.
func (s *server) joinPage(c echo.Context) error {
	return s.showJoin(c, http.StatusOK, templates.JoinProps{})
}

// showJoin shows the form of a link that can still be used.
func (s *server) showJoin(c echo.Context, status int, p templates.JoinProps) error {
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	i, err := s.Store.InviteOf(c.Request().Context(), people.HashOf(c.Param("token")))
	if err != nil {
		return err
	}
	p.Page = s.pageProps(c, "Join", "")
	p.Page.Bare = true
	p.By, p.Role, p.URL = i.By, string(i.Role), c.Request().URL.Path
	return show(c, status, templates.Join(p))
}

// errOtherPassword is a password that was typed differently the second time.
var errOtherPassword = errors.New("the two passwords are not the same")

// join makes a person of somebody who was invited, and logs them in.
func (s *server) join(c echo.Context) error {
	ctx, hash := c.Request().Context(), people.HashOf(c.Param("token"))
	form := templates.JoinProps{Name: plan.Short(c.FormValue("name"), people.MostName)}
	if _, err := s.Store.InviteOf(ctx, hash); err != nil {
		return err
	}
	p, err := s.newPerson(c)
	if err == nil {
		var joined people.Person
		if joined, err = s.Store.Join(ctx, hash, p); err == nil {
			s.Logger.InfoContext(ctx, "somebody joined", "person", joined.ID, "role", string(joined.Role))
			return s.openSession(c, joined.ID, "/")
		}
	}
	if form.Problem = told(c, err); form.Problem == "" {
		return err
	}
	return s.showJoin(c, http.StatusUnprocessableEntity, form)
}

// newPerson reads who joins from the form.
func (s *server) newPerson(c echo.Context) (db.NewPerson, error) {
	name, key, err := people.Name(c.FormValue("name"))
	if err != nil {
		return db.NewPerson{}, err
	}
	if c.FormValue("password") != c.FormValue("again") {
		return db.NewPerson{}, errOtherPassword
	}
	hash, err := s.passwords.Hash(c.Request().Context(), c.FormValue("password"))
	return db.NewPerson{ID: s.NewID(), Name: name, Key: key, Password: hash}, err
}
