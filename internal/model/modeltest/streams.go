package modeltest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// streamTests are what every provider that streams does.
func streamTests() map[string]func(*testing.T, Subject) {
	return map[string]func(*testing.T, Subject){
		"pieces as they come":  piecesAreTold,
		"cut anywhere":         cutStreams,
		"cut after its end":    openAfterItsEnd,
		"cancelled in between": cancelInTheMiddle,
		"refused":              refusedStreams,
		"ignored":              ignoredStreams,
		"failure in between":   failureInTheMiddle,
		"a quiet one":          quietStreams,
	}
}

// whole is an answer with everything in it.
func whole() Reply {
	return Reply{
		Text:  "Let me look – ✓ \"there\" 🎉.",
		Calls: []model.ToolCall{{Name: "f", Arguments: json.RawMessage(`{"q":"Tarnby","n":12}`)}, {Name: "g", Arguments: json.RawMessage(`{}`)}},
		Usage: &plan.Usage{Requests: 1, InputTokens: 70, OutputTokens: 30, CachedTokens: 4, ThinkingTokens: 9, TotalTokens: 100},
	}
}

// piecesAreTold holds that a piece is told before the server sends the next.
func piecesAreTold(t *testing.T, s Subject) {
	told := make(chan struct{}, 100)
	m, server := s.start(t, nil)
	server.script = func(ctx context.Context, asked Asked) Reply {
		return Reply{Pieces: func(yield func(string) bool) {
			for _, piece := range StreamOf(s.Protocol, server.write(asked, Reply{Text: "one, two, three, four"})) {
				if !yield(piece) {
					return
				}
				if strings.Contains(piece, "three") {
					continue
				}
				if strings.Contains(piece, `"one, "`) {
					select {
					case <-told:
					case <-ctx.Done():
						t.Error("the first piece was not told before the next was sent")
					}
				}
			}
		}}
	}
	var pieces []string
	req := ask("Hi")
	req.OnText = func(piece string) {
		pieces = append(pieces, piece)
		if piece != "" {
			told <- struct{}{}
		}
	}
	resp, err := m.Generate(t.Context(), req)
	if err != nil || resp.Text != "one, two, three, four" || !server.Asked()[0].Stream {
		t.Fatalf("%+v, %v", resp, err)
	}
	if len(pieces) < 4 || pieces[0] != "" || strings.Join(pieces, "") != resp.Text {
		t.Errorf("told %q", pieces)
	}
}

// cutStreams ends a stream behind each of its bytes, orderly and not: it is the
// whole answer, or a failure that says that it was cut.
func cutStreams(t *testing.T, s Subject) {
	whole := whole()
	var sent string
	cut := false
	m, server := s.start(t, func(context.Context, Asked) Reply { return Reply{Pieces: slices.Values([]string{sent}), Cut: cut} })
	m = Watched(t, m)
	all := strings.Join(StreamOf(s.Protocol, server.write(Asked{Request: ask("")}, whole)), "")
	sent = all
	want, err := m.Generate(t.Context(), ask("Hi"))
	if err != nil || want.Text != whole.Text || len(want.Calls) != 2 || want.Usage != *whole.Usage {
		t.Fatalf("the whole stream is %+v, %v", want, err)
	}
	answers, failures := 0, 0
	const step = 7 // it meets every place in some event
	for end := 0; end < len(all); end += step {
		for _, cut = range []bool{false, true} {
			sent = all[:end]
			resp, err := m.Generate(t.Context(), ask("Hi"))
			if err == nil {
				answers++
				if resp.Text != want.Text || !reflect.DeepEqual(resp.Calls, want.Calls) {
					t.Errorf("cut after %q: %+v", sent, resp)
				}
				continue
			}
			failures++
			if e := failure(t, err); e.Kind != model.Unreachable || !strings.Contains(e.Message, "cut") && end > 0 {
				t.Errorf("cut (%v) after %q: %v", cut, sent, e)
			}
		}
	}
	if failures < answers || failures == 0 {
		t.Errorf("%d answers and %d failures", answers, failures)
	}
}

// openAfterItsEnd is a server that never closes the connection and never says
// that it is done.
func openAfterItsEnd(t *testing.T, s Subject) {
	gone := make(chan struct{})
	m, server := s.start(t, nil)
	server.script = func(ctx context.Context, asked Asked) Reply {
		pieces := StreamOf(s.Protocol, server.write(asked, Reply{Text: "done"}))
		return Reply{Pieces: func(yield func(string) bool) {
			for _, p := range pieces[:len(pieces)-1] {
				yield(p)
			}
			<-ctx.Done()
			close(gone)
		}}
	}
	resp, err := Watched(t, m).Generate(t.Context(), ask("Hi"))
	if err != nil || resp.Text != "done" {
		t.Errorf("%+v, %v", resp, err)
	}
	<-gone
}

