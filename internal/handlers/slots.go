package handlers

import (
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
)

// streamsPerBrowser is how many streams a browser holds at most over HTTP/1.1,
// on which browsers open six connections to a host: the others are for pages.
const streamsPerBrowser = 4

// browserCookie names the browser that a request comes from, for as long as it
// is open.
const browserCookie = "browser"

// slots counts the streams that each browser holds. It is safe for concurrent
// use; its zero value is ready.
type slots struct {
	mu   sync.Mutex
	held map[string]int // guarded by mu; by the browser's cookie
}

// take says whether the browser of a request may hold one more stream, and
// returns what gives it back. HTTP/2 has no such limit, and neither has who
// brings no cookie, as programs do.
func (s *slots) take(r *http.Request) (free func(), ok bool) {
	c, err := r.Cookie(browserCookie)
	if err != nil || r.ProtoMajor > 1 {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[c.Value] >= streamsPerBrowser {
		return func() {}, false
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.held[c.Value]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[c.Value]--; s.held[c.Value] == 0 {
			delete(s.held, c.Value)
		}
	}, true
}

// knowBrowser gives the browser a name, if it has none.
func (s *server) knowBrowser(c echo.Context) {
	if _, err := c.Cookie(browserCookie); err != nil {
		c.SetCookie(&http.Cookie{ //nolint:gosec // on loopback there is no TLS, and the cookie tells nothing
			Name: browserCookie, Value: s.NewID(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Access.secure(c.Request()),
		})
	}
}
