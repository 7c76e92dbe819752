package guard

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// mostPort is the highest port there is.
const mostPort = 65535

// URL returns a [*RefusedError] for a URL that is not one of http or https, or
// that writes its host in a way that programs read differently. An address in
// it is judged as [Guard.Addr] does; where a name leads is seen when it is
// dialled.
func (g *Guard) URL(u *url.URL) error {
	host := u.Hostname()
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{Host: u.Redacted(), Why: "does not begin with http:// or https://"}
	}
	if why := malformed(u, host); why != "" {
		return &RefusedError{Host: host, Why: why}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil //nolint:nilerr // a name: it is judged when it is dialled
	}
	return named(g.Addr(addr), host)
}

// malformed says what is wrong with how a host is written, or "".
func malformed(u *url.URL, host string) string {
	switch {
	case u.User != nil:
		return "comes with a user name; write the address without one"
	case host == "":
		return "is no host; write one, as in https://example.com/"
	case strings.Contains(host, "%"):
		return "names an interface of this machine, or is escaped"
	case !validPort(u.Port()):
		return "comes with a port that does not exist"
	case strangeNumber(host):
		return "is a number that programs read differently; write an IPv4 address as four decimal numbers"
	}
	return ""
}

// validPort says whether a port is one; none is.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n <= mostPort
}

// strangeNumber says whether a host would be read as an IPv4 address by a
// program that knows the old spellings (one to four numbers, decimal, octal or
// hexadecimal), and is not one in four decimals. No domain ends in a number.
func strangeNumber(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	labels := strings.Split(strings.TrimRight(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
