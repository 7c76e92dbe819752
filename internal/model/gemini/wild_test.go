package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// wild is an answer from a bug report of another project.
type wild struct {
	N      int             `json:"n"`
	Kind   string          `json:"kind"`
	Type   string          `json:"input_type"`
	Input  json.RawMessage `json:"input"`
	Expect string          `json:"expect"`
}

func wilds(t *testing.T) []wild {
	t.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []wild
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// replies are the answers of a server, one a request.
func (w wild) replies(t *testing.T) []modeltest.Reply {
	t.Helper()
	switch w.Type {
	case "stream_chunks":
		var chunks []json.RawMessage
		if err := json.Unmarshal(w.Input, &chunks); err != nil {
			t.Fatal(err)
		}
		return []modeltest.Reply{{Pieces: slices.Values([]string{"[" + string(chunks[0])}), Cut: true}}
	case "http_sequence":
	default:
		return []modeltest.Reply{{Status: http.StatusOK, Body: string(w.Input)}}
	}
	var sequence []struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(w.Input, &sequence); err != nil {
		t.Fatal(err)
	}
	var out []modeltest.Reply
	for _, s := range sequence {
		out = append(out, modeltest.Reply{Status: s.Status, Body: string(s.Body)})
	}
	return out
}

// TestAnswersFromTheWild holds what each of the collected answers comes to,
// whether it is streamed or not. Nothing is repeated here: the whole sequence
// takes one request for each answer.
func TestAnswersFromTheWild(t *testing.T) {
	type outcome struct {
		kind   model.Kind // of the failure
		says   string     // the failure, or the text
		wait   time.Duration
		tokens int
	}
	const planned = `[{"id": "a", "instruction": "do a"`
	want := map[int][]outcome{
		63: {{model.Truncated, "used its whole output allowance on thinking (256 tokens)", 0, 1156}},
		67: {{model.Filtered, "blocked the answer (SAFETY)", 0, 40}},
		69: {{model.Filtered, "blocked the answer (RECITATION)", 0, 40}},
		71: {{model.BadResponse, "MALFORMED_FUNCTION_CALL", 0, 9056}},
		73: {{model.Filtered, "blocked the prompt (PROHIBITED_CONTENT)", 0, 13}},
		75: {{model.RateLimited, "It asks to wait 38s", 38 * time.Second, 0}, {"", planned, 0, 70}},
		77: {{model.Unavailable, "overloaded", 0, 0}, {model.Unavailable, "internal", 0, 0}, {"", planned, 0, 70}},
		79: {{model.Unreachable, "", 0, 0}},
		81: {{"", planned, 0, 11476}},
	}
	cases := wilds(t)
	if len(cases) != len(want) {
		t.Fatalf("%d cases and %d expectations", len(cases), len(want))
	}
	for _, w := range cases {
		for _, watched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s, watched %v", w.N, w.Kind, watched), func(t *testing.T) {
				next := modeltest.InTurn(w.replies(t)...)
				server := modeltest.NewServer(t, modeltest.Gemini, func(ctx context.Context, asked modeltest.Asked) modeltest.Reply {
					r := next(ctx, asked)
					if asked.Stream && r.Status == http.StatusOK {
						r.Pieces = slices.Values(modeltest.StreamOf(modeltest.Gemini, r.Body))
					}
					return r
				})
				var m model.Model = newClient(t, server.URL, "k")
				if watched {
					m = modeltest.Watched(t, m)
				}
				for i, c := range want[w.N] {
					resp, e := generate(t, m, question())
					said, tokens := resp.Text, resp.Usage.TotalTokens
					switch {
					case (e != nil) != (c.kind != ""):
						t.Fatalf("request %d: %+v, %v; it should: %s", i, resp, e, w.Expect)
					case e != nil:
						said, tokens = e.Message, e.Usage.TotalTokens
						if e.Kind != c.kind || e.RetryAfter != c.wait {
							t.Errorf("request %d: %+v; it should: %s", i, e, w.Expect)
						}
					}
					if !strings.Contains(said, c.says) || c.tokens > 0 && tokens != c.tokens {
						t.Errorf("request %d: %q with %d tokens, want %q with %d", i, said, tokens, c.says, c.tokens)
					}
				}
				if n := len(server.Asked()); n != len(want[w.N]) {
					t.Errorf("%d requests, want %d", n, len(want[w.N]))
				}
			})
		}
	}
}

// streams starts a server that streams a body as it is and asks it, watched.
func streams(t *testing.T, body string) (model.Response, *model.Error) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Fails(http.StatusOK, body))
	return generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
}

