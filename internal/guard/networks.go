package guard

import "net/netip"

// network is a range of addresses that is not part of the public internet.
type network struct {
	prefix netip.Prefix
	why    string
	// embeds takes the IPv4 address out of one that stands for it. Such an
	// address is as good as what is inside.
	embeds func(netip.Addr) netip.Addr
}

// globalUnicast is all of IPv6 that is given out to be reached from anywhere.
func globalUnicast() netip.Prefix { return netip.MustParsePrefix("2000::/3") }

// closedNetworks lists the special-purpose registries of IANA as far as they
// are not reachable from anywhere, and the services of clouds that have public
// addresses and answer inside only. The first that fits an address holds.
func closedNetworks() []network {
	var all []network
	for _, n := range [][2]string{
		{"0.0.0.0/8", "is an address of this machine"},
		{"127.0.0.0/8", "is a loopback address"},
		{"10.0.0.0/8", "is a private address"},
		{"172.16.0.0/12", "is a private address"},
		{"192.168.0.0/16", "is a private address"},
		{"100.64.0.0/10", "is an address inside a provider's network"},
		{"169.254.0.0/16", "is a link-local address, where clouds keep their metadata"},
		{"168.63.129.16/32", "is where a cloud keeps its metadata"},
		{"192.0.0.0/24", "is an address for protocols"},
		{"192.0.2.0/24", "is an address for documentation"},
		{"198.51.100.0/24", "is an address for documentation"},
		{"203.0.113.0/24", "is an address for documentation"},
		{"192.88.99.0/24", "is a relay between IPv4 and IPv6"},
		{"198.18.0.0/15", "is an address for benchmarks"},
		{"224.0.0.0/4", "is a multicast address"},
		{"255.255.255.255/32", "is the broadcast address"},
		{"240.0.0.0/4", "is a reserved address"},

		{"::/128", "is an address of this machine"},
		{"::1/128", "is a loopback address"},
		{"::/96", "is an IPv4 address in a form that is out of use"},
		{"::ffff:0:0:0/96", "is an IPv4 address in a form for translators"},
		{"64:ff9b:1::/48", "is an address of a translator inside a network"},
		{"fc00::/7", "is a private address"},
		{"fe80::/10", "is a link-local address"},
		{"fec0::/10", "is a private address"},
		{"ff00::/8", "is a multicast address"},
		{"2001::/32", "is an address of a tunnel (Teredo)"},
		{"2001::/23", "is an address for protocols"},
		{"2001:db8::/32", "is an address for documentation"},
		{"2002::/16", "is an address of a tunnel (6to4)"},
		{"3fff::/20", "is an address for documentation"},
	} {
		all = append(all, network{prefix: netip.MustParsePrefix(n[0]), why: n[1]})
	}
	return append(all, network{prefix: netip.MustParsePrefix("64:ff9b::/96"), why: "is a translator's address", embeds: lastFour})
}

// lastFour is the IPv4 address in the last four bytes of an address.
func lastFour(addr netip.Addr) netip.Addr {
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}
