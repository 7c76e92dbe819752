package handlers

import (
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// waves are the steps over time.
func (v view) waves() templates.WavesProps {
	r := v.run
	p := templates.WavesProps{OOB: v.oob}
	if len(r.Waves) == 0 {
		return p
	}
	end := r.StartedAt
	for _, st := range r.Steps {
		end = later(end, v.until(st))
	}
	p.Total = end.Sub(r.StartedAt)
	turns := v.turns()
	for n, ids := range r.Waves {
		w := templates.WaveProps{Number: n + 1, Open: r.WaveOpen && n == len(r.Waves)-1 && !r.Status.Ended()}
		var from, to time.Time
		for _, id := range ids {
			t, there := turns.take(id)
			if !there {
				continue
			}
			bar := templates.BarProps{Step: v.link(id), Status: t.status, Kept: t.kept}
			if !t.from.IsZero() {
				bar.Took = t.to.Sub(t.from)
				bar.Offset, bar.Length = thousandths(t.from.Sub(r.StartedAt), p.Total), thousandths(bar.Took, p.Total)
				if from.IsZero() || t.from.Before(from) {
					from = t.from
				}
				to = later(to, t.to)
			}
			w.Bars = append(w.Bars, bar)
		}
		w.Took = to.Sub(from)
		if len(w.Bars) > 0 {
			p.Waves = append(p.Waves, w)
		}
	}
	return p
}

// until is when a step ended, or now while it runs.
func (v view) until(st plan.StepState) time.Time {
	switch {
	case st.StartedAt.IsZero():
		return time.Time{}
	case st.FinishedAt.IsZero():
		return later(st.StartedAt, v.now)
	}
	return st.FinishedAt
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func thousandths(part, whole time.Duration) int {
	if whole <= 0 {
		return 0
	}
	return int(max(0, min(1000, part*1000/whole)))
}