// The library wants a list; servers that speak for Gemini send other forms.
func TestStreamsAreReadInEveryDialect(t *testing.T) {
	const piece = `{"candidates":[{"content":{"role":"model","parts":[{"text":"ab"}]}}],"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}`
	const last = `{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3,"totalTokenCount":10},"modelVersion":"m-1"}`
	for name, body := range map[string]string{
		"a list":            "[" + piece + "\n,\r\n" + last + "\n]\n",
		"an open list":      "[" + piece + "," + last,
		"events":            "data: " + piece + "\r\n\r\ndata: " + last + "\r\n\r\n",
		"events, then done": "data: " + piece + "\n\ndata: " + last + "\n\ndata: [DONE]\n\n",
		"lines":             piece + "\n" + last + "\n",
		"one answer":        strings.Replace(last, `"c"`, `"abc"`, 1),
		"a list of one":     "[" + strings.Replace(last, `"c"`, `"abc"`, 1) + "]",
		"empty ones":        "[{}," + piece + `,{"candidates":[]},{"candidates":[{"content":{"parts":[]}}]},` + last + "]",
		"thoughts":          `[{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]},` + piece + "," + last + "]",
		"a second one":      "[" + piece + `,{"candidates":[{"index":1,"content":{"parts":[{"text":"X"}]},"finishReason":"STOP"}]},` + last + "]",
		"a reason alone":    "[" + piece + "," + strings.Replace(last, `,"finishReason":"STOP"`, "", 1) + `,{"candidates":[{"finishReason":"STOP"}]}]`,
		"usage alone":       "[" + piece + `,{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}]},{"usageMetadata":{"candidatesTokenCount":3,"totalTokenCount":10},"modelVersion":"m-1"}]`,
	} {
		resp, e := streams(t, body)
		want := plan.Usage{Requests: 1, InputTokens: 7, OutputTokens: 3, TotalTokens: 10}
		if e != nil || resp.Text != "abc" || resp.Usage != want || resp.Model != "m-1" {
			t.Errorf("%s: %+v, %v", name, resp, e)
		}
	}
}

func TestStreamsThatFail(t *testing.T) {
	const begun = `[{"candidates":[{"content":{"parts":[{"text":"look up the fam"}]}}]}`
	for name, c := range map[string]struct {
		body string
		kind model.Kind
		says string
	}{
		"cut":                 {begun, model.Unreachable, "the stream was cut"},
		"closed":              {begun + "]", model.Unreachable, "the stream was cut"},
		"cut in an event":     {begun + `,{"candidates":[{"con`, model.Unreachable, "the stream was cut"},
		"cut as events":       {"data: " + begun[1:] + "\n\n", model.Unreachable, "the stream was cut"},
		"cut after thoughts":  {`[{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}]`, model.Unreachable, "the stream was cut"},
		"the limit":           {begun + `,{"candidates":[{"finishReason":"MAX_TOKENS"}]}]`, model.Truncated, "cut off at its output token limit"},
		"blocked":             {begun + `,{"candidates":[{"finishReason":"SAFETY"}]}]`, model.Filtered, "SAFETY"},
		"a blocked prompt":    {`[{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":13,"totalTokenCount":13}}]`, model.Filtered, "blocked the prompt (PROHIBITED_CONTENT)"},
		"an error":            {begun + `,{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, model.Unavailable, "overloaded"},
		"an error as event":   {"data: " + begun[1:] + "\n\n" + `data: {"error":{"code":503,"message":"overloaded"}}` + "\n\n", model.Unavailable, "overloaded"},
		"an error from start": {`[{"error":{"code":429,"message":"quota","details":[{"retryDelay":"38s"}]}}]`, model.RateLimited, "38s"},
		"no STOP, no words":   {`[{"candidates":[{"finishReason":"STOP"}]}]`, model.BadResponse, "empty answer"},
		"junk":                {begun + `,{oops}]`, model.BadResponse, "cannot be read"},
		"a page":              {"<!doctype html><title>Welcome</title>", model.BadResponse, "GEMINI_BASE_URL"},
	} {
		resp, e := streams(t, c.body)
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || strings.Contains(e.Error(), "look up the fam") {
			t.Errorf("%s: %+v, %v", name, resp, e)
			continue
		}
		if unfinished := strings.HasPrefix(c.body, begun) && e.Kind == model.Unreachable; unfinished && (e.Usage.Requests != 1 || e.Usage.OutputTokens == 0) {
			t.Errorf("%s is charged %+v", name, e.Usage)
		}
	}
}

// What a cut answer is known to have used is charged as told.
func TestACutStreamIsChargedAsTold(t *testing.T) {
	_, e := streams(t, `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":1,"thoughtsTokenCount":9,"totalTokenCount":60}}`)
	if want := (plan.Usage{Requests: 1, InputTokens: 50, OutputTokens: 10, ThinkingTokens: 9, TotalTokens: 60}); e == nil || e.Usage != want {
		t.Errorf("%+v, want %+v", e, want)
	}
}

// Nobody watches: nothing is streamed.
func TestUnwatchedRequestsAreNotStreamed(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Gemini, modeltest.Says("ok"))
	if _, e := generate(t, newClient(t, server.URL, "k"), question()); e != nil || server.Asked()[0].Stream {
		t.Errorf("%v, asked %s", e, server.Asked()[0].Path)
	}
}
