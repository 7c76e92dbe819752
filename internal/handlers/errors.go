package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// Codes of requests that are refused before any run hears of them.
const (
	codeMalformed   plan.Code = "malformed_request"
	codeLogIn       plan.Code = "log_in"
	codeForbidden   plan.Code = "forbidden"
	codeMethod      plan.Code = "method_not_allowed"
	codeTooOften    plan.Code = "too_often"
	codeClientGone  plan.Code = "client_gone"
	codeUnavailable plan.Code = "unavailable"
	codeStoreFull   plan.Code = "storage_full"
)

// statusClientGone is the customary status of a request whose sender hung up
// before the answer. Nobody receives it; it is for the log.
const statusClientGone = 499

// kindOf is the one table from the code of an error to its HTTP status and the
// title that all problems of this code have. A code that is not in it is an
// internal error.
func kindOf(code plan.Code) (status int, title string) {
	switch code {
	case codeMalformed:
		return http.StatusBadRequest, "The request cannot be read"
	case codeLogIn:
		return http.StatusUnauthorized, "Log in first"
	case codeForbidden:
		return http.StatusForbidden, "The request is not allowed"
	case plan.CodeNotFound:
		return http.StatusNotFound, "Not found"
	case codeMethod:
		return http.StatusMethodNotAllowed, "Method not allowed"
	case plan.CodeConflict:
		return http.StatusConflict, "In conflict with what is there"
	case plan.CodeStale:
		return http.StatusConflict, "Not the newest version"
	case plan.CodeUnexpected:
		return http.StatusConflict, "Not possible in this state"
	case plan.CodeTooLarge:
		return http.StatusRequestEntityTooLarge, "Too large"
	case plan.CodeInvalid:
		return http.StatusUnprocessableEntity, "The request is not valid"
	case plan.CodePlanInvalid:
		return http.StatusUnprocessableEntity, "The plan breaks the rules"
	case codeTooOften:
		return http.StatusTooManyRequests, "Too often"
	case codeClientGone:
		return statusClientGone, "The client went away"
	case codeUnavailable:
		return http.StatusServiceUnavailable, "Not available now"
	case codeStoreFull:
		return http.StatusInsufficientStorage, "The disk is full"
	}
	return http.StatusInternalServerError, "Internal error"
}

// handleError is the one place that decides what is seen of an error: problem
// details for programs, a page for people. The cause is not shown; the request
// log has it, under the request's id.
func (s *server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	e := shownTo(c.Request(), err)
	status, title := kindOf(e.Code)
	if e.Code == plan.CodeConflict {
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
	}
	var failed error
	if wantsProblem(c.Request()) {
		failed = writeProblem(c, status, title, e)
	} else {
		failed = s.errorPage(c, status, e)
	}
	if failed != nil && c.Request().Context().Err() == nil {
		s.Logger.ErrorContext(c.Request().Context(), "show an error", "error", failed, "shown", err)
	}
}

// shownTo turns any error into the one that the sender of r is shown.
func shownTo(r *http.Request, err error) *plan.Error {
	if r.Context().Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return plan.NewError(codeClientGone, "The client went away before the answer.", err)
	}
	if e, ok := errors.AsType[*plan.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok {
		return ofHTTP(r, e)
	}
	if e := ofStore(err); e != nil {
		return e
	}
	return plan.AsError(err)
}

// ofHTTP puts the router's and the middlewares' errors into words.
func ofHTTP(r *http.Request, err *echo.HTTPError) *plan.Error {
	path := plan.Short(r.URL.Path, 200)
	switch err.Code {
	case http.StatusNotFound:
		msg := "There is nothing at " + path + "."
		if strings.HasPrefix(r.URL.Path, "/api/") {
			msg += " /api/v1/openapi.json lists what there is."
		}
		return plan.NewError(plan.CodeNotFound, msg, err)
	case http.StatusMethodNotAllowed:
		return plan.NewError(codeMethod, path+" does not answer to "+plan.Short(r.Method, 20)+"; the Allow header says what it answers to.", err)
	case http.StatusRequestEntityTooLarge:
		return plan.NewError(plan.CodeTooLarge, "The request body is larger than "+bodyLimit+"B, the most that is read. Nothing was done; send less.", err)
	case http.StatusForbidden:
		return plan.NewError(codeForbidden, "The request came from a page of another site, and such requests change nothing here.", err)
	case http.StatusBadRequest:
		return plan.NewError(codeMalformed, "The request cannot be read as HTTP asks for it.", err)
	}
	return plan.AsError(err)
}

