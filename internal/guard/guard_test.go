package guard

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// guardOf is a guard on a machine with these networks.
func guardOf(t *testing.T, allow string, own ...string) *Guard {
	t.Helper()
	networks, err := ParseAllow(allow)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []net.Addr
	for _, text := range own {
		ip, n, err := net.ParseCIDR(text)
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, &net.IPNet{IP: ip, Mask: n.Mask})
	}
	g := New(networks)
	g.own = func() ([]net.Addr, error) { return addrs, nil }
	return g
}

// why is what a refusal says, "" for none.
func why(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok {
		t.Fatalf("%v is no refusal", err)
	}
	return refused.Why
}

// BEHAVIOUR 11: loopback, link-local, private and metadata addresses are refused.
func TestWhatIsNotThePublicInternetIsRefused(t *testing.T) {
	tests := map[string]string{
		"0.0.0.0": "this machine", "0.1.2.3": "this machine",
		"127.0.0.1": "loopback", "127.255.255.254": "loopback",
		"10.0.0.0": "private", "10.255.255.255": "private",
		"172.16.0.1": "private", "172.31.255.255": "private",
		"192.168.0.1": "private", "192.168.255.255": "private",
		"100.64.0.1": "provider", "100.100.100.200": "provider", "100.127.255.255": "provider",
		"169.254.169.254": "metadata", "169.254.170.2": "metadata", "168.63.129.16": "metadata",
		"192.0.0.1": "protocols", "192.0.0.192": "protocols",
		"192.0.2.1": "documentation", "198.51.100.7": "documentation", "203.0.113.9": "documentation",
		"192.88.99.1": "relay", "198.18.0.1": "benchmarks", "198.19.255.255": "benchmarks",
		"224.0.0.1": "multicast", "239.255.255.250": "multicast",
		"240.0.0.1": "reserved", "255.255.255.254": "reserved", "255.255.255.255": "broadcast",

		"::": "this machine", "::1": "loopback",
		"::127.0.0.1": "out of use", "::8.8.8.8": "out of use",
		"::ffff:127.0.0.1": "loopback", "::ffff:10.1.2.3": "private", "::ffff:169.254.169.254": "metadata", "::ffff:0.0.0.0": "this machine",
		"::ffff:0:127.0.0.1": "translators", "::ffff:0:8.8.8.8": "translators",
		"64:ff9b::127.0.0.1": "loopback", "64:ff9b::10.0.0.1": "private", "64:ff9b::169.254.169.254": "metadata",
		"64:ff9b:1::1": "translator", "64:ff9b:1:ffff::8.8.8.8": "translator",
		"2002:7f00:1::": "6to4", "2002:a00:1::1": "6to4", "2002:808:808::1": "6to4",
		"2001:0:4136:e378:8000:63bf:3fff:fdd2": "Teredo", "2001:2::1": "protocols", "2001:20::1": "protocols",
		"2001:db8::1": "documentation", "3fff::1": "documentation",
		"fc00::1": "private", "fd00:ec2::254": "private", "fdff::1": "private",
		"fe80::1": "link-local", "febf::1": "link-local", "fec0::1": "private",
		"ff02::1": "multicast", "ff0e::1": "multicast",
		"100::1": "public internet", "5f00::1": "public internet", "4000::1": "public internet", "::2:0:0:0": "public internet",
		"fe80::1%eth0": "interface", "2606:4700::1%1": "interface", "::1%lo": "interface",
	}
	g := guardOf(t, "")
	for text, says := range tests {
		if got := why(t, g.Addr(netip.MustParseAddr(text))); !strings.Contains(got, says) {
			t.Errorf("%s %q, want %q in it", text, got, says)
		}
	}
	if got := why(t, g.Addr(netip.Addr{})); got != "is no address" {
		t.Errorf("the zero address %q", got)
	}
}

