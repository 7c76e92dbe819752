package modeltest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// Key is the key that [Run] gives to providers. It looks like no other text.
const Key = "sk-conformance-0123456789"

// Subject is a provider under test.
type Subject struct {
	Protocol Protocol
	// New returns a model that asks the server at the URL, with the key.
	New func(t *testing.T, url, key string) model.Model
	// watched is set when its answers are watched, and so are streamed.
	watched bool
}

// Run holds a provider to what every [model.Model] over HTTP does, whether its
// answers are watched or not.
func Run(t *testing.T, s Subject) {
	t.Helper()
	for name, test := range streamTests() {
		t.Run("stream/"+name, func(t *testing.T) { test(t, s) })
	}
	watched := s
	watched.watched = true
	watched.New = func(t *testing.T, url, key string) model.Model { return Watched(t, s.New(t, url, key)) }
	for name, test := range map[string]func(*testing.T, Subject){
		"text":                 textIsSentAndRead,
		"structured output":    schemaIsSent,
		"tools":                callsGoRoundTrip,
		"tools without schema": toolWithoutArguments,
		"usage":                usageIsCounted,
		"usage of failures":    failuresAreCharged,
		"failures":             failuresAreTyped,
		"retry after":          waitIsTold,
		"unusable answers":     unusableAnswers,
		"unreachable":          unreachable,
		"broken off":           brokenOff,
		"redirect":             redirectIsNotFollowed,
		"too long":             tooLong,
		"timeout":              slowIsUnreachable,
		"cancel":               cancelClosesTheConnection,
		"side by side":         sideBySide,
		"pause":                pauseHoldsAll,
		"stop in a pause":      stopEndsThePause,
		"failing server":       failingServerIsAskedAgain,
		"broken connection":    brokenConnectionIsAskedAgain,
		"keys":                 keysAppearNowhere,
		"keys in answers":      keysAreTakenOutOfAnswers,
		"keys in connections":  keysAreNotInFailuresOfConnections,
	} {
		t.Run("whole/"+name, func(t *testing.T) { test(t, s) })
		t.Run("watched/"+name, func(t *testing.T) { test(t, watched) })
	}
}

// ask is a request of one question.
func ask(text string) model.Request {
	return model.Request{Model: "test-model", Messages: []model.Message{{Speaker: model.User, Text: text}}}
}

func (s Subject) start(t *testing.T, script Script) (model.Model, *Server) {
	t.Helper()
	server := NewServer(t, s.Protocol, script)
	return s.New(t, server.URL, Key), server
}

func textIsSentAndRead(t *testing.T, s Subject) {
	m, server := s.start(t, Says("Hello <there> & \"you\" – ✓"))
	req := model.Request{
		Model: "test-model", System: "Be short.", MaxOutputTokens: 321, Role: plan.RolePlanner,
		Messages: []model.Message{
			{Speaker: model.User, Text: "Hi <b>"}, {Speaker: model.Assistant, Text: "Yes?"}, {Speaker: model.User, Text: "Go on – ✓"},
		},
	}
	resp, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Text != "Hello <there> & \"you\" – ✓" || len(resp.Calls) != 0 || resp.Model != "test-model" {
		t.Errorf("response = %+v", resp)
	}
	if n := len(server.Asked()); n != 1 {
		t.Fatalf("%d requests, want one", n)
	}
	got := server.Asked()[0]
	if got.Model != "test-model" || got.System != "Be short." || got.MaxOutputTokens != 321 || got.Key != Key {
		t.Errorf("asked = %+v", got)
	}
	if text(got.Messages) != text(req.Messages) {
		t.Errorf("messages = %s, want %s", text(got.Messages), text(req.Messages))
	}
}

// planSchema has in it what providers refuse: $ref, $defs and
// additionalProperties.
const planSchema = `{"type":"object","$defs":{"step":{"type":"object","properties":{"id":{"type":"string","pattern":"^s"},
"depends_on":{"type":"array","items":{"type":"string"}},"score":{"type":["number","null"]}},"required":["id"],"additionalProperties":false}},
"properties":{"steps":{"type":"array","maxItems":6,"items":{"$ref":"#/$defs/step"}}},"required":["steps"],"additionalProperties":false}`

func schemaIsSent(t *testing.T, s Subject) {
	m, server := s.start(t, Says(`{"steps":[]}`))
	req := ask("Plan.")
	req.Schema = &model.Schema{Name: "plan", Schema: json.RawMessage(planSchema)}
	resp, err := m.Generate(t.Context(), req)
	if err != nil || resp.Text != `{"steps":[]}` || len(resp.Calls) != 0 {
		t.Fatalf("response = %+v, %v", resp, err)
	}
	got := server.Asked()[0]
	if got.Form != "json_schema" || got.Schema == nil || !strings.Contains(string(got.Schema.Schema), "depends_on") {
		t.Errorf("asked for %q with %+v", got.Form, got.Schema)
	}
}

