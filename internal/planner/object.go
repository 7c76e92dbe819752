package planner

import (
	"encoding/json"
	"slices"
	"strings"
)

func listOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func objectOf(raw json.RawMessage) object {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// object is a JSON object whose keys are read whatever their case and marks:
// depends_on is dependsOn, too.
type object map[string]json.RawMessage

// sameKey says whether two keys differ by case and marks only.
func sameKey(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, marks), strings.TrimLeft(b, marks)
		if a == "" || b == "" {
			return a == b
		}
		if lower(a[0]) != lower(b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// marks join the words of a key.
const marks = "_- "

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// get returns the value of a key, nil when it is not there or null, and the
// keys that are spellings of it.
func (o object) get(name string) (value json.RawMessage, spelled []string) {
	for key := range o {
		if sameKey(key, name) {
			spelled = append(spelled, key)
		}
	}
	if len(spelled) == 0 {
		return nil, nil
	}
	slices.Sort(spelled)
	value, exact := o[name]
	if !exact {
		value = o[spelled[0]]
	}
	if string(value) == "null" {
		value = nil
	}
	return value, spelled
}
