package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"planwave/internal/model"
	"planwave/internal/tools"
)

// sideBySide is how many tool calls of one turn run at the same time.
const sideBySide = 8

// callTools answers every call of a turn, one result for each, in order. They
// run side by side when all of them only read, else one after the other. The
// error is of calls that could not be made at all.
func (e *Executor) callTools(ctx context.Context, calls []model.ToolCall) ([]model.ToolResult, error) {
	results := make([]model.ToolResult, len(calls))
	errs := make([]error, len(calls))
	slots := make(chan struct{}, sideBySide)
	if !e.onlyRead(calls) {
		slots = make(chan struct{}, 1)
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = e.callTool(ctx, c)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (e *Executor) onlyRead(calls []model.ToolCall) bool {
	infos := e.Tools.List()
	for _, c := range calls {
		at := slices.IndexFunc(infos, func(i tools.Info) bool { return i.Name == c.Name })
		if at >= 0 && !infos[at].ReadOnly {
			return false
		}
	}
	return true
}

// callTool makes one call. A tool that broke is told to the model, which may
// go another way. The end of ctx stops the step, and so does a call that could
// not be made or kept for another reason.
func (e *Executor) callTool(ctx context.Context, c model.ToolCall) (model.ToolResult, error) {
	if err := context.Cause(ctx); err != nil {
		return model.ToolResult{}, fmt.Errorf("call %s: %w", c.Name, err)
	}
	out, err := e.Tools.Call(ctx, c.Name, c.Arguments)
	if ended := context.Cause(ctx); ended != nil {
		return model.ToolResult{}, fmt.Errorf("call %s: %w", c.Name, ended)
	}
	if _, broke := errors.AsType[*tools.BrokenError](err); broke {
		out = tools.Result{Text: fmt.Sprintf("The tool %s broke and gave no result. Try another way, or say what is missing.", c.Name), IsError: true}
	} else if err != nil {
		return model.ToolResult{}, fmt.Errorf("call %s: %w", c.Name, err)
	}
	return model.ToolResult{ID: c.ID, Name: c.Name, Text: tools.Cut(out.Text, e.limit()), IsError: out.IsError}, nil
}
