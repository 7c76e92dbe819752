package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/model"
)

// calls reads the calls that are there, whatever the reason to stop says.
func (c choice) calls() []model.ToolCall {
	raw := c.Message.ToolCalls
	if f := c.Message.FunctionCall; len(raw) == 0 && f != nil && f.Name != "" {
		raw = []rawCall{{Function: *f}}
	}
	var out []model.ToolCall
	taken := map[string]bool{}
	for i, r := range raw {
		var id string
		if json.Unmarshal(r.ID, &id) != nil {
			id = strings.Trim(string(r.ID), `"`) // a number
		}
		if id == "null" {
			id = ""
		}
		for n := i + 1; id == "" || taken[id]; n++ {
			id = fmt.Sprintf("call_%d", n)
		}
		taken[id] = true
		r = r.inFunction()
		out = append(out, model.ToolCall{ID: id, Name: strings.TrimSpace(r.Function.Name), Arguments: argumentsOf(r.Function.Arguments)})
	}
	return out
}

// inFunction is the call with its name and arguments where they belong.
func (r rawCall) inFunction() rawCall {
	if r.Function.Name == "" && r.Name != "" {
		r.Function = rawFunction{Name: r.Name, Arguments: r.Arguments}
	}
	return r
}

// argumentsOf reads the arguments of a call: an object, or a text that holds
// one, once more in quotes or not. What is no object is kept as a JSON text,
// for the tool to refuse in words that the model can read.
func argumentsOf(raw json.RawMessage) json.RawMessage {
	const quoted = 2
	for range quoted {
		var text string
		if json.Unmarshal(raw, &text) != nil || !json.Valid([]byte(text)) {
			break
		}
		raw = json.RawMessage(text)
	}
	trimmed := bytes.TrimSpace(raw)
	if s := string(trimmed); s == "" || s == "null" || s == `""` {
		return json.RawMessage("{}")
	}
	if !json.Valid(trimmed) {
		return json.RawMessage("{}")
	}
	var text string
	if json.Unmarshal(trimmed, &text) == nil { // half a pair of surrogates is written as it is read
		trimmed, _ = json.Marshal(text) //nolint:errchkjson // a text always encodes
	}
	// Bytes that are no characters become U+FFFD here as in texts.
	return json.RawMessage(string([]rune(string(trimmed))))
}

// unwrapped takes the output out of the call that was forced to carry it.
func unwrapped(resp model.Response, name string) model.Response {
	for i, c := range resp.Calls {
		if c.Name == name {
			resp.Text, resp.Calls = string(resp.Calls[i].Arguments), nil
			break
		}
	}
	return resp
}

func isThere(raw json.RawMessage) bool {
	s := string(bytes.TrimSpace(raw))
	return s != "" && s != "null" && s != `""` && s != "{}" && s != "[]"
}

// contentPart is a part of content.
type contentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// partsOf reads content that is no text: a list of parts, or of texts, or one
// part alone.
func partsOf(raw json.RawMessage) []contentPart {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	parts := make([]contentPart, len(list))
	for i, v := range list {
		if json.Unmarshal(v, &parts[i]) != nil {
			parts[i] = contentPart{}
			_ = json.Unmarshal(v, &parts[i].Text) // what is neither says nothing
		}
	}
	return parts
}

// textOf reads content: a text, or parts of which the texts count.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var b strings.Builder
	for _, p := range partsOf(raw) {
		if p.Type == "" || p.Type == "text" || p.Type == "output_text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// refusalIn is the part of content that is a refusal.
func refusalIn(raw json.RawMessage) string {
	for _, p := range partsOf(raw) {
		if p.Type == "refusal" && p.Refusal != "" {
			return p.Refusal
		}
	}
	return ""
}
