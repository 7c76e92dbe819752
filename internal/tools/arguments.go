package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// arguments reads an input as an object. A text is put into the argument that
// is meant for it, unless it is the object itself in quotes.
func (e entry) arguments(input json.RawMessage) (map[string]any, error) {
	if len(input) == 0 {
		return map[string]any{}, nil
	}
	v, err := decode(input)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if key := twice(input); key != "" {
		return nil, fmt.Errorf("the key %q stands twice in one object; write it once", key)
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	case string:
		return e.text(v)
	}
	return nil, errors.New("it is neither an object nor a text")
}

// text reads an input that is a text. One that begins as an object of arguments
// is that, and never an argument of its own.
func (e entry) text(text string) (map[string]any, error) {
	if bare := strings.TrimSpace(text); strings.HasPrefix(bare, "{") {
		v, err := decode([]byte(bare))
		object, _ := v.(map[string]any)
		switch {
		case err == nil && twice([]byte(bare)) == "" && e.names(object):
			return object, nil
		case e.quotes(bare):
			return nil, errors.New("it begins as an object in quotes and is none; write one whole object")
		}
	}
	if e.schema.text == "" {
		return nil, fmt.Errorf("it is a text, and %s has no one argument that takes a text; write an object", e.info.Name)
	}
	return map[string]any{e.schema.text: text}, nil
}

// names says whether an object has one of the tool's arguments.
func (e entry) names(object map[string]any) bool {
	for name := range object {
		if e.schema.compiled.Properties[name] != nil {
			return true
		}
	}
	return false
}

// quotes says whether one of the tool's arguments stands in a text as a key.
func (e entry) quotes(text string) bool {
	for name := range e.schema.compiled.Properties {
		if strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "'"+name+"'") {
			return true
		}
	}
	return false
}

// twice is a key that stands twice in one object of a JSON text, or "": either
// of the two could be meant.
func twice(valid []byte) string {
	d := json.NewDecoder(strings.NewReader(string(valid)))
	d.UseNumber()
	var open []map[string]bool // by depth: the keys of an object, nil in a list
	key := false               // whether the next token may be a key
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		name, isText := t.(string)
		switch {
		case t == json.Delim('{'):
			open = append(open, map[string]bool{})
			key = true
			continue
		case t == json.Delim('['):
			open = append(open, nil)
		case t == json.Delim('}'), t == json.Delim(']'):
			open = open[:len(open)-1]
		case isText && key && len(open) > 0:
			if open[len(open)-1][name] {
				return name
			}
			open[len(open)-1][name], key = true, false
			continue
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}
