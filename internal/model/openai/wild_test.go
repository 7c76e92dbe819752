package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
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
	if w.Type != "http_sequence" {
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

// streamedWhenAsked sends the answers in pieces to those who ask for that.
func streamedWhenAsked(replies ...modeltest.Reply) modeltest.Script {
	next := modeltest.InTurn(replies...)
	return func(ctx context.Context, asked modeltest.Asked) modeltest.Reply {
		r := next(ctx, asked)
		if asked.Stream && r.Status == http.StatusOK {
			r.Pieces = slices.Values(modeltest.StreamOf(modeltest.OpenAI, r.Body))
		}
		return r
	}
}

// TestAnswersFromTheWild holds what each of the collected answers comes to,
// whether it is streamed or not.
func TestAnswersFromTheWild(t *testing.T) {
	want := map[int]struct {
		kind   model.Kind // of the failure
		says   string     // the failure, or the text
		calls  string
		tokens int // 0 is not told
	}{
		65: {model.Truncated, "cut off at its output token limit", "", 70},
		83: {"", "", `search{"q":"Paris","n":2}`, 0},
		85: {model.BadResponse, "empty answer", "", 0},
		87: {"", "let me look", `search{"q":"x"}`, 70},
		89: {model.BadResponse, "thought and then wrote nothing", "", 70},
		91: {model.BadResponse, "unknown variant `developer`", "", 0}, // it is never sent; see below
		93: {"", "", `calc{"e":"3+4"} calc{"e":"7*2"} calc{"e":"14/5"}`, 70},
		95: {"", "", `search{"q":"X"} search{"q":"Y"}`, 70},
	}
	cases := wilds(t)
	if len(cases) != len(want) {
		t.Fatalf("%d cases and %d expectations", len(cases), len(want))
	}
	for _, w := range cases {
		for _, watched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s, watched %v", w.N, w.Kind, watched), func(t *testing.T) {
				server := modeltest.NewServer(t, modeltest.OpenAI, streamedWhenAsked(w.replies(t)...))
				var m model.Model = newClient(t, server.URL, "k")
				if watched {
					m = modeltest.Watched(t, m)
				}
				resp, e := generate(t, m, question())
				c := want[w.N]
				said, tokens, got := resp.Text, resp.Usage.TotalTokens, []string{}
				ids := map[string]bool{}
				for _, call := range resp.Calls {
					got = append(got, call.Name+string(call.Arguments))
					ids[call.ID] = true
				}
				switch {
				case (e != nil) != (c.kind != ""):
					t.Fatalf("%+v, %v; it should: %s", resp, e, w.Expect)
				case e != nil:
					said, tokens = e.Message, e.Usage.TotalTokens
					if e.Kind != c.kind || strings.Contains(e.Error(), "look up the fam") || strings.Contains(e.Error(), "We need a plan") {
						t.Errorf("%v; it should: %s", e, w.Expect)
					}
				}
				if !strings.Contains(said, c.says) || c.tokens > 0 && tokens != c.tokens {
					t.Errorf("%q with %d tokens, want %q with %d", said, tokens, c.says, c.tokens)
				}
				if strings.Join(got, " ") != c.calls || len(ids) != len(got) || ids[""] {
					t.Errorf("calls %+v, want %s", resp.Calls, c.calls)
				}
			})
		}
	}
}

// earendil-works/pi#1048, cloudflare/cloudflare-os#36: a server that refuses
// every role but the four that there always were, and every field that it does
// not know.
func TestNothingIsSentThatAPlainServerRefuses(t *testing.T) {
	var refused wild
	for _, w := range wilds(t) {
		if w.N == 91 {
			refused = w
		}
	}
	replies := refused.replies(t)
	for _, watched := range []bool{false, true} {
		server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
			if strings.Contains(string(asked.Body), "developer") {
				return replies[0]
			}
			r := replies[1]
			if asked.Stream {
				r.Pieces = slices.Values(modeltest.StreamOf(modeltest.OpenAI, r.Body))
			}
			return r
		})
		var m model.Model = newClient(t, server.URL, "k")
		if watched {
			m = modeltest.Watched(t, m)
		}
		req := question()
		req.System = "Be brief."
		if resp, e := generate(t, m, req); e != nil || !strings.HasPrefix(resp.Text, `[{"id": "a"`) || len(server.Asked()) != 1 {
			t.Errorf("%+v, %v after %d requests", resp, e, len(server.Asked()))
		}
	}
}

// A conversation with many calls, or calls of one id, is answered id by id.
func TestCallsFromTheWildAreAnsweredOneByOne(t *testing.T) {
	for _, w := range wilds(t) {
		if w.N != 83 && w.N != 93 && w.N != 95 {
			continue
		}
		server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.InTurn(w.replies(t)[0], modeltest.Reply{Text: "done"}))
		c := newClient(t, server.URL, "k")
		resp, e := generate(t, c, question())
		if e != nil {
			t.Fatal(e)
		}
		req := question()
		turn := model.Message{Speaker: model.ToolSpeaker}
		for i, call := range resp.Calls {
			turn.Results = append(turn.Results, model.ToolResult{ID: call.ID, Name: call.Name, Text: fmt.Sprint(i)})
		}
		req.Messages = append(req.Messages, model.Message{Speaker: model.Assistant, Text: resp.Text, Calls: resp.Calls}, turn)
		if _, e = generate(t, c, req); e != nil { // the server holds calls and results against each other
			t.Fatalf("%d: %v", w.N, e)
		}
		for i, r := range server.Asked()[1].Messages[2].Results {
			if r.ID != resp.Calls[i].ID || r.Text != fmt.Sprint(i) {
				t.Errorf("%d: result %d is %+v", w.N, i, r)
			}
		}
	}
}
