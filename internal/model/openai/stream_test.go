package openai_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"planwave/internal/model"
	"planwave/internal/model/modeltest"
	"planwave/internal/plan"
)

// streams starts a server that streams a body as it is and asks it, watched.
func streams(t *testing.T, body string) (model.Response, *model.Error) {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Fails(http.StatusOK, body))
	return generate(t, modeltest.Watched(t, newClient(t, server.URL, "k")), question())
}

// delta is an event with a piece of a message.
func delta(piece string) string {
	return `data: {"choices":[{"index":0,"delta":` + piece + `,"finish_reason":null}]}` + "\n\n"
}

// ends is the last event of an answer.
func ends(finish string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` + "\n\n"
}

const (
	done = "data: [DONE]\n\n"
	tail = `data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}}` + "\n\n" + done
)

// The dialects of streams below are those of servers that people have.
func TestStreamsAreReadInEveryDialect(t *testing.T) {
	const piece = `{"choices":[{"delta":{"content":"ab"}}]}`
	const last = `{"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}]}`
	for name, body := range map[string]string{
		"as it should be":       "data: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"no last word":          "data: " + piece + "\n\ndata: " + last + "\n\n",
		"no last line end":      "data: " + piece + "\n\ndata: " + last,
		"no space":              "data:" + piece + "\n\ndata:" + last + "\n\ndata:[DONE]\n\n",
		"no blank lines":        "data: " + piece + "\ndata: " + last + "\ndata: [DONE]\n",
		"line ends of two":      "data: " + piece + "\r\n\r\ndata: " + last + "\r\n\r\ndata: [DONE]\r\n\r\n",
		"line ends of old":      "data: " + piece + "\r\rdata: " + last + "\r\rdata: [DONE]\r\r",
		"a byte order mark":     "\ufeffdata: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"comments":              ": OPENROUTER PROCESSING\n\ndata: " + piece + "\n\n:\n\n: still here\ndata: " + last + "\n\n" + done,
		"signs of life":         "data: ping\n\nevent: ping\ndata:\n\ndata: [PROCESSING]\n\ndata: " + piece + "\n\ndata: \n\ndata: " + last + "\n\n" + done,
		"names and numbers":     "event: message\nid: 1\nretry: 100\ndata: " + piece + "\n\nid: 2\nx-own: 1\ndata: " + last + "\n\n" + done,
		"many lines":            "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"ab\"}}]}\n\ndata: " + last + "\n\n" + done,
		"lines of JSON":         piece + "\n" + last + "\n",
		"a list":                "[" + piece + ",\n" + last + "]",
		"a list in the data":    "data: [" + piece + "," + last + "]\n\n" + done,
		"bare among data":       "data: " + piece + "\n\n" + last + "\n\n" + done,
		"blank lines first":     "\n\n \r\ndata: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"more after the end":    "data: " + piece + "\n\ndata: " + last + "\n\n" + done + "data: {\"choices\":[{\"delta\":{\"content\":\"no\"}}]}\n\n",
		"empty choices first":   `data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}` + "\n\ndata: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"the role first":        delta(`{"role":"assistant"}`) + delta(`{"role":"assistant","content":null}`) + delta(`{"content":""}`) + "data: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"thoughts first":        delta(`{"reasoning_content":"so"}`) + delta(`{"reasoning":"hm","content":null}`) + "data: " + piece + "\n\ndata: " + last + "\n\n" + done,
		"parts":                 delta(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"ab"}]}`) + "data: " + last + "\n\n" + done,
		"a reason named null":   `data: {"choices":[{"delta":{"content":"ab"},"finish_reason":"null"}]}` + "\n\ndata: " + last + "\n\n" + done,
		"an empty reason":       `data: {"choices":[{"delta":{"content":"ab"},"finish_reason":""}]}` + "\n\ndata: " + last + "\n\n" + done,
		"the message so far":    `data: {"choices":[{"delta":{"content":"ab"},"message":{"content":"ab"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"c"},"message":{"content":"abc"},"finish_reason":"stop"}]}` + "\n\n" + done,
		"a second choice":       "data: " + piece + "\n\n" + `data: {"choices":[{"index":1,"delta":{"content":"X"},"finish_reason":"stop"}]}` + "\n\ndata: " + last + "\n\n" + done,
		"another number for it": strings.ReplaceAll("data: "+piece+"\n\ndata: "+last+"\n\n"+done, `"delta"`, `"index":3,"delta"`),
		"an end on its own":     "data: " + piece + "\n\n" + delta(`{"content":"c"}`) + `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\n" + done,
	} {
		resp, e := streams(t, body)
		if e != nil || resp.Text != "abc" || len(resp.Calls) != 0 || resp.Usage.Requests != 1 {
			t.Errorf("%s: %+v, %v", name, resp, e)
		}
	}
}