// ofStore puts what is wrong with the database into words that say what
// became of the request, or returns nil for any other error.
func ofStore(err error) *plan.Error {
	for _, kind := range []struct {
		is    error
		code  plan.Code
		field string
		means string
	}{
		{db.ErrFull, codeStoreFull, "", "The disk is full, so the change was not made; everything before it is kept. Free some space and send the request again."},
		{db.ErrReadOnly, codeUnavailable, "", "The database cannot be written, so the change was not made; everything before it is kept. " +
			"Give the server the right to write the file and its folder, and send the request again."},
		{db.ErrBusy, codeUnavailable, "", "The database is locked by another program, so the change was not made; everything before it is kept. Send the request again."},
		{db.ErrClosed, codeUnavailable, "", "The server is stopping, so the change was not made. Send the request again when it is back."},
		{db.ErrInFlight, plan.CodeConflict, idempotencyKey, "The first request with this Idempotency-Key is still being answered. Wait a moment and repeat it."},
		{db.ErrKeyReused, plan.CodeInvalid, idempotencyKey, "This Idempotency-Key was used for a request with another body. Take a new key for a new request."},
		{db.ErrCursor, plan.CodeInvalid, "cursor", "The cursor is not one that a list gave out. Start again without it."},
		{db.ErrConflict, plan.CodeConflict, "", "The run was changed by somebody else at the same time, so this change was not made. Look at the run again."},
		{db.ErrNoInvite, plan.CodeNotFound, "", "The link was used, is over or was withdrawn. Ask for a new one."},
		{db.ErrNoSession, plan.CodeNotFound, "", "There is no such token. It may have been revoked."},
		{db.ErrNoPerson, plan.CodeNotFound, "", "There is no such person, or no longer."},
		{db.ErrNotFound, plan.CodeNotFound, "", "There is no such run. It may have been deleted."},
	} {
		if !errors.Is(err, kind.is) {
			continue
		}
		e := plan.NewError(kind.code, kind.means, err)
		if kind.field != "" {
			e.Violations = []plan.Violation{{Code: kind.code, Steps: []string{}, Field: kind.field, Message: kind.means}}
		}
		return e
	}
	return nil
}

// recovered is a panic as an error, with where it happened. The request log
// has both.
func recovered(_ echo.Context, err error, stack []byte) error {
	return fmt.Errorf("panic: %w\n%s", err, stack)
}

// sameOrigin refuses requests that change something and come from a page of
// another site.
func sameOrigin(p *http.CrossOriginProtection) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := p.Check(c.Request()); err != nil {
				return echo.NewHTTPError(http.StatusForbidden).SetInternal(err)
			}
			return next(c)
		}
	}
}

// wantsProblem says whether the sender is a program: it asks the API or the
// health checks, or names JSON and not HTML as what it reads.
func wantsProblem(r *http.Request) bool {
	switch p := r.URL.Path; {
	case p == "/api", strings.HasPrefix(p, "/api/"), p == "/healthz", p == "/readyz", p == "/metrics":
		return true
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}

// problem is an error as RFC 9457 has it. Code, Errors and RequestID are
// extension members.
type problem struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail"`
	Code   plan.Code `json:"code"`
	// Errors are the single things wrong with the input, if it was input.
	Errors []problemItem `json:"errors,omitempty"`
	// RequestID finds the cause of an internal error in the log.
	RequestID string `json:"request_id,omitempty"`
}

// problemItem is one thing wrong: in a field of the request or in steps of a
// plan.
type problemItem struct {
	Code    plan.Code  `json:"code"`
	Steps   []string   `json:"steps,omitempty"`
	Field   string     `json:"field,omitempty"`
	Message string     `json:"message"`
	Mend    *plan.Mend `json:"mend,omitempty"`
	Warning bool       `json:"warning,omitempty"`
}

// problemType is the URI of the kind of problem. It identifies, and is not an
// address.
func problemType(code plan.Code) string { return "urn:planwave:problem:" + string(code) }

func newProblem(c echo.Context, status int, title string, e *plan.Error) problem {
	p := problem{Type: problemType(e.Code), Title: title, Status: status, Detail: e.Message, Code: e.Code}
	for _, v := range e.Violations {
		p.Errors = append(p.Errors, problemItem(v))
	}
	if status >= http.StatusInternalServerError {
		p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	}
	return p
}

func writeProblem(c echo.Context, status int, title string, e *plan.Error) error {
	body, err := json.Marshal(newProblem(c, status, title, e))
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(status, "application/problem+json", append(body, '\n'))
}

// badRequest is a request whose address or headers cannot be read.
func badRequest(field, message string) error {
	return withViolation(codeMalformed, field, message)
}

// withViolation is an error about one field.
func withViolation(code plan.Code, field, message string) error {
	e := plan.NewError(code, message, nil)
	e.Violations = []plan.Violation{{Code: code, Steps: []string{}, Field: field, Message: message}}
	return e
}
