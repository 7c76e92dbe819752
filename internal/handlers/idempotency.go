package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/runs"
)

const (
	idempotencyKey = "Idempotency-Key"
	// mostKey is the longest Idempotency-Key.
	mostKey = 255
)

// idempotent makes a repeat of a request under the same Idempotency-Key return
// the first answer. Another body under the key is refused, and so is a repeat
// while the first is being answered. What the first did is committed together
// with its key, so that this holds over a crash, too. An answer is kept unless
// it is an error of the server, after which the request is carried out again.
func (s *server) idempotent(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		name := c.Request().Header.Get(idempotencyKey)
		if name == "" {
			return next(c)
		}
		if len(name) > mostKey || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return badRequest(idempotencyKey, fmt.Sprintf("The %s is not 1 to %d visible ASCII characters.", idempotencyKey, mostKey))
		}
		body, err := readBody(c.Request())
		if err != nil {
			return err
		}
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		k := keyOf(c, name, body)
		first, err := s.Store.Claim(c.Request().Context(), k)
		switch {
		case err != nil:
			return err
		case first == nil:
			return s.answerFirst(c, next, k)
		case first.Status == 0:
			return s.answerLost(c, first.RunID)
		}
		return send(c.Response().Writer, *first)
	}
}

// keyOf names a request: a key means nothing to anybody else or at another
// address, and belongs to one body.
func keyOf(c echo.Context, name string, body []byte) db.Key {
	sum := sha256.Sum256(body)
	r := c.Request()
	return db.Key{Scope: by(c) + " " + r.Method + " " + r.URL.Path, Key: name, Fingerprint: hex.EncodeToString(sum[:])}
}

// answerFirst carries the request out and keeps the answer before it is sent.
func (s *server) answerFirst(c echo.Context, next echo.HandlerFunc, k db.Key) (err error) {
	ctx := c.Request().Context()
	lasting := context.WithoutCancel(ctx)
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, s.Store.Release(lasting, k))
		}
	}()
	c.SetRequest(c.Request().WithContext(runs.WithKey(ctx, k)))
	w := c.Response().Writer
	rec := &recording{ResponseWriter: w}
	c.Response().Writer = rec
	defer func() { c.Response().Writer = w }()

	if err := next(c); err != nil {
		if status, _ := kindOf(shownTo(c.Request(), err).Code); status >= statusClientGone {
			return err
		}
		s.handleError(err, c)
	}
	a := db.Answer{RunID: runOf(c), Status: rec.status, Header: map[string][]string{}, Body: rec.body.Bytes()}
	for _, name := range []string{echo.HeaderContentType, echo.HeaderLocation, echo.HeaderCacheControl} {
		if v := w.Header().Values(name); len(v) > 0 {
			a.Header[name] = v
		}
	}
	if err := s.Store.Keep(lasting, k, a); err != nil {
		s.Logger.ErrorContext(ctx, "keep the answer to an Idempotency-Key", "error", err)
	}
	kept = true
	return send(w, a)
}

// answerLost answers a repeat of a request that was carried out and whose
// answer was lost in a crash: with the run as it is now.
func (s *server) answerLost(c echo.Context, runID string) error {
	status := http.StatusCreated
	if runID == c.Param("id") {
		status = http.StatusAccepted
	}
	r, err := s.Runs.Get(c.Request().Context(), runID)
	return s.answerRun(c, status, r, err)
}

// runOf is the run that a request made or was about.
func runOf(c echo.Context) string {
	if to := c.Response().Header().Get(echo.HeaderLocation); to != "" {
		return path.Base(to)
	}
	return c.Param("id")
}

func send(w http.ResponseWriter, a db.Answer) error {
	for name, v := range a.Header {
		w.Header()[name] = v
	}
	w.WriteHeader(a.Status)
	_, err := w.Write(a.Body)
	return err
}

// recording holds an answer back.
type recording struct {
	http.ResponseWriter // for the headers
	status              int
	body                bytes.Buffer
}

// WriteHeader holds the status back.
func (r *recording) WriteHeader(status int) { r.status = status }

// Write holds a part of the body back.
func (r *recording) Write(p []byte) (int, error) { return r.body.Write(p) }
