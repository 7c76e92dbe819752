// Package replay is the model replay:RUN, which answers with what was recorded
// of a run: no key, no network, the same words.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// Traces tells what was recorded of a run. Its error says so where there is no
// such run.
type Traces func(ctx context.Context, runID string) ([]plan.Call, error)

// Model answers a request as the run that it names as its model was answered.
// The request must be the same but for the model's name: agent, prompts, tools
// and schema.
type Model struct{ traces Traces }

// New returns the model over what was recorded.
func New(t Traces) *Model { return &Model{traces: t} }

// Has returns why there is nothing recorded of a run, nil where there is.
func (m *Model) Has(run string) error {
	calls, err := m.traces(context.Background(), run)
	if err == nil && len(calls) == 0 {
		err = plan.NewError(plan.CodeInvalid, "There is no such run, or it asked no model. Name a run of the history by its id.", nil)
	}
	return err
}

// Generate answers with what was recorded. A request that was answered twice
// gets the first answer; one that only ever failed fails as it did then.
func (m *Model) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	calls, err := m.traces(ctx, req.Model)
	if err != nil {
		return model.Response{}, unanswerable(req.Model, plan.AsError(err).Message, err)
	}
	wanted, err := key(req)
	if err != nil {
		return model.Response{}, err
	}
	var fault *plan.Fault
	for _, c := range calls {
		var asked model.Request
		if c.Agent != req.Role || json.Unmarshal(c.Request, &asked) != nil {
			continue
		}
		if k, err := key(asked); err != nil || !bytes.Equal(k, wanted) {
			continue
		}
		if resp, ok := answered(c); ok {
			told := model.NewTeller(req)
			told.End(resp.Text)
			return resp, nil
		}
		fault = c.Error
	}
	if fault != nil {
		return model.Response{}, unanswerable(req.Model, "Then it failed: "+fault.Message, nil)
	}
	return model.Response{}, unanswerable(req.Model, fmt.Sprintf(
		"The %s was not asked this. The question, the tools, the prompts or the plan are not those of the recording.", req.Role), nil)
}

// answered reads a recorded answer, and says whether there is one.
func answered(c plan.Call) (model.Response, bool) {
	var resp model.Response
	ok := c.Error == nil && len(c.Response) > 0 && json.Unmarshal(c.Response, &resp) == nil
	return resp, ok
}

// key is what two requests have in common that are to be answered alike.
func key(req model.Request) ([]byte, error) {
	req.Model, req.OnText, req.MaxOutputTokens = "", nil, 0
	b, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("compare a request with a recording: %w", err)
	}
	return b, nil
}

func unanswerable(run, why string, cause error) *model.Error {
	return &model.Error{
		Kind: model.BadResponse, Final: true, Cause: cause,
		Message: fmt.Sprintf("The recording of run %s does not answer this. %s", plan.Short(run, 80), why),
	}
}
