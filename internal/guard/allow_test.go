package guard

import (
	"fmt"
	"strings"
	"testing"
)

// BEHAVIOUR 11: PLANWAVE_FETCH_ALLOW.
func TestWhatCanBeAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "[]",
		" , ,":                           "[]",
		"192.168.1.20":                   "[192.168.1.20/32]",
		" 10.0.0.0/8 ,192.168.1.20,":     "[10.0.0.0/8 192.168.1.20/32]",
		"fd00::1, fd00:1::/64":           "[fd00::1/128 fd00:1::/64]",
		"::ffff:10.0.0.1":                "[10.0.0.1/32]",
		"::ffff:10.0.0.0/104":            "[10.0.0.0/8]",
		"0.0.0.0/0,::/0":                 "[0.0.0.0/0 ::/0]",
		"127.0.0.1/32, ::1":              "[127.0.0.1/32 ::1/128]",
		"10.0.0.1,10.0.0.1, 10.0.0.1/32": "[10.0.0.1/32 10.0.0.1/32 10.0.0.1/32]",
	} {
		got, err := ParseAllow(text)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
}

func TestWhatCannotBeAllowedIsNamed(t *testing.T) {
	for text, says := range map[string][]string{
		"localhost":             {`"localhost" is no address`, "Names"},
		"10.0.0.1:8080":         {`"10.0.0.1:8080" is no address`, "ports"},
		"[::1]":                 {`"[::1]" is no address`},
		"fe80::1%eth0":          {`"fe80::1%eth0" is no address`, "interfaces"},
		"10.0.0.1 10.0.0.2":     {`"10.0.0.1 10.0.0.2" is no address`},
		"127.1":                 {`"127.1" is no address`},
		"010.0.0.1":             {`"010.0.0.1" is no address`},
		"10.0.0.0/33":           {`"10.0.0.0/33" is no network`},
		"10.0.0.0/":             {`"10.0.0.0/" is no network`},
		"http://10.0.0.1/":      {`"http://10.0.0.1/" is no network`},
		"10.0.0.5/8":            {`"10.0.0.5/8" is an address inside`, "10.0.0.0/8", "10.0.0.5 for the address"},
		"::ffff:0.0.0.0/95":     {`"::ffff:0.0.0.0/95" is wider`},
		"10.0.0.1, this, ::1/8": {`"this"`, `"::1/8"`},
	} {
		_, err := ParseAllow(text)
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		for _, w := range says {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v does not say %q", text, err, w)
			}
		}
	}
}
