package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/people"
	"planwave/internal/plan"
)

// sessionCookie is what a browser is logged in by.
const sessionCookie = "planwave_session"

// personKey is where the person is kept in a request's context.
const personKey = "person"

// local is the one person where there is no log-in.
func local() person { return person{Person: people.Person{Name: "local", Role: people.Owner}} }

// personOf is who is behind a request that was let in.
func personOf(c echo.Context) person {
	p, _ := c.Get(personKey).(person)
	return p
}

// by is the name of the person behind a request. Without log-in there is one.
func by(c echo.Context) string { return personOf(c).Name }

// admit lets a request in when the person behind it may do what its route does.
func (s *server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		what, err := s.needOf(c)
		if err != nil {
			return err
		}
		if what == toPass {
			return next(c)
		}
		p, err := s.allowed(c, what)
		if err != nil {
			return s.turnAway(c, err)
		}
		c.Set(personKey, p)
		if !streams(c) || p.ID == "" {
			return next(c)
		}
		return s.admitStream(c, p, what, next)
	}
}

// admitStream lets a stream in until the person may not see it any more. It asks
// again once the stream is known, so that nobody is removed in between.
func (s *server) admitStream(c echo.Context, p person, what action, next echo.HandlerFunc) error {
	ctx, leave := s.doors.enter(c.Request().Context(), p)
	defer leave()
	again, err := s.allowed(c, what)
	if err != nil {
		return s.turnAway(c, err)
	}
	if expires := again.expires; !expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, expires.Sub(s.Clock()))
		defer cancel()
	}
	c.SetRequest(c.Request().WithContext(ctx))
	return next(c)
}

// allowed returns who is behind a request, or why it is not let in.
func (s *server) allowed(c echo.Context, what action) (person, error) {
	p, err := s.identify(c)
	if err != nil {
		return p, err
	}
	owner := ""
	if what == toChange && p.Role == people.Member {
		// A run that is not there is nobody's; the handler says that it is not there.
		owner, err = s.Store.OwnerOf(c.Request().Context(), c.Param("id"))
		if errors.Is(err, db.ErrNotFound) {
			owner, err = p.Name, nil
		}
		if err != nil {
			return p, err
		}
	}
	return p, may(p, what, owner)
}

// identify finds out who is behind a request; the zero person is nobody.
func (s *server) identify(c echo.Context) (person, error) {
	if s.Access.Auth == AuthOff {
		return local(), nil
	}
	r := c.Request()
	ctx := r.Context()
	if secret, ok := bearer(r); ok {
		hash := people.HashOf(secret)
		p, err := s.Store.PersonOfToken(ctx, hash)
		if errors.Is(err, db.ErrNoSession) {
			return person{}, plan.NewError(codeLogIn, "The token is not known here, or was revoked. Make a new one on the settings page.", err)
		}
		return person{Person: p, token: hash}, err
	}
	if s.Access.Auth == AuthHeader {
		return s.vouchedFor(r)
	}
	cookie, err := c.Cookie(sessionCookie)
	if err != nil {
		return person{}, nil //nolint:nilerr // nobody
	}
	session, err := s.Store.Session(ctx, people.HashOf(cookie.Value))
	if errors.Is(err, db.ErrNoSession) {
		return person{}, nil
	}
	return person{Person: session.Person, session: session.Hash, expires: session.ExpiresAt}, err
}

// bearer is the token that a program sends.
func bearer(r *http.Request) (secret string, ok bool) {
	scheme, secret, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	return strings.TrimSpace(secret), strings.EqualFold(scheme, "bearer")
}

// vouchedFor is the person whom the proxy names.
func (s *server) vouchedFor(r *http.Request) (person, error) {
	names := r.Header.Values(s.Access.Header)
	if len(names) == 0 || len(names) == 1 && names[0] == "" {
		return person{}, nil
	}
	if !s.Access.trusts(peer(r)) {
		return person{}, plan.NewError(codeForbidden, "Only the proxy may say who is there, and this request did not come from it. PLANWAVE_AUTH_PROXIES names its network.", nil)
	}
	name, key, err := people.Name(names[0])
	if err != nil || len(names) > 1 {
		return person{}, plan.NewError(codeForbidden, "The proxy names nobody who can be: "+people.ErrName.Error()+", and it is named once.", err)
	}
	p, err := s.Store.Known(r.Context(), db.NewPerson{ID: s.NewID(), Name: name, Key: key})
	if errors.Is(err, db.ErrNoPerson) {
		return person{}, plan.NewError(codeForbidden, "You were removed from here. Ask an owner.", err)
	}
	return person{Person: p}, err
}

// turnAway answers a request that is not let in. Who is not logged in is led to
// the log-in; a program and a stream are told.
func (s *server) turnAway(c echo.Context, err error) error {
	e, ok := errors.AsType[*plan.Error](err)
	if !ok || e.Code != codeLogIn {
		return err
	}
	r := c.Request()
	if wantsProblem(r) || r.URL.Path == "/metrics" {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="Planwave"`)
		return err
	}
	if s.Access.Auth != AuthPassword {
		return plan.NewError(codeLogIn, "The proxy in front of this server did not say who you are. Come through it.", nil)
	}
	if r.Header.Get("HX-Request") != "" {
		c.Response().Header().Set("HX-Redirect", "/login")
		return err
	}
	if streams(c) {
		return err
	}
	return c.Redirect(http.StatusSeeOther, logInURL(r))
}

// logInURL is the log-in that leads back to a page.
func logInURL(r *http.Request) string {
	to := ownPath(r.URL.RequestURI())
	if r.Method != http.MethodGet || to == "/" {
		return "/login"
	}
	return "/login?return=" + url.QueryEscape(to)
}
