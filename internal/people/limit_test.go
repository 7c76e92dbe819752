package people

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// at is a limit on a clock that is moved by hand.
func at() (l *Limit, move func(time.Duration)) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return NewLimit(func() time.Time { return now }), func(d time.Duration) { now = now.Add(d) }
}

// host is one of many addresses.
func host(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestTriesOfAnAccountFromManyAddresses(t *testing.T) {
	l, move := at()
	for i := range AccountTries {
		if wait := l.Try(host(i), "ada"); wait != 0 {
			t.Fatalf("try %d waits %s", i, wait)
		}
	}
	if wait := l.Try(host(99), "ada"); wait != AccountPause {
		t.Errorf("one more waits %s, want %s", wait, AccountPause)
	}
	if wait := l.Try(host(99), "ben"); wait != 0 {
		t.Errorf("another account waits %s", wait)
	}
	move(AccountPause - time.Second)
	if wait := l.Try(host(100), "ada"); wait != time.Second {
		t.Errorf("a second early: %s", wait)
	}
	move(time.Second)
	if l.Try(host(100), "ada") != 0 || l.Try(host(100), "ada") == 0 {
		t.Error("a pause lets through one, and one only")
	}
	move(100 * AccountTries * AccountPause)
	for range AccountTries {
		if l.Try(host(101), "ada") != 0 {
			t.Error("a long time gives back fewer than all tries")
		}
	}
	if l.Try(host(102), "ada") == 0 {
		t.Error("a long time gives more than all tries")
	}
}

func TestTriesFromAnAddressAtManyAccounts(t *testing.T) {
	l, move := at()
	six := netip.MustParseAddr("2001:db8:1:2::1")
	for i := range AddressTries {
		if wait := l.Try(six, fmt.Sprint(i)); wait != 0 {
			t.Fatalf("try %d waits %s", i, wait)
		}
	}
	if wait := l.Try(netip.MustParseAddr("2001:db8:1:2:ffff::9"), "x"); wait != AddressPause {
		t.Errorf("the same network waits %s", wait)
	}
	if l.Try(netip.MustParseAddr("2001:db8:1:3::1"), "x") != 0 || l.Try(netip.MustParseAddr("::ffff:10.0.0.1"), "x") != 0 {
		t.Error("other networks wait")
	}
	move(AddressPause)
	if l.Try(six, "") != 0 {
		t.Error("it still waits")
	}
}

// An address that must wait does not lock anybody out.
func TestAnAddressThatWaitsUsesNoAccountUp(t *testing.T) {
	l, _ := at()
	for range AddressTries + 5*AccountTries {
		l.Try(host(1), "")
		l.Try(host(1), "")
	}
	for range 5 * AccountTries {
		l.Try(host(1), "ada")
	}
	if wait := l.Try(host(2), "ada"); wait != 0 {
		t.Errorf("ada waits %s", wait)
	}
}

func TestWhoSucceedsIsNotLimited(t *testing.T) {
	l, _ := at()
	for i := range 10 * AddressTries {
		if wait := l.Try(host(1), "ada"); wait != 0 {
			t.Fatalf("log-in %d waits %s", i, wait)
		}
		l.Succeeded(host(1), "ada")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l, _ := at()
	for i := range mostKept + 500 {
		l.Try(host(i), fmt.Sprint(i))
	}
	if l.addresses.order.Len() != mostKept || len(l.addresses.by) != mostKept || len(l.accounts.by) != mostKept {
		t.Errorf("%d addresses and %d accounts are kept", len(l.addresses.by), len(l.accounts.by))
	}
	if _, kept := l.accounts.by["0"]; kept {
		t.Error("the oldest is not forgotten")
	}
	if _, kept := l.accounts.by[fmt.Sprint(mostKept+499)]; !kept {
		t.Error("the newest is forgotten")
	}
	l.Succeeded(host(0), "0") // forgotten meanwhile
}
