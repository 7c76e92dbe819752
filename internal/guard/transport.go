package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	// dialTime is how long it may take to reach one address, and to agree on
	// its encryption.
	dialTime = 10 * time.Second
	// mostHeader is how large the header of an answer may be, in bytes.
	mostHeader = 256 << 10
)

// Options are what a transport takes from outside. The zero value is the
// machine's.
type Options struct {
	Resolver *net.Resolver
	TLS      *tls.Config
}

// Transport sends requests past a guard. Every request is judged by its URL and
// again by the address that is dialled, and none uses a connection of another,
// so that redirects and names that change where they lead are covered. It uses
// no proxy.
type Transport struct {
	guard *Guard
	base  *http.Transport
}

// Transport returns a transport past the guard. It holds no connections open.
func (g *Guard) Transport(o Options) *Transport {
	dialer := &net.Dialer{Timeout: dialTime, Resolver: o.Resolver, ControlContext: g.Control}
	return &Transport{guard: g, base: &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLS,
		TLSHandshakeTimeout:    dialTime,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: mostHeader,
	}}
}

// RoundTrip sends one request, unless its URL or the address it leads to is
// refused. The error then holds a [*RefusedError] with the host of the request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.guard.URL(r.URL); err != nil {
		if r.Body != nil {
			return nil, errors.Join(err, r.Body.Close())
		}
		return nil, err
	}
	resp, err := t.base.RoundTrip(r)
	return resp, named(err, r.URL.Hostname())
}

// Control is for [net.Dialer.ControlContext]: it is called with the address
// itself, after names were looked up and before anything is sent.
func (g *Guard) Control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &RefusedError{Host: address, Why: "is asked for by " + network + "; only TCP is possible"}
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Host: address, Why: "is no address"}
	}
	return g.Addr(addr.Addr())
}

// named puts the host that was asked for into a refusal.
func named(err error, host string) error {
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.Host != "" {
		return err
	}
	return &RefusedError{Host: host, Addr: refused.Addr, Why: refused.Why}
}
