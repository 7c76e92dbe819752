package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// leastBlob is how long, in characters, a text of base64 is at least that is
// taken for a picture, a sound or a file.
const leastBlob = 512

var base64Text = regexp.MustCompile(`^[A-Za-z0-9+/_-]+={0,2}$`)

// WithoutBlobs returns data for a model: pictures, sounds and files, which
// servers write as base64, are told by their size. They are whole in the trace.
// Data without any is returned as it is.
func WithoutBlobs(data json.RawMessage) json.RawMessage {
	if len(data) < leastBlob {
		return data
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return data
	}
	var found bool
	if v = withoutBlobs(v, &found); !found {
		return data
	}
	out, err := json.Marshal(v)
	if err != nil {
		return data // what was read can be written
	}
	return out
}

func withoutBlobs(v any, found *bool) any {
	switch v := v.(type) {
	case string:
		if len(v) >= leastBlob && base64Text.MatchString(v) && varied(v) {
			*found = true
			return fmt.Sprintf("[%d bytes as base64, left out here; they are whole in the trace]", len(v)/4*3)
		}
	case []any:
		for i := range v {
			v[i] = withoutBlobs(v[i], found)
		}
	case map[string]any:
		for key := range v {
			v[key] = withoutBlobs(v[key], found)
		}
	}
	return v
}

// varied says whether a text has as many different characters as base64 of
// anything has, which a word that is repeated has not.
func varied(text string) bool {
	const least = 16
	seen := map[rune]bool{}
	for _, r := range text {
		if seen[r] = true; len(seen) == least {
			return true
		}
	}
	return false
}
