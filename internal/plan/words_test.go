package plan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked is a difference as one line: [-gone-] and {+come+}.
func marked(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		switch s.Change {
		case ChangeRemoved:
			b.WriteString("[-" + s.Text + "-]")
		case ChangeAdded:
			b.WriteString("{+" + s.Text + "+}")
		default:
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestTextsDifferByWords(t *testing.T) { // BEHAVIOUR 3.2: versions "can be compared"
	for _, tt := range []struct{ old, now, want string }{
		{"", "", ""},
		{"", "new", "{+new+}"},
		{"gone", "", "[-gone-]"},
		{"the same", "the same", "the same"},
		{"Look up Tarnby.", "Look up Ashwick.", "Look up [-Tarnby-]{+Ashwick+}."},
		{"Look up Tarnby.", "Look up the area of Tarnby.", "Look up {+the area of +}Tarnby."},
		{"one two three", "one 2 drei", "one [-two three-]{+2 drei+}"},
		{"a b c", "c b a", "[-a-]{+c+} b [-c-]{+a+}"},
		{"32 km²", "32 km", "32 km[-²-]"},
		{"größer als Zoë", "größer als Zoé", "größer als [-Zoë-]{+Zoé+}"},
		{"one\ntwo", "one two", "one[-\n-]{+ +}two"},
	} {
		if got := marked(Words(tt.old, tt.now)); got != tt.want {
			t.Errorf("%q to %q: %s, want %s", tt.old, tt.now, got, tt.want)
		}
	}
}

// What is kept and removed is the old text, what is kept and added the new one,
// and two neighbours are never of one kind.
func TestADifferenceHoldsBothTexts(t *testing.T) {
	long := strings.Repeat("x ", 2*1024)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`([ab]{1,2}[ ,.\n]{0,2}){0,12}`), rapid.String(), rapid.Just(long), rapid.Just("y "+strings.ReplaceAll(long, "x", "z")))
		old, now := strings.ToValidUTF8(text.Draw(t, "old"), "?"), strings.ToValidUTF8(text.Draw(t, "new"), "?")
		var was, is string
		spans := Words(old, now)
		for i, s := range spans {
			if s.Text == "" || i > 0 && spans[i-1].Change == s.Change {
				t.Fatalf("span %d of %s", i, marked(spans))
			}
			if s.Change != ChangeAdded {
				was += s.Text
			}
			if s.Change != ChangeRemoved {
				is += s.Text
			}
		}
		if was != old || is != now {
			t.Fatalf("%s holds %q and %q, not %q and %q", marked(spans), was, is, old, now)
		}
	})
}
