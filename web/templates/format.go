package templates

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"planwave/internal/plan"
)

// Count writes a number with a comma between thousands, as in 5,278.
func Count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Counted writes a number and its noun, as in "1 call" and "2 calls".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Duration writes how long something took, as precisely as a person cares:
// 85 ms, 6.2 s, 3 min 05 s, 2 h 07 min.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 59950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d.Round(time.Second) < time.Hour:
		s := int(d.Round(time.Second).Seconds())
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		m := int(d.Round(time.Second).Minutes())
		return fmt.Sprintf("%d h %02d min", m/60, m%60)
	}
}

// Age writes how long ago something was, as in "3 min ago".
func Age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	default:
		return Counted(int(d.Hours()/24), "day", "days") + " ago"
	}
}

// Money writes an amount in dollars; nil is an unknown price, which is never
// shown as nothing.
func Money(u *plan.USD) string {
	if u == nil {
		return "cost unknown"
	}
	d := u.Dollars()
	switch {
	case d == 0:
		return "$0"
	case d < 0.0001:
		return "under $0.0001"
	case d < 1:
		return "$" + strconv.FormatFloat(d, 'f', 4, 64)
	default:
		return "$" + strconv.FormatFloat(d, 'f', 2, 64)
	}
}

// Ordinal writes a small number as a word, as in "first".
func Ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n >= 1 && n <= len(words) {
		return words[n-1]
	}
	return strconv.Itoa(n) + "th"
}

// List writes names as a sentence does: "s1, s2 and s3".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// stamp is a time as <time datetime> has it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// utc is a time as it is shown where no script turns it into the viewer's zone.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// exact is a time to the millisecond, with its zone.
func exact(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// px writes a length or position for CSS and SVG.
func px(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// millis is a time in milliseconds since 1970, for scripts.
func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// either returns yes or no.
func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
