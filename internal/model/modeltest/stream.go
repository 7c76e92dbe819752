package modeltest

import (
	"encoding/json"
)

// StreamOf is the answer of a server, in pieces as that server streams them.
// What is no answer is one piece, as it is.
func StreamOf(p Protocol, body string) []string {
	var answer map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &answer) != nil {
		return []string{body}
	}
	if p == Gemini {
		return inList(geminiEvents(answer))
	}
	return inLines(openaiEvents(answer))
}

// streamType is the media type of streams.
func (p Protocol) streamType() string {
	if p == Gemini {
		return "application/json"
	}
	return "text/event-stream"
}

// inLines writes events as server-sent events, with a sign of life.
func inLines(events []any) []string {
	out := []string{": here\n\n"}
	for _, e := range events {
		out = append(out, "data: "+text(e)+"\n\n")
	}
	return append(out, "data: [DONE]\n\n")
}

// inList writes events as a JSON list.
func inList(events []any) []string {
	var out []string
	for i, e := range events {
		start := ",\r\n"
		if i == 0 {
			start = "["
		}
		out = append(out, start+text(e))
	}
	return append(out, "\n]")
}

type fields = map[string]any

// openaiEvents takes a chat completion apart.
func openaiEvents(answer map[string]json.RawMessage) []any {
	var choices []map[string]json.RawMessage
	if json.Unmarshal(answer["choices"], &choices) != nil || len(choices) == 0 {
		return []any{answer}
	}
	chunk := func(index int, delta any, finish any) fields {
		return fields{"object": "chat.completion.chunk", "model": answer["model"], "choices": []any{fields{"index": index, "delta": delta, "finish_reason": finish}}}
	}
	var message map[string]json.RawMessage
	if json.Unmarshal(choices[0]["message"], &message) != nil {
		return []any{answer}
	}
	events := []any{chunk(0, fields{"role": "assistant", "content": ""}, nil)}
	for _, name := range []string{"reasoning_content", "reasoning", "content", "refusal", "function_call"} {
		for _, piece := range piecesOf(message[name]) {
			events = append(events, chunk(0, fields{name: piece}, nil))
		}
	}
	for _, delta := range callDeltas(message["tool_calls"]) {
		events = append(events, chunk(0, fields{"tool_calls": []any{delta}}, nil))
	}
	for i := range choices[1:] {
		events = append(events, chunk(i+1, choices[i+1]["message"], "stop"))
	}
	events = append(events, chunk(0, fields{}, choices[0]["finish_reason"]))
	last := fields{"choices": []any{}, "model": answer["model"], "usage": answer["usage"]}
	if e, ok := answer["error"]; ok {
		last["error"] = e
	}
	return append(events, last)
}

// callDeltas are the pieces of calls.
func callDeltas(raw json.RawMessage) []any {
	var calls []map[string]json.RawMessage
	if json.Unmarshal(raw, &calls) != nil {
		return nil
	}
	var out []any
	for i, c := range calls {
		var function map[string]json.RawMessage
		if json.Unmarshal(c["function"], &function) != nil || function == nil {
			out = append(out, fields{"index": i, "id": c["id"]})
			continue
		}
		first := fields{"name": function["name"]}
		pieces := piecesOf(function["arguments"])
		if len(pieces) > 0 {
			first["arguments"] = pieces[0]
			pieces = pieces[1:]
		}
		out = append(out, fields{"index": i, "id": c["id"], "type": "function", "function": first})
		for _, p := range pieces {
			out = append(out, fields{"index": i, "function": fields{"arguments": p}})
		}
	}
	return out
}

// geminiEvents takes an answer of generateContent apart.
func geminiEvents(answer map[string]json.RawMessage) []any {
	var candidates []map[string]json.RawMessage
	if json.Unmarshal(answer["candidates"], &candidates) != nil || len(candidates) == 0 || candidates[0] == nil {
		return []any{answer}
	}
	var content struct {
		Parts []map[string]json.RawMessage `json:"parts"`
	}
	if json.Unmarshal(candidates[0]["content"], &content) != nil {
		return []any{answer}
	}
	var events []any
	for _, part := range content.Parts {
		pieces := piecesOf(part["text"])
		for _, p := range pieces {
			events = append(events, fields{"candidates": []any{fields{"content": fields{"role": "model", "parts": []any{fields{"text": p, "thought": part["thought"]}}}}}})
		}
		if call := part["functionCall"]; len(pieces) == 0 || len(call) > 0 && string(call) != "null" {
			delete(part, "text")
			events = append(events, fields{"candidates": []any{fields{"content": fields{"role": "model", "parts": []any{part}}}}})
		}
	}
	delete(candidates[0], "content")
	rest, others := fields{"candidates": candidates[:1]}, []string{"usageMetadata", "modelVersion", "promptFeedback", "error"}
	for _, name := range others {
		if v, ok := answer[name]; ok {
			rest[name] = v
		}
	}
	return append(events, rest)
}
