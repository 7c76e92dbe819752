package db

import (
	"context"
	"database/sql"
	"errors"

	"planwave/internal/plan"
)

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readAll reads all rows of a query and closes it, so that nothing stays open
// while the caller does something with them.
func readAll[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// usageColumns are the columns of a usage, in the order of the schema.
type usageColumns struct {
	u    plan.Usage
	cost sql.NullInt64
}

// columns are what a row's usage is scanned into.
func (c *usageColumns) columns() []any {
	return []any{
		&c.u.Requests, &c.u.InputTokens, &c.u.OutputTokens, &c.u.CachedTokens, &c.u.ThinkingTokens, &c.u.TotalTokens, &c.cost,
	}
}

// usage is what was scanned. A cost of NULL is unknown.
func (c *usageColumns) usage() plan.Usage {
	u := c.u
	if c.cost.Valid {
		usd := plan.USD(c.cost.Int64)
		u.CostUSD = &usd
	}
	return u
}