func TestThePublicInternetIsReached(t *testing.T) {
	g := guardOf(t, "")
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
		"198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2606:4700:4700::1111",
		"2a00:1450:4001:829::200e",
	} {
		if err := g.Addr(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// BEHAVIOUR 11: an operator names what is allowed.
func TestWhatAnOperatorAllowsIsReached(t *testing.T) {
	g := guardOf(t, "127.0.0.1, 10.1.0.0/16, fd00:1::/64, 64:ff9b:1::/96")
	for _, text := range []string{"127.0.0.1", "::ffff:127.0.0.1", "10.1.255.255", "fd00:1::9", "64:ff9b:1::10.0.0.1"} {
		if err := g.Addr(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"127.0.0.2", "::1", "10.2.0.0", "fd00:1:0:1::", "64:ff9b::127.0.0.1", "::127.0.0.1", "2002:a01:1::", "fd00:1::9%eth0"} {
		if g.Addr(netip.MustParseAddr(text)) == nil {
			t.Errorf("%s is reached", text)
		}
	}
}

func TestTheNetworksOfThisMachineAreRefused(t *testing.T) {
	own := []string{"203.1.2.3/29", "2a02:8108:1:2:3:4:5:6/64", "5.6.7.8/0", "2a03::1/16"}
	g := guardOf(t, "", own...)
	for text, refused := range map[string]bool{
		"203.1.2.3": true, "203.1.2.7": true, "203.1.2.8": false, "::ffff:203.1.2.4": true,
		"2a02:8108:1:2:3:4:5:6": true, "2a02:8108:1:2::1": true, "2a02:8108:1:3::1": false,
		"5.6.7.8": true, "5.6.7.9": false, "2a03::1": true, "2a03::2": false,
	} {
		if got := why(t, g.Addr(netip.MustParseAddr(text))); strings.Contains(got, "its network") != refused {
			t.Errorf("%s on a machine with %v: %q", text, own, got)
		}
	}
	if err := guardOf(t, "203.1.2.4", own...).Addr(netip.MustParseAddr("203.1.2.4")); err != nil {
		t.Errorf("an address that the operator allows: %v", err)
	}
}

func TestAMachineThatDoesNotTellItsAddressesReachesNothing(t *testing.T) {
	broken := errors.New("no netlink here")
	g := guardOf(t, "10.0.0.1")
	g.own = func() ([]net.Addr, error) { return nil, broken }
	if err := g.Addr(netip.MustParseAddr("8.8.8.8")); !errors.Is(err, broken) {
		t.Errorf("8.8.8.8: %v", err)
	}
	if err := g.Addr(netip.MustParseAddr("10.0.0.1")); err != nil {
		t.Errorf("an address that the operator allows: %v", err)
	}
}

func TestAnIPv4AddressInAnotherFormIsJudgedAsItself(t *testing.T) {
	g := guardOf(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		four := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(rt, "address"))
		plain := netip.AddrFrom4(four)
		refused := g.Addr(plain) != nil
		if got := g.Addr(netip.AddrFrom16(plain.As16())) != nil; got != refused {
			rt.Errorf("%s mapped is refused: %v; itself: %v", plain, got, refused)
		}
		nat := netip.MustParseAddr("64:ff9b::").As16()
		copy(nat[12:], four[:])
		if got := g.Addr(netip.AddrFrom16(nat)) != nil; got != refused {
			rt.Errorf("%s behind NAT64 is refused: %v; itself: %v", plain, got, refused)
		}
		for _, prefix := range []string{"::", "::ffff:0:0:0", "64:ff9b:1::"} {
			a := netip.MustParseAddr(prefix).As16()
			copy(a[12:], four[:])
			if g.Addr(netip.AddrFrom16(a)) == nil {
				rt.Errorf("%s is reached", netip.AddrFrom16(a))
			}
		}
	})
}

func TestWhatTheStandardLibraryTakesForInnerIsRefused(t *testing.T) {
	g := guardOf(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		a := netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "address")))
		inner := a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified()
		if inner && g.Addr(a) == nil {
			rt.Errorf("%s is reached", a)
		}
	})
}
