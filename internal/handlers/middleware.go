package handlers

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// contentPolicy allows what this server serves and nothing else: no inline
// script, no inline style, no frame around a page.
const contentPolicy = "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"

func securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		return next(c)
	}
}

// logRequests logs each request once, after it was answered. Event streams are
// logged when they end.
func (s *server) logRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := s.Clock()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		level := slog.LevelDebug
		if c.Response().Status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		s.Logger.LogAttrs(c.Request().Context(), level, "request",
			slog.String("id", c.Response().Header().Get(echo.HeaderXRequestID)),
			slog.String("method", c.Request().Method), slog.String("path", loggedPath(c)),
			slog.Int("status", c.Response().Status), slog.Duration("took", s.Clock().Sub(start)), slog.Any("error", err))
		return nil
	}
}

// loggedPath is the path of a request as it is logged. A path that is a secret
// is not.
func loggedPath(c echo.Context) string {
	path := c.Request().URL.Path
	for _, secret := range []string{"/join/", sharedPrefix} {
		if strings.HasPrefix(path, secret) {
			return secret + "…"
		}
	}
	return path
}
