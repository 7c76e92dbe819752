package guard

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// bits4 is how many bits of an address of IPv6 stand before the IPv4 address
// that is mapped into it.
const bits4 = 96

// ParseAllow reads the addresses and networks that an operator allows although
// they are not public: separated by commas, as 192.168.1.20, fd00:1::/64. The
// error lists everything that cannot be meant.
func ParseAllow(text string) ([]netip.Prefix, error) {
	var allow []netip.Prefix
	var errs []error
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := parseNetwork(item)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		allow = append(allow, p)
	}
	return allow, errors.Join(errs...)
}

func parseNetwork(item string) (netip.Prefix, error) {
	if !strings.Contains(item, "/") {
		addr, err := netip.ParseAddr(item)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("%q is no address; write one as 192.168.1.20 or fd00::20, a network as 192.168.1.0/24. "+
				"Names, ports and interfaces cannot be allowed", item)
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(item)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is no network; write one as 192.168.1.0/24 or fd00:1::/64", item)
	}
	if p.Addr().Is4In6() {
		if p.Bits() < bits4 {
			return netip.Prefix{}, fmt.Errorf("%q is wider than the IPv4 addresses in it; write the network of IPv4", item)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-bits4)
	}
	if first := p.Masked(); first != p {
		return netip.Prefix{}, fmt.Errorf("%q is an address inside a network; write %s for the network, or %s for the address", item, first, p.Addr())
	}
	return p, nil
}