func tools() []model.Tool {
	return []model.Tool{
		{Name: "get_city", Description: "Knows cities.", Schema: json.RawMessage(
			`{"type":"object","properties":{"name":{"type":"string","description":"the city"}},"required":["name"],"additionalProperties":false}`)},
		{Name: "now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	}
}

func callsGoRoundTrip(t *testing.T, s Subject) {
	calls := []model.ToolCall{
		{Name: "get_city", Arguments: json.RawMessage(`{"name":"Tarnby <3>"}`)},
		{Name: "get_city", Arguments: json.RawMessage(`{"name":"Atlantis","n":12345678901234567890}`)},
		{Name: "now", Arguments: json.RawMessage(`{}`)},
	}
	m, server := s.start(t, InTurn(Reply{Text: "Let me look.", Calls: calls}, Reply{Text: "Done."}))
	req := ask("How many people?")
	req.Tools = tools()
	resp, err := m.Generate(t.Context(), req)
	if err != nil || len(resp.Calls) != 3 || resp.Text != "Let me look." {
		t.Fatalf("response = %+v, %v", resp, err)
	}
	ids := map[string]bool{}
	turn := model.Message{Speaker: model.ToolSpeaker}
	for i, c := range resp.Calls {
		if c.Name != calls[i].Name || text(c.Arguments) != text(calls[i].Arguments) {
			t.Errorf("call %d = %s %s, want %s %s", i, c.Name, c.Arguments, calls[i].Name, calls[i].Arguments)
		}
		ids[c.ID] = true
		turn.Results = append(turn.Results, model.ToolResult{ID: c.ID, Name: c.Name, Text: []string{`{"population":39000}`, "no such city", ""}[i], IsError: i == 1})
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("the ids of the calls are not unique: %v", ids)
	}
	req.Messages = append(req.Messages, model.Message{Speaker: model.Assistant, Text: resp.Text, Calls: resp.Calls}, turn)
	if resp, err = m.Generate(t.Context(), req); err != nil || resp.Text != "Done." {
		t.Fatalf("second response = %+v, %v", resp, err)
	}
	resultsArrived(t, server.Asked()[1], calls)
}

// resultsArrived holds that the second request has the calls, and their results
// in the same order.
func resultsArrived(t *testing.T, got Asked, calls []model.ToolCall) {
	t.Helper()
	if len(got.Tools) != 2 || len(got.Messages) != 3 {
		t.Fatalf("asked = %+v", got)
	}
	for i, c := range got.Messages[1].Calls {
		if c.Name != calls[i].Name || text(c.Arguments) != text(calls[i].Arguments) {
			t.Errorf("call %d was sent back as %s %s", i, c.Name, c.Arguments)
		}
	}
	results := got.Messages[2].Results
	if len(results) != 3 || results[0].Text != `{"population":39000}` || !strings.Contains(results[1].Text, "no such city") {
		t.Errorf("results = %+v", results)
	}
}

func toolWithoutArguments(t *testing.T, s Subject) {
	m, server := s.start(t, Says("ok"))
	req := ask("Hi")
	req.Tools = []model.Tool{{Name: "now"}}
	if _, err := m.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := server.Asked()[0].Tools; len(got) != 1 || got[0].Name != "now" {
		t.Errorf("tools = %+v", got)
	}
}

func usageIsCounted(t *testing.T, s Subject) {
	want := plan.Usage{Requests: 1, InputTokens: 7477, OutputTokens: 3999, CachedTokens: 400, ThinkingTokens: 1939, TotalTokens: 11476}
	m, _ := s.start(t, InTurn(Reply{Text: "ok", Usage: &want}, Reply{Text: "ok"}))
	resp, err := m.Generate(t.Context(), ask("Hi"))
	if err != nil || resp.Usage != want {
		t.Errorf("usage = %+v, %v, want %+v", resp.Usage, err, want)
	}
	resp, err = m.Generate(t.Context(), ask("Hi"))
	if u := resp.Usage; err != nil || u.Requests != 1 || u.InputTokens == 0 || u.OutputTokens == 0 || u.TotalTokens != u.InputTokens+u.OutputTokens {
		t.Errorf("without any told, usage = %+v, %v, want an estimate", u, err)
	}
}

func failuresAreCharged(t *testing.T, s Subject) {
	want := plan.Usage{Requests: 1, InputTokens: 900, OutputTokens: 256, ThinkingTokens: 256, TotalTokens: 1156}
	for finish, kind := range map[Finish]model.Kind{Length: model.Truncated, Filtered: model.Filtered, "": model.BadResponse} {
		m, _ := s.start(t, InTurn(Reply{Finish: finish, Usage: &want}))
		if e := s.fails(t, m, kind); e.Usage != want {
			t.Errorf("%s: usage = %+v, want %+v", kind, e.Usage, want)
		}
	}
}

// fails asks and holds that the failure has the kind, a message that says
// something, and the key nowhere.
func (s Subject) fails(t *testing.T, m model.Model, kind model.Kind) model.Error {
	t.Helper()
	resp, err := m.Generate(t.Context(), ask("Hi"))
	e := failure(t, err)
	if e.Kind != kind {
		t.Errorf("%+v %v, want kind %s", resp, err, kind)
	}
	if len(e.Message) < len("It went wrong.") || strings.Contains(e.Error()+e.Shown().Error(), Key) {
		t.Errorf("the message is %q", e.Error())
	}
	return *e
}

func failure(t *testing.T, err error) *model.Error {
	t.Helper()
	e, ok := err.(*model.Error) //nolint:errorlint // a model returns it itself
	if !ok {
		t.Fatalf("the error is %T %v, want a *model.Error", err, err)
	}
	return e
}

func sideBySide(t *testing.T, s Subject) {
	const n = 8
	var there sync.WaitGroup
	there.Add(n)
	m, _ := s.start(t, func(_ context.Context, asked Asked) Reply {
		there.Done()
		there.Wait() // all of them are here at once
		return Reply{Text: asked.Messages[0].Text}
	})
	var wg sync.WaitGroup
	for _, word := range strings.Split("a b c d e f g h", " ") {
		wg.Go(func() {
			if resp, err := m.Generate(t.Context(), ask(word)); err != nil || resp.Text != word {
				t.Errorf("asked %s: %+v, %v", word, resp, err)
			}
		})
	}
	wg.Wait()
}
