package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// journal is what was recorded of an attempt that was cut off, by the end of the
// process or of the budget. The attempt that takes it up makes the same calls in
// the same order, and gets what was paid for without asking again. A nil
// journal has nothing.
type journal struct {
	mu    sync.Mutex
	calls []plan.Call
	tools []plan.ToolCall
}

// newJournal returns what was answered in the attempts from the given one on.
func newJournal(calls []plan.Call, loose []plan.ToolCall, from int) *journal {
	j := &journal{}
	for _, c := range calls {
		if c.Attempt < from {
			continue
		}
		if c.Error == nil && len(c.Response) > 0 {
			j.calls = append(j.calls, c)
		}
		j.tools = append(j.tools, c.ToolCalls...)
	}
	for _, t := range loose {
		if t.Attempt >= from {
			j.tools = append(j.tools, t)
		}
	}
	return j
}

// call returns the recorded answer to a request, and the id of its call. From
// the first request that is another one on, the model is asked.
func (j *journal) call(request json.RawMessage) (resp model.Response, id string, ok bool) {
	if j == nil {
		return resp, "", false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.calls) == 0 {
		return resp, "", false
	}
	next := j.calls[0]
	if !bytes.Equal(next.Request, request) || json.Unmarshal(next.Response, &resp) != nil {
		j.calls = nil
		return model.Response{}, "", false
	}
	j.calls = j.calls[1:]
	return resp, next.ID, true
}

// tool returns the recorded outcome of a tool call.
func (j *journal) tool(name string, args json.RawMessage) (out tools.Result, err error, ok bool) { //nolint:revive // an outcome and whether there is one
	if j == nil {
		return tools.Result{}, nil, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	at := slices.IndexFunc(j.tools, func(t plan.ToolCall) bool { return t.Tool == name && bytes.Equal(t.Arguments, args) })
	if at < 0 {
		return tools.Result{}, nil, false
	}
	t := j.tools[at]
	j.tools = slices.Delete(j.tools, at, at+1)
	if t.Error != "" && t.Result == "" {
		return tools.Result{}, &tools.BrokenError{Tool: name, Cause: errors.New(t.Error)}, true
	}
	return tools.Result{Text: t.Result, Data: t.Data, IsError: t.Error != ""}, nil, true
}