func TestCharactersThatAreCutInTwo(t *testing.T) {
	for name, body := range map[string]string{
		"halves of a pair":  delta(`{"content":"a\ud83c"}`) + delta(`{"content":"\udf89b"}`),
		"bytes":             delta("{\"content\":\"a\xf0\x9f\"}") + delta("{\"content\":\"\x8e\x89b\"}"),
		"behind a slash":    delta(`{"content":"a"}`) + delta(`{"content":"🎉b"}`),
		"a pair in capital": delta(`{"content":"a\uD83C"}`) + delta(`{"content":"\uDF89b"}`),
	} {
		if resp, e := streams(t, body+ends("stop")+done); e != nil || resp.Text != "a🎉b" {
			t.Errorf("%s: %q, %v", name, resp.Text, e)
		}
	}
	if resp, e := streams(t, delta(`{"content":"\\ud83c"}`)+delta(`{"content":"\\udf89"}`)+ends("stop")+done); e != nil || resp.Text != `\ud83c\udf89` {
		t.Errorf("slashes: %q, %v", resp.Text, e)
	}
}

// called is an event with pieces of calls.
func called(calls string) string { return delta(`{"tool_calls":[` + calls + `]}`) }

func TestCallsInPieces(t *testing.T) {
	const two = `search{"q":"X"} search{"q":"Y"}`
	for name, c := range map[string]struct{ body, want string }{
		"by number":         {called(`{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}`) + called(`{"index":0,"function":{"arguments":"{\"q\":"}}`) + called(`{"index":0,"function":{"arguments":"\"X\"}"}}`) + called(`{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"in turns":          {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":"}},{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":"}}`) + called(`{"index":1,"function":{"arguments":"\"Y\"}"}}`) + called(`{"index":0,"function":{"arguments":"\"X\"}"}}`), two},
		"the same id":       {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":\"X\"}"}}`) + called(`{"index":1,"id":"a","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"all are the first": {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":\"X\"}"}}`) + called(`{"index":0,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"nothing but names": {called(`{"function":{"name":"search","arguments":"{\"q\":\"X\"}"}}`) + called(`{"function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"objects":           {called(`{"function":{"name":"search","arguments":{"q":"X"}}},{"function":{"name":"search","arguments":{"q":"Y"}}}`), two},
		"the same, no number": {called(`{"id":"a","function":{"name":"search","arguments":"{\"q\":\"X\"}"}}`) +
			called(`{"id":"a","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"named with each piece": {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":"}}`) + called(`{"index":0,"id":"a","function":{"name":"search","arguments":"\"X\"}"}}`) +
			called(`{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\""}}`) + called(`{"index":1,"id":"b","function":{"name":"search","arguments":"}"}}`), two},
		"an id for each piece": {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":"}}`) + called(`{"index":0,"id":"zz","function":{"name":null,"arguments":"\"X\"}"}}`) +
			called(`{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"a name in pieces": {called(`{"index":0,"id":"a","function":{"name":"sea"}}`) + called(`{"index":0,"function":{"name":"rch","arguments":"{\"q\":\"X\"}"}}`) +
			called(`{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"begun as nothing": {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{}"}}`) + called(`{"index":0,"function":{"arguments":"{\"q\":\"X\"}"}}`) +
			called(`{"index":1,"id":"b","function":{"name":"search","arguments":"{\"q\":\"Y\"}"}}`), two},
		"no arguments":       {called(`{"index":0,"id":"a","function":{"name":"now"}}`) + called(`{"index":1,"id":"b","function":{"name":"now","arguments":""}}`), `now{} now{}`},
		"the older form":     {delta(`{"function_call":{"name":"search","arguments":""}}`) + delta(`{"function_call":{"arguments":"{\"q\":"}}`) + delta(`{"function_call":{"arguments":"1}"}}`), `search{"q":1}`},
		"what is no object":  {called(`{"index":0,"id":"a","function":{"name":"calc","arguments":"3"}}`) + called(`{"index":0,"function":{"arguments":"+4"}}`), `calc"3+4"`},
		"big numbers":        {called(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":123456789012345"}}`) + called(`{"index":0,"function":{"arguments":"67890}"}}`), `f{"n":12345678901234567890}`},
		"a plain end of two": {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":\"X\"}"}}`) + called(`{"index":0,"id":"a","function":{"name":"search"}}`), `search{"q":"X"}`},
	} {
		for _, finish := range []string{"tool_calls", "stop"} {
			resp, e := streams(t, c.body+ends(finish)+tail)
			var got []string
			ids := map[string]bool{}
			for _, call := range resp.Calls {
				got = append(got, call.Name+string(call.Arguments))
				ids[call.ID] = true
			}
			if e != nil || strings.Join(got, " ") != c.want || len(ids) != len(got) || ids[""] || resp.Usage.TotalTokens != 70 {
				t.Errorf("%s: %+v, %v, want %s", name, resp, e, c.want)
			}
		}
	}
}

func TestUsageOfStreams(t *testing.T) {
	want := plan.Usage{Requests: 1, InputTokens: 50, OutputTokens: 20, TotalTokens: 70}
	const used = `"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}`
	for name, last := range map[string]string{
		"at the end":       ends("stop") + tail,
		"with the reason":  `data: {"choices":[{"delta":{},"finish_reason":"stop"}],` + used + "}\n\n" + done,
		"with each event":  `data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":50,"completion_tokens":1}}` + "\n\n" + ends("stop") + tail,
		"nulls later":      `data: {"choices":[{"delta":{},"finish_reason":"stop"}],` + used + "}\n\n" + `data: {"choices":[],"usage":null}` + "\n\n" + done,
		"Groq's":           `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{` + used + "}}\n\n" + done,
		"in the choice":    `data: {"choices":[{"delta":{},"finish_reason":"stop",` + used + "}]}\n\n" + done,
		"and no last word": ends("stop") + strings.TrimSuffix(tail, done),
	} {
		if resp, e := streams(t, delta(`{"content":"a"}`)+last); e != nil || resp.Usage != want {
			t.Errorf("%s: %+v, %v", name, resp.Usage, e)
		}
	}
	resp, e := streams(t, delta(`{"content":"a"}`)+ends("stop")+done)
	if u := resp.Usage; e != nil || u.InputTokens == 0 || u.OutputTokens == 0 || u.TotalTokens != u.InputTokens+u.OutputTokens {
		t.Errorf("without any told: %+v, %v", u, e)
	}
}

