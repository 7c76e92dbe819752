package handlers

import (
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
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

// ownHost refuses requests that name another host than this machine. Without
// log-in the server is on loopback only, and a foreign page must not reach it
// by giving its own name the address 127.0.0.1 (DNS rebinding).
func ownHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		host := c.Request().Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return plan.NewError(codeForbidden, "This server answers to localhost and 127.0.0.1 only, and the request named "+plan.Short(host, 100)+".", nil)
		}
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
			slog.String("method", c.Request().Method), slog.String("path", c.Request().URL.Path),
			slog.Int("status", c.Response().Status), slog.Duration("took", s.Clock().Sub(start)), slog.Any("error", err))
		return nil
	}
}
