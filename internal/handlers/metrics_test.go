package handlers

import (
	"strings"
	"testing"

	"planwave/internal/plan"
)

// The figures are there for programs on this machine, and count who watches.
func TestMetrics(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: held(release)})
	id := s.askGiven(plan.ApprovalAuto)
	saw, ended := make(chan struct{}, 1), make(chan struct{})
	other := s.follow(id, "").Body
	go func() {
		defer close(ended)
		readFrames(t, other, func(frame) {
			select {
			case saw <- struct{}{}:
			default:
			}
		})
	}()
	<-saw
	during := ""
	readFrames(t, s.follow(id, "").Body, func(f frame) {
		if f.event == string(plan.EventStepStarted) && during == "" {
			during = s.want(200, "GET", "/metrics", "").body
			close(release)
		}
	})
	<-ended // a stream ends when its handler has
	after := s.want(200, "GET", "/metrics", "").body
	if !strings.Contains(during, "\nplanwave_open_streams 2\n") {
		t.Errorf("while two watch:\n%s", during)
	}
	if !strings.Contains(after, "\nplanwave_open_streams 0\n") {
		t.Errorf("when nobody watches:\n%s", after)
	}
}
