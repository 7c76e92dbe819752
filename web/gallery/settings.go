package main

import (
	"time"

	"planwave/web/templates"
)

// settings is the page of what is configured, with a model that answers, one
// that does not, and servers in every state.
func settings(p templates.PageProps) templates.SettingsProps {
	p.Title, p.Nav, p.Path = "Settings", "settings", "/settings"
	const gemini, qwen = "gemini:gemini-3.1-flash-lite", "openai:qwen3"
	return templates.SettingsProps{
		Page: p,
		Roles: []templates.RoleProps{
			{Role: "planner", Model: gemini},
			{Role: "executor", Model: qwen},
			{Role: "synthesizer", Model: gemini},
			{Role: "judge", Model: gemini},
			{Role: "proposer", Model: gemini},
		},
		Providers: []templates.ProviderProps{
			{
				Name: "gemini", Model: gemini, Limits: "At most 16 at the same time, 60 requests a minute, 2 min 00 s a call.",
				Price: "In dollars per million tokens: 0.10 in, 0.40 out, 0.03 from the cache.", TestURL: "/settings/test",
				Tested: templates.TestedProps{ID: "tested-gemini", OK: true, Title: "It answers, 0.8 s", Text: `It wrote "ready" and used 31 tokens.`},
			},
			{
				Name: "openai", Model: qwen, Limits: "At most 2 at the same time, 2 min 00 s a call.",
				Price:   "Its price is unknown, and so is what it costs; PLANWAVE_PRICES names a file with prices.",
				TestURL: "/settings/test", Tested: templates.TestedProps{
					ID: "tested-qwen", Title: "The model cannot be reached, 12 ms",
					Text: "The model server at http://127.0.0.1:11434/v1 cannot be reached: connection refused. Check that it runs, the network, and OPENAI_BASE_URL.",
				},
			},
			{Name: "demo", Model: "demo", Demo: true, Limits: "At most 16 at the same time.", TestURL: "/settings/test", Tested: templates.TestedProps{ID: "tested-demo"}},
		},
		Servers: []templates.ServerProps{
			{Name: "files", Software: "secure-filesystem-server 0.2.0", Phase: "connected", Tools: 14, Since: ago(time.Hour)},
			{
				Name: "weather", Phase: "failed", Remote: true, Since: ago(time.Minute), Next: now().Add(time.Minute),
				Why: "https://weather.example/mcp answered 401. Check the headers of this server in mcp.json.",
			},
			{Name: "memory", Phase: "connecting", Since: ago(time.Second), Problems: []string{"memory__x was left out: its schema is no object."}},
		},
		Tools: []templates.ToolProps{
			{Name: "calculate", Description: "Works out an arithmetic expression exactly.", ReadOnly: true, Schema: "{\n  \"type\": \"object\"\n}"},
			{Name: "files__write_file", Description: "Writes a file.", Schema: "{\n  \"type\": \"object\"\n}"},
		},
		Limits:  []templates.Field{{Name: "Steps of a plan", Value: "6"}, {Name: "Calls", Value: "40"}, {Name: "Tokens", Value: "200,000"}, {Name: "Cost", Value: "no limit"}},
		Days:    []templates.DayProps{{Date: "2026-03-04", Calls: "212", Tokens: "114,020", Cost: "$0.41"}, {Date: "2026-03-03", Calls: "6", Tokens: "4,100", Cost: "unknown"}},
		Storage: []templates.Field{{Name: "Runs", Value: "128"}, {Name: "Database", Value: "14.2 MB"}},
	}
}
