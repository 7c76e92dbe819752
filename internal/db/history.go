package db

import (
	"context"

	"planwave/internal/plan"
)

// recentCalls is how many of the newest calls a history is made of.
const recentCalls = 2_000

// History is what one model took lately in one role, for an estimate of what it
// will take.
type History struct {
	// Attempts are those at steps, or at answers; Calls were made in them.
	Attempts, Calls int
	// Tokens are those of all the calls, and CostUSD what they cost. The cost is
	// nil when that of one of them is unknown.
	Tokens  int
	CostUSD *plan.USD
}

// History returns what a model took in a role, of the newest calls there are.
// Calls that failed are not in it.
func (d *DB) History(ctx context.Context, model string, role plan.Role) (History, error) {
	var (
		h           History
		cost, known int64
	)
	err := d.readers.QueryRowContext(ctx, `
		SELECT
			count(*),
			count(DISTINCT run || ' ' || step || ' ' || attempt),
			coalesce(sum(total_tokens), 0),
			coalesce(sum(cost), 0),
			count(cost)
		FROM (SELECT * FROM calls ORDER BY n DESC LIMIT ?1)
		WHERE model = ?2 AND agent = ?3 AND finished_at IS NOT NULL AND error_code IS NULL`,
		recentCalls, model, string(role)).Scan(&h.Calls, &h.Attempts, &h.Tokens, &cost, &known)
	if err != nil {
		return History{}, failed(err, "read what model %s took", model)
	}
	if int(known) == h.Calls {
		sum := plan.USD(cost)
		h.CostUSD = &sum
	}
	return h, nil
}
