package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"planwave/internal/plan"
)

// Trace returns every model call of a run in the order of their start, each
// with the tool calls that it asked for. A tool call that no model asked for
// stands among them as a call of no agent and no model, at no cost.
func (d *DB) Trace(ctx context.Context, runID string) ([]plan.Call, error) {
	calls, loose, err := d.readTrace(ctx, runID, "")
	if err != nil {
		return nil, failed(err, "read the trace of run %s", runID)
	}
	for _, t := range loose {
		free := plan.USD(0)
		var fault *plan.Fault
		if t.Error != "" {
			fault = &plan.Fault{Code: plan.CodeToolFailed, Message: t.Error}
		}
		calls = append(calls, plan.Call{
			ID: t.ID, Error: fault, Step: t.Step, Attempt: t.Attempt, Usage: plan.Usage{CostUSD: &free},
			StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, ToolCalls: []plan.ToolCall{t},
		})
	}
	slices.SortStableFunc(calls, func(a, b plan.Call) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID)) // ids grow with time
	})
	return calls, nil
}

// StepTrace returns the model calls of one step in the order of their start,
// and the tool calls of the step that no model asked for.
func (d *DB) StepTrace(ctx context.Context, runID, step string) ([]plan.Call, []plan.ToolCall, error) {
	calls, loose, err := d.readTrace(ctx, runID, step)
	return calls, loose, failed(err, "read the trace of step %s of run %s", step, runID)
}

// readTrace reads calls and tool calls as they are at one moment, of one step
// or for "" of all.
func (d *DB) readTrace(ctx context.Context, runID, step string) (calls []plan.Call, loose []plan.ToolCall, err error) {
	tx, err := d.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	calls, err = readAll(ctx, tx, scanCall, `
		SELECT
			c.id, c.agent, c.step, c.attempt, c.model,
			c.requests, c.input_tokens, c.output_tokens, c.cached_tokens, c.thinking_tokens, c.total_tokens, c.cost,
			c.error_code, c.error_message, c.started_at, c.finished_at,
			(SELECT body FROM texts WHERE run = c.run AND owner = c.id AND kind = 'request'),
			(SELECT body FROM texts WHERE run = c.run AND owner = c.id AND kind = 'response')
		FROM runs AS r JOIN calls AS c ON c.run = r.n
		WHERE r.id = ?1 AND (?2 = '' OR c.step = ?2)
		ORDER BY c.started_at, c.n`, runID, step)
	if err != nil {
		return nil, nil, err
	}
	uses, err := readAll(ctx, tx, scanToolCall, `
		SELECT
			t.id, t.call, t.step, t.attempt, t.tool, t.error, t.started_at, t.finished_at,
			(SELECT body FROM texts WHERE run = t.run AND owner = t.id AND kind = 'arguments'),
			(SELECT body FROM texts WHERE run = t.run AND owner = t.id AND kind = 'result'),
			(SELECT body FROM texts WHERE run = t.run AND owner = t.id AND kind = 'data')
		FROM runs AS r JOIN tool_calls AS t ON t.run = r.n
		WHERE r.id = ?1 AND (?2 = '' OR t.step = ?2)
		ORDER BY t.started_at, t.n`, runID, step)
	if err != nil {
		return nil, nil, err
	}
	return calls, attach(calls, uses), nil
}

// attach gives each call its tool calls and returns those that belong to none.
func attach(calls []plan.Call, uses []plan.ToolCall) (loose []plan.ToolCall) {
	at := make(map[string]int, len(calls))
	for i := range calls {
		at[calls[i].ID] = i
	}
	for _, t := range uses {
		i, ok := at[t.CallID]
		if !ok {
			loose = append(loose, t)
			continue
		}
		calls[i].ToolCalls = append(calls[i].ToolCalls, t)
	}
	return loose
}

func scanCall(rows *sql.Rows) (plan.Call, error) {
	var (
		c                 plan.Call
		u                 usageColumns
		code, message     sql.NullString
		started, finished sql.NullInt64
		request, response sql.NullString
		columns           = []any{&c.ID, &c.Agent, &c.Step, &c.Attempt, &c.Model}
	)
	columns = append(columns, u.columns()...)
	columns = append(columns, &code, &message, &started, &finished, &request, &response)
	if err := rows.Scan(columns...); err != nil {
		return c, err
	}
	c.Usage = u.usage()
	c.StartedAt, c.FinishedAt = moment(started), moment(finished)
	c.Request, c.Response = rawJSON(request), rawJSON(response)
	if code.Valid {
		c.Error = &plan.Fault{Code: plan.Code(code.String), Message: message.String}
	}
	return c, nil
}

func scanToolCall(rows *sql.Rows) (plan.ToolCall, error) {
	var (
		t                       plan.ToolCall
		started, finished       sql.NullInt64
		arguments, result, data sql.NullString
	)
	err := rows.Scan(&t.ID, &t.CallID, &t.Step, &t.Attempt, &t.Tool, &t.Error, &started, &finished, &arguments, &result, &data)
	t.StartedAt, t.FinishedAt = moment(started), moment(finished)
	t.Arguments, t.Result, t.Data = rawJSON(arguments), result.String, rawJSON(data)
	return t, err
}

// rawJSON is kept JSON, nil for none.
func rawJSON(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}
