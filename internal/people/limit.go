package people

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// How often somebody may try to log in.
const (
	// AddressTries are made from one address at once; then one each AddressPause.
	AddressTries = 20
	AddressPause = 15 * time.Second
	// AccountTries are made at one name at once, from wherever; then one each
	// AccountPause.
	AccountTries = 10
	AccountPause = 30 * time.Second
	// mostKept is how many addresses, and how many names, are remembered. Those
	// that were not heard of for the longest time are forgotten first.
	mostKept = 10_000
)

// Limit counts tries to log in by address and by account. It is safe for
// concurrent use.
type Limit struct {
	clock func() time.Time

	mu        sync.Mutex
	addresses buckets // guarded by mu
	accounts  buckets // guarded by mu
}

// NewLimit returns a limit that goes by a clock.
func NewLimit(clock func() time.Time) *Limit {
	return &Limit{
		clock:     clock,
		addresses: newBuckets(AddressTries, AddressPause),
		accounts:  newBuckets(AccountTries, AccountPause),
	}
}

// Try counts a try from an address at an account, "" for none, and returns 0 when
// it may be made, and else after how long it may. An address that must wait does
// not use up the tries of an account.
func (l *Limit) Try(from netip.Addr, account string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if wait = l.addresses.take(network(from), now); wait > 0 || account == "" {
		return wait
	}
	return l.accounts.take(account, now)
}

// Succeeded gives back what the last try counted, so that only failures are
// limited.
func (l *Limit) Succeeded(from netip.Addr, account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addresses.giveBack(network(from))
	if account != "" {
		l.accounts.giveBack(account)
	}
}

// network is what an address is counted as. A host has a whole /64 of IPv6.
func network(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// buckets hold tries: most of them, and one more each pause.
type buckets struct {
	most  int
	pause time.Duration
	by    map[string]*list.Element // of *bucket
	order *list.List               // the one heard of last is in front
}

type bucket struct {
	key string
	// empty is when the bucket was, or would have been, last empty.
	empty time.Time
}

func newBuckets(most int, pause time.Duration) buckets {
	return buckets{most: most, pause: pause, by: map[string]*list.Element{}, order: list.New()}
}

// take takes one try, or returns how long there is none.
func (b *buckets) take(key string, now time.Time) time.Duration {
	full := now.Add(-time.Duration(b.most) * b.pause)
	e, ok := b.by[key]
	if !ok {
		e = b.order.PushFront(&bucket{key: key, empty: full})
		b.by[key] = e
		b.forget()
	}
	b.order.MoveToFront(e)
	k := e.Value.(*bucket) //nolint:errcheck,forcetypeassert // it holds nothing else
	if k.empty.Before(full) {
		k.empty = full
	}
	if next := k.empty.Add(b.pause); next.After(now) {
		return next.Sub(now)
	}
	k.empty = k.empty.Add(b.pause)
	return 0
}

func (b *buckets) giveBack(key string) {
	if e, ok := b.by[key]; ok {
		k := e.Value.(*bucket) //nolint:errcheck,forcetypeassert // it holds nothing else
		k.empty = k.empty.Add(-b.pause)
	}
}

// forget keeps the memory bounded.
func (b *buckets) forget() {
	for b.order.Len() > mostKept {
		last := b.order.Back()
		delete(b.by, last.Value.(*bucket).key) //nolint:errcheck,forcetypeassert // it holds nothing else
		b.order.Remove(last)
	}
}
