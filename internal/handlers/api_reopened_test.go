package handlers

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// A run that had ended and goes on is followed by reconnecting after the last
// number: what is new comes once, then what happens, to the next end. BEHAVIOUR
// 5.8, 12.1
func TestEventsOfARunThatGoesOnAfterItsEnd(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: failingOnce("s1", held(release))})
	id := s.askGiven(plan.ApprovalAuto)
	ended := s.until(id, plan.RunStatusPartial)
	after := "?after=" + strconv.FormatInt(ended.Seq, 10)
	first := s.whole(id, "")
	if last := first[len(first)-1]; last.event != "done" {
		t.Fatalf("the stream ended with %+v", last)
	}
	if got := s.whole(id, after); !slices.Equal(got, []frame{{event: "done", data: "{}"}}) {
		t.Errorf("nothing is new, and the viewer got %v", got)
	}

	s.want(202, "POST", "/api/v1/runs/"+id+"/steps/s1/retry", "")
	var live []frame
	readFrames(t, s.follow(id, after).Body, func(f frame) {
		live = append(live, f)
		if f.event == string(plan.EventStepStarted) && strings.Contains(f.data, `"s1"`) {
			close(release) // until here, what comes is live
		}
	})
	s.until(id, plan.RunStatusSucceeded)
	if len(live) == 0 || live[0].event != string(plan.EventRunContinued) || live[0].id != strconv.FormatInt(ended.Seq+1, 10) {
		t.Fatalf("the viewer who came back got %v", live)
	}
	all := s.whole(id, "")
	if seen := slices.Concat(first[:len(first)-1], live); !slices.Equal(seen, all) {
		t.Errorf("seen  %v\nwhole %v", seen, all)
	}
	for n := range len(all) {
		if got := s.whole(id, "", "Last-Event-ID", strconv.Itoa(n)); !slices.Equal(got, all[n:]) {
			t.Fatalf("after %d: %v, want %v", n, got, all[n:])
		}
	}
}

// However often a run goes on the moment that its end is seen, a viewer who
// reconnects after each done loses no event and sees none twice.
func TestEventsOfARunThatGoesOnAgainAndAgain(t *testing.T) {
	const times = 5
	s := newSite(t, &scriptedModel{executor: failing("s1")})
	id := s.askGiven(plan.ApprovalAuto)
	var seen []frame
	after := "0"
	for ends := 0; ends <= times; {
		readFrames(t, s.follow(id, "?after="+after).Body, func(f frame) {
			if f.id == "" {
				return
			}
			seen, after = append(seen, f), f.id
			if f.event != string(plan.EventRunPartial) {
				return
			}
			if ends++; ends <= times {
				s.want(202, "POST", "/api/v1/runs/"+id+"/steps/s1/retry", "")
			}
		})
	}
	all := s.whole(id, "")
	if !slices.Equal(seen, all[:len(all)-1]) {
		t.Errorf("seen %d events of %d: %v", len(seen), len(all)-1, seen)
	}
}
