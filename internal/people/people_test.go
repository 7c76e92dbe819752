package people

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"Ada": "Ada", "  Ada \t Lovelace\n": "Ada Lovelace", "olga@example.com": "olga@example.com", "Łucja": "Łucja", "ａｄａ": "ada", "李": "李",
	} {
		if name, _, err := Name(text); err != nil || name != want {
			t.Errorf("%q: %q, %v", text, name, err)
		}
	}
	for _, bad := range []string{"", " ", "a\x00b", "a\u202eb", strings.Repeat("x", MostName+1), "\xff"} {
		if _, _, err := Name(bad); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, own := range []string{"local", "LOCAL", "Planner", "auto"} {
		if _, _, err := Name(own); !errors.Is(err, ErrReserved) {
			t.Errorf("%q: %v", own, err)
		}
	}
}

func TestNamesThatLookTheSameAreTheSame(t *testing.T) {
	key := func(text string) string {
		_, k, err := Name(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return k
	}
	for _, pair := range [][2]string{{"ADA", "ada"}, {"Łucja", "łucja"}, {"ａｄａ", "ada"}, {"ada  l", "Ada L"}, {"E\u0301va", "Éva"}} {
		if key(pair[0]) != key(pair[1]) {
			t.Errorf("%q and %q are two names", pair[0], pair[1])
		}
	}
	if key("ada") == key("adam") {
		t.Error("two names are one")
	}
}

func TestLabels(t *testing.T) {
	if got, err := Label("  nightly   job "); err != nil || got != "nightly job" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "\x07", strings.Repeat("x", MostLabel+1)} {
		if _, err := Label(bad); !errors.Is(err, ErrLabel) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, r := range Roles() {
		if got, err := ParseRole(string(r)); err != nil || got != r {
			t.Errorf("%s: %s, %v", r, got, err)
		}
	}
	for _, bad := range []string{"", "Owner", "admin"} {
		if _, err := ParseRole(bad); !errors.Is(err, ErrRole) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	raw, err := base64.RawURLEncoding.DecodeString(a)
	if err != nil || len(raw) < 16 || a == b {
		t.Errorf("%q, %q: %v", a, b, err)
	}
	// FIPS 180-2, appendix B.1.
	if got := HashOf("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the hash of abc is %s", got)
	}
}
