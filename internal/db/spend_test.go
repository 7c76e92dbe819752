package db

import (
	"slices"
	"testing"
	"time"

	"planwave/internal/plan"
)

func TestSpendByDay(t *testing.T) { // BEHAVIOUR 8.4
	d := openFile(t, t.TempDir()+"/runs.db")
	own, recorded := newStory(d, "own"), newStory(d, "recorded")
	own.tell(t, begin("q", 1)...)
	created := asked("q")
	created.Recorded = true
	recorded.tell(t, created)
	usd := func(n plan.USD) *plan.USD { return &n }
	call := func(of *story, id, at string, tokens int, cost *plan.USD) {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		c := plan.Call{ID: id, Agent: plan.RoleExecutor, Model: "m", StartedAt: when, FinishedAt: when, Usage: plan.Usage{Requests: 1, TotalTokens: tokens, CostUSD: cost}}
		if err := d.Append(t.Context(), Batch{Run: of.run, Calls: []plan.Call{c}}); err != nil {
			t.Fatal(err)
		}
	}
	call(own, "old", "2026-11-01T12:00:00Z", 9, usd(9))
	call(own, "late", "2026-11-29T23:59:59Z", 10, usd(100))
	call(own, "early", "2026-11-30T00:00:00Z", 20, usd(200))
	call(own, "unpriced", "2026-11-30T10:00:00Z", 40, nil)
	call(own, "failed", "2026-11-30T11:00:00Z", 0, nil)
	call(recorded, "shipped", "2026-11-30T12:00:00Z", 80, usd(800))
	day := func(n int) time.Time { return time.Date(2026, time.November, n, 0, 0, 0, 0, time.UTC) }
	want := []Day{{day(30), 3, 60, 200, 1}, {day(29), 1, 10, 100, 0}}
	got, err := d.Spend(t.Context(), day(2))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if s, err := d.Storage(t.Context()); err != nil || s.Runs != 2 || s.Bytes < 4096 {
		t.Errorf("%+v, %v", s, err)
	}
}
