package handlers

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/people"
	"planwave/internal/plan"
)

// action is what a route does, as far as it matters who may.
type action string

// The actions.
const (
	// toPass needs no log-in: pages for logging in, health checks, files of the
	// program.
	toPass action = "pass"
	// toRead changes nothing.
	toRead action = "read"
	// toAsk makes a run or costs money, without changing what is there.
	toAsk action = "ask"
	// toChange changes the run of the route.
	toChange action = "change"
	// toKeepAccount changes what the person logs in with.
	toKeepAccount action = "account"
	// toManage changes who may do what.
	toManage action = "manage"
)

// actions is the table from every route to what it does. A route that is not
// in it is refused.
func actions() map[string]action {
	return map[string]action{
		"GET /static/*": toPass, "GET /healthz": toPass, "GET /readyz": toPass, "POST /theme": toPass,
		"GET /login": toPass, "POST /login": toPass, "GET /join/:token": toPass, "POST /join/:token": toPass,

		"POST /logout": toKeepAccount, "POST /logout/everywhere": toKeepAccount,
		"POST /settings/password": toKeepAccount, "POST /settings/tokens": toKeepAccount, "POST /settings/tokens/:token/revoke": toKeepAccount,

		"POST /settings/people/:person/role": toManage, "POST /settings/people/:person/remove": toManage,
		"POST /settings/invites": toManage, "POST /settings/invites/:invite/withdraw": toManage,
		"POST " + backupPath: toManage, // all that is kept

		"GET /": toRead, "GET /settings": toRead, "GET /metrics": toRead,
		"GET /runs": toRead, "GET /compare": toRead, "GET /runs/latest": toRead, "GET /runs/:id": toRead, "GET /runs/:id/live": toRead,
		"GET /runs/:id/panel": toRead, "GET /runs/:id/graph": toRead, "GET /runs/:id/moment": toRead, "GET /runs/:id/play": toRead,
		"GET /runs/:id/calls/:call": toRead, "GET /runs/:id/versions/:version": toRead,
		"GET /runs/:id/versions/:version/layout.css": toRead, "GET /plans/:hash/layout.css": toRead,
		"GET /api/v1/runs": toRead, "GET /api/v1/runs/:id": toRead, "GET /api/v1/runs/:id/events": toRead,
		"GET /api/v1/runs/:id/trace": toRead, "GET /api/v1/runs/:id/export": toRead, "GET /api/v1/runs/:id/versions": toRead,
		"POST /api/v1/plans/check": toRead, "POST /api/v1/plans/affected": toRead, "POST /api/v1/plans/layout": toRead,
		"GET /api/v1/tools": toRead, "GET /api/v1/models": toRead, "GET /api/v1/openapi.json": toRead,

		"POST /runs": toAsk, "POST /runs/import": toAsk, "POST /runs/:id/fork": toAsk, "POST /settings/test": toAsk,
		"POST /api/v1/runs": toAsk, "POST /api/v1/runs/import": toAsk, "POST /api/v1/runs/:id/fork": toAsk, "POST /api/v1/runs/:id/replay": toAsk,

		"POST /runs/:id/approve": toChange, "POST /runs/:id/revise": toChange, "POST /runs/:id/cancel": toChange,
		"POST /runs/:id/plan": toChange, "POST /runs/:id/draft": toChange, "POST /runs/:id/retry": toChange,
		"POST /runs/:id/continue": toChange, "POST /runs/:id/answer": toChange, "POST /runs/:id/decide": toChange,
		"PUT /api/v1/runs/:id/plan": toChange, "POST /api/v1/runs/:id/plan/revise": toChange, "POST /api/v1/runs/:id/approve": toChange,
		"POST /api/v1/runs/:id/cancel": toChange, "POST /api/v1/runs/:id/steps/:step/retry": toChange,
		"POST /api/v1/runs/:id/continue": toChange, "POST /api/v1/runs/:id/answer": toChange,
		"POST /api/v1/runs/:id/approvals/:approval": toChange,
		"POST /runs/:id/shares":                     toChange, "POST /runs/:id/shares/:share/revoke": toChange, "POST /runs/:id/delete": toChange,
		"POST /api/v1/runs/:id/shares": toChange, "DELETE /api/v1/runs/:id/shares/:share": toChange, "DELETE /api/v1/runs/:id": toChange,
	}
}

// sharedPrefix is where shared runs are. The share decides there who may see
// what, and nobody has to be logged in.
const sharedPrefix = "/s/"

// person is who is behind a request; the zero person is nobody.
type person struct {
	people.Person
	// session is what a browser logged in with, "" for a program and a proxy.
	session people.Hash
	// token is what a program logged in with, "" for a browser.
	token people.Hash
	// expires is when the session is over; zero for what does not expire.
	expires time.Time
}

// may returns nil when a person may do something, and else why not. owner is
// who asked for the run that is to be changed.
func may(p person, what action, owner string) error {
	switch {
	case what == toPass:
		return nil
	case p.Name == "":
		return plan.NewError(codeLogIn, "Nobody is logged in. A browser logs in at /login; a program sends the header Authorization: Bearer with a token from the settings page.", nil)
	case p.token != "" && (what == toKeepAccount || what == toManage):
		return plan.NewError(codeForbidden, "A token cannot change who may log in, and with what. Log in with a browser for that.", nil)
	case p.Role == people.Owner, what == toRead, what == toKeepAccount:
		return nil
	case what == toManage:
		return plan.NewError(codeForbidden, "Only owners manage people. Ask one of them.", nil)
	case p.Role == people.Member && (what == toAsk || what == toChange && owner == p.Name):
		return nil
	case p.Role == people.Member && what == toChange:
		return plan.NewError(codeForbidden, "This run is "+plan.Short(owner, people.MostName)+"'s, and members change only their own. Continue it as a run of your own instead, by a fork.", nil)
	}
	return plan.NewError(codeForbidden, "You may look at everything here and change nothing. An owner can make you a member.", nil)
}

// needOf is what the route of a request does.
func (s *server) needOf(c echo.Context) (action, error) {
	if strings.HasPrefix(c.Path(), sharedPrefix) {
		return toPass, nil
	}
	route := c.Request().Method + " " + c.Path()
	what, ok := s.actions[route]
	if !ok && s.routed[route] {
		return "", plan.NewError(codeForbidden, "Nobody may do this: it is not said who may.", nil)
	}
	if !ok { // nothing is there, which is told to those who are logged in
		return toRead, nil
	}
	return what, nil
}
