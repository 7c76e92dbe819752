package handlers

import (
	"slices"
	"time"

	"planwave/internal/plan"
)

// turn is one try at a step, as the waves show it.
type turn struct {
	status   plan.StepStatus
	kept     bool
	from, to time.Time
}

// turns are the tries at the steps of a run by the waves that they were in: a
// step that was tried again is in more than one.
type turns struct {
	of   map[string][]turn // oldest first
	left map[string]int    // waves with the step that were not taken yet
}

func (v view) turns() turns {
	t := turns{of: map[string][]turn{}, left: map[string]int{}}
	for _, ids := range v.run.Waves {
		for _, id := range ids {
			t.left[id]++
		}
	}
	for i := range v.run.Steps {
		st := &v.run.Steps[i]
		for _, a := range st.History {
			t.of[st.ID] = append(t.of[st.ID], turn{status: a.Status, from: a.StartedAt, to: a.FinishedAt})
		}
		switch {
		case !st.Status.Ended() && (st.Status != plan.StepStatusPending || v.inOpenWave(st.ID)):
			t.of[st.ID] = append(t.of[st.ID], turn{status: st.Status, from: st.StartedAt, to: v.until(*st)})
		case st.Kept && len(t.of[st.ID]) > 0:
			t.of[st.ID][len(t.of[st.ID])-1].kept = true
		}
	}
	return t
}

func (v view) inOpenWave(id string) bool {
	r := v.run
	return r.WaveOpen && len(r.Waves) > 0 && slices.Contains(r.Waves[len(r.Waves)-1], id)
}

// take is the try at a step in the next wave that it is in. The last wave has
// the last try. There is none of a step that is in the plan no more, nor of a
// try that a stopped process left.
func (t turns) take(id string) (turn, bool) {
	t.left[id]--
	tries := t.of[id]
	at := len(tries) - 1 - t.left[id]
	if at < 0 || at >= len(tries) {
		return turn{}, false
	}
	return tries[at], true
}
