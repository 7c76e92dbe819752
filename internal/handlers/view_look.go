package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/layout"
)

// look is what a run's page shows and how. It stands in the address, so that
// a reload, a bookmark and the back button show the same.
type look struct {
	// show is timeline, trace, rejections or replay; empty is the graph.
	show string
	// dir is the direction that was chosen; empty lets the shape of the window
	// decide.
	dir layout.Direction
	// open are the folds that are open, by their first step, or "*" for all.
	open []string
	// at is the number of the event whose moment is shown; zero is now.
	at int64
	// play is how many times as fast as it was the run is played from there on;
	// zero holds the moment.
	play int
	// wide says that the window is wider than high. It is no part of the address.
	wide bool
}

// The views of a run's page beside the graph.
const (
	showTimeline   = "timeline"
	showTrace      = "trace"
	showRejections = "rejections"
	showReplay     = "replay"
)

// screenCookie holds the shape of the window, which a script writes.
const screenCookie = "screen"

// lookOf reads what a request wants to see. What is not understood is left out.
func lookOf(r *http.Request) look {
	q := r.URL.Query()
	var l look
	if show := q.Get("view"); slices.Contains([]string{showTimeline, showTrace, showRejections, showReplay}, show) {
		l.show = show
	}
	if dir := layout.Direction(q.Get("dir")); dir == layout.Down || dir == layout.Right {
		l.dir = dir
	}
	if open := q.Get("open"); open != "" {
		l.open = strings.Split(open, ",")
	}
	if n, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil && n > 0 {
		l.at, l.show = n, showReplay
	}
	if n, err := strconv.Atoi(q.Get("play")); err == nil && l.show == showReplay && slices.Contains(speeds(), n) {
		l.play = n
	}
	if c, err := r.Cookie(screenCookie); err == nil {
		l.wide = c.Value == "wide"
	}
	return l
}

// values are the look as it stands in an address.
func (l look) values() url.Values {
	q := url.Values{}
	if l.show != "" && l.at == 0 {
		q.Set("view", l.show)
	}
	if l.dir != "" {
		q.Set("dir", string(l.dir))
	}
	if len(l.open) > 0 {
		q.Set("open", strings.Join(l.open, ","))
	}
	if l.at > 0 {
		q.Set("at", strconv.FormatInt(l.at, 10))
	}
	if l.play > 0 {
		q.Set("play", strconv.Itoa(l.play))
	}
	return q
}

// with returns the look with a fold opened, or closed where it is open.
func (l look) with(fold string) look {
	open := slices.DeleteFunc(slices.Clone(l.open), func(id string) bool { return id == fold })
	if len(open) == len(l.open) {
		open = append(open, fold)
	}
	l.open = open
	return l
}

// address is the page of a run at a path with this look and a step selected, ""
// for none.
func (l look) address(path, step string) string {
	q := l.values()
	if step != "" {
		q.Set("step", step)
	}
	return path + query(q)
}

func query(q url.Values) string {
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}
