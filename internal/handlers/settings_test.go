package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/tools/mcp"
)

// What is configured is on the settings page and in the API: models with price
// and limits, tools, and the servers they come from with what is wrong.
func TestSettingsSayWhatIsConfigured(t *testing.T) { // UX, Settings; BEHAVIOUR 8.4, 11
	s := newSiteOf(t, &scriptedModel{}, parts{
		prices: model.Prices{testModel: {Input: 100_000_000, Output: 400_000_000}},
		servers: []mcp.State{
			{Name: "files", Phase: mcp.Connected, Tools: 3, Since: time.Now(), Software: "files 1.0", Problems: []string{"files__x was left out."}},
			{Name: "broken", Phase: mcp.Failed, Why: "It ended at once. Check its command.", Since: time.Now(), Next: time.Now().Add(time.Minute)},
		},
	})
	page := s.page("/settings").Find("main").Text()
	for _, want := range []string{
		testModel, "0.10 in, 0.40 out", "At most 16 at the same time", "executor", "get_city", "read-only", "files 1.0", "3 tools", "files__x was left out.",
		"failed", "It ended at once. Check its command.", "tried again", "200,000", "Nothing in the last 30 days", "MB",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	tools := string(s.want(200, "GET", "/api/v1/tools", "").body)
	if !strings.Contains(tools, `"state":"failed","error":"It ended at once. Check its command."`) {
		t.Errorf("the API says of the servers: %s", tools)
	}
	models := string(s.want(200, "GET", "/api/v1/models", "").body)
	if !strings.Contains(models, `"price":{"input":0.1,"output":0.4}`) {
		t.Errorf("the API says of the models: %s", models)
	}
}

// A model is tried out with one click, with and without scripts; what fails says
// why and what to do.
func TestAModelIsTriedOut(t *testing.T) { // UX, Settings
	tests := map[string]struct {
		err  error
		want string
	}{
		"answers":      {nil, "It answers"},
		"auth":         {&model.Error{Kind: model.Auth, Message: "The key is refused. Check OPENAI_API_KEY."}, "The key is refused. Check OPENAI_API_KEY."},
		"rate limited": {&model.Error{Kind: model.RateLimited, Message: "Too many requests."}, "The model asks to come back later"},
		"unreachable":  {&model.Error{Kind: model.Unreachable, Message: "Nothing listens there."}, "The model cannot be reached"},
		"bad response": {&model.Error{Kind: model.BadResponse, Message: "It answered HTML."}, "It answered HTML."},
		"thinking":     {&model.Error{Kind: model.Truncated, Message: "cut"}, "It answers"},
		"demo":         {&model.Error{Kind: model.BeyondDemo, Message: "cities only"}, "The demo is code"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := newSite(t, &scriptedModel{executor: func(_ context.Context, req model.Request) (string, error) {
				asked++
				if req.MaxOutputTokens == 0 || req.MaxOutputTokens > 1000 {
					t.Errorf("it may write %d tokens", req.MaxOutputTokens)
				}
				return "ready", tt.err
			}})
			form := url.Values{"model": {testModel}}
			if got := string(s.form("/settings/test", form).body); !strings.Contains(got, tt.want) || !strings.Contains(got, "<title>Settings") {
				t.Errorf("without scripts: no %q in %s", tt.want, got)
			}
			req := s.request(http.MethodPost, "/settings/test", strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "HX-Request", "true")
			if got := string(s.send(req).body); !strings.Contains(got, tt.want) || strings.Contains(got, "<title>") || asked != 2 {
				t.Errorf("in place: no %q in %s, asked %d times", tt.want, got, asked)
			}
		})
	}
}

func TestTestingAModelThatIsNotThere(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	if got := s.form("/settings/test", url.Values{"model": {"gemini:x"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), "GEMINI_API_KEY") {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

// A cost that is not known is never shown as zero.
func TestDaysSayWhatIsUnknown(t *testing.T) { // BEHAVIOUR 8.4
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	got := daysOf([]db.Day{
		{Start: day, Calls: 3, Tokens: 1500, Cost: 2_000_000_000},
		{Start: day, Calls: 3, Tokens: 10, Unpriced: 3},
		{Start: day, Calls: 3, Tokens: 10, Unpriced: 1, Cost: 2_000_000_000},
	})
	for i, want := range []string{"$2.00", "unknown", "$2.00, and 1 call of unknown price"} {
		if got[i].Cost != want || got[i].Date != "2026-12-01" {
			t.Errorf("day %d is %+v, want %q", i, got[i], want)
		}
	}
}
