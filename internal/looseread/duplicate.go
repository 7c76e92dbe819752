package looseread

import (
	"bytes"
	"encoding/json"
)

// Duplicate returns a key that stands twice in one object of a valid JSON text,
// if there is one. Decoders take the last of the two in silence, though either could be
// meant.
func Duplicate(valid []byte) (key string, found bool) {
	var open []*object // by depth; nil is a list
	var before byte    // the last byte that was no space and in no text
	for at := 0; at < len(valid); at++ {
		b := valid[at]
		switch b {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			open = append(open, &object{})
		case '[':
			open = append(open, nil)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := at + 1
			for valid[end] != '"' {
				if valid[end] == '\\' {
					end++
				}
				end++
			}
			isKey := len(open) > 0 && open[len(open)-1] != nil && before != ':'
			if key := valid[at : end+1]; isKey && open[len(open)-1].has(key) {
				return unquote(key), true
			}
			at = end
		}
		before = b
	}
	return "", false
}

// object is the keys of one object that were met. Most have few, for which
// nothing is kept but the first.
type object struct {
	first string
	keys  map[string]bool
}

// has says whether a key in quotes was met before, and notes it.
func (o *object) has(quoted []byte) bool {
	key := string(quoted)
	if bytes.IndexByte(quoted, '\\') >= 0 {
		key = `"` + unquote(quoted) + `"`
	}
	switch {
	case o.first == "":
		o.first = key
		return false
	case o.keys == nil:
		o.keys = map[string]bool{o.first: true}
	}
	twice := o.keys[key]
	o.keys[key] = true
	return twice
}

func unquote(quoted []byte) string {
	var key string
	if err := json.Unmarshal(quoted, &key); err != nil {
		return string(quoted)
	}
	return key
}
