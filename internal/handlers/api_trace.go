package handlers

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// callDoc is one model request as it was sent and answered. Without agent and
// model it stands for the tool call of a tool step, which no model asked for.
type callDoc struct {
	ID         string          `json:"id"`
	Agent      *plan.Role      `json:"agent"`
	Step       *string         `json:"step"`
	Attempt    int             `json:"attempt"`
	Model      *string         `json:"model"`
	Request    json.RawMessage `json:"request"`
	Response   json.RawMessage `json:"response"`
	ToolCalls  []toolCallDoc   `json:"tool_calls"`
	Usage      plan.Usage      `json:"usage"`
	Error      *plan.Fault     `json:"error"`
	StartedAt  stamp           `json:"started_at"`
	FinishedAt stamp           `json:"finished_at"`
}

// toolCallDoc is one use of a tool.
type toolCallDoc struct {
	ID         string          `json:"id"`
	Step       *string         `json:"step"`
	Attempt    int             `json:"attempt"`
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments"`
	Result     *string         `json:"result"`
	Error      *string         `json:"error"`
	StartedAt  stamp           `json:"started_at"`
	FinishedAt stamp           `json:"finished_at"`
}

func newCallDoc(call plan.Call) callDoc {
	return callDoc{
		ID: call.ID, Agent: orNull(call.Agent), Step: orNull(call.Step), Attempt: call.Attempt, Model: orNull(call.Model),
		Request: rawOrNull(call.Request), Response: rawOrNull(call.Response), ToolCalls: newToolCallDocs(call.ToolCalls),
		Usage: known(call.Usage), Error: call.Error, StartedAt: stamp(call.StartedAt), FinishedAt: stamp(call.FinishedAt),
	}
}

func newToolCallDocs(calls []plan.ToolCall) []toolCallDoc {
	out := make([]toolCallDoc, 0, len(calls))
	for _, t := range calls {
		d := toolCallDoc{
			ID: t.ID, Step: orNull(t.Step), Attempt: t.Attempt, Tool: t.Tool, Arguments: rawOrNull(t.Arguments),
			Error: orNull(t.Error), StartedAt: stamp(t.StartedAt), FinishedAt: stamp(t.FinishedAt),
		}
		if t.Error == "" {
			d.Result = &t.Result
		}
		out = append(out, d)
	}
	return out
}

// getTrace answers every model call and tool call of a run.
func (a *api) getTrace(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	if _, err := a.Runs.Get(ctx, id); err != nil {
		return err
	}
	calls, err := a.Store.Trace(ctx, id)
	if err != nil {
		return err
	}
	out := make([]callDoc, 0, len(calls))
	for _, call := range calls {
		out = append(out, newCallDoc(call))
	}
	return writeJSON(c, http.StatusOK, map[string]any{"calls": out})
}
