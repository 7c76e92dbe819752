package modeltest

import (
	"encoding/json"
	"slices"
)

// piecesOf cuts a JSON text up. Any other value is one piece.
func piecesOf(raw json.RawMessage) []any {
	var whole string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &whole) != nil:
		return []any{raw}
	}
	const length = 5
	pieces := []any{}
	for piece := range slices.Chunk([]rune(whole), length) {
		pieces = append(pieces, string(piece))
	}
	if len(pieces) == 0 {
		return []any{""}
	}
	return pieces
}
