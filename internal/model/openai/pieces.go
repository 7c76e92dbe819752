package openai

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// literal is a JSON text put together from pieces. It is kept as it was
// written, since servers cut characters in two: half an escape, or half of the
// bytes, is in each piece.
type literal struct {
	inside []byte
	told   int
}

// add appends a piece and returns its length.
func (l *literal) add(piece json.RawMessage) int {
	piece = bytes.TrimSpace(piece)
	if len(piece) == 0 || string(piece) == "null" {
		return 0
	}
	if piece[0] != '"' { // a list of parts
		piece, _ = json.Marshal(textOf(piece)) //nolint:errchkjson // a text always encodes
	}
	l.inside = append(l.inside, piece[1:len(piece)-1]...)
	return len(piece) - len(`""`)
}

// raw is the text as JSON.
func (l *literal) raw() json.RawMessage {
	return append(append(json.RawMessage{'"'}, l.inside...), '"')
}

// text is the text.
func (l *literal) text() string { return unquoted(l.inside) }

// fresh is what came since it was last asked, up to the last whole character.
func (l *literal) fresh() string {
	end := wholeUntil(l.inside)
	if end <= l.told {
		return ""
	}
	s := unquoted(l.inside[l.told:end])
	l.told = end
	return s
}

func unquoted(inside []byte) string {
	var s string
	_ = json.Unmarshal(append(append([]byte{'"'}, inside...), '"'), &s) // the pieces were JSON
	return s
}

// wholeUntil is where the last whole character ends in the inside of a JSON
// text.
func wholeUntil(inside []byte) int {
	n := len(inside)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(inside[i]) {
			if !utf8.FullRune(inside[i:]) {
				return i
			}
			break
		}
	}
	const escape = len(`\ud83d`)
	if n < escape {
		return n
	}
	last := bytes.ToLower(inside[n-escape:])
	if !bytes.HasPrefix(last, []byte(`\ud`)) || bytes.IndexByte([]byte("89ab"), last[3]) < 0 {
		return n
	}
	before := inside[:n-escape]
	if slashes := len(before) - len(bytes.TrimRight(before, `\`)); slashes%2 != 0 {
		return n // the backslash is itself escaped
	}
	return n - escape
}

// callPieces is a call put together from pieces.
type callPieces struct {
	index     *int
	id        json.RawMessage
	name      string
	arguments literal
	object    json.RawMessage // arguments that came as one
}

// isAnother says whether a piece begins another call although its index, or
// that it has none, makes it part of this one. Servers give all calls the index
// 0, or the same id, or repeat id and name with each piece.
func (c *callPieces) isAnother(d rawCall) bool {
	name := d.Function.Name
	ids := isThere(d.ID) && isThere(c.id)
	switch {
	case name == "":
		return false
	case ids && !bytes.Equal(d.ID, c.id):
		return true
	case ids && d.Index != nil:
		return false
	case c.name != "" && name != c.name && (c.begun() || d.Index == nil):
		return true
	}
	return c.isWhole() && len(d.Function.Arguments) > 0 && string(d.Function.Arguments) != "null"
}

func (c *callPieces) begun() bool { return len(c.arguments.inside) > 0 || c.object != nil }

// isWhole says whether the arguments are an object to its end.
func (c *callPieces) isWhole() bool {
	if c.object != nil {
		return true
	}
	if !bytes.HasSuffix(bytes.TrimSpace(c.arguments.inside), []byte("}")) {
		return false
	}
	return json.Valid([]byte(c.arguments.text()))
}

// add takes a piece and returns its length.
func (c *callPieces) add(d rawCall) int {
	if !isThere(c.id) {
		c.id = d.ID
	}
	if c.name != d.Function.Name {
		c.name += d.Function.Name
	}
	piece := bytes.TrimSpace(d.Function.Arguments)
	switch {
	case len(piece) == 0 || string(piece) == "null":
		return len(d.Function.Name)
	case piece[0] != '"':
		c.object = json.RawMessage(piece)
		return len(d.Function.Name) + len(piece)
	case bytes.HasPrefix(piece, []byte(`"{`)) && c.isWhole():
		c.arguments = literal{} // they are sent anew
	}
	return len(d.Function.Name) + c.arguments.add(piece)
}

// call is the call as it would have come whole.
func (c *callPieces) call() rawCall {
	out := rawCall{ID: c.id, Function: rawFunction{Name: c.name, Arguments: c.arguments.raw()}}
	if c.object != nil {
		out.Function.Arguments = c.object
	}
	return out
}
