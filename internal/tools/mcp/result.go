package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/tools"
)

// readResult makes what a server answered into a result. Texts are taken over;
// what is no text is told in words, and kept as data where the server gave no
// structured result. Of text and data, most bytes each are kept.
func readResult(r *sdk.CallToolResult, most int) tools.Result {
	if r == nil {
		return tools.Result{Text: "[nothing]"}
	}
	var parts []string
	foreign := false
	for _, c := range r.Content {
		text, plain := inWords(c)
		parts = append(parts, text)
		foreign = foreign || !plain
	}
	result := tools.Result{Text: strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD"), IsError: r.IsError}
	switch {
	case r.StructuredContent != nil:
		result.Data = structured(r)
	case foreign:
		result.Data, _ = json.Marshal(map[string]any{"content": r.Content}) // what was read can be written
	}
	if len(r.Content) == 0 {
		result.Text = string(result.Data)
	}
	return bounded(result, most)
}

// bounded cuts a result to what is kept of it.
func bounded(r tools.Result, most int) tools.Result {
	if n := len(r.Text); n > most {
		at := most
		for at > 0 && !utf8.RuneStart(r.Text[at]) {
			at--
		}
		r.Text = fmt.Sprintf("%s\n[cut: the first %d of %d bytes]", r.Text[:at], at, n)
	}
	if n := len(r.Data); n > most {
		r.Data = nil
		r.Text += fmt.Sprintf("\n[the data of this result is left out: %d bytes, more than %d]", n, most)
	}
	if r.Text == "" {
		r.Text = "[nothing]"
	}
	return r
}

// structured returns the structured result. Servers send it as text as well; if
// they do, its numbers are taken from there, as they were written.
func structured(r *sdk.CallToolResult) json.RawMessage {
	if len(r.Content) == 1 {
		if t, ok := r.Content[0].(*sdk.TextContent); ok {
			var same any
			var compact bytes.Buffer
			if json.Unmarshal([]byte(t.Text), &same) == nil && reflect.DeepEqual(same, r.StructuredContent) &&
				json.Compact(&compact, []byte(t.Text)) == nil {
				return compact.Bytes()
			}
		}
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return nil // what was read from JSON can be written as JSON
	}
	return data
}

// inWords returns a part of a result as text, and says whether it is one.
func inWords(c sdk.Content) (text string, plain bool) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, true
	case *sdk.ImageContent:
		return describe("image", c.MIMEType, size(len(c.Data))), false
	case *sdk.AudioContent:
		return describe("audio", c.MIMEType, size(len(c.Data))), false
	case *sdk.ResourceLink:
		length := ""
		if c.Size != nil {
			length = fmt.Sprintf("%d bytes", *c.Size)
		}
		return describe("link "+c.URI, c.Name, c.MIMEType, length, c.Description), false
	case *sdk.EmbeddedResource:
		return resource(c.Resource), false
	}
	return "[something that is not known here]", false
}

// resource tells of a resource, with its text if it has one.
func resource(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[resource without content]"
	case len(r.Blob) > 0:
		return describe("resource "+r.URI, r.MIMEType, size(len(r.Blob)))
	}
	return describe("resource "+r.URI, r.MIMEType, size(len(r.Text))) + "\n" + r.Text
}

func size(n int) string { return fmt.Sprintf("%d bytes", n) }

// describe is, for example, [image image/png, 1234 bytes].
func describe(what string, about ...string) string {
	var said []string
	for _, a := range about {
		if a != "" {
			said = append(said, a)
		}
	}
	return "[" + strings.TrimSpace(what+" "+strings.Join(said, ", ")) + "]"
}

// hidden returns a result without the secrets of its server. Data that cannot
// be read without them is left out.
func hidden(r tools.Result, hide func(string) string) tools.Result {
	r.Text = hide(r.Text)
	if len(r.Data) == 0 {
		return r
	}
	if r.Data = json.RawMessage(hide(string(r.Data))); !json.Valid(r.Data) {
		r.Data = nil
	}
	return r
}
