package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// The answers below are of the kinds of the wild ones, in other forms.

// both asks a server that answers with a body as it is, not watched and watched.
func both(t *testing.T, body string, hold func(watched bool, resp model.Response, e *model.Error)) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Fails(http.StatusOK, body))
	resp, e := generate(t, newClient(t, server.URL, "k"), question())
	hold(false, resp, e)
	resp, e = streams(t, body)
	hold(true, resp, e)
}

func finished(finish string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[{"text":"ab"}]},"finishReason":` + finish + `}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"totalTokenCount":7}}`
}

func TestAnswersInOtherForms(t *testing.T) {
	for name, body := range map[string]string{
		"a reason in small letters": finished(`"stop"`),
		"a reason by its number":    finished(`1`),
		"a list of one":             "[" + finished(`"STOP"`) + "]",
		"an event":                  "data: " + finished(`"STOP"`) + "\n\n",
		"something after":           finished(`"STOP"`) + "\n]",
		"counts as texts":           strings.NewReplacer(`:5,`, `:"5",`, `:2,`, `:2.0,`).Replace(finished(`"STOP"`)),
		"ratings of the prompt":     strings.Replace(finished(`"STOP"`), `{`, `{"promptFeedback":{"safetyRatings":[{"probability":"LOW"}]},`, 1),
	} {
		both(t, body, func(watched bool, resp model.Response, e *model.Error) {
			want := plan.Usage{Requests: 1, InputTokens: 5, OutputTokens: 2, TotalTokens: 7}
			if e != nil || resp.Text != "ab" || resp.Usage != want {
				t.Errorf("%s, watched %v: %+v, %v", name, watched, resp, e)
			}
		})
	}
}

// No request uses nothing: what is not told is estimated, also of an answer
// that is none.
func TestUsageThatIsNotTold(t *testing.T) { // BEHAVIOUR 8.2
	for _, usage := range []string{`{}`, `null`, `{"promptTokenCount":0,"totalTokenCount":0}`, `{"promptTokenCount":-5,"candidatesTokenCount":-1}`, `{"promptTokenCount":"many"}`} {
		for _, finish := range []string{"STOP", "MAX_TOKENS", "SAFETY", "OTHER"} {
			body := `{"candidates":[{"content":{"parts":[{"text":"some words"}]},"finishReason":"` + finish + `"}],"usageMetadata":` + usage + `}`
			both(t, body, func(watched bool, resp model.Response, e *model.Error) {
				got := resp.Usage
				if e != nil {
					got = e.Usage
				}
				if want := model.EstimateUsage(question(), model.Response{Text: "some words"}); got != want || (e == nil) != (finish == "STOP") {
					t.Errorf("%s, %s, watched %v: %+v, %v, want %+v", usage, finish, watched, got, e, want)
				}
			})
		}
	}
}

func TestFailuresInOtherForms(t *testing.T) { // BEHAVIOUR 11
	for body, want := range map[string]model.Error{
		finished(`"SPII"`):                 {Kind: model.Filtered, Message: "blocked the answer (SPII)"},
		finished(`"BLOCKLIST"`):            {Kind: model.Filtered, Message: "blocked the answer (BLOCKLIST)"},
		finished(`"recitation"`):           {Kind: model.Filtered, Message: "blocked the answer (RECITATION)"},
		finished(`3`):                      {Kind: model.Filtered, Message: "blocked the answer (SAFETY)"},
		finished(`2`):                      {Kind: model.Truncated, Message: "cut off at its output token limit"},
		finished(`"OTHER"`):                {Kind: model.BadResponse, Message: "OTHER", Once: true},
		finished(`"LANGUAGE"`):             {Kind: model.BadResponse, Message: "LANGUAGE", Once: true},
		finished(`"UNEXPECTED_TOOL_CALL"`): {Kind: model.BadResponse, Message: "UNEXPECTED_TOOL_CALL", Once: true},
		`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`:                                                          {Kind: model.BadResponse, Message: "MALFORMED_FUNCTION_CALL", Once: true},
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`:         {Kind: model.BadResponse, Message: "MALFORMED_FUNCTION_CALL", Once: true},
		`{"candidates":[{"content":{"parts":null},"finishReason":"STOP"}]}`:                                                                 {Kind: model.BadResponse, Message: "empty answer", Once: true},
		`{"candidates":[],"promptFeedback":{"blockReason":"BLOCKLIST"}}`:                                                                    {Kind: model.Filtered, Message: "blocked the prompt (BLOCKLIST)"},
		`[{"candidates":[{"content":{"parts":[{"text":"half of"}]}}]},{"promptFeedback":{"blockReason":"SAFETY"}}]`:                         {Kind: model.Filtered, Message: "blocked the prompt (SAFETY)"},
		`[{"error":{"code":503,"message":"overloaded"}}]`:                                                                                   {Kind: model.Unavailable, Message: "overloaded"},
		`{"error":{"status":"RESOURCE_EXHAUSTED","message":"slow down","details":[{"retryDelay":"38s"}]}}`:                                  {Kind: model.RateLimited, Message: "asks to wait 38s"},
		`{"error":{"code":"503","message":"overloaded"}}`:                                                                                   {Kind: model.Unavailable, Message: "overloaded"},
		`{"error":{"status":"DEADLINE_EXCEEDED","message":"too slow"}}`:                                                                     {Kind: model.Unavailable, Message: "too slow"},
		`{"error":{"status":"UNAUTHENTICATED","message":"who"}}`:                                                                            {Kind: model.Auth, Message: "GEMINI_API_KEY"},
		`[{"candidates":[{"content":{"parts":[{"text":"half of"}]}}]},{"error":{"status":"INTERNAL","message":"broke"}}]`:                   {Kind: model.Unavailable, Message: "broke"},
		`[{"candidates":[{"content":{"parts":[{"text":"half of"}]}}]},{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}]`:       {Kind: model.Unreachable, Message: "cut"},
		`[{"candidates":[{"content":{"parts":[{"text":"half of"}]}}]},{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}]`:         {Kind: model.BadResponse, Message: "MALFORMED_FUNCTION_CALL", Once: true},
		`[{"candidates":[{"content":{"parts":[{"text":"half of"}]}}]},{"candidates":[{"content":{"parts":[]},"finishReason":"SAFETY"}]}]\n`: {Kind: model.Filtered, Message: "SAFETY"},
	} {
		both(t, strings.ReplaceAll(body, `\n`, "\n"), func(watched bool, resp model.Response, e *model.Error) {
			if e == nil || e.Kind != want.Kind || !strings.Contains(e.Message, want.Message) || e.Once != want.Once || strings.Contains(e.Error(), "half of") {
				t.Errorf("%s, watched %v: %+v, %+v", body, watched, resp, e)
			}
		})
	}
}
