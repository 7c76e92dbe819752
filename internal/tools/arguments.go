package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"planwave/internal/looseread"
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
	if key, twice := looseread.Duplicate(input); twice {
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
		twice := false
		if err == nil {
			_, twice = looseread.Duplicate([]byte(bare))
		}
		switch {
		case err == nil && !twice && e.names(object):
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
