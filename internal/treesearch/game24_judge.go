package treesearch

import (
	"context"
	"fmt"
	"math/big"
	"sync"
)

// Closeness judges a state of a Game of 24 by the number nearest to 24: the
// score is 1 ÷ (1 + distance), from above 0 to 1. It sees only one step ahead
// and misses puzzles whose way leads away from 24. Its error is [ErrNumbers].
type Closeness struct{}

// Judge scores a state.
func (Closeness) Judge(_ context.Context, n Node) (Verdict, error) {
	numbers, err := readState(n.State)
	if err != nil {
		return Verdict{}, err
	}
	var nearest, least *big.Rat
	for _, x := range numbers {
		d := new(big.Rat).Sub(x, target)
		if d.Abs(d); least == nil || d.Cmp(least) < 0 {
			nearest, least = x, d
		}
	}
	away, _ := least.Float64() // rounding keeps the order
	return Verdict{
		Score:  1 / (1 + away),
		Reason: fmt.Sprintf("the nearest number, %s, is %s from 24", shown(nearest), shown(least)),
	}, nil
}

// Lookahead judges a state of a Game of 24 by whether the numbers left can
// still reach 24: 1 if they can, 0 if not. It remembers what it worked out, so
// one is made for one search. The zero value is ready; it must not be copied.
type Lookahead struct {
	mu    sync.Mutex
	known map[string]bool // by state of three or four numbers
}

// Judge scores a state. Its error is [ErrNumbers].
func (l *Lookahead) Judge(_ context.Context, n Node) (Verdict, error) {
	numbers, err := readState(n.State)
	if err != nil {
		return Verdict{}, err
	}
	if l.reaches(numbers) {
		return Verdict{Score: 1, Reason: "24 can still be reached"}, nil
	}
	return Verdict{Score: 0, Reason: "24 cannot be reached any more"}, nil
}

// reaches says whether numbers in ascending order can come to 24.
func (l *Lookahead) reaches(numbers []*big.Rat) bool {
	if len(numbers) == 1 {
		return numbers[0].Cmp(target) == 0
	}
	if len(numbers) == 2 {
		return pairReaches(numbers[0], numbers[1])
	}
	state := stateText(numbers)
	l.mu.Lock()
	found, known := l.known[state]
	l.mu.Unlock()
	if known {
		return found
	}
	for _, m := range moves(numbers) {
		if found = l.reaches(m.left); found {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]bool{}
	}
	l.known[state] = found
	return found
}

// pairReaches says whether one operation on two numbers, a at most b, comes to
// 24. It is where look-ahead spends its time, and asks without dividing.
func pairReaches(a, b *big.Rat) bool {
	if x, y, ok := small(a, b); ok {
		return x+y == 24 || x*y == 24 || y-x == 24 || y != 0 && 24*y == x || x != 0 && 24*x == y
	}
	var r big.Rat
	is := func(x, y *big.Rat) bool { return x.Cmp(y) == 0 }
	return is(r.Add(a, b), target) || is(r.Mul(a, b), target) || is(r.Sub(b, a), target) ||
		b.Sign() != 0 && is(r.Mul(target, b), a) || a.Sign() != 0 && is(r.Mul(target, a), b)
}

// small returns two integers that no operation carries beyond an int64, or is
// false for others.
func small(a, b *big.Rat) (x, y int64, ok bool) {
	const bits = 31
	if !a.IsInt() || !b.IsInt() || a.Num().BitLen() > bits || b.Num().BitLen() > bits {
		return 0, 0, false
	}
	return a.Num().Int64(), b.Num().Int64(), true
}