// cancelInTheMiddle gives up when the first piece is there.
func cancelInTheMiddle(t *testing.T, s Subject) {
	gone := make(chan struct{})
	m, server := s.start(t, nil)
	server.script = func(ctx context.Context, asked Asked) Reply {
		pieces := StreamOf(s.Protocol, server.write(asked, Reply{Text: "one, two, three, four"}))
		return Reply{Pieces: func(yield func(string) bool) {
			for _, p := range pieces[:3] {
				yield(p)
			}
			<-ctx.Done()
			close(gone)
		}}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := ask("Hi")
	req.OnText = func(piece string) {
		if piece != "" {
			cancel()
		}
	}
	_, err := m.Generate(ctx, req)
	if e := failure(t, err); e.Kind != model.Cancelled {
		t.Errorf("kind = %s, want cancelled", e.Kind)
	}
	<-gone // the server saw it
}

// refusedStreams is asked again without a stream, and that is remembered.
func refusedStreams(t *testing.T, s Subject) {
	for name, refusal := range map[string]Reply{
		"in words":        {Status: http.StatusBadRequest, Body: `{"error":{"message":"stream is not supported by this model"}}`},
		"unknown":         {Status: http.StatusUnprocessableEntity, Body: `{"error":{"message":"Unknown field: stream"}}`},
		"not found":       {Status: http.StatusNotFound, Body: `{"error":{"message":"no route for streams"}}`},
		"not implemented": {Status: http.StatusNotImplemented},
		"without words":   {Status: http.StatusBadRequest},
		"its own failure": {Status: http.StatusInternalServerError, Body: `{"error":{"message":"Streaming is not supported"}}`},
		"with success":    {Status: http.StatusOK, Body: `{"error":{"message":"streaming not supported","code":400}}`},
	} {
		t.Run(name, func(t *testing.T) {
			m, server := s.start(t, func(_ context.Context, asked Asked) Reply {
				if asked.Stream {
					return refusal
				}
				return whole()
			})
			m = Watched(t, m)
			for range 2 {
				if resp, err := m.Generate(t.Context(), ask("Hi")); err != nil || resp.Text != whole().Text || resp.Usage != *whole().Usage {
					t.Errorf("%+v, %v", resp, err)
				}
			}
			if n := len(server.Asked()); n != 3 {
				t.Errorf("%d requests, want three", n)
			}
		})
	}
}

// ignoredStreams are answered as if nobody watched.
func ignoredStreams(t *testing.T, s Subject) {
	m, server := s.start(t, nil)
	server.script = func(_ context.Context, asked Asked) Reply {
		return Reply{Status: http.StatusOK, Body: server.write(Asked{Request: asked.Request}, whole())}
	}
	resp, err := Watched(t, m).Generate(t.Context(), ask("Hi"))
	if err != nil || resp.Text != whole().Text || len(resp.Calls) != 2 || resp.Usage != *whole().Usage {
		t.Errorf("%+v, %v", resp, err)
	}
}

// failureInTheMiddle is a typed failure that is charged with what was written.
func failureInTheMiddle(t *testing.T, s Subject) {
	for body, kind := range map[string]model.Kind{
		`{"error":{"message":"overloaded, ` + Key + `","code":503}}`:               model.Unavailable,
		`{"error":{"message":"slow down with that stream","code":429}}`:            model.RateLimited,
		`{"error":{"message":"no such thing as response_format json","code":400}}`: model.BadResponse,
	} {
		m, server := s.start(t, nil)
		server.script = func(_ context.Context, asked Asked) Reply {
			pieces := StreamOf(s.Protocol, server.write(asked, Reply{Text: "one, two, three, four"}))[:3]
			if s.Protocol == Gemini {
				body = "," + body
			} else {
				body = "event: error\ndata: " + body + "\n\n"
			}
			return Reply{Pieces: slices.Values(append(pieces, body))}
		}
		if e := s.fails(t, Watched(t, m), kind); e.Usage.OutputTokens == 0 || e.Usage.InputTokens == 0 || len(server.Asked()) != 1 {
			t.Errorf("%s: %+v after %d requests", kind, e, len(server.Asked()))
		}
	}
}

// quietStreams have nothing in them.
func quietStreams(t *testing.T, s Subject) {
	for name, body := range map[string]string{
		"comments": ": here\n\n: still here\n\n", "an open list": "[", "a blank": "\n\n", "a done one": "data: [DONE]\n\n", "an id": "id: 1\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := s.start(t, InTurn(Reply{Status: http.StatusOK, Body: body}))
			resp, err := Watched(t, m).Generate(t.Context(), ask("Hi"))
			if e := failure(t, err); e.Kind != model.Unreachable && e.Kind != model.BadResponse {
				t.Errorf("%+v, %v", resp, e)
			}
		})
	}
}
