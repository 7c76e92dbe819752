package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/replay"
	"planwave/internal/plan"
)

// asked is a request as it is recorded.
func asked(t *testing.T, text string) model.Request {
	t.Helper()
	return model.Request{Model: "other", Role: plan.RoleExecutor, MaxOutputTokens: 9, Messages: []model.Message{{Speaker: model.User, Text: text}}}
}

func recorded(t *testing.T, text, answer string, fault *plan.Fault) plan.Call {
	t.Helper()
	req, err := json.Marshal(asked(t, text))
	if err != nil {
		t.Fatal(err)
	}
	c := plan.Call{Agent: plan.RoleExecutor, Request: req, Error: fault}
	if fault == nil {
		if c.Response, err = json.Marshal(model.Response{Text: answer}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestAnswersAsRecorded(t *testing.T) { // DESIGN, Models: replay:RUN
	fault := &plan.Fault{Code: plan.CodeModelUnreachable, Message: "It was down."}
	m := replay.New(func(_ context.Context, run string) ([]plan.Call, error) {
		if run != "r1" {
			return nil, nil
		}
		return []plan.Call{recorded(t, "a", "", fault), recorded(t, "a", "first", nil), recorded(t, "a", "second", nil), recorded(t, "b", "", fault)}, nil
	})
	if m.Has("r1") != nil || m.Has("r2") == nil {
		t.Errorf("r1: %v, r2: %v", m.Has("r1"), m.Has("r2"))
	}
	tests := map[string]struct {
		run, text string
		role      plan.Role
		want      string
		fails     bool
	}{
		"the first answer that was one": {"r1", "a", plan.RoleExecutor, "first", false},
		"what only failed":              {"r1", "b", plan.RoleExecutor, "It was down.", true},
		"what was not asked":            {"r1", "c", plan.RoleExecutor, "was not asked this", true},
		"another agent":                 {"r1", "a", plan.RolePlanner, "The planner was not asked this", true},
		"another run":                   {"r2", "a", plan.RoleExecutor, "The recording of run r2", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req, told := asked(t, tt.text), ""
			req.Model, req.Role, req.MaxOutputTokens = tt.run, tt.role, 100
			req.OnText = func(piece string) { told += piece }
			resp, err := m.Generate(t.Context(), req)
			if !tt.fails {
				if err != nil || resp.Text != tt.want || told != tt.want {
					t.Errorf("%q, told %q, %v", resp.Text, told, err)
				}
				return
			}
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.BadResponse || !e.Final || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
