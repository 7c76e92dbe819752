package people

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// cheap takes no time.
func cheap() Cost { return Cost{Memory: 8, Times: 1, Threads: 1} }

const good = "correct horse battery"

func TestAPasswordIsVerified(t *testing.T) {
	p := NewPasswords(cheap())
	hash, err := p.Hash(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Hash(t.Context(), good)
	if err != nil || again == hash {
		t.Errorf("the same password has the same hash, %v", err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=8,t=1,p=1$") || strings.Contains(hash, good) {
		t.Errorf("the hash is %s", hash)
	}
	if err := p.Verify(t.Context(), hash, good); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"", good + " ", "Correct horse battery", strings.Repeat("x", 10_000)} {
		if err := p.Verify(t.Context(), hash, wrong); !errors.Is(err, ErrWrong) {
			t.Errorf("%.20q: %v", wrong, err)
		}
	}
	if err := p.Verify(t.Context(), "", good); !errors.Is(err, ErrWrong) {
		t.Errorf("a name that nobody has: %v", err)
	}
}

func TestAHashSaysWhatItCost(t *testing.T) {
	old := NewPasswords(cheap())
	hash, err := old.Hash(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewPasswords(Cost{Memory: 64, Times: 2, Threads: 1}).Verify(t.Context(), hash, good); err != nil {
		t.Errorf("after the cost was raised: %v", err)
	}
	// OWASP, Password Storage Cheat Sheet: argon2id, 19 MiB, 2 passes, 1 lane.
	if got := NewPasswords(Cost{}).nobodys; !strings.HasPrefix(got, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the recommended hash is %s", got)
	}
}

func TestAHashThatIsBroken(t *testing.T) {
	p := NewPasswords(cheap())
	for _, hash := range []string{
		"x", "$argon2i$v=19$m=8,t=1,p=1$YQ$YQ", "$argon2id$v=18$m=8,t=1,p=1$YQ$YQ", "$argon2id$v=19$m=8$YQ$YQ", "$argon2id$v=19$m=0,t=1,p=1$YQ$YQ",
		"$argon2id$v=19$m=4294967295,t=1,p=1$YQ$YQ", "$argon2id$v=19$m=8,t=1,p=1$!$YQ", "$argon2id$v=19$m=8,t=1,p=1$YQ$!", "$argon2id$v=19$m=8,t=1,p=1$YQ$YQ",
	} {
		if err := p.Verify(t.Context(), hash, good); !errors.Is(err, errHash) {
			t.Errorf("%s: %v", hash, err)
		}
	}
}

func TestAPasswordHasItsLengthAndNoOtherRule(t *testing.T) {
	for _, ok := range []string{"aaaaaaaaaaaa", strings.Repeat("ß", LeastPassword), "            ", strings.Repeat("x", MostPassword)} {
		if err := CheckPassword(ok); err != nil {
			t.Errorf("%.20q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "eleven char", strings.Repeat("x", MostPassword+1), strings.Repeat("\xff", 12)} {
		if _, err := NewPasswords(cheap()).Hash(t.Context(), bad); !errors.Is(err, ErrPassword) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// Who waits for a place to hash in and goes away, gets none.
func TestHashingWaitsItsTurn(t *testing.T) {
	p := NewPasswords(cheap())
	for range cap(p.places) {
		p.places <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ctx, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Verify(ctx, "", good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
