package model

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longestWait is the longest wait that a server can mean.
const longestWait = 365 * 24 * time.Hour

// toldWait is the wait that a server asks for in its headers, or else in words.
func toldWait(h http.Header, detail string) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		if d := inUnits(ms, time.Millisecond); d > 0 {
			return d
		}
	}
	if d := retryAfter(h); d > 0 {
		return d
	}
	if d := waitInWords(detail); d > 0 {
		return d
	}
	return untilReset(h)
}

// untilReset is how long what is used up stays so: the requests or the tokens of
// which none remain, as OpenAI tells ("6m0s"), or a moment, in seconds or
// milliseconds since 1970 or from now, as others do.
func untilReset(h http.Header) time.Duration {
	var longest time.Duration
	for _, of := range []string{"Requests", "Tokens"} {
		d, err := time.ParseDuration(strings.TrimSpace(h.Get("X-Ratelimit-Reset-" + of)))
		if err == nil && d <= longestWait && strings.TrimSpace(h.Get("X-Ratelimit-Remaining-"+of)) == "0" {
			longest = max(longest, d)
		}
	}
	if longest > 0 {
		return longest
	}
	const aDate, inMillis = 1e9, 1e11 // less is no date of our time, or not in seconds
	n, err := strconv.ParseFloat(strings.TrimSpace(h.Get("X-Ratelimit-Reset")), 64)
	if err != nil || n < aDate {
		return inUnits(n, time.Second)
	}
	if n > inMillis {
		n /= 1000
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return inUnits(n-float64(now.Unix()), time.Second)
}

// retryAfter reads the header of that name: seconds, or a date against the
// server's own clock.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return inUnits(n, time.Second)
	}
	then, err := http.ParseTime(v)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return max(then.Sub(now), 0)
}

// inUnits is n units, 0 for what cannot be meant.
func inUnits(n float64, unit time.Duration) time.Duration {
	if !(n > 0 && n*float64(unit) <= float64(longestWait)) {
		return 0
	}
	return time.Duration(n * float64(unit))
}

// waitInWords finds "try again in 1m26.4s" and "retry in 20 seconds".
func waitInWords(detail string) time.Duration {
	found := regexp.MustCompile(`(?i)(?:try again|retry|wait) (?:in|after|for) ([0-9][0-9a-z.]*)( ?[a-z]+)?`).FindStringSubmatch(detail)
	if found == nil {
		return 0
	}
	said := strings.TrimRight(strings.ToLower(found[1]), ".")
	if d, err := time.ParseDuration(said); err == nil && d > 0 && d <= longestWait {
		return d
	}
	n, err := strconv.ParseFloat(said, 64)
	if err != nil {
		return 0
	}
	switch unit := strings.ToLower(strings.TrimSpace(found[2])); {
	case unit == "ms", strings.HasPrefix(unit, "milli"):
		return inUnits(n, time.Millisecond)
	case strings.HasPrefix(unit, "sec"):
		return inUnits(n, time.Second)
	case strings.HasPrefix(unit, "min"):
		return inUnits(n, time.Minute)
	case strings.HasPrefix(unit, "hour"):
		return inUnits(n, time.Hour)
	}
	return 0
}
