package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// readObject reads an output as the names that expressions know. It is false
// for anything but exactly one JSON object.
func readObject(output json.RawMessage) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(output))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	object, ok := value(v).(map[string]any)
	return object, ok
}

// value turns JSON numbers into numbers that expressions calculate with: whole
// ones into int, so that they have a remainder, all others into float64.
// Lists and objects are changed in place.
func value(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		f, _ := v.Float64() // beyond its range it is infinite, and compares as that
		return f
	case []any:
		for i := range v {
			v[i] = value(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = value(v[k])
		}
	}
	return v
}
