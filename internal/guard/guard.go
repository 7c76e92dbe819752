// Package guard keeps requests that somebody else chose the address of from
// reaching what is inside: this machine, its networks, and the services that
// only they can reach. The address that counts is the one that is dialled.
package guard

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Guard decides which addresses may be dialled. It never changes, and is safe
// for concurrent use.
type Guard struct {
	allow  []netip.Prefix
	closed []network
	own    func() ([]net.Addr, error)
}

// New returns a guard that refuses what is not the public internet, except for
// the networks in allow. A network of IPv4 allows its addresses however they
// are written, but not what embeds them in an address of another kind.
func New(allow []netip.Prefix) *Guard {
	return &Guard{allow: slices.Clone(allow), closed: closedNetworks(), own: net.InterfaceAddrs}
}

// RefusedError is an address that the guard does not let through. Nothing was
// sent to it.
type RefusedError struct {
	// Host is the host as it was asked for, if one was, or the URL where that
	// has no use for a host.
	Host string
	// Addr is the address that it led to. It is not valid where the refusal
	// is of how the URL is written.
	Addr netip.Addr
	// Why is what is wrong, as the end of a sentence about the host:
	// "is a loopback address".
	Why string
}

// Error names the host and the address, and says what is wrong. It is for the
// log: where a name of an inner network leads is not for whoever asked.
func (e *RefusedError) Error() string {
	switch {
	case !e.Addr.IsValid():
		return fmt.Sprintf("refused: %q %s", e.Host, e.Why)
	case e.Host == "":
		return fmt.Sprintf("refused: %s %s", e.Addr, e.Why)
	}
	return fmt.Sprintf("refused: %q leads to %s, which %s", e.Host, e.Addr, e.Why)
}

// ByName says whether the host is a name that leads to the refused address, as
// against the address itself.
func (e *RefusedError) ByName() bool {
	if !e.Addr.IsValid() {
		return false
	}
	_, err := netip.ParseAddr(e.Host)
	return err != nil
}

// Addr returns a [*RefusedError] for an address that may not be dialled.
func (g *Guard) Addr(addr netip.Addr) error {
	plain := addr.Unmap()
	if !plain.IsValid() {
		return &RefusedError{Addr: addr, Why: "is no address"}
	}
	if plain.Zone() != "" {
		return &RefusedError{Addr: addr, Why: "names an interface of this machine"}
	}
	if slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(plain) }) {
		return nil
	}
	if why := g.closedFor(plain); why != "" {
		return &RefusedError{Addr: addr, Why: why}
	}
	return g.notOwn(plain)
}

// closedFor says why an address is not one of the public internet, or "".
func (g *Guard) closedFor(addr netip.Addr) string {
	for _, n := range g.closed {
		if !n.prefix.Contains(addr) {
			continue
		}
		if n.embeds == nil {
			return n.why
		}
		inner := n.embeds(addr)
		if why := g.closedFor(inner); why != "" {
			return fmt.Sprintf("%s for %s, which %s", n.why, inner, why)
		}
		return ""
	}
	if addr.Is6() && !globalUnicast().Contains(addr) {
		return "is not an address of the public internet"
	}
	return ""
}

// The widest networks that count as those that this machine stands in. An
// interface that claims more says nothing about neighbours.
const (
	widestOwn4 = 8
	widestOwn6 = 32
)

// notOwn refuses the public addresses of this machine and of the networks it
// stands in: what listens there often trusts whoever is inside.
func (g *Guard) notOwn(addr netip.Addr) error {
	own, err := g.own()
	if err != nil {
		return fmt.Errorf("list the addresses of this machine, which may not be dialled: %w", err)
	}
	for _, a := range own {
		p, ok := ownNetwork(a)
		if ok && p.Contains(addr) {
			return &RefusedError{Addr: addr, Why: "is an address of this machine or its network"}
		}
	}
	return nil
}

// ownNetwork is the network of an interface's address, or the address alone
// where the network is too wide to be one.
func ownNetwork(a net.Addr) (netip.Prefix, bool) {
	n, ok := a.(*net.IPNet)
	if !ok {
		return netip.Prefix{}, false
	}
	addr, ok := netip.AddrFromSlice(n.IP)
	if !ok {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap()
	ones, size := n.Mask.Size()
	bits := ones - size + addr.BitLen() // a mask of IPv4 may have been widened
	widest := widestOwn6
	if addr.Is4() {
		widest = widestOwn4
	}
	if bits < widest || bits > addr.BitLen() {
		bits = addr.BitLen()
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}
