package model_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/model"
	"planwave/internal/plan"
)

func TestCosts(t *testing.T) { // BEHAVIOUR 8.4
	prices, err := model.ReadPrices([]byte(`{"a:b":{"input":0.25,"output":1.5,"cached":0.025},"a:c":{"input":2,"output":3},"free":{"input":0,"output":0}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		usage plan.Usage
		want  float64 // dollars; -1 is unknown
	}{
		{"a:b", plan.Usage{InputTokens: 1_000_000}, 0.25},
		{"a:b", plan.Usage{OutputTokens: 1_000_000}, 1.5},
		{"a:b", plan.Usage{InputTokens: 1_000_000, CachedTokens: 400_000, OutputTokens: 10}, 0.15 + 0.01 + 0.000015},
		{"a:b", plan.Usage{InputTokens: 4_654, OutputTokens: 624}, 0.0020995},
		{"a:c", plan.Usage{InputTokens: 1_000_000, CachedTokens: 1_000_000}, 2}, // no price of its own
		{"a:b", plan.Usage{}, 0},
		{"free", plan.Usage{InputTokens: math.MaxInt32, OutputTokens: math.MaxInt32}, 0},
		{"a:c", plan.Usage{OutputTokens: math.MaxInt32}, 6442.450941},
		{"a:unknown", plan.Usage{InputTokens: 1}, -1},
		{"b", plan.Usage{}, -1},
	} {
		got := prices.Cost(c.name, c.usage)
		switch {
		case c.want == -1 && got != nil:
			t.Errorf("%s costs %v, want unknown", c.name, got.Dollars())
		case c.want != -1 && (got == nil || *got != plan.DollarsOf(c.want)):
			t.Errorf("%s %+v costs %v, want %v", c.name, c.usage, got, c.want)
		}
	}
}

func TestAPriceTableThatIsWrongSaysWhere(t *testing.T) {
	for table, says := range map[string]string{
		`{`: "price table", `[]`: "price table", `{"a:b":{"input":1}}`: "a:b needs both", `{"a:b":{"input":-1,"output":1}}`: "a:b has a negative price",
		`{"a:b":{"input":1,"output":1,"cached":-1}}`: "a:b has a negative price", `{"a:b":{"input":"1","output":1}}`: "price table",
	} {
		if _, err := model.ReadPrices([]byte(table)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestTheBuiltinTableIsRight(t *testing.T) {
	prices := model.BuiltinPrices()
	for _, name := range []string{"demo", "gemini:gemini-3.1-flash-lite", "openai:gpt-5-mini"} {
		if _, ok := prices[name]; !ok {
			t.Errorf("there is no price of %s", name)
		}
	}
	for name, p := range prices {
		if name != model.Demo && (p.Input <= 0 || p.Output < p.Input || p.Cached == nil || *p.Cached >= p.Input) {
			t.Errorf("%s costs %+v", name, p)
		}
	}
	r := registry(t, model.Config{}, model.Gemini)
	if r.Cost("gemini:gemini-3.1-flash-lite", plan.Usage{InputTokens: 1}) == nil || r.Cost("gemini", plan.Usage{InputTokens: 1}) != nil {
		t.Error("the registry does not ask the built-in table for the whole name") // gemini stands for gemini-1 here
	}
}

func TestEstimates(t *testing.T) { // BEHAVIOUR 3.6, 8.2
	req := model.Request{
		System: "123", Messages: []model.Message{
			{Speaker: model.User, Text: "äöü"},
			{Speaker: model.Assistant, Calls: []model.ToolCall{{Name: "f", Arguments: []byte("{}")}}},
			{Speaker: model.ToolSpeaker, Results: []model.ToolResult{{Name: "f", Text: "12345"}}},
		},
		Tools: []model.Tool{{Name: "f", Description: "12", Schema: []byte("{}")}}, Schema: &model.Schema{Name: "s", Schema: []byte("{}")}, MaxOutputTokens: 100,
	}
	if got, want := model.Estimate(req), (plan.Amount{Requests: 1, Tokens: 8 + 100}); got != want { // 23 characters
		t.Errorf("Estimate() = %+v, want %+v", got, want)
	}
	got := model.EstimateUsage(req, model.Response{Text: "123456", Calls: []model.ToolCall{{Name: "f", Arguments: []byte("{}")}}})
	if want := (plan.Usage{Requests: 1, InputTokens: 6, OutputTokens: 3, TotalTokens: 9}); got != want {
		t.Errorf("EstimateUsage() = %+v, want %+v", got, want)
	}
	if got := model.Estimate(model.Request{MaxOutputTokens: -5}); got.Tokens != 0 {
		t.Errorf("a negative limit is %+v", got)
	}
}

func TestWhatIsReservedCoversWhatIsEstimatedToBeUsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := model.Request{System: rapid.String().Draw(t, "system"), Messages: []model.Message{{Text: rapid.String().Draw(t, "text")}}}
		resp := model.Response{Text: rapid.String().Draw(t, "answer")}
		used := model.EstimateUsage(req, resp)
		req.MaxOutputTokens = used.OutputTokens
		if asked := model.Estimate(req); used.TotalTokens > asked.Tokens {
			t.Fatalf("%+v is used, %+v was asked", used, asked)
		}
	})
}