func TestStreamsThatFail(t *testing.T) {
	const begun = `data: {"choices":[{"delta":{"content":"look up the fam"}}]}` + "\n\n"
	for name, c := range map[string]struct {
		body string
		kind model.Kind
		says string
	}{
		"the limit":           {begun + ends("length") + tail, model.Truncated, "cut off at its output token limit"},
		"all thought":         {delta(`{"reasoning_content":"hm"}`) + ends("length") + tail, model.Truncated, "thinking"},
		"thoughts only":       {delta(`{"reasoning_content":"hm"}`) + ends("stop") + tail, model.BadResponse, "thought and then wrote nothing"},
		"nothing":             {delta(`{"role":"assistant"}`) + ends("stop") + tail, model.BadResponse, "empty answer"},
		"held back":           {begun + ends("content_filter") + tail, model.Filtered, "held the answer back"},
		"a refusal":           {delta(`{"refusal":"I will "}`) + delta(`{"refusal":"not."}`) + ends("stop") + tail, model.Filtered, "I will not."},
		"given up":            {begun + ends("error") + tail, model.Unavailable, "gave up"},
		"an error":            {begun + `data: {"error":{"message":"it broke","code":502}}` + "\n\n" + done, model.Unavailable, "it broke"},
		"an error in a":       {begun + `data: {"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"message":"it broke","code":502}}]}` + "\n\n" + done, model.Unavailable, "it broke"},
		"an error by name":    {begun + "event: error\ndata: {\"message\":\"it broke\"}\n\n", model.BadResponse, "it broke"},
		"an error, bare":      {begun + `{"error":"it broke"}` + "\n", model.BadResponse, "it broke"},
		"an error in text":    {begun + `data: {"error":{"message":"it broke","code":"429"}}` + "\n\n", model.RateLimited, "it broke"},
		"a first error":       {`data: {"error":{"message":"it broke","code":429}}` + "\n\n", model.RateLimited, "it broke"},
		"cut in the text":     {begun, model.Unreachable, "the stream was cut"},
		"cut in an event":     {begun + `data: {"choices":[{"del`, model.Unreachable, "the stream was cut"},
		"cut in a call":       {called(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":"}}`), model.Unreachable, "the stream was cut"},
		"done without reason": {begun + done, model.Unreachable, "the stream was cut"},
		"junk in the middle":  {begun + "data: {oops}\n\n" + ends("stop") + done, model.BadResponse, "cannot be read"},
		"wrong types":         {`data: {"choices":"none"}` + "\n\n", model.BadResponse, "cannot be read"},
		"a page":              {"<!doctype html>\n<title>Welcome</title>\n", model.BadResponse, "OPENAI_BASE_URL"},
	} {
		resp, e := streams(t, c.body)
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || strings.Contains(e.Error(), "look up the fam") {
			t.Errorf("%s: %+v, %v", name, resp, e)
			continue
		}
		if begins := strings.HasPrefix(c.body, begun); begins && (e.Usage.Requests != 1 || e.Usage.OutputTokens == 0) {
			t.Errorf("%s is charged %+v", name, e.Usage)
		}
	}
}

// A server that says that it is done, and never why, cannot be told from one
// that is cut: it is not streamed any more.
func TestAStreamWithoutAnyReasonIsNotTrustedTwice(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if asked.Stream {
			return modeltest.Reply{Pieces: slices.Values([]string{delta(`{"content":"ab"}`), done})}
		}
		return modeltest.Reply{Text: "abc"}
	})
	m := modeltest.Watched(t, newClient(t, server.URL, "k"))
	if _, e := generate(t, m, question()); e == nil || e.Kind != model.Unreachable || e.Usage.OutputTokens == 0 {
		t.Errorf("first: %+v", e)
	}
	if resp, e := generate(t, m, question()); e != nil || resp.Text != "abc" || server.Asked()[1].Stream {
		t.Errorf("then: %+v, %v", resp, e)
	}
}

func TestTheWayDownFromAStream(t *testing.T) {
	way := func(asked modeltest.Asked) string {
		switch {
		case asked.IncludeUsage:
			return "usage"
		case asked.Stream:
			return "stream"
		}
		return "whole"
	}
	for name, c := range map[string]struct {
		takes, body string
		want        string // the ways of two requests
	}{
		"all":                {"usage", "", "usage usage"},
		"no options":         {"stream", `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`, "usage stream stream"},
		"no such field":      {"stream", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, "usage stream stream"},
		"named by parameter": {"stream", `{"error":{"message":"Unknown parameter","param":"stream_options.include_usage"}}`, "usage stream stream"},
		"no streams":         {"whole", `{"error":"streaming is not supported"}`, "usage whole whole"},
		"no reason":          {"whole", ``, "usage whole whole"},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
				if way(asked) != c.takes {
					return modeltest.Reply{Status: http.StatusBadRequest, Body: c.body}
				}
				return modeltest.Reply{Text: "abc"}
			})
			m := modeltest.Watched(t, newClient(t, server.URL, "k"))
			for range 2 {
				if resp, e := generate(t, m, question()); e != nil || resp.Text != "abc" {
					t.Errorf("%+v, %v", resp, e)
				}
			}
			var ways []string
			for _, a := range server.Asked() {
				ways = append(ways, way(a))
			}
			if got := strings.Join(ways, " "); got != c.want {
				t.Errorf("asked %s, want %s", got, c.want)
			}
		})
	}
}

func TestStreamsThatAreRefusedWithToolsOnly(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
		if asked.Stream && len(asked.Tools) > 0 {
			return modeltest.Reply{Status: http.StatusInternalServerError, Body: `{"error":{"message":"Cannot use tools with stream: not supported"}}`}
		}
		return modeltest.Reply{Text: "abc"}
	})
	m := modeltest.Watched(t, newClient(t, server.URL, "k"))
	withTools := question()
	withTools.Tools = []model.Tool{{Name: "now"}}
	for _, req := range []model.Request{withTools, withTools, question()} {
		if resp, e := generate(t, m, req); e != nil || resp.Text != "abc" {
			t.Errorf("%+v, %v", resp, e)
		}
	}
	asked := server.Asked()
	if len(asked) != 4 || asked[2].Stream || !asked[3].Stream {
		t.Errorf("%d requests: %+v", len(asked), asked)
	}
}

// What is watched of output by a schema is the output, in whatever form it is
// asked for.
func TestOutputByASchemaIsStreamed(t *testing.T) {
	const output = `{"steps":[{"id":"s1"},{"id":"s2"}]}`
	for _, form := range []string{"json_schema", "tool", "json_object", ""} {
		server := modeltest.NewServer(t, modeltest.OpenAI, func(_ context.Context, asked modeltest.Asked) modeltest.Reply {
			if asked.Form == form {
				return modeltest.Reply{Text: output}
			}
			return modeltest.Reply{Status: http.StatusBadRequest, Body: `{"error":"no such response_format, tools or json"}`}
		})
		var pieces []string
		req := structured()
		req.OnText = func(piece string) { pieces = append(pieces, piece) }
		resp, e := generate(t, newClient(t, server.URL, "k"), req)
		if e != nil || resp.Text != output || len(resp.Calls) != 0 || len(pieces) < 4 || strings.Join(pieces, "") != output {
			t.Errorf("form %q: %+v, %v, told %q", form, resp, e, pieces)
		}
	}
}

// Nobody watches: nothing is streamed, and nothing is said about streams.
func TestUnwatchedRequestsAreNotStreamed(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.OpenAI, modeltest.Says("ok"))
	if _, e := generate(t, newClient(t, server.URL, "k"), question()); e != nil || strings.Contains(string(server.Asked()[0].Body), "stream") {
		t.Errorf("%v, sent %s", e, server.Asked()[0].Body)
	}
}
