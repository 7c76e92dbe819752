package runs_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/gemini"
	"planwave/internal/model/modeltest"
	"planwave/internal/model/openai"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// pages is a tool that answers with 159 kB.
type pages struct{}

func (pages) Info() tools.Info {
	return tools.Info{Name: "search", Description: "Finds pages.", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`), ReadOnly: true}
}

func (pages) Call(context.Context, json.RawMessage) (tools.Result, error) {
	return tools.Result{Text: strings.Repeat("é", largeResult)}, nil
}

const largeResult = 159_000

// imzodev/openaidy#436, oguzbilgic/kern-ai#14: what a step and a call return is
// cut in one way for every model, is counted as cut, and is kept whole.
func TestALargeToolResultThroughProviders(t *testing.T) { // BEHAVIOUR 4.7
	for _, protocol := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Gemini} {
		t.Run(string(protocol), func(t *testing.T) {
			server := modeltest.NewServer(t, protocol, modeltest.InTurn(
				modeltest.Reply{Calls: []model.ToolCall{{ID: "c", Name: "search", Arguments: json.RawMessage(`{"q":"more"}`)}}},
				modeltest.Reply{Text: `{"result":"short"}`}))
			m := providerOf(t, protocol, server.URL)
			h := openHarness(t, filepath.Join(t.TempDir(), "runs.db"), &script{executor: func(ctx context.Context, _ string, req model.Request) (model.Response, error) {
				return m.Generate(ctx, req)
			}}, pages{})
			p := plan.Plan{Steps: []plan.Step{
				{ID: "find", Instruction: "find it", DependsOn: []string{}, Tool: "search", Input: json.RawMessage(`{"q":"x"}`)},
				{ID: "read", Instruction: "read it", DependsOn: []string{"find"}},
			}}
			r := h.end(h.ask(given(p), auto).ID)
			if r.Status != plan.RunStatusSucceeded || len(r.Step("find").Result.Text) != 2*largeResult {
				t.Fatalf("%s, %+v, %d bytes", r.Status, r.Error, len(r.Step("find").Result.Text))
			}
			told := server.Asked()
			if len(told) != 2 {
				t.Fatalf("%d requests", len(told))
			}
			const notice = "cut: showing 20,000 of 159,000 characters; the whole result is in the trace"
			for name, text := range map[string]string{"the result of a step": told[0].Messages[0].Text, "the result of a call": told[1].Messages[2].Results[0].Text} {
				if n := strings.Count(text, "é"); n != tools.ResultLimit || !strings.Contains(text, notice) {
					t.Errorf("%s: %d characters are sent", name, n)
				}
			}
			h.holdLarge(r.ID)
		})
	}
}

// holdLarge holds that the budget sees what is sent, and that all is kept.
func (h *harness) holdLarge(id string) {
	h.t.Helper()
	reserved := 0
	for _, e := range h.events(id) {
		if u, ok := e.Data.(plan.UsageReserved); ok && u.Step == "read" {
			if reserved = max(reserved, u.Amount.Tokens); u.Amount.Tokens > 2*tools.ResultLimit {
				h.t.Errorf("%d tokens are reserved", u.Amount.Tokens)
			}
		}
	}
	if reserved < 2*tools.ResultLimit/4 {
		h.t.Errorf("only %d tokens are reserved", reserved)
	}
	for _, step := range []string{"find", "read"} {
		calls, loose, err := h.store.StepTrace(h.t.Context(), id, step)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, c := range calls {
			loose = append(loose, c.ToolCalls...)
		}
		if len(loose) != 1 || len(loose[0].Result) != 2*largeResult {
			h.t.Errorf("%s: kept are %d tool calls", step, len(loose))
		}
	}
}

// providerOf is the real provider of a protocol.
func providerOf(t *testing.T, p modeltest.Protocol, url string) model.Model {
	t.Helper()
	if p == modeltest.OpenAI {
		m, err := openai.New(openai.Config{BaseURL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	m, err := gemini.New(t.Context(), gemini.Config{Key: "key", BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}
