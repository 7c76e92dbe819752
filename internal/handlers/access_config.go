package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/people"
	"planwave/internal/plan"
)

// Auth is how people log in.
type Auth string

// The ways to log in.
const (
	// AuthOff is no log-in: one person, on loopback only.
	AuthOff Auth = "off"
	// AuthPassword is a name and a password.
	AuthPassword Auth = "password"
	// AuthHeader is a header in which a proxy names the person.
	AuthHeader Auth = "header"
)

// Access is who is let in. The zero value is [AuthOff].
type Access struct {
	Auth Auth
	// Header is the header of [AuthHeader].
	Header string
	// Proxies are the networks whose requests may carry that header, and
	// X-Forwarded-For and X-Forwarded-Proto.
	Proxies []netip.Prefix
	// BaseURL is where browsers find the server, scheme and host; nil where it is
	// on loopback only.
	BaseURL *url.URL
	// Cost is what hashing a password costs; zero is the recommended.
	Cost people.Cost
}

// trusts says whether an address is that of a proxy.
func (a Access) trusts(addr netip.Addr) bool {
	for _, network := range a.Proxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return a.Addr().Unmap().WithZone("")
}

// client is the address that a request comes from: the one before the last
// proxy that is trusted.
func (a Access) client(r *http.Request) netip.Addr {
	addr := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values(echo.HeaderXForwardedFor), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusts(addr); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = before.Unmap().WithZone("")
	}
	return addr
}

// secure says whether the browser came over TLS, so that its cookies must.
func (a Access) secure(r *http.Request) bool {
	return r.TLS != nil || a.BaseURL != nil && a.BaseURL.Scheme == "https" ||
		a.trusts(peer(r)) && r.Header.Get(echo.HeaderXForwardedProto) == "https"
}

// base is the beginning of links to this server.
func (a Access) base(r *http.Request) string {
	if a.BaseURL != nil {
		return a.BaseURL.String()
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// ownOrigin refuses what changes something and comes from a page of another site
// than this server, or than the base URL, which a proxy may have left out of the
// request.
func (a Access) ownOrigin() *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if a.BaseURL != nil {
		if err := p.AddTrustedOrigin(a.BaseURL.Scheme + "://" + a.BaseURL.Host); err != nil {
			panic(err) // a base URL is a scheme and a host
		}
	}
	return p
}

// ownHost refuses requests that name another host than this machine, or than
// the base URL. A foreign page must not reach the server by giving its own name
// the server's address (DNS rebinding).
func (s *server) ownHost(next echo.HandlerFunc) echo.HandlerFunc {
	names := "localhost and 127.0.0.1"
	if s.Access.BaseURL != nil {
		names = s.Access.BaseURL.Hostname() + ", " + names
	}
	return func(c echo.Context) error {
		host := c.Request().Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		own := host == "localhost" || ip != nil && ip.IsLoopback() ||
			s.Access.BaseURL != nil && strings.EqualFold(strings.Trim(host, "[]"), s.Access.BaseURL.Hostname())
		if !own {
			return plan.NewError(codeForbidden, "This server answers to "+names+" only, and the request named "+plan.Short(host, 100)+".", nil)
		}
		return next(c)
	}
}
