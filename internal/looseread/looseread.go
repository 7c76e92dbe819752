// Package looseread finds the JSON in what a language model wrote: alone, in a
// fence, after thoughts, or between prose. It is lenient about what surrounds
// the value and about trailing commas, and never about the value itself:
// nothing is dropped, closed or guessed, so that a cut-off answer is an error
// and never a shorter one.
package looseread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Errors of reading.
var (
	// ErrNoJSON is text without any JSON object or list.
	ErrNoJSON = errors.New("there is no JSON in it")
	// ErrTruncated is JSON that ends before it is complete.
	ErrTruncated = errors.New("the JSON ends before it is complete")
	// ErrSyntax is JSON with a mistake in it.
	ErrSyntax = errors.New("the JSON has a mistake")
	// ErrAmbiguous is text that holds several values, or a key twice.
	ErrAmbiguous = errors.New("it is not clear which value is meant")
)

const (
	// MaxBytes is the longest text that is looked at.
	MaxBytes = 8 << 20
	maxDepth = 200
)

var thought = regexp.MustCompile(`(?s)<think(?:ing)?>.*?</think(?:ing)?>`)

// Find returns the one JSON object or list in text, with trailing commas taken
// out. Text that is JSON as a whole is that; otherwise thoughts in <think> are
// left out and the outermost objects and lists are looked for. When there are
// several different ones, wanted decides which can be meant; nil means all.
func Find(text string, wanted func(json.RawMessage) bool) (json.RawMessage, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, %d is the limit", ErrSyntax, len(text), MaxBytes)
	}
	whole := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if whole != "" && (whole[0] == '{' || whole[0] == '[') {
		if v, end, err := scan(whole); err == nil && strings.TrimSpace(whole[end:]) == "" {
			return checked(v)
		}
	}
	clean := thought.ReplaceAllString(whole, " ")
	if open := lastOpenThought(clean); open >= 0 {
		clean = clean[:open]
	}
	return search(clean, wanted)
}

// lastOpenThought is where a thought begins that never ends, or -1.
func lastOpenThought(text string) int {
	at := strings.LastIndex(text, "<think>")
	if at >= 0 && !strings.Contains(text[at:], "</think>") {
		return at
	}
	return -1
}

// search looks for outermost values between prose. Brackets in prose that are
// no JSON are passed over, unless nothing better is found.
func search(text string, wanted func(json.RawMessage) bool) (json.RawMessage, error) {
	var found []json.RawMessage
	for at := 0; at < len(text); {
		if text[at] != '{' && text[at] != '[' {
			at++
			continue
		}
		v, end, err := scan(text[at:])
		if err != nil {
			if looksLikeJSON(text[at:]) {
				return nil, err
			}
			at++
			continue
		}
		if wanted == nil || wanted(v) {
			found = append(found, v)
		}
		at += end
	}
	switch {
	case len(found) == 0:
		return nil, ErrNoJSON
	case !allSame(found):
		return nil, fmt.Errorf("%w: %d different values stand in it; write one", ErrAmbiguous, len(found))
	}
	return checked(found[0])
}

// looksLikeJSON says whether broken text was meant as JSON: an object that
// begins with a key, or a list that begins with an object.
func looksLikeJSON(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest == "" {
		return text[0] == '{'
	}
	if text[0] == '{' {
		return rest[0] == '"'
	}
	if rest[0] != '{' {
		return false
	}
	rest = strings.TrimLeft(rest[1:], " \t\r\n")
	return rest == "" || rest[0] == '"'
}

func allSame(values []json.RawMessage) bool {
	for _, v := range values[1:] {
		if !bytes.Equal(compact(values[0]), compact(v)) {
			return false
		}
	}
	return true
}

func compact(v json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}

// checked holds that no object names a key twice, since either could be meant.
func checked(v json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if err := uniqueKeys(d); err != nil {
		return nil, err
	}
	return v, nil
}

func uniqueKeys(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("%w: %w", ErrSyntax, err)
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("%w: the key %q stands twice in one object", ErrAmbiguous, name)
			}
			seen[name] = true
		}
		if err := uniqueKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
